"""Tables of ratings, and of scores of races."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, SmallInteger, String, Table

from pbmserv.store.tables.columns import Instant, metadata

ratings = Table(
    "ratings",
    metadata,
    Column("game", String(32), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("mu", Float, nullable=False),
    Column("sigma", Float, nullable=False),
    Column("ordinal", Float, nullable=False),
    Column("games", Integer, nullable=False),
    Column("wins", Integer, nullable=False),
    Column("losses", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("opponents", Integer, nullable=False, server_default="0"),
    Column("rated_at", Instant, nullable=False),
    Index("ix_ratings_game_ordinal", "game", "ordinal", "player_id"),
)
"""The strength of a player at a game, and the number of different opponents it comes from.
Only a cache: `pbmserv rating rebuild` makes it again."""

rating_changes = Table(
    "rating_changes",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("game", String(32), nullable=False),
    Column("number", Integer, nullable=False),
    Column("place", SmallInteger, nullable=False),
    Column("mu_before", Float, nullable=False),
    Column("sigma_before", Float, nullable=False),
    Column("mu_after", Float, nullable=False),
    Column("sigma_after", Float, nullable=False),
    Column("weight", Float, nullable=False, server_default="1"),
    Column("created_at", Instant, nullable=False),
    Index("ix_rating_changes_player_id_game_number", "player_id", "game", "number"),
)
"""Changes of ratings by boards, see `store.ratings.Change`."""

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
"""Comparable scores of finished races; the lowest is the best."""
