"""The schema of this version: its revision, upgrades to it, and checks of a database."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import Connection, inspect, text

from pbmserv.errors import ServerFault
from pbmserv.store.core.database import Database, mail_url

Stores: TypeAlias = Collection[str]
ALL: Stores = ("mail", "game")
"""The stores whose tables a database has: on SQLite each may be a file, PostgreSQL has both."""

LOCK = 0x70626D73  # "pbms": one migration at a time over one PostgreSQL


def migrations_folder() -> Path:
    """Where the migrations are: in the installed package, else beside it in the checkout."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "_migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


def alembic_ini() -> Path:
    """Return the configuration for Alembic's own command, of a checkout or an installed package."""
    return migrations_folder() / "alembic.ini"


def upgrade(database: Database, stores: Stores = ALL) -> None:
    """Migrate to the newest revision; a fresh database gets the tables of *stores*."""
    with migrating(database) as connection:
        _upgrade(connection, stores)


@contextmanager
def migrating(database: Database) -> Iterator[Connection]:
    """Begin a transaction for migrations: only one at a time, as long as they need."""
    with database.writing.begin() as connection, _time_for(database, connection):
        _lock(connection)
        yield connection


def build(connection: Connection, stores: Stores = ALL) -> None:
    """Migrate within a transaction of the caller, who gives it the time that it needs."""
    _lock(connection)
    _upgrade(connection, stores)


def _lock(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})


def _upgrade(connection: Connection, stores: Stores) -> None:
    from alembic import command

    head()  # refuse several heads in a sentence of ours
    command.upgrade(_config(connection, stores), "head")


def _time_for(database: Database, connection: Connection) -> AbstractContextManager[None]:
    """Let a migration take as long as it needs."""
    if database.is_sqlite:
        return nullcontext()
    from pbmserv.store.core.postgresql import unhurried

    return unhurried(connection)


def revisions() -> dict[str, tuple[str, ...]]:
    """Return each revision that this version knows, with the revisions before it.

    Reads the assignments in the files of migrations and runs nothing: Alembic takes longer to
    import than everything else that a start needs of the schema.
    """
    known = {}
    for path in sorted((migrations_folder() / "versions").glob("*.py")):
        assigned = dict(_ASSIGNED.findall(path.read_text("utf-8")))
        before = ast.literal_eval(assigned["down_revision"]) or ()
        known[str(ast.literal_eval(assigned["revision"]))] = (
            (before,) if isinstance(before, str) else tuple(before)
        )
    return known


_ASSIGNED = re.compile(
    r"^(revision|down_revision)\b[^=\n]*=\s*(\([^)=]*\)|\[[^]=]*\]|.+)$", re.MULTILINE
)


def heads(known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the revisions that no other one follows."""
    followed = {before for one in known.values() for before in one}
    return sorted(set(known) - followed)


def head() -> str:
    """Return the newest revision that this version knows.

    Raises:
        ServerFault: there is not exactly one.
    """
    newest = heads(revisions())
    if len(newest) != 1:
        raise ServerFault(
            f"the migrations end in {len(newest)} revisions ({', '.join(newest) or 'none'}) in "
            f"place of one, so this copy of pbmserv is incomplete or was changed; install it again"
        )
    return newest[0]


def is_known(revision: str) -> bool:
    """Tell whether this version has a revision; one that it does not have is a newer version's."""
    return revision in revisions()


def current(connection: Connection) -> str | None:
    """Return the revision of the database; ``None`` for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    rows = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    return ", ".join(sorted(rows)) or None


def prepare(database: Database, stores: Stores = ALL) -> None:
    """Upgrade if the database is older. Does not import Alembic otherwise.

    Raises:
        ServerFault: the database is newer than this version.
    """
    with database.reading.connect() as connection:
        revision = current(connection)
    if revision == head():
        return
    if revision is not None and not is_known(revision):
        raise ServerFault(_newer(revision))
    upgrade(database, stores)


def require(database: Database) -> None:
    """Refuse a database that is not at this version's revision.

    Raises:
        ServerFault: says what to do.
    """
    with database.reading.connect() as connection:
        revision = current(connection)
    newest = head()
    if revision is None or (revision != newest and is_known(revision)):
        raise ServerFault(
            f"the database is at revision {revision or 'none'}, and this version needs {newest}; "
            "stop the server, keep a copy (pbmserv db backup FILE), then run: pbmserv db upgrade"
        )
    if revision != newest:
        raise ServerFault(_newer(revision))


def _newer(revision: str) -> str:
    return (
        f"the database is at revision {revision}, but this version knows only those up to "
        f"{head()}; install the newer version again"
    )


def check(database: Database, stores: Stores = ALL) -> list[str]:
    """What in the tables is not as the models have it, one sentence each; empty = all is well.

    Raises:
        ServerFault: the database is not at this version's revision; says what to do.
    """
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from pbmserv.store.tables.columns import metadata

    require(database)
    with database.reading.connect() as connection:
        options = {"compare_type": True, "include_object": belongs_to(stores)}
        context = MigrationContext.configure(connection, opts=options)
        differences: list[Any] = compare_metadata(context, metadata)
    return [f"schema differs from the models: {difference!r}" for difference in differences]


def stores_at(url: str) -> list[tuple[str, Stores]]:
    """Return a server's databases, each with its stores: two SQLite files, or one PostgreSQL."""
    mail = mail_url(url)
    return [(url, ALL)] if mail == url else [(url, ("game",)), (mail, ("mail",))]


def belongs_to(stores: Stores) -> Callable[..., bool]:
    """Return Alembic's filter of objects: only tables of *stores*, and all that a database has."""

    def belongs(item: Any, _name: str | None, kind: str, reflected: bool, _other: Any) -> bool:
        return kind != "table" or reflected or item.info.get("store", "game") in stores

    return belongs


def _config(connection: Connection, stores: Stores) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.attributes["connection"] = connection
    config.attributes["stores"] = stores
    return config
