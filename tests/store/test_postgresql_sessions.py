"""Sessions of PostgreSQL: their names, and poolers that mix them up."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import fork_server
import psycopg
import pytest
from postgresql_databases import administer, drop, url_of
from processes import Process
from programs import free_port, program
from sqlalchemy import text
from sqlalchemy.engine import make_url

from pbmserv.store.core.database import Database
from pbmserv.store.core.postgresql import shares_sessions

PATIENCE_S = 60

Pooled = Callable[[str], str]


@pytest.fixture
def pooled(postgres_url: str, tmp_path: Path) -> Iterator[Pooled]:
    """Return a function that starts PgBouncer in a mode before a database, and returns the URL."""
    pgbouncer = program("pgbouncer")
    started: list[subprocess.Popen[bytes]] = []
    url = make_url(postgres_url)
    folder = Path(tempfile.mkdtemp(prefix="pbmserv-pgbouncer-"))  # its user may not enter ours

    def start(mode: str) -> str:
        port = free_port()
        host = str(url.host or url.query["host"])
        (folder / "users.txt").write_text(f'"{url.username}" "{url.password or ""}"\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n{url.database} = host={host} port={url.port or 5432}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = trust\nauth_file = {folder}/users.txt\npool_mode = {mode}\n"
            "default_pool_size = 20\n"
            "query_wait_timeout = 5\nclient_login_timeout = 5\n"
        )
        command = [pgbouncer, str(folder / "pgbouncer.ini")]
        if os.geteuid() == 0:  # which it refuses
            user = Path(host).owner() if Path(host).is_dir() else "nobody"
            for path in (folder, *folder.iterdir()):
                shutil.chown(path, user)
            command[1:1] = ["-u", user]
        with (tmp_path / "pgbouncer.log").open("wb") as log:
            started.append(subprocess.Popen(command, stdout=log, stderr=log))
        through = url.set(host="127.0.0.1", port=port, query={})
        plain = through.set(drivername="postgresql").render_as_string(hide_password=False)
        end = monotonic() + PATIENCE_S
        while not answers(plain):
            assert monotonic() < end, (tmp_path / "pgbouncer.log").read_text()
            sleep(0.05)
        return through.render_as_string(hide_password=False)

    yield start
    for process in started:
        process.kill()
        process.wait()
    shutil.rmtree(folder)


def answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def refusal_to_start(database: str, folder: Path) -> str:
    """Return the one line with which a server refuses to start on a database."""
    environment = {
        "PBMSERV_DATA_DIR": str(folder),
        "PBMSERV_DATABASE": database,
        "PBMSERV_SMTP": "127.0.0.1:0",
        "PBMSERV_WEB": "",
    }
    served = fork_server.run(["serve"], {**os.environ, **environment}, timeout=PATIENCE_S)
    assert served.returncode == 2, served
    (line,) = served.stderr.splitlines()
    return line


def test_a_pooler_in_transaction_mode_is_refused_with_a_sentence(
    pooled: Pooled, tmp_path: Path
) -> None:
    line = refusal_to_start(pooled("transaction"), tmp_path)
    assert "set pool_mode = session in PgBouncer" in line


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_keep_every_letter_is_refused(
    postgres_url: str, tmp_path: Path, encoding: str
) -> None:
    name = f"pbmserv_{encoding.lower()}_{uuid.uuid4().hex[:12]}"
    options = f"ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
    administer(postgres_url, f"CREATE DATABASE {{}} {options}", name)
    try:
        line = refusal_to_start(url_of(postgres_url, name), tmp_path)
    finally:
        drop(postgres_url, name)
    assert f"has the encoding {encoding}" in line
    assert "createdb --encoding=UTF8 --template=template0" in line


def test_a_pooler_in_session_mode_is_no_trouble(pooled: Pooled) -> None:
    database = Database(pooled("session"))
    try:
        assert [shares_sessions(database.reading) for _ in range(5)] == [False] * 5
    finally:
        database.close()


def test_the_sessions_of_a_server_name_its_stages(postgres_url: str, tmp_path: Path) -> None:
    database = Database(postgres_url)
    named = text(
        "SELECT DISTINCT application_name FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name LIKE 'pbmserv %'"
    )
    try:
        with Process(tmp_path, postgres_url) as served:
            stages = {f"pbmserv {name}" for name in served.stages() if name != "web"}
            end = monotonic() + PATIENCE_S
            names: set[str] = set()
            while not stages <= names:
                assert monotonic() < end, names
                with database.reading.connect() as connection:
                    names |= set(connection.execute(named).scalars())
    finally:
        database.close()
