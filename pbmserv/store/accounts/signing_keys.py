"""Rows of the keys that sign reply addresses."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select

from pbmserv.store.core.statements import insert_into
from pbmserv.store.tables.accounts import keys


def by_id(connection: Connection) -> dict[int, bytes]:
    """Return the keys of reply addresses by id."""
    return {row.id: row.secret for row in connection.execute(select(keys.c.id, keys.c.secret))}


def add(connection: Connection, key_id: int, secret: bytes, now: datetime) -> None:
    """Add a key; do nothing if another process has added this id first."""
    connection.execute(
        insert_into(connection, keys)
        .values(id=key_id, secret=secret, created_at=now)
        .on_conflict_do_nothing()
    )
