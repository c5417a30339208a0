"""``pbmserv status`` reads the database, with or without a running server."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace
from typing import cast

import pytest
from processes import DOMAIN, PATIENCE_S, Process
from programs import free_port
from running import Running, start
from smtp_client import Wire, mail
from sqlalchemy import update

from pbmserv.cli.main import run
from pbmserv.clock import SystemClock
from pbmserv.games.blackbox.bots.loops import equipment
from pbmserv.service.operators.health import RelayState
from pbmserv.service.operators.server_status import running_line
from pbmserv.stages import stage_states
from pbmserv.stages.messages import StageState
from pbmserv.stages.stage_states import worst_relay
from pbmserv.store import heartbeats
from pbmserv.store.operators.health import Queues
from pbmserv.store.tables.downtime import heartbeats as heartbeat_rows

ALICE = "alice@players.example"


def status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, url: str, *more: str
) -> str:
    monkeypatch.setenv("PBMSERV_DATABASE", url)
    assert run(["status", *more]) == 0
    return capsys.readouterr().out


def beat(server: Running) -> None:
    """Add a heartbeat; the server in a test has its own clock."""
    now = SystemClock().now()
    server.server.writer.submit(
        lambda c: c.execute(update(heartbeat_rows).values(beat_at=now))
    ).result()


@contextmanager
def paused(served: Process, name: str) -> Iterator[None]:
    """Stop one process of the server for a while."""
    number = served.stages()[name]
    os.kill(number, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(number, signal.SIGCONT)


def test_a_running_server_and_its_queues(
    server: Running, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.server.database.url
    with Wire(server.port) as wire:
        wire.mail(ALICE, "postmaster@games.example", mail(ALICE, "hello"))
    server.send(ALICE, "help")
    server.settle()
    assert server.server.sender.stop(20)
    page = status(capsys, monkeypatch, url)
    assert "No server runs: its last sign of life was" in page
    beat(server)
    page = status(capsys, monkeypatch, url)
    assert "A server runs, without a long interruption since 2026-03-01 12:00 UTC; its last" in page
    assert "Newest numbers: mail 2, letter 1." in page
    kept = next(line for line in page.splitlines() if line.startswith("mails kept"))
    assert kept.split()[5] == "1"
    content = json.loads(status(capsys, monkeypatch, url, "--json"))
    assert content["running"] is True
    assert content["kept"]["count"] == 1
    assert (content["newest_mail"], content["newest_letter"]) == (2, 1)
    assert content["due"] == {"count": 0, "oldest_s": 0.0}
    assert content["bytes"]["database"] > 10_000
    assert 0 < content["bytes"]["mail_texts"] < 2_000  # of the one that is kept
    assert "players.example" not in page + json.dumps(content)


def test_a_relay_that_is_down_is_shown_with_its_last_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/pbmserv.sqlite3"
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    with Process(tmp_path, url, relay=f"smtp://127.0.0.1:{free_port()}") as served:
        assert "The relay" not in status(capsys, monkeypatch, url)
        with Wire(served.port) as wire:
            wire.mail(ALICE, f"pbmserv@{DOMAIN}", mail(ALICE, "help"))
        end = monotonic() + PATIENCE_S
        while "The relay" not in (text := status(capsys, monkeypatch, url)):
            assert monotonic() < end
            sleep(0.1)
        assert "no connection to the relay: [Errno 111] Connection refused" in text
        listed = served.command("outbox", "list")
        assert "The relay has failed" in listed
        assert "no connection to the relay" in listed


@pytest.mark.slow
def test_a_relay_that_replied_to_another_stage_is_not_down() -> None:
    failed = RelayState(5, is_open=True, fault="refused", last_reply=10.0, last_failure=20.0)
    quiet = RelayState(0, is_open=False)
    replied = RelayState(0, is_open=False, last_reply=30.0)
    stages = [StageState((), relay=relay) for relay in (failed, quiet, replied)]
    assert worst_relay(stages[:2]) == failed
    assert worst_relay(stages).failures == 0
    again = replace(failed, last_failure=40.0)
    assert worst_relay([*stages, StageState((), relay=again)]) == again


def test_a_server_that_has_just_started_is_not_called_unknown() -> None:
    before_its_first_sign = cast("Queues", SimpleNamespace(beat_s=None, up_since=None))
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    line = running_line(before_its_first_sign, noon)
    assert line == "A server has been running since 2026-03-01 12:00 UTC; it is starting."
    assert running_line(before_its_first_sign, None) == "No server has ever run on this database."


def test_its_stages_say_what_they_do_and_since_when(
    database_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    usual = stage_states.PATIENCE_S
    monkeypatch.setattr(stage_states, "PATIENCE_S", PATIENCE_S)  # a busy machine is slow to answer
    with Process(tmp_path, database_url) as served:
        text = status(capsys, monkeypatch, database_url)
        think = equipment()
        assert f"Stages on this machine: bots ({think}), door, play, post1, web." in text
        assert find_spec("numba") is None or think.endswith("compiled search")
        content = json.loads(status(capsys, monkeypatch, database_url, "--json"))
        assert content["stages"] == dict.fromkeys(("door", "play", "post1", "web"), "") | {
            "bots": think
        }
        assert content["mails"] == {"count": 0, "oldest_s": 0.0}
        before = datetime.fromisoformat(content["started"])
        with paused(served, "play"), monkeypatch.context() as impatient:
            impatient.setattr(stage_states, "PATIENCE_S", usual)
            text = status(capsys, monkeypatch, database_url)
            assert "door, play (does not answer), post1" in text
    text = status(capsys, monkeypatch, database_url)
    assert "None of its stages is on this machine: it has just ended" in text
    assert json.loads(status(capsys, monkeypatch, database_url, "--json"))["stages"] == {}
    restarted = datetime.now(UTC)
    with Process(tmp_path, database_url):
        text = status(capsys, monkeypatch, database_url)
        content = json.loads(status(capsys, monkeypatch, database_url, "--json"))
    since = datetime.fromisoformat(content["started"])
    assert before < restarted < since
    assert f"A server has been running since {since:%Y-%m-%d %H:%M} UTC" in text


def test_a_database_that_no_server_has_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from migrated import migrated

    url = migrated(tmp_path / "pbmserv.sqlite3")
    assert "No server has ever run" in status(capsys, monkeypatch, url)
    assert json.loads(status(capsys, monkeypatch, url, "--json"))["beat_s"] is None


def test_a_heartbeat_in_the_future_does_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/pbmserv.sqlite3"
    with start(tmp_path, url) as server:
        ahead = datetime.now(UTC) + timedelta(days=3, minutes=5)
        server.server.writer.submit(lambda c: heartbeats.beat(c, ahead)).result()
    assert "A clock is wrong: the server's last sign of life lies 3.0 days ahead of now." in status(
        capsys, monkeypatch, url
    )
    assert json.loads(status(capsys, monkeypatch, url, "--json"))["running"] is False


def test_without_a_database_it_says_so_and_creates_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PBMSERV_DATABASE", f"sqlite:///{tmp_path}/gone.sqlite3")
    assert run(["status"]) == 1
    assert not (tmp_path / "gone.sqlite3").exists()


def test_it_changes_nothing_and_waits_for_no_writer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    url = f"sqlite:///{tmp_path}/pbmserv.sqlite3"
    with start(tmp_path, url):
        other = sqlite3.connect(tmp_path / "pbmserv.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert "Newest numbers: " in status(capsys, monkeypatch, url)
        other.execute("ROLLBACK")
        other.close()
