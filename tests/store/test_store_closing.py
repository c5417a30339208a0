"""Databases are closed by servers and commands, also if those fail."""

from __future__ import annotations

import shlex
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from migrated import migrated
from one_process import Server
from running import start
from sqlalchemy.exc import DBAPIError

from pbmserv.cli.main import run
from pbmserv.config.settings import load
from pbmserv.errors import ConfigError
from pbmserv.store.core.database import Database

pytestmark = pytest.mark.slow

COMMANDS = (
    "db upgrade",
    "db check",
    "user list",
    "user show nobody",
    "user suspend nobody --why test",
    "board list",
    "board show 1",
    "game list",
    "game show blackbox",
    "game suspend blackbox --why test",
    "rating list",
    "rating rebuild --check",
    "rating rebuild --why test",
    "outbox list",
    "outbox retry --failed --why test",
    "outbox show 1",
    "inbox list",
    "inbox show 1",
    "inbox retry 1 --why test",
    "audit",
)


class Connections:
    """All connections of SQLite's driver."""

    def __init__(self) -> None:
        self.made: list[sqlite3.Connection] = []

    def open_ones(self) -> list[sqlite3.Connection]:
        """Return the connections that are not closed."""
        return [one for one in self.made if is_open(one)]


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.total_changes  # noqa: B018 - a closed one says so
    except sqlite3.ProgrammingError:
        return False
    return True


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connections]:
    kept, connect = Connections(), sqlite3.dbapi2.connect

    def noted(*arguments: object, **options: object) -> sqlite3.Connection:
        kept.made.append(connect(*arguments, **options))
        return kept.made[-1]

    monkeypatch.setattr(sqlite3.dbapi2, "connect", noted)
    yield kept
    for one in kept.open_ones():  # no other test is to stumble over them
        one.close()


def writers() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith("pbmserv-")]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_closes_its_connections(
    command: str, connections: Connections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_DATABASE", migrated(tmp_path / "pbmserv.sqlite3"))
    monkeypatch.setattr("pbmserv.stages.operators.log.configure", lambda level: None)
    before = writers()
    run(shlex.split(command))
    assert connections.made
    assert connections.open_ones() == []
    assert writers() == before


def test_a_server_closes_its_connections(connections: Connections, tmp_path: Path) -> None:
    with start(migrated(tmp_path / "pbmserv.sqlite3"), tmp_path) as server:
        server.sign_up("alice")
        assert connections.open_ones()
    assert connections.open_ones() == []


def test_a_server_that_fails_to_start_closes_its_connections(
    connections: Connections, tmp_path: Path
) -> None:
    url = migrated(tmp_path / "pbmserv.sqlite3")
    (tmp_path / "s1.pem").write_text("no key")
    settings = {"PBMSERV_DATA_DIR": str(tmp_path), "PBMSERV_DATABASE": url}
    settings["PBMSERV_DKIM_KEYS"] = f"s1={tmp_path}/s1.pem"
    before = writers()
    with pytest.raises(ConfigError, match=r"s1\.pem"):
        Server(load(settings, None).settings)
    assert connections.made
    assert connections.open_ones() == []
    assert writers() == before


def test_a_file_that_is_no_database_is_closed_again(
    connections: Connections, tmp_path: Path
) -> None:
    path = tmp_path / "junk.sqlite3"
    path.write_bytes(b"no database at all " * 100)
    database = Database(f"sqlite:///{path}")
    with pytest.raises(DBAPIError, match="not a database"):
        database.reading.connect()
    database.close()
    assert connections.made
    assert connections.open_ones() == []


def test_no_connection_is_carried_into_a_forked_process(
    connections: Connections, tmp_path: Path
) -> None:
    database = Database(migrated(tmp_path / "pbmserv.sqlite3"))
    for engine in (database.reading, database.writing):
        engine.connect().close()
    assert connections.open_ones()
    database.disconnect()
    assert connections.open_ones() == []
    with database.reading.connect() as connection:  # whoever goes on has one of its own
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    database.close()


def test_a_used_connection_is_closed_when_it_is_returned(
    connections: Connections, tmp_path: Path
) -> None:
    database = Database(migrated(tmp_path / "pbmserv.sqlite3"))
    before, during = database.reading.connect(), database.writing.connect()
    database.close()
    after = database.reading.connect()
    for one in (before, during, after):
        one.close()
    assert len(connections.made) >= 3
    assert connections.open_ones() == []
