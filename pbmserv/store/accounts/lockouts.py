"""Rows that slow down the guessing of passwords, shared by all hosts and kept over restarts.

Keys are hashes, so no row shows a userid, a network or an address.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, case, delete, select, update

from pbmserv.store.core.statements import columns_of, delete_rows, has_row, insert_into, put_row
from pbmserv.store.tables.accounts import password_sources, wrong_passwords


@dataclass(frozen=True, slots=True)
class WrongPasswords:
    """The wrong passwords counted under one key.

    Attributes:
        wrong: number in the current window.
        locked_until: end of the newest lock; `None` if there was none.
        level: number of locks before that one without a pause.
    """

    wrong: int
    locked_until: datetime | None
    level: int


_COLUMNS = columns_of(WrongPasswords, wrong_passwords)
_LOCKED = select(wrong_passwords.c.key).where(
    wrong_passwords.c.key.in_(bindparam("keys", expanding=True)),
    wrong_passwords.c.locked_until > bindparam("now"),
)


def add_wrong(
    connection: Connection, key: str, *, window_start: datetime, now: datetime, forget_at: datetime
) -> WrongPasswords:
    """Count a wrong password and return the updated row.

    Args:
        window_start: start of the current window; an older count begins again at one.
        forget_at: time at which the row may be removed, unless a lock keeps it longer.
    """
    row = wrong_passwords.c
    new = insert_into(connection, wrong_passwords).values(
        key=key, wrong=1, since=now, level=0, forget_at=forget_at
    )
    is_open = row.since > window_start
    kept_longer = row.forget_at > new.excluded.forget_at
    statement = new.on_conflict_do_update(
        index_elements=["key"],
        set_={
            "wrong": case((is_open, row.wrong + 1), else_=1),
            "since": case((is_open, row.since), else_=new.excluded.since),
            "forget_at": case((kept_longer, row.forget_at), else_=new.excluded.forget_at),
        },
    ).returning(*_COLUMNS)
    return WrongPasswords(*connection.execute(statement).one())


def lock(
    connection: Connection, key: str, until: datetime, level: int, forget_at: datetime
) -> None:
    """Lock a key that has a row, and count from zero again."""
    connection.execute(
        update(wrong_passwords)
        .where(wrong_passwords.c.key == key)
        .values(wrong=0, locked_until=until, level=level, forget_at=forget_at)
    )


def locked_keys(connection: Connection, keys: Collection[str], now: datetime) -> set[str]:
    """Return those of *keys* that are locked now."""
    return set(connection.execute(_LOCKED, {"keys": list(keys), "now": now}).scalars())


def forget(connection: Connection, key: str) -> None:
    """Remove the count and the lock of a key."""
    delete_rows(connection, wrong_passwords, key=key)


def is_source(connection: Connection, key: str, now: datetime) -> bool:
    """Return whether a player recently sent the right password from this source."""
    row = password_sources.c
    return has_row(connection, password_sources, row.key == key, row.forget_at > now)


def note_source(connection: Connection, key: str, forget_at: datetime) -> None:
    """Remember a source of a right password."""
    put_row(connection, password_sources, {"key": key}, forget_at=forget_at)


def prune(connection: Connection, now: datetime) -> int:
    """Remove rows that no longer matter; return their number."""
    return sum(
        connection.execute(delete(table).where(table.c.forget_at < now)).rowcount
        for table in (wrong_passwords, password_sources)
    )
