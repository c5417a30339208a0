"""Tables of boxes that several players get, of boxes of the day, and of hot seats."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    text,
    true,
)

from pbmserv.store.tables.columns import (
    Instant,
    JsonTuple,
    Key,
    PackedJson,
    metadata,
    partial_index,
)

shared_boxes = Table(
    "shared_boxes",
    metadata,
    Column("id", Key, primary_key=True),
    Column("game", String(32), nullable=False),
    Column("options", JsonTuple, nullable=False),
    Column("day", Integer, nullable=True),
    Column("event_id", Key, nullable=True),
    Column("number", SmallInteger, nullable=True),
    Column("seed", LargeBinary, nullable=True),
    UniqueConstraint("game", "day", name="uq_shared_boxes_game"),
    UniqueConstraint("event_id", "number", name="uq_shared_boxes_event_id"),
)
"""Boxes that several players get, each on a board of their own; see `shared_boxes.Box`."""

shared_boards = Table(
    "shared_boards",
    metadata,
    Column("box_id", ForeignKey("shared_boxes.id"), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("board_id", Key, nullable=True, index=True),
    Column("rank", SmallInteger, nullable=True),
    Column("score", Integer, nullable=True),
    Column("counts", Boolean, nullable=False, server_default=true()),
    partial_index("ix_shared_boards_open", "box_id", where=text("rank IS NULL")),
)
"""Players of shared boxes; see `shared_boxes.SharedBoard`. The key keeps a player from getting a
box twice. `board_id`: without a foreign key, since boards may be on another node."""

daily_readers = Table(
    "daily_readers",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("game", String(20), primary_key=True),
    Column("minute", SmallInteger, nullable=False),
    Column("due_at", Instant, nullable=False, index=True),
)
"""Subscriptions to boxes of the day. `minute`: minute of the local day; `due_at`: time of the
next."""

daily_tries = Table(
    "daily_tries",
    metadata,
    Column("game", String(20), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("mark", String(64), primary_key=True),
)
"""Keyed hashes of mailboxes whose owners have got a day's box, for about a day. They count the
try of a player who was deleted, or changed the address."""

hot_seats = Table(
    "hot_seats",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("box", PackedJson, nullable=False),
    Column("changed_at", Instant, nullable=False, index=True),
)
"""Boxes that one person fills by hand for another person at the same device, and the moves on them.
They belong to no player, and are deleted some days after the last change. `key`: random word in the
page's address; `box`: see `service.solo.hot_seat.HotSeat`."""
