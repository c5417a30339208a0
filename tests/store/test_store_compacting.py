"""Compacting gives free room back to the disk while mail is accepted."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from migrated import migrated, stores_of
from sqlalchemy import text
from typer.testing import CliRunner

from pbmserv.cli.main import app
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.operators import compacting

_KEEP = text("INSERT INTO keys (id, secret, created_at) VALUES (:id, :secret, '2026-03-01')")


def fill(database: Database, octets: int) -> None:
    """Store octets and delete them again."""
    with database.writing.begin() as connection:
        connection.execute(_KEEP, {"id": 9, "secret": bytes(octets)})
    with database.writing.begin() as connection:
        connection.execute(text("DELETE FROM keys WHERE id = 9"))


def test_compacting_gives_room_back_and_delays_nobody(database: Database) -> None:
    fill(database, 9_000_000)
    waits: list[float] = []

    def pause(seconds: float) -> None:
        """Another process writes while we rest."""
        waits.append(seconds)
        with database.writing.begin() as connection:
            connection.execute(_KEEP, {"id": 10 + len(waits), "secret": b"x"})

    before = compacting.room(database)
    compacting.compact(database, pause)
    after = compacting.room(database)
    if database.is_sqlite:
        assert before.free > 9_000_000 > after.total
        assert after.free < 500_000
        assert str(before).endswith("MB of it free")
        assert len(waits) >= 4
        assert set(waits) == {compacting.PAUSE_S}
    else:
        assert after.total > 0
        assert "free" not in str(after)


def test_rebuilding_keeps_all_rows(database: Database) -> None:
    fill(database, 3_000_000)
    with database.writing.begin() as connection:
        connection.execute(_KEEP, {"id": 1, "secret": b"key"})
    compacting.rebuild(database)
    assert schema.check(database, stores_of(database)) == []
    assert compacting.room(database).free == 0
    with database.reading.connect() as connection:
        assert connection.execute(text("SELECT secret FROM keys")).scalar() == b"key"


def test_a_new_database_gives_room_back_from_the_beginning(tmp_path: Path) -> None:
    url = migrated(tmp_path / "pbmserv.sqlite3")
    with closing(Database(url)) as database, database.reading.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA auto_vacuum").scalar() == 2


def test_the_log_of_sqlite_stays_during_a_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = migrated(tmp_path / "pbmserv.sqlite3")
    with closing(Database(url)) as database, database.reading.connect() as reader:
        assert reader.execute(text("SELECT count(*) FROM keys")).scalar() == 0
        fill(database, 2_000_000)
        compacting.compact(database, lambda _: None)
    assert (tmp_path / "pbmserv.sqlite3").stat().st_size < 2_000_000


@pytest.mark.sqlite_alone
@pytest.mark.parametrize("more", [[], ["--rebuild"]])
def test_the_command_prints_the_room_that_it_gained(
    database_url: str, tmp_path: Path, more: list[str]
) -> None:
    with closing(Database(database_url)) as database:
        fill(database, 3_000_000)
    environment = {"PBMSERV_DATABASE": database_url, "PBMSERV_DATA_DIR": str(tmp_path)}
    done = CliRunner().invoke(app, ["db", "compact", *more], env=environment)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0] == "Dropped 0 old mails and letters."
    assert lines[2].startswith("  before: ")
    assert lines[3].startswith("  now:    ")
