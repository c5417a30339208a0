"""Tables of times when the server was down, or a game could not be played."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Column, SmallInteger, String, Table, Text, text

from pbmserv.store.tables.columns import Instant, Key, metadata, partial_index, state_type


class PauseKind(StrEnum):
    """Why a game cannot be played."""

    STOPPED = "stopped"
    """Its rules hung repeatedly."""
    GONE = "gone"
    """It, or the version of a running board, is not installed."""


heartbeats = Table(
    "heartbeats",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("beat_at", Instant, nullable=False),
    Column("up_since", Instant, nullable=False),
)
"""One row: when a process of the server was last alive, and since when without interruption."""

outages = Table(
    "outages",
    metadata,
    Column("id", Key, primary_key=True),
    Column("begins", Instant, nullable=False),
    Column("ends", Instant, nullable=False, index=True),
)
"""Times when the server was down; they count against nobody."""

game_stops = Table(
    "game_stops",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("game", String(32), nullable=False),
    Column("stopped_at", Instant, nullable=False),
)
"""Ends of processes that hung or died in the rules of a game, see `store.boards.game_pauses`."""

game_pauses = Table(
    "game_pauses",
    metadata,
    Column("id", Key, primary_key=True),
    Column("game", String(32), nullable=False),
    Column("kind", state_type(PauseKind, 8), nullable=False),
    Column("why", Text, nullable=False),
    Column("begins", Instant, nullable=False),
    Column("ends", Instant, nullable=True),
    partial_index("uq_game_pauses_open", "game", "kind", where=text("ends IS NULL"), unique=True),
)
"""Times when a game could not be played; they count against none of its players. `ends`: null while
it cannot."""
