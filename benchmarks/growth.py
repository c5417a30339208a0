"""Measure the rows that a move leaves in the database, and its cost in a full one.

`make bench` prints one line of each. `python -m benchmarks.growth` (`make bench-growth`) compares
more sizes: boards, players, and plies of the board.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import perf_counter

from benchmarks import moves, servers, sizes
from benchmarks.smtp import send_all
from benchmarks.table import Line, as_text, at_most

KEPT_KB = 3.0
MOST_RATIO = 1.1
MOVES_PER_BOARD = 16
DAYS = 60
"""Days by which the clock is ahead at the end: more than anything is kept."""
PATIENCE_S = 300
BOARDS, PLAYERS = (1_000, 10_000, 100_000, 1_000_000), (10, 1_000, 100_000)
QUICK_BOARDS, QUICK_PLAYERS = (1_000, 100_000), (10, 10_000)


def measure(folder: Path, mails: int) -> list[Line]:
    """Return the line about the kB that a move leaves for good.

    Moves go through a real server with both letters. Then a server with a later clock deletes what
    has expired; the rest is compacted and measured, boards and players included, without the pages
    that an empty database has for its tables.
    """
    database, empty = folder / "growth.sqlite3", folder / "empty.sqlite3"
    moves.prepare(empty, 0)
    empty_kb = _kilobytes(empty)
    boards = mails // MOVES_PER_BOARD
    games = moves.prepare(database, boards)
    with servers.sink() as relay, servers.pbmserv(folder, database, relay.url) as server:
        sent = 0
        for _ in range(MOVES_PER_BOARD):
            shares = games.shares(min(10, boards), boards)
            send_all(server.port, shares)
            sent += sum(map(len, shares))
            moves.await_letters(relay.letters, 2 * sent, database, pause_s=0.1)
    fresh_kb = (_kilobytes(database) - empty_kb) / sent
    with servers.days_later(folder, database, DAYS):
        _wait(lambda: moves.kept(database) == 0)
    servers.compact(folder, database)
    note = f"{sent:,} moves with two letters; {fresh_kb:.1f} kB until these have expired"
    kept_kb = (_kilobytes(database) - empty_kb) / sent
    return [at_most("the database grows for good by", KEPT_KB, kept_kb, "kB a move", note)]


def compare(folder: Path, boards: int, times: int) -> list[Line]:
    """Return the line about a move among many boards, as a ratio to one among 1,000."""
    costs = sizes.by_boards(folder, (1_000, boards), times)
    return [_ratio("boards", costs)]


def _ratio(what: str, costs: sizes.Costs) -> Line:
    least, most = min(costs), max(costs)
    text = f"a move among {most:,} {what}, against {least:,}"
    note = ", ".join(f"{size:,}: {ms:.2f} ms" for size, ms in costs.items())
    return at_most(text, MOST_RATIO, costs[most] / costs[least], "x", note)


def _wait(is_done: Callable[[], bool]) -> None:
    end = perf_counter() + PATIENCE_S
    while not is_done():
        if perf_counter() > end:
            raise RuntimeError("the server does not finish")
        time.sleep(0.1)


def _kilobytes(database: Path) -> float:
    """Return the size of a database that is not open."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return database.stat().st_size / 1000


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, and less exact")
    is_quick = parser.parse_args().quick
    boards, players = (QUICK_BOARDS, QUICK_PLAYERS) if is_quick else (BOARDS, PLAYERS)
    times, kept = (50, 800) if is_quick else (200, 4_000)
    with tempfile.TemporaryDirectory(prefix="pbmserv-growth-") as name:
        folder = Path(name)
        lines = [
            _ratio("boards", sizes.by_boards(folder, boards, times)),
            _ratio("players", sizes.by_players(folder, players, times)),
            _ratio("plies of its board", sizes.by_plies(folder, times)),
            *measure(folder, kept),
        ]
    print(as_text(lines))


if __name__ == "__main__":
    main()
