"""SQLite databases with all their tables, copied from one that is migrated once.

A whole run migrates it in its first process (`migrate_for_all`), a quick run in each process.

PostgreSQL's databases are copied from a template, too (`postgresql_databases.py`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from unittest.mock import patch

from sqlalchemy import Table

from pbmserv.files import sqlite_file
from pbmserv.store.accounts import signing_keys
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.tables.columns import metadata

BEGINNING = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
"""Time of a server's clock at the beginning of a test."""
KEY = (1).to_bytes(32)
"""The key of reply addresses of servers that begin with one."""
_copies: set[str] = set()
"""URLs of copies that no server has opened yet."""
TABLES = "PBMSERV_TEST_TABLES"
"""Environment variable with the folder of the migrated databases of a run."""


def migrate_for_all(folder: Path) -> None:
    """Migrate a database of each store in *folder*, for all processes of the run.

    To import Alembic and to migrate takes each process a third of a second.
    """
    for store in schema.ALL:
        _file_of(store, folder).write_bytes(_octets(store))
    os.environ[TABLES] = str(folder)


def migrated(path: Path, *, has_key: bool = False) -> str:
    """Return the URL of a database, and copy the tables there if the folder has no such file.

    Args:
        has_key: the copy has a key of reply addresses, which a server makes at its first start.
    """
    url = f"sqlite:///{path}"
    for store, store_url in (("game", url), ("mail", mail_url(url))):
        file = sqlite_file(store_url)
        assert file is not None
        if file.parent.is_dir() and not file.exists():
            file.touch(0o600)
            file.write_bytes(_octets_with_key() if has_key and store == "game" else _octets(store))
            _copies.add(store_url)
    return url


@contextmanager
def trusted_copies() -> Iterator[None]:
    """Let a server that opens new copies not look for their revision."""
    prepare = schema.prepare

    def prepare_others(database: Database, stores: schema.Stores) -> None:
        if database.url in _copies:
            _copies.remove(database.url)
        else:
            prepare(database, stores)

    with patch.object(schema, "prepare", prepare_others):
        yield


def stores_of(database: Database) -> schema.Stores:
    """Return the stores in a database: all of them in PostgreSQL, the games' in its SQLite file."""
    return ("game",) if database.is_sqlite else schema.ALL


def game_tables() -> list[Table]:
    """Return the tables of the game store in the order of their references."""
    return [table for table in metadata.sorted_tables if table.info.get("store") != "mail"]


def _file_of(store: str, folder: Path) -> Path:
    return folder / f"{store}.sqlite3"


@cache
def _octets(store: str) -> bytes:
    if tables := os.environ.get(TABLES):
        return _file_of(store, Path(tables)).read_bytes()
    with tempfile.TemporaryDirectory(prefix="pbmserv-migrated-") as folder:
        path = Path(folder) / "template.sqlite3"
        database = Database(f"sqlite:///{path}")
        schema.prepare(database, (store,))
        database.close()
        return path.read_bytes()


@cache
def _octets_with_key() -> bytes:
    with tempfile.TemporaryDirectory(prefix="pbmserv-migrated-") as folder:
        path = Path(folder) / "template.sqlite3"
        path.write_bytes(_octets("game"))
        database = Database(f"sqlite:///{path}")
        with database.writing.begin() as connection:
            signing_keys.add(connection, 1, KEY, BEGINNING)
        database.close()
        return path.read_bytes()
