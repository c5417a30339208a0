"""Tables of events: leagues, cups, Swiss tournaments; their entries, pairings and bars."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    false,
)

from pbmserv.store.tables.columns import Instant, JsonTuple, Key, metadata, state_type


class EventStatus(StrEnum):
    """The status of an event.

    Attributes:
        OPEN: it takes entries.
        CLOSED: it takes no more entries, and has not started.
        STARTING: its groups are drawn, and the boards of some are made.
        RUNNING: its boards are played.
        FINISHED: its table is final.
        CANCELLED: it did not take place.
    """

    OPEN = "open"
    CLOSED = "closed"
    STARTING = "starting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class EntryStatus(StrEnum):
    """The status of a player in an event.

    Attributes:
        INVITED: the player may enter.
        ENTERED: the player takes part.
        LEFT: the player left after half of the games; the games played so far count.
        REMOVED: the player left before that; no game of the player counts in the table.
    """

    INVITED = "invited"
    ENTERED = "entered"
    LEFT = "left"
    REMOVED = "removed"


events = Table(
    "events",
    metadata,
    Column("id", Key, primary_key=True),
    Column("kind", String(12), nullable=False),
    Column("game", String(32), nullable=False),
    Column("number", Integer, nullable=False),
    Column("name", String(60), nullable=False),
    Column("status", state_type(EventStatus, 10), nullable=False),
    Column("options", JsonTuple, nullable=False),
    Column("rules", JSON, nullable=False),
    Column("owner_id", ForeignKey("players.id"), nullable=True, index=True),
    Column("closes_at", Instant, nullable=False),
    Column("starts_at", Instant, nullable=False),
    Column("ends_at", Instant, nullable=True),
    Column("round", SmallInteger, nullable=False),
    Column("due_at", Instant, nullable=True, index=True),
    Column("created_at", Instant, nullable=False),
    Column("finished_at", Instant, nullable=True),
    UniqueConstraint("kind", "game", "number", name="uq_events_kind"),
    Index("ix_events_status_id", "status", "id"),
    sqlite_autoincrement=True,
)
"""Events; see `store.events.events.Event`. `number`: counts the events of a kind and game.
`due_at`: time of the next change by the scheduler; null when the event is over."""

entries = Table(
    "entries",
    metadata,
    Column("event_id", ForeignKey("events.id"), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("status", state_type(EntryStatus, 10), nullable=False),
    Column("group_number", SmallInteger, nullable=True),
    Column("seed", Integer, nullable=True),
    Column("rating", Float, nullable=True),
    Column("forfeits", SmallInteger, nullable=False, server_default="0"),
    Column("place", SmallInteger, nullable=True),
    Column("muted", Boolean, nullable=False, server_default=false()),
    Column("entered_at", Instant, nullable=False),
    Column("team_id", Key, nullable=True),
)
"""Players of events. `group_number`: group, from 1. `seed`: order at the start, within the group.
`rating`: at the start. `forfeits`: games lost on time. `place`: in the final table of the group.
`muted`: the player wants no letters about the event. `team_id`: the team of an event of teams."""

pairings = Table(
    "pairings",
    metadata,
    Column("event_id", ForeignKey("events.id"), primary_key=True),
    Column("round", SmallInteger, primary_key=True, autoincrement=False),
    Column("group_number", SmallInteger, primary_key=True, autoincrement=False),
    Column("number", SmallInteger, primary_key=True, autoincrement=False),
    Column("first_id", ForeignKey("players.id"), nullable=False),
    Column("second_id", ForeignKey("players.id"), nullable=True),
    Column("board_id", Key, nullable=True, unique=True),
    Column("first_points", SmallInteger, nullable=True),
    Column("second_points", SmallInteger, nullable=True),
    Column("reason", String(12), nullable=False, server_default=""),
)
"""Games of events. `second_id`: null for a bye. `board_id`: without a foreign key, since boards may
be on another node. `first_points`, `second_points`: 2 for a win, 1 for a draw; null while the game
runs, and for a game that leaves the table (reason ``removed``). `reason`: as in the outcome of the
board, or ``bye``, ``decided`` or ``removed``."""

regulars = Table(
    "regulars",
    metadata,
    Column("game", String(32), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("since", Instant, nullable=False),
)
"""Players who enter each season of a game's league."""

event_bars = Table(
    "event_bars",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True, autoincrement=False),
    Column("until", Instant, nullable=False),
)
"""Players who lost event games on time, and may not enter events for a while."""
