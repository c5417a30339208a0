"""Rows of senders whose mail the door refuses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, or_, select

from pbmserv.store.core.statements import change_rows, columns_of, delete_rows
from pbmserv.store.tables.operators import blocked_senders


@dataclass(frozen=True, slots=True)
class BlockedSender:
    """A blocked address, domain or network.

    Attributes:
        until: end of the block; `None` for no end.
    """

    name: str
    until: datetime | None
    created_at: datetime


def put(connection: Connection, name: str, until: datetime | None, now: datetime) -> None:
    """Add a block, or change the end of an existing one."""
    if not change_rows(connection, blocked_senders, {"name": name}, until=until):
        connection.execute(insert(blocked_senders).values(name=name, until=until, created_at=now))


def remove(connection: Connection, name: str) -> bool:
    """Delete a block; return whether there was one."""
    return delete_rows(connection, blocked_senders, name=name) > 0


def current(connection: Connection, now: datetime) -> list[BlockedSender]:
    """Return the blocks that have not ended, in the order of their names."""
    statement = select(*columns_of(BlockedSender, blocked_senders)).where(
        or_(blocked_senders.c.until.is_(None), blocked_senders.c.until > now)
    )
    rows = connection.execute(statement.order_by(blocked_senders.c.name))
    return [BlockedSender(*row) for row in rows]


def forget_ended(connection: Connection, now: datetime) -> None:
    """Delete the blocks that have ended."""
    connection.execute(delete(blocked_senders).where(blocked_senders.c.until <= now))
