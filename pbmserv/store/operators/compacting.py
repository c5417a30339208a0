"""Gives the room of what was dropped back to the disk, beside a server that goes on taking mail."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from pbmserv.errors import OperatorError
from pbmserv.store.core.database import Database

STEP_PAGES = 500
"""Pages that are given back in one transaction: some tens of milliseconds."""

PAUSE_S = 0.15
"""Between two of them. SQLite's waiting is no queue: a writer that waits looks again at most every
100 ms, and gets its turn only if nobody else writes just then."""

QUICK = 300_000_000
"""Octets that are rebuilt in a few seconds, well within what a writer waits for another's."""


@dataclass(frozen=True, slots=True)
class Room:
    """Octets that a database takes, and how many of them hold nothing (PostgreSQL: unknown, 0)."""

    total: int
    free: int

    def __str__(self) -> str:
        free = f", {self.free / 1e6:,.1f} MB of it free" if self.free else ""
        return f"{self.total / 1e6:,.1f} MB{free}"


def room(database: Database) -> Room:
    """What the database takes on the disk, without SQLite's log."""
    with database.reading.connect() as connection:
        if not database.is_sqlite:
            query = text("SELECT pg_database_size(current_database())")
            return Room(connection.execute(query).scalar_one(), 0)
        size = _pragma(connection, "page_size")
        pages, free = _pragma(connection, "page_count"), _pragma(connection, "freelist_count")
        return Room(pages * size, free * size)


def compact(database: Database, pause: Callable[[float], None]) -> None:
    """Give back what is free. Mail that comes meanwhile waits for some milliseconds.

    A SQLite database that an older version made cannot give room back step by step; if it is
    small it is rebuilt, and from then on it can.

    Args:
        pause: waits so many seconds.

    Raises:
        OperatorError: it is such a database and not small.
    """
    if not database.is_sqlite:
        _on_its_own(database, "VACUUM ANALYZE")
        return
    with database.reading.connect() as connection:
        gradual = _pragma(connection, "auto_vacuum") == 2
    if gradual:
        _step_by_step(database, pause)
        return
    found = room(database)
    if found.total - found.free > QUICK:
        raise OperatorError(
            "an older version made this database, which can only be rebuilt as a whole, and mail "
            "would wait too long for that; stop the server, then run: pbmserv db compact --rebuild"
        )
    rebuild(database)


def rebuild(database: Database) -> None:
    """Write the database anew; nobody else can write until that is done (PostgreSQL: nor read)."""
    if not database.is_sqlite:
        _on_its_own(database, "VACUUM FULL ANALYZE")
        return
    # What VACUUM writes on its way is as large as the database: not into the memory.
    _on_its_own(database, "PRAGMA temp_store=FILE", "PRAGMA auto_vacuum=INCREMENTAL", "VACUUM")
    _shorten_log(database)


def _step_by_step(database: Database, pause: Callable[[float], None]) -> None:
    with database.writing.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        pages = driver.execute("PRAGMA freelist_count").fetchone()[0]
        for _ in range(0, pages, STEP_PAGES):  # not what is dropped meanwhile: that has no end
            driver.executescript(f"PRAGMA incremental_vacuum({STEP_PAGES})")
            pause(PAUSE_S)
    _shorten_log(database)


def _shorten_log(database: Database) -> None:
    """Bring what SQLite's log holds into the file, if no reader is in the way just now."""
    with database.writing.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        driver.execute("PRAGMA busy_timeout=1000")
        try:
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.OperationalError:  # the next commit of whoever is busy does it
            driver.rollback()
        connection.detach()


def _on_its_own(database: Database, *statements: str) -> None:
    """Execute statements that no transaction may hold."""
    with database.writing.connect() as connection:
        if database.is_sqlite:
            driver: Any = connection.connection.dbapi_connection
            for statement in statements:
                driver.execute(statement)
            connection.detach()  # its settings are nobody else's
            return
        own = connection.execution_options(isolation_level="AUTOCOMMIT")
        for statement in statements:
            own.execute(text(statement))


def _pragma(connection: Connection, name: str) -> int:
    found: int = connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
    return found
