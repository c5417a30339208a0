"""Line 7: how soon the server is ready, and the program answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import moves, servers
from benchmarks.table import Line, at_most

READY_S, VERSION_S = 1.5, 0.3
BOARDS = 1_000


def measure(folder: Path, times: int) -> list[Line]:
    """All of line 7."""
    database = folder / "start.sqlite3"
    moves.prepare(database, BOARDS)
    starts = []
    for _ in range(times):
        with servers.pbmserv(folder, database, f"maildir:{folder / 'mail'}") as running:
            starts.append(running.took)
    versions = []
    for _ in range(times):
        begun = perf_counter()
        subprocess.run([sys.executable, "-m", "pbmserv", "--version"], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        versions.append(perf_counter() - begun)
    return [
        at_most("10", "start to ready, existing database", READY_S, median(starts), "s"),
        at_most("10", "pbmserv --version", VERSION_S, median(versions), "s"),
    ]
