"""The primary of a PostgreSQL dies under load, and its synchronous standby takes over.

Real PostgreSQLs, and a real server with all its processes. What Patroni or pg_auto_failover do
between hosts (see the deployment's README) is done here by hand, so this proves our part: no mail
that got its 250 is lost, nothing is doubled, and every stage finds the new primary by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from fork_server import serve
from processes import Process, wait_until
from smtp_client import Wire, mail
from sqlalchemy import select
from standby import Missing, Pair

from benchmarks.kills import Plan, run
from pbmserv.smtpd.replies import TRY_LATER
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import UNAVAILABLE
from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow

OURS = "pbmserv@games.example"
SOON_S = 15.0
"""Seconds from the death of the primary to the next 250 and its answer, on a busy machine; on an
idle one it is one second."""


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    try:
        standby_pair = Pair()
    except Missing as missing:
        pytest.skip(f"NOT RUN: {missing}")
    yield standby_pair
    standby_pair.close()


def test_the_standby_takes_over_and_nothing_is_lost_or_doubled(pair: Pair, tmp_path: Path) -> None:
    kills = ("database",)
    plan = Plan(
        pair.new_database("load"),
        tmp_path,
        kills,
        7,
        boards=20,
        players=100,
        sessions=2,
        pause_s=0.5,
        between_s=1.0,
        begin=serve,
    )
    report = run(plan, pair)
    print(report)
    assert report.faults == []
    assert report.taken > len(kills)
    assert report.slowest_250 < SOON_S
    assert report.slowest_answer < 2 * SOON_S
    assert report.quiet_s < 2 * SOON_S  # no mail and no letter waits for the end of a lease


def test_while_the_standby_is_away_no_mail_gets_a_250_that_one_host_alone_knows_of(
    pair: Pair, tmp_path: Path
) -> None:
    """A commit that waits for the standby is on one disk; then that disk's host dies."""
    short = "&tcp_user_timeout=1500&options=-c%20statement_timeout%3D1500"
    first, second = (mail(f"{who}@players.example", "help") for who in ("alice", "bob"))
    url = pair.new_database("away")
    with Process(tmp_path, url + short) as server:
        with Wire(server.port) as wire:
            assert wire.mail("alice@players.example", OURS, first).startswith("250")
            pair.hang()
            assert wire.mail("bob@players.example", OURS, second) == TRY_LATER
            pair.kill()
            assert wire.mail("bob@players.example", OURS, second).startswith("250")
        database = Database(url)
        wait_until(lambda: _answered(database) == {"alice": 1, "bob": 1}, "both get one answer")
        database.close()


def _answered(database: Database) -> Counter[str]:
    """Return the number of letters to each player."""
    with suppress(*UNAVAILABLE), database.reading.connect() as connection:
        to = connection.execute(select(outbox.c.recipient)).scalars()
        return Counter(address.partition("@")[0] for address in to)
    return Counter()
