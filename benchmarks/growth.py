"""Lines 7 and 8: how much of a move the database keeps, for days and for good; and
`python -m benchmarks.growth`: what a move costs where much is there already, and what memory takes.

Moves go through the real server, by SMTP, and both letters of each to a relay; the mails are
whole, the letters have text and HTML with both boards. Then the server is started with a clock
that is ahead by more than anything is kept; what its keeper leaves is compacted and measured, with
all tables and indices, the boards and their players included.
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

from benchmarks import memory, moves, servers, sizes
from benchmarks.sizes import Costs
from benchmarks.smtp import send_all
from benchmarks.table import Line, at_most, printed, told

KEPT_FOR_GOOD = 3.0
"""kB a move."""
MOVES_PER_BOARD = 16
DAYS = 60
"""How far ahead: more than mails, letters and their words are kept."""
PATIENCE_S = 300
MOST_GROWTH = 1.25
MOST_MB = 250.0


def measure(folder: Path, mails: int) -> list[Line]:
    """What *mails* moves leave behind."""
    database = folder / "growth.sqlite3"
    games = moves.prepare(database, mails // MOVES_PER_BOARD)
    with (
        servers.sink() as relay,
        servers.pbmserv(folder, database, relay.url) as running,
    ):
        boards = mails // MOVES_PER_BOARD
        played = 2 * boards
        for _ in range(MOVES_PER_BOARD):  # an answer is sent when the move is there
            send_all(running.port, games.shares(10, boards))
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


def main() -> None:
    """Print the tables, and draw them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument(
        "--boards", type=_numbers, default="1000,10000,100000,1000000", metavar="N,N"
    )
    parser.add_argument("--players", type=_numbers, default="10,1000,100000", metavar="N,N")
    parser.add_argument("--times", type=int, default=200, help="moves at each size")
    parser.add_argument("--mails", type=int, default=100_000, help="for memory; 0: not looked at")
    parser.add_argument("--minutes", type=float, default=60, help="for memory, at most")
    parser.add_argument("--kept", type=int, default=4_000, help="moves for the database's growth")
    parser.add_argument("--png", type=Path, default=Path("growth.png"), help="the drawing")
    asked = parser.parse_args()
    costs: dict[str, Costs] = {}
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="pbmserv-growth-") as name:
        folder = Path(name)
        costs["boards"] = sizes.by_boards(folder, asked.boards, asked.times)
        costs["players"] = sizes.by_players(folder, asked.players, asked.times)
        costs["plies of its board"] = sizes.by_plies(folder, asked.times)
        for what, found in costs.items():
            lines += _by_size(what, found)
        print(printed(lines), flush=True)
        seen = []
        for sent, taken in memory.measure(folder, asked.mails, asked.minutes * 60):
            seen.append((sent, sum(taken.values())))
            each = ", ".join(f"{name} {mb:.0f}" for name, mb in sorted(taken.items()))
            print(f"{sent:8,} mails: {seen[-1][1]:5.0f} MB ({each})", flush=True)
        before = next((mb for sent, mb in seen if sent >= seen[-1][0] / 2), 0.0)
        note = f"{before:.0f} MB after half of them"
        what = f"all processes together after {seen[-1][0]:,} mails"
        lines = [at_most("8", what, MOST_MB, seen[-1][1], "MB", note)]
        print(printed([*lines, *measure(folder, asked.kept)]))
    from benchmarks.plots import draw  # the extra `bench` is needed for it alone

    draw(costs, seen, asked.png)
    print(f"drawn: {asked.png}")


def _numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(",")]


def _by_size(what: str, costs: Costs) -> list[Line]:
    """A line for each size; the last one is compared with the first."""
    least = next(iter(costs))
    lines = [told(f"a move among {size:,} {what}", f"{ms:.2f} ms") for size, ms in costs.items()]
    ratio = costs[max(costs)] / costs[least]
    text = f"{max(costs):,} against {least:,} {what}"
    return [*lines, at_most("7", text, MOST_GROWTH, ratio, "x")]


if __name__ == "__main__":
    main()
