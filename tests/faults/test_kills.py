"""Processes of the server are killed under load, some at a time, some all at once.

A short run of `python -m benchmarks.kills`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from distributed_tables import distribute
from fork_server import POSTS, Forked, serve

from benchmarks.kills import KINDS, Plan, Report, run
from pbmserv.store.core.database import Database

pytestmark = pytest.mark.slow


def kill(url: str, folder: Path, *kills: str, **environment: str) -> Report:
    """Kill processes of a server with two posts while people play."""
    assert set(kills) < set(KINDS)

    def begin(settings: Mapping[str, str], stdout: int, stderr: int) -> Forked:
        return serve({**settings, **environment, POSTS: "2"}, stdout, stderr)

    report = run(
        Plan(
            url,
            folder,
            kills,
            5,
            boards=20,
            players=100,
            sessions=3,
            pause_s=0.3,
            between_s=0.3,
            begin=begin,
        )
    )
    print(report)
    return report


@pytest.mark.parametrize(
    ("database_url", "kills"),
    [
        ("sqlite", ("play", "post1", "door", "server", "all")),
        ("postgresql", ("play", "post1", "server")),
    ],
    indirect=["database_url"],
)
def test_nothing_is_lost_doubled_or_left_behind(
    database_url: str, kills: tuple[str, ...], tmp_path: Path
) -> None:
    report = kill(database_url, tmp_path, *kills)
    assert report.faults == []
    assert report.taken > len(kills)  # how many, that is the machine
    assert report.letters > report.taken


def test_nothing_is_lost_or_doubled_where_queues_are_asked_share_by_share(
    postgres_url: str, tmp_path: Path
) -> None:
    database = Database(postgres_url)
    distribute(database)
    database.close()
    report = kill(postgres_url, tmp_path, "post1", "all", PBMSERV_DISTRIBUTED="on")
    assert report.faults == []
    assert report.letters > report.taken > 2
