"""Brings a database to the schema of this version, and tells when it is not there."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import Connection, inspect, text

from pbmserv.errors import ServerFault
from pbmserv.store.core.database import Database

Stores: TypeAlias = Collection[str]
ALL: Stores = ("mail", "game")
"""The stores whose tables a database has: on SQLite each may be a file, PostgreSQL has both."""

LOCK = 0x70626D73  # "pbms": one migration at a time over one PostgreSQL


def migrations_folder() -> Path:
    """Where the migrations are: in the installed package, else beside it in the checkout."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "_migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


def upgrade(database: Database, stores: Stores = ALL) -> None:
    """Migrate to the newest revision; a fresh database gets the tables of *stores*."""
    with database.writing.begin() as connection, _time_for(database, connection):
        build(connection, stores)


def build(connection: Connection, stores: Stores = ALL) -> None:
    """The same in a transaction of the caller's, who gives it the time that it needs."""
    from alembic import command

    if connection.dialect.name != "sqlite":
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    command.upgrade(_config(connection, stores), "head")


def _time_for(database: Database, connection: Connection) -> AbstractContextManager[None]:
    """A migration may take as long as it needs."""
    if database.is_sqlite:
        return nullcontext()
    from pbmserv.store.core.postgresql import unhurried

    return unhurried(connection)


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


def prepare(database: Database, stores: Stores = ALL) -> None:
    """Upgrade when needed. Cheap when nothing is to do: Alembic is not even imported.

    Raises:
        ServerFault: the database is newer than this version.
    """
    with database.reading.connect() as connection:
        found = current(connection)
    if found == head():
        return
    if found is not None and found > head():
        raise ServerFault(_newer(found))
    upgrade(database, stores)


def require(database: Database) -> None:
    """Refuse a database that is not at this version's revision, older or newer.

    Raises:
        ServerFault: says what to do.
    """
    with database.reading.connect() as connection:
        found = current(connection)
    if found is None or found < head():
        raise ServerFault(
            f"the database is at revision {found or 'none'}, and this version needs {head()}; "
            "stop the server, keep a copy (pbmserv db backup FILE), then run: pbmserv db upgrade"
        )
    if found > head():
        raise ServerFault(_newer(found))


def _newer(found: str) -> str:
    return (
        f"the database is at revision {found}, but this version knows only {head()}; "
        "install the newer version again"
    )


def check(database: Database, stores: Stores = ALL) -> list[str]:
    """What in the tables is not as the models have it, one sentence each; empty = all is well.

    Raises:
        ServerFault: the database is not at this version's revision; says what to do.
    """
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from pbmserv.store.tables.columns import metadata

    def belongs(found: Any, _name: str | None, kind: str, reflected: bool, _other: Any) -> bool:
        return kind != "table" or reflected or found.info.get("store", "game") in stores

    require(database)
    with database.reading.connect() as connection:
        options = {"compare_type": True, "include_object": belongs}
        context = MigrationContext.configure(connection, opts=options)
        differences: list[Any] = compare_metadata(context, metadata)
    return [f"schema differs from the models: {difference!r}" for difference in differences]


def _config(connection: Connection, stores: Stores) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.attributes["connection"] = connection
    config.attributes["stores"] = stores
    return config
