"""Tables of the work of the bots' process: turns of bots, and the coach's reports."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, SmallInteger, String, Table

from pbmserv.store.tables.columns import Instant, Key, PackedJson, metadata

house_turns = Table(
    "house_turns",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("due_at", Instant, nullable=False, index=True),
    Column("letter_id", Key, nullable=True, index=True),
    Column("game", String(32), nullable=False, server_default=""),
    Column("share", SmallInteger, nullable=False, server_default="0"),
)
"""Boards on which a bot is to move, added in the transaction that made it the bot's turn, so that a
crash loses no move. `letter_id`: letter to the player who moved; it waits in the outbox (state
coming) for the bot's move. `game`: the board's. `share`: part of the queue, by the board's number,
see `store.delivery.shares`."""

analyses = Table(
    "analyses",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("ply", Integer, primary_key=True, autoincrement=False),
    Column("seat", SmallInteger, primary_key=True, autoincrement=False),
    Column("due_at", Instant, nullable=True, index=True),
    Column("found", PackedJson, nullable=False),
    Column("game", String(32), nullable=False, server_default=""),
    Column("share", SmallInteger, nullable=False, server_default="0"),
)
"""Requested reports of the coach about a seat's play up to a ply. `due_at`: null when the bots'
process has finished; then an empty `found` means that no report could be made. `game`, `share`: as
in `house_turns`."""

awaited_analyses = Table(
    "awaited_analyses",
    metadata,
    Column("letter_id", Key, primary_key=True, autoincrement=False),
    Column("board_id", ForeignKey("boards.id"), primary_key=True, index=True),
)
"""Letters with reports: each waits in the outbox (state coming) until no row of the board is due in
`analyses`."""
