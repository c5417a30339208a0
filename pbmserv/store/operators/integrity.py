"""Looks for damaged pages in databases of SQLite; PostgreSQL has checksums of its own."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.exc import DBAPIError, OperationalError

from pbmserv.store.core.database import Database, error_line

STEPS = 100_000
"""Instructions of SQLite between two questions whether to stop."""


def damage(database: Database, is_ending: Callable[[], bool] = lambda: False) -> str:
    """Read all pages of a database; return the first fault, ``""`` if there is none.

    Others may read and write meanwhile.

    Args:
        is_ending: whether to stop looking, which finds nothing; asked again and again.
    """
    if not database.is_sqlite:
        return ""
    with database.reading.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.set_progress_handler(is_ending, STEPS)
        try:
            verdict = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
        except DBAPIError as error:
            if isinstance(error, OperationalError) and is_ending():
                return ""
            return error_line(error)
        finally:
            driver.set_progress_handler(None, STEPS)
    lines = [line for line in str(verdict).splitlines() if not line.startswith("***")]
    return "" if verdict == "ok" else (lines or [str(verdict)])[0]
