"""`python -m benchmarks.strength [--games N] [--write]`: strength of the levels.

Each level solves random boxes, and boxes as the stronger levels hide them. The turns that it needs
tell how often it beats each other level, and that gives the ratings (`benchmarks.anchors`). Layouts
that fit the results come from a table of all layouts (`Table`), which is faster than the server's
search and finds the same; a few games are played with the search to time a turn. It needs numba
(the extra `house`) and some minutes. --write stores the figures where the server reads them. The
bots of other games are measured by `benchmarks.matches`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import mean, stdev
from time import process_time
from typing import Any, TypeAlias

import numpy as np

from benchmarks.anchors import anchors
from generators import kernels
from pbmserv.engine.ratings import anchor
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.bots import levels
from pbmserv.games.blackbox.bots.candidates import ALL, SAMPLE, Candidates
from pbmserv.games.blackbox.bots.hiding import random_layout
from pbmserv.games.blackbox.bots.levels import LEVELS, STRENGTH
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.options import CLASSIC, Options
from pbmserv.games.blackbox.rays import HIT
from pbmserv.games.blackbox.state import State, new_state
from pbmserv.games.blackbox.views import View

Hiding: TypeAlias = Callable[[Options, Rng], frozenset[int]]

GAMES = 2_000
TIMED = 40
FILE = Path(levels.__file__).parent / STRENGTH


@dataclass(frozen=True, slots=True)
class Played:
    """The result of one box.

    Attributes:
        turns: number until the right guess, or the last wrong one.
        probes, points: number of rays, and their points in a race.
    """

    won: bool
    turns: int
    probes: int
    points: int


def main() -> int:
    """Let all levels play, and print or write the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strength", description=__doc__)
    parser.add_argument("--games", type=int, default=GAMES, help="of each level (2000)")
    parser.add_argument("--write", action="store_true", help=f"write {STRENGTH}")
    arguments = parser.parse_args()
    hidings = list(dict.fromkeys([random_layout, *(level.hide for level in LEVELS.values())]))
    times = {userid: timed(userid) for userid in LEVELS}
    played: dict[tuple[str, Hiding], list[Played]] = {}
    use_table()
    with ProcessPoolExecutor(2) as pool:
        for hiding in hidings:
            for userid in LEVELS:
                work = partial(play, userid, hiding)
                # Well hidden boxes are needed only to compare levels: half as many are enough.
                count = arguments.games if hiding is random_layout else arguments.games // 2
                games = list(pool.map(work, range(count), chunksize=20))
                played[userid, hiding] = games
                line = " ".join(f"{key} {value}" for key, value in figures(games).items())
                print(f"{userid:<15} {hiding.__name__:<12} {line}", flush=True)
    wins = {
        (one, other): chance(played[one, LEVELS[other].hide], played[other, LEVELS[one].hide])
        for one, other in combinations(LEVELS, 2)
    }
    for (one, other), share in wins.items():
        print(f"{one} beats {other}: {share:.3f}")
    about = {
        userid: {
            "mu": mu,
            "rating": anchor(mu).shown,
            "games": arguments.games,
            **figures(played[userid, random_layout]),
            "turn_ms": times[userid],
        }
        for userid, mu in anchors(list(LEVELS), wins).items()
    }
    content = json.dumps({"levels": about}, indent=2) + "\n"
    print(content, end="")
    if arguments.write:
        FILE.write_text(content, "utf-8")
    return 0


def play(userid: str, hiding: Hiding, number: int) -> Played:
    """Let a level play a game of two by the usual rules against an idle opponent."""
    lot = Rng(b"strength%d" % number, 0)
    start = new_state(CLASSIC, 2)
    boxes = tuple(replace(box, atoms=hiding(CLASSIC, lot)) for box in start.boxes)
    state: State = replace(start, boxes=boxes, turns=2)
    seat, turns = Seat(0), 0
    while state.outcome is None:
        view = GAME.view(state, seat)
        text = LEVELS[userid].choose(view, Rng(b"strength%d" % number, turns + 1))
        turns += 1
        state = GAME.apply(state, seat, GAME.parse(view, text), lot).state
        state = replace(state, turns=state.turns + 1)
    results = state.boxes[seat]
    rays = GAME.view(state, seat).boxes[seat].results
    points = sum(1 if out in (HIT, port) else 2 for port, out in rays)
    assert results.atoms is not None
    return Played(state.outcome.reason == "solved", turns, len(rays), points)


def timed(userid: str) -> float:
    """Return the processor time of a turn on a server, in milliseconds."""
    begun = process_time()
    turns = sum(play(userid, random_layout, number).turns for number in range(TIMED))
    return round(1e3 * (process_time() - begun) / turns, 1)


class Table:
    """The ends of all rays of all layouts of a board, to look up the layouts that fit."""

    def __init__(self, options: Options) -> None:
        self._results = kernels.results_of(options.width, options.height, options.least)
        cells = options.board.cells
        self._layouts = list(map(frozenset, combinations(cells, options.least)))

    def candidates(self, view: View, rng: Rng, crowd: int = ALL) -> Candidates:
        """Return what `candidates.candidates` returns, for boards without options."""
        own = view.own
        assert own is not None
        fits: Any = np.ones(len(self._layouts), dtype=bool)
        for port, out in own.results:
            fits &= self._results[:, port] == out + 1
        rows = np.flatnonzero(fits)
        complete = len(rows) <= crowd
        if not complete:
            rows = rows[sorted({rng.below(len(rows)) for _ in range(min(crowd, SAMPLE))})]
        kept = [row for row in rows if self._layouts[row] not in own.guessed]
        layouts = [self._layouts[row] for row in kept]
        spectra = (self._results[kept].astype(int) - 1).tolist()
        return Candidates(layouts, [1] * len(layouts), spectra, complete)


def use_table() -> None:
    """Have the levels look up the layouts in a `Table`."""
    levels.candidates = Table(CLASSIC).candidates  # type: ignore[attr-defined]


def figures(games: Sequence[Played]) -> dict[str, Any]:
    """Return the means of the games and their standard errors."""
    won = [game for game in games if game.won]
    turns = [game.turns for game in won]
    return {
        "turns": round(mean(turns), 2),
        "turns_error": round(stdev(turns) / len(turns) ** 0.5, 2),
        "probes": round(mean(game.probes for game in won), 2),
        "points": round(mean(game.points for game in won), 2),
        "lost_percent": round(100 * (1 - len(won) / len(games)), 1),
    }


def chance(one: Sequence[Played], other: Sequence[Played]) -> float:
    """Return how likely a player like *one* beats a player like *other*.

    Each fires first in half of the games. The two do not influence each other: the player who is
    done first has won, or has lost by the last wrong guess.
    """
    ends, others = _ends(one), _ends(other)
    wins = 0.0
    for (turns, won), share in ends.items():
        for (their_turns, they_won), their_share in others.items():
            for is_first in (True, False):
                mine = turns < their_turns or (turns == their_turns and is_first)
                wins += share * their_share * (won if mine else not they_won) / 2
    return wins


def _ends(games: Sequence[Played]) -> Mapping[tuple[int, bool], float]:
    ends: dict[tuple[int, bool], float] = {}
    for game in games:
        key = game.turns, game.won
        ends[key] = ends.get(key, 0) + 1 / len(games)
    return ends


if __name__ == "__main__":
    sys.exit(main())
