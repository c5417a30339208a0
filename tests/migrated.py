"""SQLite databases with all their tables, copied from one that is migrated once in each process.

PostgreSQL's databases are copied from a template, too (`postgresql_databases.py`).
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from sqlalchemy import Table

from pbmserv.files import sqlite_file
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.tables import metadata

COPIES: set[str] = set()
"""URLs of copies that no server has opened yet."""


def migrated(path: Path) -> str:
    """Return the URL of a database, and copy the tables there if the folder has no such file."""
    url = f"sqlite:///{path}"
    for store, store_url in (("game", url), ("mail", mail_url(url))):
        file = sqlite_file(store_url)
        assert file is not None
        if file.parent.is_dir() and not file.exists():
            file.touch(0o600)
            file.write_bytes(_octets(store))
            COPIES.add(store_url)
    return url


def stores_of(database: Database) -> schema.Stores:
    """Return the stores in a database: all of them in PostgreSQL, the games' in its SQLite file."""
    return ("game",) if database.is_sqlite else schema.ALL


def game_tables() -> list[Table]:
    """Return the tables of the game store in the order of their references."""
    return [table for table in metadata.sorted_tables if table.info.get("store") != "mail"]


@cache
def _octets(store: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="pbmserv-migrated-") as folder:
        path = Path(folder) / "template.sqlite3"
        database = Database(f"sqlite:///{path}")
        schema.prepare(database, (store,))
        database.close()
        return path.read_bytes()
