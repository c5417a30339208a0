"""Databases without tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pbmserv.store.core.database import Database


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Yield an empty database of each kind; the folder of SQLite's does not exist yet."""
    if request.param == "sqlite":
        database = Database(f"sqlite:///{tmp_path}/new/folder/pbmserv.sqlite3")
    else:
        database = Database(request.getfixturevalue("empty_postgres_url"))
    yield database
    database.close()
