"""Copies of the whole database, made while a server runs, and put back.

A copy is a file for its owner alone: one that SQLite opens, or an archive of pg_dump.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from sqlalchemy.engine import make_url

from pbmserv.errors import OperatorError
from pbmserv.files import Place, file_of, regular, written
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.operators import backup_postgresql, backup_sqlite

SKIPPED = 100_000
"""Numbers that a restored server leaves out: letters that were delivered since the copy was made
carry numbers of boards, letters and players that were given after it."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A whole copy: its revision, and its size in octets."""

    revision: str
    size: int


def save(url: str, target: Path, place: Place) -> Copy:
    """Copy a database as it is at one moment; nobody waits for that.

    Args:
        place: `files.new`, or `over` where *target* may be replaced.

    Raises:
        OperatorError: there is nothing to copy, or the copy is not whole; says why.
        OSError: the disk does not take it.
    """
    kind = _kind(url)
    database = Database(url)
    try:
        with database.reading.connect() as connection:
            if schema.current(connection) is None:
                raise OperatorError("the database has no tables, so there is nothing to copy")
        with written(target, place) as made:
            kind.save(database, made)
            return Copy(_known(kind.revision(made)), made.stat().st_size)
    finally:
        database.close()


def restore(url: str, source: Path, place: Place) -> Copy:
    """Put a copy back, bring it to this version, and leave out `SKIPPED` numbers.

    A copy of SQLite may go into PostgreSQL.

    Args:
        place: `files.new`, or `over` where a database that is there may be replaced.

    Raises:
        OperatorError: the copy is damaged, newer than this version or one of PostgreSQL that
            should go into SQLite; or the database is in use, or not empty. Nothing has been
            changed then.
        OSError: the disk does not take it.
    """
    kind, made_by = _kind(url), _maker(source)
    if made_by is backup_postgresql and kind is backup_sqlite:
        raise OperatorError(
            f"{source} is a copy of a PostgreSQL database, and cannot go into SQLite, which is"
            " what PBMSERV_DATABASE names"
        )
    copy = Copy(_known(made_by.revision(source)), source.stat().st_size)
    if kind is made_by:
        kind.restore(url, source, place, SKIPPED)
    else:
        with backup_sqlite.contents(source, copy.revision == schema.head()) as contents:
            backup_postgresql.fill(url, contents, place, SKIPPED)
    return copy


def _maker(copy: Path) -> ModuleType:
    """What made a copy, by how it begins."""
    with regular(copy).open("rb") as opened:
        first = opened.read(20)
    for kind in (backup_sqlite, backup_postgresql):
        if first.startswith(kind.MAGIC):
            return kind
    raise OperatorError(f"{copy} is not a copy of a database")


def _kind(url: str) -> ModuleType:
    if make_url(url).get_backend_name() != "sqlite":
        return backup_postgresql
    if file_of(url) is None:
        raise OperatorError("the database is in memory only, so there is nothing to copy")
    return backup_sqlite


def _known(revision: str | None) -> str:
    """A revision that this version can bring to its own.

    Raises:
        OperatorError: it is newer, or the copy is another program's.
    """
    if revision is None:
        raise OperatorError("the copy is of another program's database: it has no revision")
    if not schema.is_known(revision):
        raise OperatorError(
            f"the copy is at revision {revision}, but this version knows only those up to "
            f"{schema.head()}; install the newer version"
        )
    return revision
