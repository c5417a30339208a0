"""Rows of the keys that sign reply addresses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from pbmserv.store.core.statements import add_if_new, change_rows
from pbmserv.store.tables.accounts import keys


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key without its secret."""

    id: int
    created_at: datetime
    retired_at: datetime | None


def listed(connection: Connection) -> list[KeyLine]:
    """Return all keys, oldest first."""
    rows = connection.execute(
        select(keys.c.id, keys.c.created_at, keys.c.retired_at).order_by(keys.c.id)
    )
    return [KeyLine(*row) for row in rows]


def valid_secrets(connection: Connection) -> dict[int, bytes]:
    """Return the secrets of keys that are not retired, by id."""
    return _secrets(connection, is_retired=False)


def retired_secrets(connection: Connection) -> dict[int, bytes]:
    """Return the secrets of retired keys, by id."""
    return _secrets(connection, is_retired=True)


def _secrets(connection: Connection, *, is_retired: bool) -> dict[int, bytes]:
    is_valid = keys.c.retired_at.is_(None)
    statement = select(keys.c.id, keys.c.secret).where(~is_valid if is_retired else is_valid)
    return {row.id: row.secret for row in connection.execute(statement)}


def retire(connection: Connection, key_id: int, now: datetime) -> None:
    """Retire a key, so that it verifies no address."""
    change_rows(connection, keys, {"id": key_id}, retired_at=now)


def add(connection: Connection, key_id: int, secret: bytes, now: datetime) -> None:
    """Add a key; do nothing if another process has added this id first."""
    add_if_new(connection, keys, id=key_id, secret=secret, created_at=now)
