"""Numbers for Prometheus: on their own listener, never among the pages, and cheap."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from lines import written
from probing import get
from prometheus_client.parser import text_string_to_metric_families
from running import Running, start
from seating import HIDINGS, seat_pairs
from smtp_client import Wire, mail
from sqlalchemy import event, text

from pbmserv import log
from pbmserv.stages.stage_states import own_numbers
from pbmserv.store.core.database import Database
from pbmserv.store.operators import health as rows

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"


@pytest.fixture(autouse=True)
def _every_question_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pbmserv.service.operators.health.FRESH_S", 0.0)


@pytest.fixture
def watched(database_url: str, tmp_path: Path) -> Iterator[Running]:
    with start(tmp_path, database_url, metrics="127.0.0.1:0") as running:
        yield running


def numbers(server: Running) -> dict[str, float]:
    """Return all samples as ``name{label=value}``."""
    status, page = get(server.metrics_port, "/metrics")
    assert status == 200
    return {
        sample.name + "".join(f"{{{k}={v}}}" for k, v in sample.labels.items()): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def test_mails_letters_refusals_and_wrong_passwords_are_counted(watched: Running) -> None:
    before = numbers(watched)
    table = seat_pairs(watched.server, 1)[0]
    for seat in (0, 1):
        player = table.players[seat]
        watched.send(player.address, "Re", HIDINGS[seat], to=table.addresses[seat])
    raw = mail(
        ALICE, f"blackbox move 1 {table.players[0].userid} wonderland b3", Message_ID="<1@x>"
    )
    with Wire(watched.port) as wire:
        for _ in range(2):
            wire.mail(ALICE, OURS, raw)
        wire.mail(ALICE, OURS, b"Subject: x\r\n\r\nfrom nobody")
        wire.ask(f"MAIL FROM:<{ALICE}>")
        wire.ask("RCPT TO:<nobody@games.example>")
        watched.settle()
        watched.server.sender.stop(20)
        after = numbers(watched)
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    assert grown["pbmserv_mails_total{outcome=taken}"] == 3
    assert grown["pbmserv_mails_total{outcome=copy}"] == 1
    assert grown["pbmserv_mails_total{outcome=refused}"] == 1
    assert grown["pbmserv_mail_seconds_count"] == 5
    assert grown["pbmserv_letters_total{outcome=sent}"] == len(watched.relay.delivered)
    assert grown["pbmserv_refusals_total{because=550 5.1.1}"] == 1
    assert grown["pbmserv_refusals_total{because=554 5.6.0}"] == 1
    assert grown["pbmserv_wrong_guesses_total{because=wrong}"] == 1
    assert after["pbmserv_sessions{listener=smtp-own}"] == 1
    assert after["pbmserv_sessions_most{listener=smtp-own}"] >= 1
    assert after["pbmserv_relay_failures"] == 0
    assert after["pbmserv_waiting{queue=kept}"] == 0
    assert after["pbmserv_bytes{what=database}"] > 10_000
    assert after["pbmserv_bytes{what=free}"] > 10_000
    assert after["pbmserv_newest_number{of=letters}"] == len(watched.relay.delivered)
    assert any(name.startswith("pbmserv_build{") for name in after)
    assert "process_resident_memory_bytes" in after


def test_each_process_counts_the_log_lines_that_it_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The metrics add up the numbers of all processes; most lines come from door, play and post."""
    monkeypatch.setattr(log, "lost", lambda: 3)
    assert b"\npbmserv_log_lines_lost_total 3.0\n" in own_numbers()


def test_queues_are_reported_with_their_age(watched: Running) -> None:
    with Wire(watched.port) as wire:
        wire.mail(ALICE, "postmaster@games.example", mail(ALICE, "hello"))
    watched.server.clock.move(minutes=10)
    values = numbers(watched)
    assert values["pbmserv_waiting{queue=kept}"] == 1
    assert values["pbmserv_waiting_seconds{queue=kept}"] == 600
    watched.server.clock.move(days=4)  # which is a reason to look, and no failure
    assert numbers(watched)["pbmserv_check_ok{check=kept}"] == 1


def test_the_pages_never_show_the_numbers(watched: Running) -> None:
    for path in ("/metrics", "/metrics/", "//metrics", "/help/../metrics", "/%6detrics"):
        assert get(watched.web_port, path)[0] == 404
    assert get(watched.metrics_port, "/")[0] == 404
    assert get(watched.metrics_port, "/help")[0] == 404


def test_no_number_identifies_a_player(watched: Running, caplog: pytest.LogCaptureFixture) -> None:
    alice = watched.sign_up("alice", "wonderland")
    watched.send(alice, "blackbox challenge alice nobody")
    page = get(watched.metrics_port, "/metrics")[1]
    for secret in ("alice", "wonderland", "players.example", "127.0.0"):
        assert secret not in page
    assert "_created" not in page
    assert "alice" not in "\n".join(written(caplog))


PARTIAL_INDEXES = ("ix_outbox_open", "ix_inbox_kept", "uq_game_pauses_open")
"""Indexes of the few rows that still wait; these are read whole."""


@pytest.mark.both_databases
def test_no_query_reads_a_whole_table(database: Database) -> None:
    executed: list[tuple[str, Any]] = []
    with database.reading.connect() as connection:
        event.listen(
            connection, "before_cursor_execute", lambda *call: executed.append((call[2], call[3]))
        )
        rows.queues(None, connection, datetime(2026, 3, 1, 12, tzinfo=UTC))
    explain = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"
    with database.reading.connect() as connection:
        if not database.is_sqlite:
            connection.execute(text("SET LOCAL enable_seqscan = off"))  # tables are empty here
        for statement, parameters in executed:
            plan = connection.exec_driver_sql(f"{explain} {statement}", parameters).all()
            steps = [str(row[-1]) for row in plan]
            assert "Seq Scan" not in "".join(steps), statement
            scans = [step for step in steps if step.startswith("SCAN")]
            assert all(step.endswith(PARTIAL_INDEXES) for step in scans), (statement, steps)
    assert len(executed) > 8
