"""Databases before the first migration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pbmserv.store.core.database import Database


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database of each kind without any table; the folder of SQLite's is not there yet."""
    if request.param == "sqlite":
        database = Database(f"sqlite:///{tmp_path}/new/folder/pbmserv.sqlite3")
    else:
        database = Database(request.getfixturevalue("empty_postgres_url"))
    yield database
    database.close()
