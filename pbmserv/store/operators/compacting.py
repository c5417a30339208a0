"""Gives free room of a database back to the disk while a server goes on accepting mail."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from pbmserv.store.core.database import Database

STEP_PAGES = 500
"""Pages per transaction, which takes some tens of milliseconds."""

PAUSE_S = 0.15
"""Pause in seconds between two such transactions. SQLite has no queue of writers: a waiting writer
tries again every 100 ms at most, and succeeds only if nobody else writes at that moment."""


@dataclass(frozen=True, slots=True)
class Room:
    """The octets of a database, and how many of them are free (0 for PostgreSQL: unknown)."""

    total: int
    free: int

    def __str__(self) -> str:
        free = f", {self.free / 1e6:,.1f} MB of it free" if self.free else ""
        return f"{self.total / 1e6:,.1f} MB{free}"


def room(database: Database) -> Room:
    """Return the room of the database on disk, without SQLite's log."""
    with database.reading.connect() as connection:
        if not database.is_sqlite:
            query = text("SELECT pg_database_size(current_database())")
            return Room(connection.execute(query).scalar_one(), 0)
        size = _pragma(connection, "page_size")
        pages, free = _pragma(connection, "page_count"), _pragma(connection, "freelist_count")
        return Room(pages * size, free * size)


def compact(database: Database, pause: Callable[[float], None]) -> None:
    """Give free room back to the disk. Mails that arrive meanwhile wait for some milliseconds.

    Args:
        pause: waits for a number of seconds.
    """
    if not database.is_sqlite:
        _outside_transactions(database, "VACUUM ANALYZE")
        return
    with database.writing.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        pages = driver.execute("PRAGMA freelist_count").fetchone()[0]
        for _ in range(0, pages, STEP_PAGES):  # without pages that become free meanwhile
            driver.executescript(f"PRAGMA incremental_vacuum({STEP_PAGES})")
            pause(PAUSE_S)
    _shorten_log(database)


def rebuild(database: Database) -> None:
    """Write the database again; meanwhile nobody can write (PostgreSQL: nor read)."""
    if not database.is_sqlite:
        _outside_transactions(database, "VACUUM FULL ANALYZE")
        return
    # The temporary file of VACUUM is as large as the database, so it must not be in memory.
    _outside_transactions(
        database, "PRAGMA temp_store=FILE", "PRAGMA auto_vacuum=INCREMENTAL", "VACUUM"
    )
    _shorten_log(database)


def _shorten_log(database: Database) -> None:
    """Move SQLite's log into the file, unless a reader is in the way."""
    with database.writing.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        driver.execute("PRAGMA busy_timeout=1000")
        try:
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.OperationalError:  # the next commit of the other process does it
            driver.rollback()
        connection.detach()


def _outside_transactions(database: Database, *statements: str) -> None:
    """Execute statements that cannot run in a transaction."""
    with database.writing.connect() as connection:
        if database.is_sqlite:
            driver: Any = connection.connection.dbapi_connection
            for statement in statements:
                driver.execute(statement)
            connection.detach()  # its settings must not be reused
            return
        autocommit = connection.execution_options(isolation_level="AUTOCOMMIT")
        for statement in statements:
            autocommit.execute(text(statement))


def _pragma(connection: Connection, name: str) -> int:
    value: int = connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
    return value
