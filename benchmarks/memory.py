"""Line 8: what all processes of a server take in memory while mail after mail is played."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from benchmarks import moves, servers
from benchmarks.smtp import send_all

SESSIONS = 10
PER_BOARD = 30
"""Moves on each board; an answer is sent when the move before it is there, so between two looks
each board gets one."""
_PSS = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)


def measure(folder: Path, mails: int, longest_s: float) -> Iterator[tuple[int, dict[str, float]]]:
    """After how many mails each process takes how much: MB of proportional set size, by name.

    Args:
        mails: how many moves are played, each with two letters.
        longest_s: after so many seconds no further step begins.
    """
    database = folder / "memory.sqlite3"
    count = mails // PER_BOARD + SESSIONS
    games = moves.prepare(database, count)
    begun, sent = perf_counter(), 0
    with (
        servers.sink() as relay,
        servers.pbmserv(folder, database, relay.url) as running,
    ):
        yield 0, _taken(running.process.pid)
        while sent < mails and perf_counter() - begun < longest_s:
            shares = games.shares(SESSIONS, max(SESSIONS, min(count, mails - sent)))
            send_all(running.port, shares)
            sent += sum(map(len, shares))
            moves.await_letters(relay.taken, 2 * sent, database, pause_s=0.1)
            yield sent, _taken(running.process.pid)


def _taken(pid: int) -> dict[str, float]:
    """MB of a process and of all that it has started, by their names."""
    name = Path(f"/proc/{pid}/comm").read_text().strip()
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = _PSS.search(rollup)
    assert found is not None
    taken = {name: int(found[1]) * 1024 / 1e6}
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            taken |= _taken(int(child))
    return taken
