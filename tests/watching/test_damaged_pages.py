"""A damaged page of SQLite is noticed while the server runs, and by ``db check``."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep

import pytest
from lines import facts
from migrated import migrated
from probing import get
from running import PATIENCE_S, start
from sqlalchemy import text

from pbmserv.cli.main import run
from pbmserv.service.schedule import integrity
from pbmserv.service.schedule.integrity import Integrity
from pbmserv.store.core.database import Database
from pbmserv.store.operators.integrity import damage


def damaged(folder: Path) -> str:
    """Make a database with a page of zeros in a table that no start reads; return its URL."""
    url = migrated(folder / "pbmserv.sqlite3")
    database = Database(url)
    with database.writing.begin() as connection:
        root = connection.execute(
            text("SELECT rootpage FROM sqlite_master WHERE name = 'bounces'")
        ).scalar_one()
        size = connection.execute(text("PRAGMA page_size")).scalar_one()
    database.close()
    with (folder / "pbmserv.sqlite3").open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    return url


def test_a_command_names_the_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_DATABASE", damaged(tmp_path))
    assert run(["db", "check"]) == 1
    errors = capsys.readouterr().err
    assert "pbmserv.sqlite3 is damaged: " in errors
    assert "pbmserv db restore FILE" in errors


def test_a_running_server_tells_of_the_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(integrity, "FIRST_S", 0.0)
    with start(tmp_path, damaged(tmp_path), metrics="127.0.0.1:0") as server:
        end = monotonic() + PATIENCE_S
        while not facts(caplog, "the database is damaged; restore a copy"):
            assert monotonic() < end
            sleep(0.1)
        status, page = get(server.metrics_port, "/healthz")
    assert status == 503
    assert '"integrity":{"ok":false' in page


def test_a_whole_database_has_no_damage_and_a_look_can_be_ended(tmp_path: Path) -> None:
    database = Database(migrated(tmp_path / "pbmserv.sqlite3"))
    try:
        assert damage(database) == ""
        assert damage(database, lambda: True) == ""
        watch = Integrity([database, database])
        watch.start()
        assert watch.stop(PATIENCE_S)
        assert watch.damage == ""
    finally:
        database.close()
