"""The schema of this version: its revision, upgrades to it, and checks of a database."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import Connection, inspect, text

from pbmserv.errors import ServerFault, StartRefused
from pbmserv.store.core.database import Database, mail_url

Stores: TypeAlias = Collection[str]
ALL: Stores = ("mail", "game")
"""The stores: on SQLite each is a file, a PostgreSQL database has both."""

MAY_DIFFER = {
    *("fk_ladder_games_board_id", "fk_rating_changes_board_id"),
    *("fk_player_boards_board_id", "fk_house_turns_board_id", "fk_analyses_board_id"),
    "uq_inbox_digest_recipient",
}
"""Keys that deploy/postgresql/distribute.sql drops or changes."""

LOCK = 0x70626D73
"""Number of the advisory lock for migrations: "pbms" in ASCII."""


def migrations_folder() -> Path:
    """Return the folder of the migrations: in an installed package, or in the checkout."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "_migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


def alembic_ini() -> Path:
    """Return the configuration for Alembic's own command, of a checkout or an installed package."""
    return migrations_folder() / "alembic.ini"


def upgrade(database: Database, stores: Stores = ALL) -> None:
    """Migrate to the newest revision; a new database gets the tables of *stores*."""
    with migrating(database) as connection:
        build(connection, stores)


@contextmanager
def migrating(database: Database) -> Iterator[Connection]:
    """Begin a transaction for migrations: one at a time, and without time limits."""
    with database.writing.begin() as connection, _without_time_limits(database, connection):
        if not database.is_sqlite:
            connection.execute(text("SET LOCAL lock_timeout = '60s'"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        yield connection


def build(connection: Connection, stores: Stores = ALL) -> None:
    """Migrate to the newest revision in a transaction of `migrating`."""
    from alembic import command

    head()  # fails with a clear message if there are several
    command.upgrade(alembic_config(connection, stores), "head")


def _without_time_limits(
    database: Database, connection: Connection
) -> AbstractContextManager[None]:
    """Lift the time limits of a transaction for a migration."""
    if database.is_sqlite:
        return nullcontext()
    from pbmserv.store.core.postgresql import unhurried

    return unhurried(connection)


def revisions() -> dict[str, tuple[str, ...]]:
    """Return the revisions that this version knows, each with its predecessors.

    This reads the assignments in the files of migrations and executes nothing: importing Alembic
    takes longer than everything else at the start.
    """
    predecessors = {}
    for path in sorted((migrations_folder() / "versions").glob("*.py")):
        assigned = dict(_ASSIGNED.findall(path.read_text("utf-8")))
        before = ast.literal_eval(assigned["down_revision"]) or ()
        predecessors[str(ast.literal_eval(assigned["revision"]))] = (
            (before,) if isinstance(before, str) else tuple(before)
        )
    return predecessors


_ASSIGNED = re.compile(
    r"^(revision|down_revision)\b[^=\n]*=\s*(\([^)=]*\)|\[[^]=]*\]|.+)$", re.MULTILINE
)


def heads(graph: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the revisions without successors."""
    followed = {before for predecessors in graph.values() for before in predecessors}
    return sorted(set(graph) - followed)


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
    """Return whether this version has a revision; others are of newer versions."""
    return revision in revisions()


def current(connection: Connection) -> str | None:
    """Return the revision of the database, `None` if it is empty."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    rows = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    return ", ".join(sorted(rows)) or None


def prepare(database: Database, stores: Stores = ALL) -> None:
    """Upgrade an older database. Alembic is imported only then.

    Raises:
        StartRefused: the database is newer than this version.
    """
    with database.reading.connect() as connection:
        revision = current(connection)
    if revision == head():
        return
    if revision is not None and not is_known(revision):
        raise StartRefused(_newer(revision))
    upgrade(database, stores)


def require(database: Database) -> None:
    """Refuse a database that is not at this version's revision.

    Raises:
        ServerFault: it is not; the message says what to do.
    """
    with database.reading.connect() as connection:
        revision = current(connection)
    newest = head()
    if revision is None:
        raise ServerFault(
            "the database has no tables of pbmserv; the first start of the server makes them, "
            "or: pbmserv db upgrade"
        )
    if revision != newest and is_known(revision):
        raise ServerFault(
            f"the database is at revision {revision}, and this version needs {newest}; "
            "stop the server, keep a copy (pbmserv db backup FILE), then run: pbmserv db upgrade"
        )
    if revision != newest:
        raise StartRefused(_newer(revision))


def _newer(revision: str) -> str:
    return (
        f"the database is at revision {revision}, but this version knows only those up to "
        f"{head()}; install the newer version again"
    )


def check(database: Database, stores: Stores = ALL) -> list[str]:
    """Return the differences between database and tables, one sentence each.

    Raises:
        ServerFault: the database is not at this version's revision.
    """
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from pbmserv.store.tables.columns import metadata

    require(database)
    belongs = belongs_to(stores)

    def is_compared(item: Any, name: str | None, kind: str, reflected: bool, other: Any) -> bool:
        return name not in MAY_DIFFER and belongs(item, name, kind, reflected, other)

    with database.reading.connect() as connection:
        options = {"compare_type": True, "include_object": is_compared}
        context = MigrationContext.configure(connection, opts=options)
        differences: list[Any] = compare_metadata(context, metadata)
    return [f"schema differs from the models: {difference!r}" for difference in differences]


def stores_at(url: str) -> list[tuple[str, Stores]]:
    """Return a server's databases, each with its stores: two SQLite files, or one PostgreSQL."""
    mail = mail_url(url)
    return [(url, ALL)] if mail == url else [(url, ("game",)), (mail, ("mail",))]


def belongs_to(stores: Stores) -> Callable[..., bool]:
    """Return a filter for Alembic: tables of *stores*, and everything that the database has."""

    def belongs(item: Any, _name: str | None, kind: str, reflected: bool, _other: Any) -> bool:
        return kind != "table" or reflected or item.info.get("store", "game") in stores

    return belongs


def alembic_config(connection: Connection, stores: Stores) -> Any:
    """Return the configuration with which Alembic upgrades these stores."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.attributes["connection"] = connection
    config.attributes["stores"] = stores
    return config
