"""Rows of the heartbeat, which shows that the server is alive, and of its outages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, insert, select

from pbmserv.engine.time_spans import Span
from pbmserv.store.core.statements import add_if_new, change_rows, columns_of, first_row
from pbmserv.store.tables.downtime import heartbeats, outages

GAP = timedelta(minutes=5)
"""Time without a heartbeat after which the server counts as down."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The newest sign of life of the server.

    Attributes:
        beat_at: time at which one of its processes was last alive.
        up_since: end of the last outage before that.
    """

    beat_at: datetime
    up_since: datetime


_OUTAGES = (
    select(outages.c.begins, outages.c.ends)
    .where(outages.c.ends > bindparam("since"))
    .order_by(outages.c.begins)
)
_HEARTBEAT = select(*columns_of(Heartbeat, heartbeats)).where(heartbeats.c.id == 1)


def heartbeat(connection: Connection) -> Heartbeat | None:
    """Return the heartbeat, `None` before the server's first start."""
    return first_row(connection, Heartbeat, _HEARTBEAT)


def up_since(connection: Connection, now: datetime) -> datetime | None:
    """Return since when the server is up.

    Returns:
        None if the server has just been down. Then the caller must `beat` first: an outage that is
        not recorded yet would count against the players.
    """
    beat = heartbeat(connection)
    return None if beat is None or now - beat.beat_at > GAP else beat.up_since


def outages_since(connection: Connection, since: datetime) -> tuple[Span, ...]:
    """Return the server's outages that end after *since*."""
    rows = connection.execute(_OUTAGES, {"since": since})
    return tuple((row[0], row[1]) for row in rows)


def beat(connection: Connection, now: datetime, present: datetime | None = None) -> Span | None:
    """Record that the server was alive at *now*; return an outage that this reveals.

    SQLite has one server. If its last heartbeat is ahead of *present* (default: now) by more than
    `GAP`, the machine's clock was set back. Then the heartbeat starts again, and the returned span
    ends before it begins. When the clock is set forward again, the time lived by the wrong clock
    is an outage, so it counts against nobody.
    """
    last = first_row(connection, Heartbeat, _HEARTBEAT.with_for_update())
    if last is None:
        add_if_new(connection, heartbeats, id=1, beat_at=now, up_since=now)
        return None
    if last.beat_at - (present or now) > GAP and connection.dialect.name == "sqlite":
        _set_beat(connection, now, now)
        return last.beat_at, now
    if now <= last.beat_at:  # another process's clock is a little ahead of ours
        return None
    outage = (last.beat_at, now) if now - last.beat_at > GAP else None
    if outage is not None:
        connection.execute(insert(outages).values(begins=outage[0], ends=outage[1]))
    _set_beat(connection, now, last.up_since if outage is None else now)
    return outage


def _set_beat(connection: Connection, now: datetime, up_since: datetime) -> None:
    change_rows(connection, heartbeats, {"id": 1}, beat_at=now, up_since=up_since)
