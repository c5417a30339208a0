"""The tables of scores and of the box of the day."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
)

from pbmserv.store.core.columns import Instant, metadata

scores = Table(
    "scores",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("game", String(20), nullable=False),
    Column("kind", String(40), nullable=False),
    Column("score", Integer, nullable=False),
    Column("ended_at", Instant, nullable=False),
    Index("ix_scores_game_kind_score", "game", "kind", "score", "ended_at"),
)
"""Scores of finished races that can be compared; the lowest is the best."""

daily_readers = Table(
    "daily_readers",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("game", String(20), primary_key=True),
    Column("minute", SmallInteger, nullable=False),
    Column("due_at", Instant, nullable=False, index=True),
)
"""Who gets a game's box of the day: at which minute of the local day, and when next."""

daily_boxes = Table(
    "daily_boxes",
    metadata,
    Column("game", String(20), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("options", JSON, nullable=False),
)
"""The box of each UTC day (days since 1970): the option words of its boards, secret."""

daily_boards = Table(
    "daily_boards",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("game", String(20), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("board_id", ForeignKey("boards.id"), nullable=False, unique=True),
    Column("solved", Boolean, nullable=True),
    Column("score", Integer, nullable=True),
    Index("ix_daily_boards_game_day", "game", "day"),
)
"""Who has got which day's box; the key keeps anybody from getting it twice. `solved` and `score`
are empty until that board is over."""
