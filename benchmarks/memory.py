"""Memory of all processes of a server after many mails."""

from __future__ import annotations

from pathlib import Path

import psutil

from benchmarks import moves, servers
from benchmarks.smtp import send_all
from benchmarks.table import Line, at_most

MOST_MB = 300.0
SESSIONS = 10
MOVES_PER_BOARD = 30


def measure(folder: Path, mails: int) -> list[Line]:
    """Play moves, each with two letters, and add up the processes' proportional set sizes."""
    database = folder / "memory.sqlite3"
    boards = mails // MOVES_PER_BOARD + SESSIONS
    games = moves.prepare(database, boards)
    sent = 0
    with servers.sink() as relay, servers.pbmserv(folder, database, relay.url) as server:
        while sent < mails:
            shares = games.shares(SESSIONS, max(SESSIONS, min(boards, mails - sent)))
            send_all(server.port, shares)
            sent += sum(map(len, shares))
            moves.await_letters(relay.letters, 2 * sent, database, pause_s=0.1)
        megabytes = by_process(psutil.Process(server.process.pid))
    note = ", ".join(f"{name} {mb:.0f}" for name, mb in sorted(megabytes.items()))
    what = f"memory of all processes after {sent:,} mails"
    return [at_most(what, MOST_MB, sum(megabytes.values()), "MB", note)]


def by_process(process: psutil.Process) -> dict[str, float]:
    """Return the MB of a process and its descendants, by their names."""
    family = (process, *process.children(recursive=True))
    return {member.name(): member.memory_full_info().pss / 1e6 for member in family}
