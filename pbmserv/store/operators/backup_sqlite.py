"""Copies of a SQLite database.

By VACUUM INTO: it reads one moment of the database and holds no writer up. SQLite's backup
interface begins anew with each commit of another process, unless it goes in one step; that takes
as long (250 MB beside a busy writer: 1.7 s) and copies free pages as well.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, select, text

from pbmserv.errors import OperatorError
from pbmserv.files import Place, file_of, make_private, over, written
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.tables.accounts import PlayerState, address_changes, players, signups

MAGIC = b"SQLite format 3\x00"
"""How a copy begins."""
WHAT = "a SQLite database, which is what PBMSERV_DATABASE names"

_COUNTED = ("boards", "inbox", "outbox")
"""Tables of which SQLite itself remembers the highest number that it ever gave."""

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def save(database: Database, target: Path) -> None:
    """Copy a database into an empty file.

    Raises:
        OperatorError: there is no room for it.
    """
    with database.reading.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        try:
            driver.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.OperationalError as error:
            raise OperatorError(f"the copy cannot be written: {error}") from None


def revision(copy: Path) -> str | None:
    """The revision of a whole copy; ``None`` for another program's database.

    Raises:
        OperatorError: it is damaged.
    """
    try:
        with closing(
            sqlite3.connect(f"{copy.absolute().as_uri()}?immutable=1", uri=True)
        ) as opened:
            (found,) = opened.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise OperatorError(f"the copy is damaged: {found}")
            ours = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
            if opened.execute(ours).fetchone() is None:
                return None
            (number,) = opened.execute("SELECT version_num FROM alembic_version").fetchone()
            return str(number)
    except (sqlite3.DatabaseError, TypeError) as error:
        raise OperatorError(f"the copy is damaged: {error}") from None


def restore(url: str, source: Path, place: Place, skipped: int) -> None:
    """Put a whole copy where the database belongs; see `backup.restore`."""
    named = file_of(url)
    assert named is not None
    file = named.resolve()
    make_private(file.parent)
    with _alone(file, place), written(file, over) as made:
        with source.open("rb") as original, made.open("wb") as copy:
            shutil.copyfileobj(original, copy)
        database = Database(f"sqlite:///{made}")
        try:
            schema.prepare(database)
            with database.writing.begin() as connection:
                _skip(connection, skipped)
        finally:
            database.close()
        # What an older database has left beside it must never be read into this one.
        for end in ("-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                file.with_name(file.name + end).unlink()


@contextmanager
def _alone(file: Path, place: Place) -> Iterator[None]:
    """Keep everybody else out of the database that is there, if there is one.

    Raises:
        OperatorError: it is in use, or there is something in it that may not be replaced.
    """
    if not file.exists() or not file.stat().st_size:
        yield
        return
    with closing(sqlite3.connect(file, timeout=1, isolation_level=None)) as held:
        tables = 1
        try:
            tables = held.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            held.execute("PRAGMA journal_mode=DELETE")  # for which nobody else may have it open
            held.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode in _BUSY:
                raise OperatorError(f"{file} is in use; stop the server first") from None
            # It is damaged: that may be why a copy is to take its place.
        if tables and place is not over:
            raise OperatorError(f"{file} is not empty; with --overwrite it is replaced")
        yield


def _skip(connection: Connection, many: int) -> None:
    """Leave out so many numbers of all that reply addresses name.

    Where SQLite remembers no highest number, a row that means nobody stands there.
    """
    count = text("UPDATE sqlite_sequence SET seq = seq + :many WHERE name = :name")
    first = text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :many)")
    for name in _COUNTED:
        values = {"name": name, "many": many}
        if not connection.execute(count, values).rowcount:
            connection.execute(first, values)
    now = datetime.now(UTC)
    player, signup, change = (
        (connection.execute(select(func.max(table.c.id))).scalar() or 0) + many
        for table in (players, signups, address_changes)
    )
    connection.execute(
        insert(players).values(
            id=player,
            userid=f"gone-{player}",
            password_hash="",
            address="",
            state=PlayerState.DELETED,
            accept="none",
            created_at=now,
        )
    )
    nobody = {"address": "", "batch": "restored", "player_id": player, "created_at": now}
    connection.execute(insert(signups).values(id=signup, userid="", password_hash="", **nobody))
    connection.execute(insert(address_changes).values(id=change, confirmed_at=None, **nobody))
