"""Line 7: how much of a move the database keeps, for days and for good.

Moves go through the real server, by SMTP, and both letters of each to a relay; the mails are
whole, the letters have text and HTML with both boards. Then the server is started with a clock
that is ahead by more than anything is kept; what its keeper leaves is compacted and measured, with
all tables and indices, the boards and their players included.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import perf_counter

from benchmarks import moves, servers
from benchmarks.smtp import send_all
from benchmarks.table import Line, at_most, told

KEPT_FOR_GOOD = 3.0
"""kB a move."""
MOVES_PER_BOARD = 16
DAYS = 60
"""How far ahead: more than mails, letters and their words are kept."""
PATIENCE_S = 300


def measure(folder: Path, mails: int) -> list[Line]:
    """What *mails* moves leave behind."""
    database = folder / "growth.sqlite3"
    games = moves.prepare(database, mails // MOVES_PER_BOARD)
    with (
        servers.sink() as relay,
        servers.pbmserv(folder, database, f"smtp://127.0.0.1:{relay.port}") as running,
    ):
        boards = mails // MOVES_PER_BOARD
        played = 2 * boards
        for _ in range(MOVES_PER_BOARD):  # an answer is sent when the move is there
            asyncio.run(send_all(running.port, games.shares(10, boards)))
            played += boards
            _wait(lambda: moves.plies(database) >= played)  # noqa: B023 - at once
        _wait(lambda: moves.waiting(database) == 0)
    fresh = _kilobytes(database) / mails
    with servers.days_later(folder, database, DAYS):
        _wait(lambda: moves.kept(database) == 0)
    servers.compact(folder, database)
    good = _kilobytes(database) / mails
    note = f"{mails:,} moves, each with two letters"
    return [
        told("the database grows until mails and letters are over by", f"{fresh:.1f} kB a move"),
        at_most("7", "the database grows for good by", KEPT_FOR_GOOD, good, "kB a move", note),
    ]


def _wait(done: Callable[[], bool]) -> None:
    patience = perf_counter() + PATIENCE_S
    while not done():
        if perf_counter() > patience:
            raise RuntimeError("the server does not get it done")
        time.sleep(0.1)


def _kilobytes(database: Path) -> float:
    """The size of a database that nobody has open."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return database.stat().st_size / 1000
