"""Brings a database to the schema of this version, and tells when it is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text

from pbmserv.errors import ServerFault
from pbmserv.store.session import Database

_LOCK = 0x70626D73  # "pbms": one migration at a time over one PostgreSQL


def migrations_folder() -> Path:
    """Where the migrations are: in the installed package, else beside it in the checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


def upgrade(database: Database, revision: str = "head") -> None:
    """Migrate up to *revision*; a fresh database gets everything."""
    from alembic import command

    with database.writing.begin() as connection:
        if not database.is_sqlite:
            connection.execute(text("SET LOCAL lock_timeout = '60s'"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        command.upgrade(_config(connection), revision)


def downgrade(database: Database, revision: str) -> None:
    """Migrate down to *revision* (``"base"`` = nothing left)."""
    from alembic import command

    with database.writing.begin() as connection:
        command.downgrade(_config(connection), revision)


def head() -> str:
    """The newest revision that this version knows: the one no other comes after."""
    names = [p.stem.partition("_")[0] for p in (migrations_folder() / "versions").glob("*.py")]
    return max(names)


def current(connection: Connection) -> str | None:
    """The revision that the database is at; ``None`` for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(
        text("SELECT version_num FROM alembic_version")
    ).scalar_one_or_none()
    return found


def prepare(database: Database) -> None:
    """Upgrade when needed. Cheap when nothing is to do: Alembic is not even imported.

    Raises:
        ServerFault: the database is newer than this version.
    """
    with database.reading.connect() as connection:
        found = current(connection)
    if found == head():
        return
    if found is not None and found > head():
        raise ServerFault(
            f"the database is at revision {found}, but this version knows only {head()}; "
            "install the newer version again"
        )
    upgrade(database)


def check(database: Database) -> list[str]:
    """What is wrong with the schema, one sentence each; empty = all is well."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from pbmserv.store.models import metadata

    with database.reading.connect() as connection:
        found = current(connection)
        if found != head():
            return [f"database is at revision {found or 'none'}, newest is {head()}"]
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences: list[Any] = compare_metadata(context, metadata)
    return [f"schema differs from the models: {difference!r}" for difference in differences]


def _config(connection: Connection) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.attributes["connection"] = connection
    return config
