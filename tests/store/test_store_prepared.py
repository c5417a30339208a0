"""Prepared statements do on SQLite what Core does, errors and all; savepoints; unsynced jobs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, text
from sqlalchemy.exc import IntegrityError, OperationalError

from pbmserv.store.core import database as database_module
from pbmserv.store.core.database import Database
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.writer import open_writer
from pbmserv.store.tables.accounts import keys

NOW = datetime(2026, 3, 1, 12, 30, 0, 123, tzinfo=timezone(timedelta(hours=2)))
PATIENCE_S = 60


def test_errors_are_those_of_core_and_quote_no_values(database: Database) -> None:
    key = {"id": 1, "secret": b"do not tell", "created_at": NOW}
    add = Prepared(insert(keys), tuple(key))
    with database.writing.connect() as connection:
        add.run(connection, key)
        with pytest.raises(IntegrityError) as raised:
            add.run(connection, key)
        connection.rollback()
    assert "do not tell" not in str(raised.value)


def test_errors_while_rows_are_fetched_are_wrapped_too(tmp_path_sqlite: Database) -> None:
    overflowing = Prepared(
        text("SELECT abs(n) FROM (SELECT 1 AS n UNION ALL SELECT -9223372036854775807 - 1)")
    )
    with (
        tmp_path_sqlite.reading.connect() as connection,
        pytest.raises(OperationalError, match="overflow"),
    ):
        overflowing.run(connection)


def test_each_commit_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "SYNCHRONOUS", "FULL")  # tests are in a hurry
    usual = Database(f"sqlite:///{tmp_path}/usual.sqlite3")

    def level(connection: Connection) -> int:
        return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    writer = open_writer(usual)
    assert writer.submit(level).result(PATIENCE_S) == 2
    writer.close()
    usual.close()


@pytest.fixture
def tmp_path_sqlite(tmp_path: object) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path}/rows.sqlite3")
    yield opened
    opened.close()
