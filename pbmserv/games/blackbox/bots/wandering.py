"""Layouts that fit some results on boards too large to search: atoms wander until nothing is wrong.

Atoms are moved one at a time; a move that explains fewer results is made, too, but seldom (the
Metropolis rule). Whatever fits on the way is kept. That is no fair sample, but one to play by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots.search import Result
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import Field, field_of, trace_in

WARMTH = 0.3
"""How readily a move that makes things worse is made, in results (0.3: one in 28)."""

STUCK = 600
"""Moves without anything new after which it begins elsewhere."""

_FINE = 1 << 16


def wander(
    board: Geometry,
    results: Sequence[Result],
    counts: Sequence[int],
    wanted: int,
    rays: int,
    rng: Rng,
) -> list[frozenset[int]]:
    """Up to *wanted* different layouts that explain all results.

    Args:
        counts: how many atoms there may be; each beginning draws one of them.
        rays: how many may be fired, about.
    """
    found: dict[frozenset[int], None] = {}
    while rays > 0 and len(found) < wanted:
        one = _Layout(board, results, rng.sample(board.cells, rng.choice(counts)))
        quiet = 0
        while one.fired < rays and quiet < STUCK and len(found) < wanted:
            quiet += 1
            if one.try_move(rng) and not one.wrong:
                layout = frozenset(one.atoms)
                if layout not in found:
                    found[layout] = None
                    quiet = 0
        rays -= one.fired
    return list(found)


@dataclass(slots=True)
class _Layout:
    """Atoms on their way; *wrong*: how many results they do not explain; *fired*: rays so far."""

    board: Geometry
    results: Sequence[Result]
    atoms: list[int]
    grid: Field = field(init=False)
    squares: bytearray = field(init=False)
    taken: set[int] = field(init=False)
    wrong: int = field(init=False)
    fired: int = 0

    def __post_init__(self) -> None:
        self.grid = field_of(self.board)
        self.squares = self.grid.filled(self.atoms)
        self.taken = set(self.atoms)
        self.wrong = self._count(len(self.results))

    def try_move(self, rng: Rng) -> bool:
        """Move some atom to a neighbouring cell, or anywhere; whether it was let stand."""
        self.fired += 1  # so that a box in which nothing can move comes to an end, too
        cells, width = len(self.board.cells), self.board.width
        which = rng.below(len(self.atoms))
        before = self.atoms[which]
        if rng.below(2):
            near = (1, -1, width, -width, width + 1, width - 1, 1 - width, -1 - width)
            after = before + rng.choice(near)
        else:
            after = rng.below(cells)
        if not 0 <= after < cells or after in self.taken:
            return False
        old, new = self.grid.squares[before], self.grid.squares[after]
        self.squares[old], self.squares[new] = 0, 1
        most = self.wrong - WARMTH * log((rng.below(_FINE) + 1) / _FINE)
        wrong = self._count(most)
        if wrong > most:
            self.squares[old], self.squares[new] = 1, 0
            return False
        self.taken.remove(before)
        self.taken.add(after)
        self.atoms[which] = after
        self.wrong = wrong
        return True

    def _count(self, most: float) -> int:
        """How many results are not explained; it stops counting above *most*."""
        wrong = 0
        for port, out in self.results:
            self.fired += 1
            if trace_in(self.grid, self.squares, port) != out:
                wrong += 1
                if wrong > most:
                    break
        return wrong
