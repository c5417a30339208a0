"""Rows of boxes that one person fills for another person at the same device."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbmserv.store.core.statements import count_rows
from pbmserv.store.tables.boxes import hot_seats

_BOX = select(hot_seats.c.box).where(hot_seats.c.key == bindparam("box_key"))


def add(connection: Connection, key: str, box: Mapping[str, Any], now: datetime) -> None:
    """Store a new box under a key that nobody can guess."""
    connection.execute(insert(hot_seats).values(key=key, box=box, changed_at=now))


def load(connection: Connection, key: str) -> Any | None:
    """Return a box, `None` if there is none under this key."""
    return connection.execute(_BOX, {"box_key": key}).scalar()


def lock(connection: Connection, key: str) -> Any | None:
    """Return a box and lock its row, `None` if there is none."""
    return connection.execute(_BOX.with_for_update(), {"box_key": key}).scalar()


def change(connection: Connection, key: str, box: Mapping[str, Any], now: datetime) -> None:
    """Store a changed box."""
    statement = update(hot_seats).where(hot_seats.c.key == key)
    connection.execute(statement.values(box=box, changed_at=now))


def forget(connection: Connection, before: datetime) -> None:
    """Delete boxes that were not changed since *before*."""
    connection.execute(delete(hot_seats).where(hot_seats.c.changed_at < before))


def count(connection: Connection) -> int:
    """Return the number of boxes."""
    return count_rows(connection, hot_seats)
