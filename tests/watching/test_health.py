"""/healthz returns 503 and the reason for a full disk, taken sessions, a dead relay, or stuck
threads.

Each test asks a real server over HTTP, as a probe does.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import monotonic

import pytest
from probing import get, health
from processes import wait_until
from running import MovableClock, Running, start
from smtp_client import SETTLES, Wire, mail
from sqlalchemy import Connection, update

from pbmserv.errors import RelayDown
from pbmserv.monitoring import vitals
from pbmserv.service.limits.text_quota import MEASURE_EVERY
from pbmserv.service.operators import health as looks
from pbmserv.store.core import writer
from pbmserv.store.operators import health as rows
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.mail import inbox, outbox

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"


@pytest.fixture(autouse=True)
def _every_question_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "FRESH_S", 0.0)


@pytest.fixture
def watched(database_url: str, tmp_path: Path) -> Iterator[Running]:
    with start(tmp_path, database_url, metrics="127.0.0.1:0", mail_servers="") as running:
        yield running


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Running]:
    with start(tmp_path, metrics="127.0.0.1:0", mail_servers="") as running:
        yield running


def test_a_healthy_server_lists_its_checks(watched: Running) -> None:
    status, report = health(watched.metrics_port)
    assert (status, report["status"]) == (200, "ok")
    checks = report["checks"]
    assert set(checks) == {
        *("threads", "write", "sessions", "relay", "disk", "texts"),
        *("mails", "letters", "house", "clocks", "digests", "kept"),
    }
    assert checks["sessions"]["smtp_open"] == 0
    assert checks["write"]["ms"] > 0
    assert health(watched.metrics_port, "/healthz/ready")[1]["status"] == "ok"
    assert health(watched.metrics_port, "/healthz/live")[0] == 200
    assert watched.server.rows(inbox.select()) == []
    watched.send(ALICE, "help")
    assert watched.letter(ALICE).id == 1  # no number was used up


def test_strangers_get_no_numbers(watched: Running) -> None:
    status, report = health(watched.web_port)
    assert (status, report["status"]) == (200, "ok")
    assert all(set(value) <= {"ok", "state", "reason"} for value in report["checks"].values())


def has_vacuumed(driver: sqlite3.Connection) -> bool:
    """Try to remove free pages, which cannot be done while the writer is in a transaction."""
    try:
        driver.execute("VACUUM")
    except sqlite3.OperationalError:
        return False
    return True


def test_a_full_disk_is_failing(local: Running) -> None:
    driver = local.server.writer.submit(
        lambda connection: connection.connection.driver_connection
    ).result()
    assert isinstance(driver, sqlite3.Connection)
    wait_until(partial(has_vacuumed, driver), "the writer rests")  # migrations leave free pages
    pages = driver.execute("PRAGMA page_count").fetchone()[0]
    driver.execute(f"PRAGMA max_page_count = {pages}")
    status, report = health(local.web_port)
    assert (status, report["status"]) == (503, "failing")
    assert report["checks"]["write"]["reason"] == "database or disk is full"
    assert health(local.web_port, "/healthz/live")[0] == 200  # a restart would not help
    driver.execute("PRAGMA max_page_count = 1000000")
    assert health(local.web_port)[0] == 200


def test_texts_near_their_quota_are_reported(local: Running) -> None:
    local.send(ALICE, "a long story", "y" * 1_000_000, to="postmaster@games.example")
    local.server.quota.most = 1_048_576
    local.server.quota.measure(local.server.clock.now() + MEASURE_EVERY)
    status, report = health(local.metrics_port)
    assert (status, report["status"]) == (200, "degraded")
    assert "nearly all that they may" in report["checks"]["texts"]["reason"]


def test_a_disk_that_fills_is_reported_before_and_when_it_is_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a disk")
    try:
        with start(disk, metrics="127.0.0.1:0") as server:
            status, report = health(server.metrics_port)
            assert (status, report["status"]) == (200, "degraded")
            assert "MB are free" in report["checks"]["disk"]["reason"]
            with contextlib.suppress(OSError), (disk / "full").open("wb") as file:
                while file.write(b"\0" * 65_536):
                    file.flush()
            status, report = health(server.metrics_port)
            assert (status, report["checks"]["disk"]["ok"]) == (503, False)
            (disk / "full").unlink()
            assert health(server.metrics_port)[0] == 200
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_taken_sessions_are_failing(tmp_path: Path) -> None:
    with (
        start(tmp_path, mail_servers="", sessions="5", sessions_network="5") as local,
        contextlib.ExitStack() as limits,
    ):
        for _ in range(4):
            limits.enter_context(Wire(local.port))
        status, report = health(local.web_port)
        assert (status, report["status"]) == (200, "degraded")
        assert report["checks"]["sessions"]["reason"] == "4 of 5 sessions of smtp are taken"
        limits.enter_context(Wire(local.port))
        status, report = health(local.web_port)
        assert status == 503
        assert report["checks"]["sessions"]["reason"] == "all 5 sessions of smtp are taken"
        assert health(local.web_port, "/healthz/live")[0] == 200


def test_a_dead_relay_is_failing(watched: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = threading.Semaphore(0)

    def dead(letter: object) -> None:
        tried.release()
        raise RelayDown("no connection to relay.example:25")

    with monkeypatch.context() as broken:
        broken.setattr(watched.relay, "deliver", dead)
        for number in range(2):
            watched.send(ALICE, "help", message_id=f"<{number}@players.example>")
            assert tried.acquire(timeout=60)
        sender = watched.server.sender
        while sender.breaker.failures < 2:
            pass
        status, report = health(watched.web_port)
        assert status == 503
        assert "did not reach the relay" in report["checks"]["relay"]["reason"]
    watched.server.clock.move(hours=1)
    watched.server.sender.wake()
    watched.settle()
    assert health(watched.web_port)[1]["checks"]["relay"]["ok"]


@pytest.mark.both_databases
def test_a_stuck_writer_is_failing_and_in_the_end_not_alive(
    watched: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "WRITE_S", 0.1)
    goes_on, began = threading.Event(), threading.Semaphore(0)

    def stuck(connection: Connection) -> None:
        began.release()
        goes_on.wait(60)

    writers = len(watched.server.writer.vitals())
    for _ in range(writers):
        watched.server.writer.submit(stuck)
    for _ in range(writers):
        began.acquire(timeout=60)
    try:
        for _ in range(3):
            status, report = health(watched.web_port)
            assert status == 503
            assert "nothing could be written" in report["checks"]["write"]["reason"]
        assert 'check_ok{check="write"} 0.0' in get(watched.metrics_port, "/metrics")[1]
        assert health(watched.web_port, "/healthz/live")[0] == 200
        with monkeypatch.context() as later:
            later.setattr(vitals, "monotonic", lambda: monotonic() + writer.LONGEST_S)
            status, report = health(watched.web_port, "/healthz/live")
        assert status == 503
        assert "pbmserv-writer-0 has not been heard of" in report["checks"]["threads"]["reason"]
    finally:
        goes_on.set()
    while health(watched.web_port)[0] != 200:
        pass
    assert health(watched.web_port, "/healthz/live")[0] == 200


def test_a_thread_that_has_ended_is_not_alive(local: Running) -> None:
    assert local.server.bot_worker.stop(20)
    status, report = health(local.web_port, "/healthz/live")
    assert (status, report["status"]) == (503, "failing")
    assert report["checks"]["threads"]["reason"] == "house has ended"
    assert health(local.web_port)[0] == 503


def test_overdue_letters_are_failing(watched: Running) -> None:
    watched.send(ALICE, "help")
    watched.settle()
    assert watched.server.sender.stop(20)
    due = watched.server.clock.now()
    watched.server.writer.submit(
        lambda c: c.execute(update(outbox).values(state="queued", due_at=due))
    ).result()
    for minutes, state in ((4, "ok"), (6, "degraded"), (20, "failing")):
        watched.server.clock.moment = due + timedelta(minutes=minutes)
        check = health(watched.metrics_port)[1]["checks"]["letters"]
        assert (check["state"], check["count"], check["oldest_s"]) == (state, 1, minutes * 60)


def test_mails_that_are_not_carried_out_are_failing(watched: Running) -> None:
    server = watched.server
    server.play_stage.play.stop(20)
    SETTLES.pop(watched.port)  # nobody would come to an end of it
    with Wire(watched.port) as wire:
        assert wire.mail(ALICE, watched.address, mail(ALICE, "help")).startswith("250")
    clock = server.clock
    assert isinstance(clock, MovableClock)
    for minutes, state in ((0, "ok"), (2, "degraded"), (4, "failing")):
        clock.move(minutes=minutes)
        check = health(watched.metrics_port)[1]["checks"]["mails"]
        assert (check["state"], check["count"]) == (state, 1)
    assert check["reason"] == "a mail has waited to be carried out for 6 min"


def test_clocks_that_are_behind_and_mails_that_are_kept_are_counted(watched: Running) -> None:
    from seating import seat_pairs

    watched.server.scheduler.stop(20)
    seat_pairs(watched.server, 3)
    now = watched.server.clock.now()
    watched.server.writer.submit(lambda c: c.execute(update(boards).values(due_at=now))).result()
    with Wire(watched.port) as wire:
        wire.mail(ALICE, "postmaster@games.example", mail(ALICE, "hello"))
    watched.server.clock.move(days=4)
    checks = health(watched.metrics_port)[1]["checks"]
    assert (checks["clocks"]["state"], checks["clocks"]["count"]) == ("failing", 3)
    assert (checks["kept"]["state"], checks["kept"]["count"]) == ("degraded", 1)
    assert "4.0 days" in checks["kept"]["reason"]


@pytest.mark.both_databases
def test_a_failing_database_is_reported_in_its_own_words_without_values(
    watched: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise sqlite3_error()

    monkeypatch.setattr(rows, "queues", gone)
    status, report = health(watched.web_port)
    assert status == 503
    assert "hush" not in str(report)
    assert report["checks"]["database"]["reason"] == "disk I/O error"


def sqlite3_error() -> Exception:
    from sqlalchemy.exc import OperationalError

    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR"
    return OperationalError("SELECT hush", {"a": "hush"}, error)
