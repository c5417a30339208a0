"""Tables of ladders: places, games, movements, and who was first for how long."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table, true

from pbmserv.store.tables.columns import Instant, Key, metadata

ladders = Table(
    "ladders",
    metadata,
    Column("id", Key, primary_key=True),
    Column("game", String(32), nullable=False, unique=True),
    Column("due_at", Instant, nullable=False, index=True),
)
"""Ladders, one for each game that somebody has joined. Each change of places locks the row.
`due_at`: time of the next daily check."""

ladder_places = Table(
    "ladder_places",
    metadata,
    Column("ladder_id", ForeignKey("ladders.id"), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("rank", Integer, nullable=False),
    Column("joined_at", Instant, nullable=False),
    Column("active_at", Instant, nullable=False),
    Column("news", Boolean, nullable=False, server_default=true()),
    Index("ix_ladder_places_ladder_id_rank", "ladder_id", "rank"),
)
"""The players of ladders; the ranks of each are 1, 2, 3 … `active_at`: a time at which the player
was active, perhaps not the last one. `news`: whether the player gets letters about movements."""

ladder_games = Table(
    "ladder_games",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True, autoincrement=False),
    Column("ladder_id", ForeignKey("ladders.id"), nullable=False),
    Column("challenger_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("defender_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("begun_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=True, index=True),
    Column("ended_at", Instant, nullable=True),
    Column("result", String(16), nullable=True),
    Index("ix_ladder_games_ladder_id_ended_at", "ladder_id", "ended_at"),
)
"""Challenges of ladders. `due_at`: null once the result has moved the players, else the time from
which a finished board is looked at; `result`: see `service.ladder.ranks.Result`."""

ladder_moves = Table(
    "ladder_moves",
    metadata,
    Column("id", Key, primary_key=True),
    Column("ladder_id", ForeignKey("ladders.id"), nullable=False),
    Column("player_id", ForeignKey("players.id"), nullable=False),
    Column("before", Integer, nullable=True),
    Column("after", Integer, nullable=True),
    Column("why", String(16), nullable=False),
    Column("board_id", Key, nullable=True),
    Column("created_at", Instant, nullable=False),
    Index("ix_ladder_moves_ladder_id_created_at", "ladder_id", "created_at"),
)
"""Movements: a player went from one rank to another, past the players between. `before` is null
when the player joined, `after` when the player left."""

ladder_reigns = Table(
    "ladder_reigns",
    metadata,
    Column("id", Key, primary_key=True),
    Column("ladder_id", ForeignKey("ladders.id"), nullable=False, index=True),
    Column("player_id", ForeignKey("players.id"), nullable=False),
    Column("began_at", Instant, nullable=False),
    Column("ended_at", Instant, nullable=True),
    Column("honoured_at", Instant, nullable=True),
)
"""Times at first place. `honoured_at`: when it was entered in the hall of fame; short times are
deleted when they end."""
