"""A PostgreSQL that cannot be reached, or says nothing any more: 451, and later it goes on."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import refused_to_start
from running import Running, start
from seating import HIDINGS, seat_pairs
from silence import SilentWay
from smtp_client import SETTLES, Wire, mail
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from pbmserv.smtpd.replies import TRY_LATER
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.core.postgresql import timeouts

OURS = "pbmserv@games.example"
ALICE = "alice@players.example"
SHORT = {"options": "-c statement_timeout=1000"}

# The driver complains of connections that were given up; that is the story here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*deleted while still open:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def way(postgres_url: str) -> Iterator[SilentWay]:
    silent = SilentWay(postgres_url)
    yield silent
    silent.close()
    gc.collect()  # now, and not in somebody else's test


@pytest.fixture
def server(way: SilentWay, tmp_path: Path) -> Iterator[Running]:
    with start(tmp_path, way.url(**SHORT)) as running:
        SETTLES.pop(running.port)  # it would ask the database that is silent
        yield running


def test_every_wait_has_an_end_unless_the_url_says_otherwise() -> None:
    limits = timeouts("postgresql+psycopg://u@db/games", 30_000)
    assert limits.connecting["connect_timeout"] == "5"
    assert limits.connecting["tcp_user_timeout"] == "15000"
    assert limits.connecting["keepalives"] == "1"
    assert limits.session_ms == {
        "lock_timeout": 30_000,
        "statement_timeout": 45_000,
        "idle_in_transaction_session_timeout": 60_000,
    }
    assert (limits.idle_s, limits.silence_s, limits.pool_s) == (5.0, 15.0, 10.0)
    words = "connect_timeout=9&tcp_user_timeout=2000&pool_timeout=3"
    options = "options=-c%20statement_timeout%3D7s%20--lock-timeout%3D1s"
    limits = timeouts(f"postgresql+psycopg://u@db/games?{words}&{options}", 30_000)
    assert "connect_timeout" not in limits.connecting
    assert "pool_timeout" not in limits.url.query
    assert list(limits.session_ms) == ["idle_in_transaction_session_timeout"]
    assert (limits.idle_s, limits.silence_s, limits.pool_s) == (9.0, 2.0, 3.0)


def test_the_server_is_told_too(postgres_url: str) -> None:
    database = Database(postgres_url)
    query = "SELECT name, setting FROM pg_settings WHERE name LIKE '%_timeout'"
    with database.reading.connect() as connection:
        by_name = {row[0]: row[1] for row in connection.execute(text(query))}
        assert by_name["statement_timeout"] == "45000"
        assert by_name["lock_timeout"] == "30000"
        assert by_name["idle_in_transaction_session_timeout"] == "60000"
        assert connection.connection.driver_connection.patience == 60.0
    database.close()


def test_a_migration_takes_as_long_as_it_needs(way: SilentWay) -> None:
    database = Database(way.url(options="-c statement_timeout=100"))
    slow = text("SELECT pg_sleep(0.3)")
    with ThreadPoolExecutor(1) as other, Database(way.url()).writing.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": schema.LOCK})
        waits = other.submit(schema.upgrade, database)
        connection.execute(slow)
        assert not waits.done()
        connection.commit()
        waits.result()
    with pytest.raises(OperationalError), database.reading.connect() as connection:
        connection.execute(slow)
    database.close()


def test_when_packets_are_swallowed_mails_are_put_off_and_later_all_goes_on(
    server: Running, way: SilentWay
) -> None:
    table = seat_pairs(server.server, 1)[0]

    def half_done(connection: Connection) -> None:
        connection.execute(text("SELECT 1"))
        way.fall_silent()

    with Wire(server.port) as wire, Wire(server.port) as other, ThreadPoolExecutor(4) as pool:
        move = mail(table.players[0].address, "Re: board", HIDINGS[0])
        secret = mail(ALICE, "prefs alice wonder-land")  # its password is looked up
        with pytest.raises(OperationalError):  # in the middle of a job
            server.server.writer.submit(half_done).result()
        # Each of these waits for its own timeouts.
        answers = [
            pool.submit(wire.mail, ALICE, table.addresses[0], move),
            pool.submit(other.mail, ALICE, OURS, secret),
        ]
        looks = [
            pool.submit(server.server.scheduler.run_once),
            pool.submit(server.server.bot_worker.run_once),
        ]
        assert [answer.result() for answer in answers] == [TRY_LATER] * 2
        for look in looks:
            with pytest.raises(OperationalError):
                look.result()
        way.speak()
        assert wire.mail(ALICE, table.addresses[0], move).startswith("250")
        assert wire.mail(ALICE, OURS, secret).startswith("250")
    assert server.letters(table.players[0].address)  # the senders have come back as well
    server.server.bot_worker.run_once()  # and so have the bots
    server.live(days=7, hours=1)
    assert server.letters(table.players[1].address)  # and so has who looks at clocks


def test_a_start_without_its_database_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # taken by the kernel, and never served
        port = deaf.getsockname()[1]
        url = f"postgresql+psycopg://pbmserv:hunter2@127.0.0.1:{port}/games?connect_timeout=2"
        served = refused_to_start(data_dir=str(tmp_path), smtp="127.0.0.1:0", database=url)
    assert served.returncode == 1
    assert served.stderr.count("\n") == 1
    assert "cannot be used: connection timeout expired" in served.stderr
    assert "hunter2" not in served.stderr
