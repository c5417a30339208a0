"""Processes of the server are killed under load, some at a time, some all at once.

A short run of `python -m benchmarks.kills`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from distributed_tables import divide
from fork_server import Forked, serve

from benchmarks.kills import KINDS, Plan, run
from pbmserv.store.core.database import Database

pytestmark = pytest.mark.slow


def test_nothing_is_lost_doubled_or_left_behind(database_url: str, tmp_path: Path) -> None:
    one_by_one = ("play", "post1", "door", "server", "play", "all")
    assert set(one_by_one) < set(KINDS)
    report = run(
        Plan(
            database_url,
            tmp_path,
            one_by_one,
            5,
            boards=40,
            players=200,
            sessions=4,
            between_s=0.3,
            leases_end=True,
            begin=serve,
        )
    )
    print(report.printed())
    assert report.faults == []
    assert report.taken > len(one_by_one)  # how many, that is the machine
    assert report.letters > report.taken


def test_nothing_is_lost_or_doubled_where_queues_are_asked_share_by_share(
    postgres_url: str, tmp_path: Path
) -> None:
    database = Database(postgres_url)
    divide(database)
    database.close()

    def begin(environment: Mapping[str, str], stdout: int, stderr: int) -> Forked:
        return serve({**environment, "PBMSERV_DISTRIBUTED": "on"}, stdout, stderr)

    report = run(
        Plan(
            postgres_url,
            tmp_path,
            ("play", "post1", "all"),
            5,
            boards=20,
            players=100,
            sessions=4,
            between_s=0.3,
            leases_end=True,
            begin=begin,
        )
    )
    assert report.faults == []
    assert report.letters > report.taken > 3
