"""`python -m benchmarks.large_boards [--level house-hard] [--board 0]`: how the house plays them.

A game of two against somebody who does nothing. Turns are those after the hiding, with all guesses.
A box is solved if the house guesses it within its three guesses; a game cannot last, since the
house guesses once every port shows its mark. On the two largest boards other layouts show the same
as the box at every port in a quarter and in four fifths of all boxes, so they are played with
`-fair`, where any of these counts as right. Time is the processor's.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from statistics import mean, stdev
from time import process_time

from pbmserv.engine.types import Rng, Seat
from pbmserv.games.blackbox.bots.candidates import compiled_loops
from pbmserv.games.blackbox.bots.levels import LEVELS
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.state import new_state

BOARDS = (
    (("-size=10x10", "-atoms=6"), 100),
    (("-size=15x15", "-atoms=10", "-fair"), 40),
    (("-size=26x26", "-atoms=20", "-fair"), 40),
)


def main() -> int:
    """Play on all boards, or on one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_boards", description=__doc__)
    parser.add_argument("--level", default="house-hard", choices=LEVELS)
    parser.add_argument("--board", type=int, choices=range(len(BOARDS)))
    asked = parser.parse_args()
    if compiled_loops() is None:
        print("This wants numba: pip install -c constraints.txt -e '.[house]'")
        return 1
    begun = process_time()
    for words, _ in BOARDS:
        game(asked.level, words, 0, 3)
    print(f"Compiled, or read what was compiled, in {process_time() - begun:.1f} s", flush=True)
    for number, (words, games) in enumerate(BOARDS):
        if asked.board in (None, number):
            print(f"{' '.join(words)}: {played(asked.level, words, games)}", flush=True)
    return 0


def played(level: str, words: tuple[str, ...], games: int) -> str:
    """What a level needs in so many games."""
    turns, solved, times = [], [], []
    for number in range(games):
        won, spent = game(level, words, number, sys.maxsize)
        print(f"  {number}: {len(spent)} turns, {won=}", file=sys.stderr, flush=True)
        turns.append(len(spent))
        times += spent
        if won:
            solved.append(len(spent))
    return (f"{len(solved)} of {games} solved, in {mean(solved):.2f} +- "
            f"{stdev(solved) / len(solved)**0.5:.2f} turns (all games: {mean(turns):.2f}, at most "
            f"{max(turns)}); {mean(times) * 1e3:.0f} ms a turn (at most "
            f"{max(times) * 1e3:.0f})")  # fmt: skip


def game(level: str, words: tuple[str, ...], number: int, most: int) -> tuple[bool, list[float]]:
    """A game of so many turns at most: whether the box was solved, and the seconds of each turn."""
    options = GAME.options(words, 2)
    lots = Rng(b"bench%d" % number, 0)
    start = new_state(options, 2)
    boxes = tuple(
        replace(box, atoms=frozenset(lots.sample(options.board.cells, options.least)))
        for box in start.boxes
    )
    state = replace(start, boxes=boxes, turns=2)
    spent: list[float] = []
    while state.outcome is None and len(spent) < most:
        view = GAME.view(state, Seat(0))
        begun = process_time()
        text = LEVELS[level].choose(view, Rng(b"bench%d" % number, len(spent) + 1))
        spent.append(process_time() - begun)
        state = GAME.apply(state, Seat(0), GAME.parse(view, text), lots).state
        state = replace(state, turns=2)
    return state.outcome is not None and state.outcome.reason == "solved", spent


if __name__ == "__main__":
    sys.exit(main())
