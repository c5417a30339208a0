"""The table of the house's turns."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Table

from pbmserv.store.core.columns import Instant, Key, metadata

house_turns = Table(
    "house_turns",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("due_at", Instant, nullable=False, index=True),
    Column("letter_id", Key, nullable=True, index=True),
)
"""Boards on which the house is to move. Written in the transaction that made it the house's turn,
so that no crash loses a move. `letter_id`: the letter to the one who moved; it waits in the outbox
(state coming) to go out with the house's move in it."""
