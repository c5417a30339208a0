"""`python -m benchmarks.newcomers [--games N]`: how often newcomers beat each level of the house.

The newcomers are simulated. They fire at ports in any order, know that a hit has an atom somewhere
straight ahead, some of them that a ray that passes has none, and guess early and wrongly. One has
understood that atoms turn rays, and forgets much of what it saw. Newcomers and
levels solve random boxes. The last lines are the shares of the newcomers' wins against each level.
Needs numba (the extra `house`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import mean

from benchmarks.strength import Hiding, Played, Player, chance, play_by, use_table
from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots.hiding import random_layout
from pbmserv.games.blackbox.bots.levels import HASTY, LEVELS, Level
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import HIT
from pbmserv.games.blackbox.views import BoxView, View

GAMES = 600


@dataclass(frozen=True)
class Newcomer:
    """Somebody who knows hits and, perhaps, rays that pass.

    Attributes:
        rays: rays before the first guess.
        again: rays before each further guess.
        sees_passes: whether a ray that comes out straight ahead clears its line.
    """

    rays: int
    again: int
    sees_passes: bool

    def choose(self, view: View, rng: Rng) -> str:
        """Fire at any port, or guess."""
        own = view.own
        assert own is not None
        unused = [port for port, mark in enumerate(own.marks) if not mark]
        fired = len(own.results)
        wanted = self.rays + self.again * len(own.guessed)
        if unused and fired < wanted:
            return own.board.ports[rng.choice(unused)]
        return self._guess(own, view.options.least, rng)

    def _guess(self, own: BoxView, atoms: int, rng: Rng) -> str:
        board = own.board
        cells = self._marked(own, atoms, rng)
        while cells in own.guessed:
            cells = self._marked(own, atoms, rng, scatter=3)
        words = [f"/{board.name(cell)}" for cell in sorted(own.markers - cells)]
        words += [f"+{board.name(cell)}" for cell in sorted(cells - own.markers)]
        return ",".join((*words, "?"))

    def _marked(self, own: BoxView, atoms: int, rng: Rng, scatter: int = 1) -> frozenset[int]:
        """Return a cell for each hit that no other marker explains yet, then any cells."""
        board = own.board
        hits = [line_of(board, port) for port, out in own.results if out == HIT]
        empty = {
            cell
            for port, out in own.results
            if self.sees_passes and out != HIT and out == opposite(board, port)
            for cell in line_of(board, port)
        }
        open_cells = [cell for cell in board.cells if cell not in empty]
        marked: set[int] = set()
        while len(marked) < atoms:
            unexplained = [line for line in hits if marked.isdisjoint(line)]
            left = [cell for cell in open_cells if cell not in marked] or [
                cell for cell in board.cells if cell not in marked
            ]
            value = {
                cell: sum(cell in line for line in unexplained) * 10 + rng.below(10 * scatter)
                for cell in left
            }
            marked.add(max(left, key=value.__getitem__))
        return frozenset(marked)


def line_of(board: Geometry, port: int) -> Sequence[int]:
    """Return the cells of the row or column of a port."""
    column, row = board.port_places[port]
    return [
        cell
        for cell in board.cells
        if (cell % board.width + 1 == column or column in {0, board.width + 1})
        and (cell // board.width + 1 == row or row in {0, board.height + 1})
    ]


def opposite(board: Geometry, port: int) -> int:
    """Return the port at the other end of a line."""
    column, row = board.port_places[port]
    far = (
        (board.width + 1 - column if column in {0, board.width + 1} else column),
        (board.height + 1 - row if row in {0, board.height + 1} else row),
    )
    return board.port_places.index(far)


NEWCOMERS: Mapping[str, Player] = {
    "dashes": Newcomer(rays=6, again=2, sees_passes=False),
    "knows hits": Newcomer(rays=10, again=3, sees_passes=False),
    "knows hits and passes": Newcomer(rays=12, again=3, sees_passes=True),
    "fires at every port": Newcomer(rays=28, again=0, sees_passes=True),
    "forgets": Level(ports=1, few=HASTY, hide=random_layout, remembers=30, impatience=15),
}


def summary(games: Sequence[Played]) -> str:
    """Return how often a player solves a box, and how many turns that or the last guess takes."""
    won = [game.turns for game in games if game.won]
    lost = [game.turns for game in games if not game.won]
    words = [f"solves {100 * len(won) / len(games):.0f} %"]
    words += [f"in {mean(won):.1f} turns"] if won else []
    words += [f"loses after {mean(lost):.1f}"] if lost else []
    return ", ".join(words)


def main() -> int:
    """Let all newcomers play, and print their shares of wins."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.newcomers", description=__doc__)
    parser.add_argument("--games", type=int, default=GAMES, help=f"of each player ({GAMES})")
    count = parser.parse_args().games
    use_table()
    with ProcessPoolExecutor(2) as pool:

        def games(player: Player, hiding: Hiding) -> list[Played]:
            return list(pool.map(partial(play_by, player, hiding), range(count), chunksize=20))

        newcomers = {name: games(player, random_layout) for name, player in NEWCOMERS.items()}
        for name, played in newcomers.items():
            print(f"{name:<24} {summary(played)}")
        for userid, level in LEVELS.items():
            by_level = games(level, random_layout)
            print(f"{userid:<24} {summary(by_level)}")
            shares = {name: chance(played, by_level) for name, played in newcomers.items()}
            shown = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
            print(f"{userid}: newcomers win {mean(shares.values()):.2f} ({shown})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
