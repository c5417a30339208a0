"""Time from the start of the server until it is ready."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from benchmarks import moves, servers
from benchmarks.table import Line, at_most

READY_S = 2.0
BOARDS = 1_000


def measure(folder: Path, times: int) -> list[Line]:
    """Start a server with an existing database some times."""
    database = folder / "start.sqlite3"
    moves.prepare(database, BOARDS)
    seconds = []
    for _ in range(times):
        with servers.pbmserv(folder, database, f"maildir:{folder / 'mail'}") as server:
            seconds.append(server.took)
    return [at_most("start to ready, existing database", READY_S, median(seconds), "s")]
