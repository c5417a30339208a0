"""Copies the whole database while a server runs, and restores copies.

A copy is a file that only its owner can read: a SQLite database (perhaps in gzip), or an archive of
pg_dump, which is compressed anyway.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from sqlalchemy.engine import make_url

from pbmserv.errors import OperatorError
from pbmserv.extras import require
from pbmserv.files import FILE_ENDS, Place, regular_file, sqlite_file, whole_file
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.operators import backup_sqlite

SKIPPED = 100_000
"""Numbers that a restored server skips. Letters that were delivered after the copy was made name
boards, letters and players that the copy does not have; their numbers must not be given again."""

_GZIP = b"\x1f\x8b"
"""First octets of a compressed copy."""
_LEVEL = 6
"""Level of compression: higher ones take much longer and save little."""
_PIECE = 1024 * 1024

_MAGIC = {backup_sqlite.MAGIC: "sqlite", b"PGDMP": "postgresql"}
"""First octets of a copy, and the kind of database that it was made of."""


@dataclass(frozen=True, slots=True)
class Copy:
    """The revision and the size in octets of a copy."""

    revision: str
    size: int


def save(url: str, target: Path, place: Place, *, is_compressed: bool = False) -> Copy:
    """Copy one state of a database; other processes go on working.

    Args:
        url: of the database.
        target: the new file.
        place: `files.only_new`, or `replacing` if *target* may be replaced.
        is_compressed: compress a copy of SQLite.

    Raises:
        OperatorError: there is nothing to copy, or the copy failed.
        OSError: the file cannot be written.
    """
    backend = _backend_of(url)
    module = _module_for(backend)
    _check_not_in_use(url, target)
    database = Database(url)
    try:
        with database.reading.connect() as connection:
            if schema.current(connection) is None:
                raise OperatorError("the database has no tables, so there is nothing to copy")
        with whole_file(target, place) as unfinished:
            module.save(database, unfinished)
            revision = _supported(module.revision(unfinished))
            if is_compressed and backend == "sqlite":
                _compress(unfinished)
            return Copy(revision, unfinished.stat().st_size)
    finally:
        database.close()


def restore(url: str, source: Path, place: Place) -> Copy:
    """Restore a copy, upgrade it to this version, and skip `SKIPPED` numbers.

    A copy of SQLite can be put into PostgreSQL.

    Args:
        url: of the database.
        source: the copy.
        place: `files.only_new`, or `replacing` if an existing database may be replaced.

    Raises:
        OperatorError: the copy is damaged, newer than this version, or of PostgreSQL while *url* is
            of SQLite; or the database is in use, or not empty. Nothing was changed.
        OSError: the database cannot be written.
    """
    with _uncompressed(source) as plain:
        return _restore(url, plain, place)


def _restore(url: str, source: Path, place: Place) -> Copy:
    backend, origin = _backend_of(url), _origin_of(source)
    if origin == "postgresql" and backend == "sqlite":
        raise OperatorError(
            f"{source} is a copy of a PostgreSQL database, and cannot go into SQLite, which is"
            " what PBMSERV_DATABASE names"
        )
    module = _module_for(backend)
    copy = Copy(_supported(_module_for(origin).revision(source)), source.stat().st_size)
    if origin == "sqlite":
        backup_sqlite.check_has_game_store(source)
    if origin == backend:
        module.restore(url, source, place, SKIPPED)
    else:
        with backup_sqlite.contents(source) as contents:
            module.fill(url, contents, place, SKIPPED)
    return copy


def _check_not_in_use(url: str, target: Path) -> None:
    """Check that a copy does not replace a file of the database itself.

    Raises:
        OperatorError: it would.
    """
    named = target.parent.resolve() / target.name  # links are never replaced
    for store_url, _ in schema.stores_at(url):
        file = sqlite_file(store_url)
        if file is None:
            continue
        own = file.resolve()
        if named in {own.with_name(own.name + end) for end in FILE_ENDS}:
            raise OperatorError(
                f"{target} is a file of the database that is to be copied; name another file"
            )


def _compress(copy: Path) -> None:
    """Replace the octets of a copy by compressed ones, and read them again."""
    with tempfile.TemporaryFile(dir=copy.parent) as packed:
        with copy.open("rb") as plain, gzip.open(packed, "wb", _LEVEL) as packing:
            shutil.copyfileobj(plain, packing, _PIECE)
        packed.seek(0)
        with gzip.open(packed) as unpacking:  # it checks length and checksum
            while unpacking.read(_PIECE):
                pass
        packed.seek(0)
        with copy.open("wb") as target:
            shutil.copyfileobj(packed, target, _PIECE)


@contextmanager
def _uncompressed(copy: Path) -> Iterator[Path]:
    """Yield a copy without compression: itself, or a file in the system's temporary folder.

    Raises:
        OperatorError: the copy is damaged.
    """
    with regular_file(copy).open("rb") as opened:
        is_compressed = opened.read(2) == _GZIP
    if not is_compressed:
        yield copy
        return
    with tempfile.TemporaryDirectory(prefix="pbmserv-") as folder:
        plain = Path(folder) / copy.name
        try:
            with gzip.open(copy) as packed, plain.open("wb") as target:
                shutil.copyfileobj(packed, target, _PIECE)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise OperatorError(f"{copy} is damaged") from None
        yield plain


def _origin_of(copy: Path) -> str:
    """Return the kind of database of a copy, by the first octets of the file."""
    with regular_file(copy).open("rb") as opened:
        start = opened.read(20)
    for magic, backend in _MAGIC.items():
        if start.startswith(magic):
            return backend
    raise OperatorError(f"{copy} is not a copy of a database")


def _backend_of(url: str) -> str:
    backend = make_url(url).get_backend_name()
    if backend == "sqlite" and sqlite_file(url) is None:
        raise OperatorError("the database is in memory only, so there is nothing to copy")
    return backend


def _module_for(backend: str) -> ModuleType:
    """Return the module that copies a kind of database; psycopg is imported for PostgreSQL only."""
    if backend == "sqlite":
        return backup_sqlite
    require("psycopg")
    from pbmserv.store.operators import backup_postgresql

    return backup_postgresql


def _supported(revision: str | None) -> str:
    """Return a revision that this version can upgrade.

    Raises:
        OperatorError: it is newer than this version, or of another program.
    """
    if revision is None:
        raise OperatorError("the copy is of another program's database: it has no revision")
    if not schema.is_known(revision):
        raise OperatorError(
            f"the copy is at revision {revision}, but this version knows only those up to "
            f"{schema.head()}; install the newer version"
        )
    return revision
