"""A forked process inherits no connection of SQLite, which two processes must not share."""

from __future__ import annotations

from pathlib import Path

import pytest
from migrated import migrated

from pbmserv.store.core.database import Database

DESCRIPTORS = Path("/proc/self/fd")

pytestmark = pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="NOT RUN: needs /proc")


def open_files(folder: Path) -> list[str]:
    """Return the files of a folder that this process has open."""
    targets = [str(link.readlink()) for link in DESCRIPTORS.iterdir() if link.is_symlink()]
    return [target for target in targets if target.startswith(str(folder))]


def test_no_connection_is_open_before_a_fork(tmp_path: Path) -> None:
    database = Database(migrated(tmp_path / "pbmserv.sqlite3"))
    for engine in (database.reading, database.writing):
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT * FROM players").all()
    assert open_files(tmp_path)
    database.disconnect()
    assert open_files(tmp_path) == []
    with database.reading.connect() as connection:  # opens a new one
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    database.close()
    assert open_files(tmp_path) == []
