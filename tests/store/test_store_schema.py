"""Migrations: up, down and up again; what they build is what the code believes in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from pbmserv.errors import ServerFault
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.core.models import metadata

PATIENCE_S = 60


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database of each kind without any table."""
    if request.param == "sqlite":
        database = Database(f"sqlite:///{tmp_path}/new/folder/pbmserv.sqlite3")
    else:
        database = Database(request.getfixturevalue("empty_postgres_url"))
    yield database
    database.close()


def tables(database: Database) -> set[str]:
    with database.reading.connect() as connection:
        return set(inspect(connection).get_table_names()) - {"alembic_version"}


def test_up_down_and_up_again(empty: Database) -> None:
    with pytest.raises(ServerFault, match=r"at revision none.*run: pbmserv db upgrade"):
        schema.check(empty)
    schema.upgrade(empty)
    assert schema.check(empty) == []
    assert tables(empty) == set(metadata.tables)
    schema.downgrade(empty, "base")
    assert tables(empty) == set()
    with empty.reading.connect() as connection:
        assert schema.current(connection) is None
    schema.upgrade(empty)
    assert schema.check(empty) == []


def test_a_table_that_differs_from_the_models_is_told(empty: Database) -> None:
    schema.prepare(empty)
    with empty.writing.begin() as connection:
        connection.execute(text("ALTER TABLE players ADD COLUMN shoe_size INTEGER"))
    (found,) = schema.check(empty)
    assert "shoe_size" in found


def test_preparing_is_done_once_and_cheap_after_that(
    empty: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema.prepare(empty)
    with empty.writing.begin() as connection:
        connection.execute(text("INSERT INTO keys VALUES (1, :secret, :now)"), KEY)
    monkeypatch.setattr(schema, "upgrade", lambda database: pytest.fail("nothing is to be done"))
    schema.prepare(empty)
    with empty.reading.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM keys")).scalar() == 1


KEY = {"secret": b"k" * 32, "now": "2026-03-01 12:00:00"}


def test_alembic_is_not_even_imported_when_nothing_is_to_do(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/pbmserv.sqlite3")
    schema.prepare(database)
    database.close()
    look = (
        "import sys\n"
        "from pbmserv.store.core import schema\n"
        "from pbmserv.store.core.database import Database\n"
        f"schema.prepare(Database({database.url!r}))\n"
        "sys.exit('alembic' in sys.modules)\n"
    )
    found = subprocess.run([sys.executable, "-c", look], timeout=PATIENCE_S, check=False)
    assert found.returncode == 0


def test_a_database_of_a_newer_version_is_left_alone(empty: Database) -> None:
    schema.prepare(empty)
    with empty.writing.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ServerFault, match=r"revision 9999.*install the newer version again"):
        schema.prepare(empty)


def test_the_operator_is_told_about_a_newer_database_without_a_traceback(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/pbmserv.sqlite3"
    database = Database(url)
    schema.prepare(database)
    with database.writing.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    environment = {
        "PBMSERV_DATA_DIR": str(tmp_path),
        "PBMSERV_DATABASE": url,
        "PBMSERV_SMTP": "127.0.0.1:0",
        "PBMSERV_WEB": "",
    }
    served = subprocess.run(
        [sys.executable, "-m", "pbmserv", "serve"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert served.returncode == 1
    assert "ready" not in served.stdout
    assert served.stderr.startswith("pbmserv: the database is at revision 9999")
    assert "Traceback" not in served.stderr


def test_two_processes_may_begin_with_one_empty_database(empty: Database) -> None:
    begin = (
        "import sys\n"
        "from pbmserv.store.core import schema\n"
        "from pbmserv.store.core.database import Database\n"
        "import alembic.command\n"
        "database = Database(sys.argv[1])\n"
        "print('here', flush=True)\n"
        "sys.stdin.readline()\n"
        "schema.prepare(database)\n"
        "assert schema.check(database) == []\n"
    )
    url = empty.url
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", begin, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    ends = [process.communicate(timeout=PATIENCE_S) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], ends
    assert schema.check(empty) == []
