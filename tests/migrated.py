"""A SQLite database with all its tables, made once in each process.

The migration takes time that a thousand tests about something else need not wait for. PostgreSQL's
databases are copied from a template for the same reason (``conftest.py``).
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from pbmserv.store.core import schema
from pbmserv.store.core.database import Database


def migrated(path: Path) -> str:
    """Lay a database there, unless there is one, or no folder (a server makes both); its URL."""
    if path.parent.is_dir() and not path.exists():
        path.touch(0o600)
        path.write_bytes(_octets())
    return f"sqlite:///{path}"


@cache
def _octets() -> bytes:
    with tempfile.TemporaryDirectory(prefix="pbmserv-migrated-") as folder:
        path = Path(folder) / "template.sqlite3"
        database = Database(f"sqlite:///{path}")
        schema.prepare(database)
        database.close()
        return path.read_bytes()
