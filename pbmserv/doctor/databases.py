"""Checks that the databases are whole, and fit this version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from pbmserv.config.display import blank_passwords
from pbmserv.doctor.finding import Finding, problem, warning
from pbmserv.doctor.installation import Installation, first_line
from pbmserv.errors import PbmError
from pbmserv.files import sqlite_file
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, error_line, mail_url
from pbmserv.store.operators import integrity

OLDEST_POSTGRESQL = 13
"""The oldest version that is maintained."""


def check(installation: Installation) -> Iterator[Finding]:
    """Check the stores that exist."""
    url = installation.settings.database
    for store in dict.fromkeys((url, mail_url(url))):
        path = sqlite_file(store)
        if path is not None and not path.exists():
            continue
        try:
            yield from _check_store(store)
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            yield problem("Database", f"{blank_passwords(store)}: {error_line(error)}.")


def _check_store(url: str) -> Iterator[Finding]:
    name = blank_passwords(url)
    with closing(Database(url)) as database:
        try:
            schema.require(database)
        except PbmError as error:
            yield problem("Database", f"{name}: {error}", "pbmserv db upgrade")
            return
        if database.is_sqlite:
            yield _check_sqlite(database, name)
            return
        with database.reading.connect() as connection:
            yield _check_postgresql(connection, name)


def _check_sqlite(database: Database, name: str) -> Finding:
    fault = integrity.damage(database)
    if not fault:
        return Finding("Database", f"{name} is whole and fits this version.")
    advice = "systemctl stop pbmserv; pbmserv db restore NEWEST-COPY --overwrite"
    return problem("Database", f"{name} is damaged: {fault}", advice)


def _check_postgresql(connection: Connection, name: str) -> Finding:
    version = int(connection.execute(text("SHOW server_version_num")).scalar_one()) // 10_000
    if version < OLDEST_POSTGRESQL:
        return warning(
            "Database",
            f"{name} is PostgreSQL {version}, which nobody maintains any more.",
            "Upgrade PostgreSQL.",
        )
    dump = first_line("pg_dump", "--version").rpartition(" ")[2].partition(".")[0]
    digits = "".join(char for char in dump if char.isdigit())
    if not digits or int(digits) < version:
        reason = f"pg_dump is version {digits}" if digits else "there is no pg_dump"
        return warning(
            "Database",
            f"{name} is PostgreSQL {version} and {reason}, so `db backup` fails.",
            f"apt install postgresql-client-{version}",
        )
    return Finding("Database", f"{name} (PostgreSQL {version}) fits this version.")
