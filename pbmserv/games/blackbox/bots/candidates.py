"""The layouts that a solver must still reckon with, each with the weight of its likelihood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots.search import Case, search
from pbmserv.games.blackbox.bots.wandering import wander
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.games.blackbox.views import View

ALL = 300
"""Up to so many layouts are all looked at; of more, a sample."""

SAMPLE = 200
"""How many of them. A hundred would lose 0.1 probes on 7x7 with 4 atoms."""

FEWEST = 40
"""How many on the largest boards."""

SEARCHED = 60_000
"""Rays of a search, about a fifth of a second; 8x8 with 5 atoms needs most of them at times."""

WANDERED = 100_000
"""Rays fired at wandering atoms, on a board that is too large for the search."""

LARGE = 144
"""Cells of a board for which all this is meant; larger ones, whose rays are longer, get less."""

LARGE_RACE = 100
"""The same in a race, where one mail leads to all of the house's turns."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Layouts that explain everything their seat has seen.

    Attributes:
        layouts: all of them, or a sample.
        weights: how likely each of them is, in any unit.
        spectra: for each layout where rays into all ports come out.
        complete: these are all there are.
    """

    layouts: Sequence[frozenset[int]]
    weights: Sequence[int]
    spectra: Sequence[Sequence[int]]
    complete: bool


def candidates(view: View, rng: Rng) -> Candidates:
    """What the reader of a view must still reckon with in the own box.

    How many atoms there are counts as equally likely for every number the options allow.
    """
    own, options = view.own, view.options
    assert own is not None
    board, counts = options.board, range(options.least, options.most + 1)
    cells = len(board.cells)
    likely = _likelihoods(cells, counts)
    effort = _effort(view)
    sample = max(FEWEST, int(SAMPLE * effort))
    found = search(board, own.results, options.least, options.most, int(SEARCHED * effort))
    if not found.complete:
        layouts = wander(board, own.results, counts, sample, int(WANDERED * effort), rng)
        return _fitting(view, layouts, [likely[len(one)] for one in layouts], complete=False)
    ways = [_ways(case, counts) for case in found.cases]
    if sum(map(sum, ways)) <= ALL:
        layouts = [layout for case in found.cases for layout in _expanded(case, counts)]
        return _fitting(view, layouts, [likely[len(one)] for one in layouts], complete=True)
    shares = [[n * likely[k] for n, k in zip(row, counts, strict=True)] for row in ways]
    layouts = _drawn(found.cases, counts, shares, sample, rng)
    return _fitting(view, layouts, [1] * len(layouts), complete=False)


def _effort(view: View) -> float:
    """How much of the usual effort a turn is worth: all of it when only a guess can follow."""
    own = view.own
    if own is None or "" not in own.marks:
        return 1.0
    large = LARGE_RACE if view.options.race else LARGE
    return min(1.0, (large / len(own.board.cells)) ** 2)


def _likelihoods(cells: int, counts: Sequence[int]) -> dict[int, int]:
    """How likely one single layout of each number of atoms is."""
    if len(counts) == 1:
        return {counts[0]: 1}
    unit = max(comb(cells, count) for count in counts) << 20
    return {count: unit // comb(cells, count) for count in counts}


def _ways(case: Case, counts: Sequence[int]) -> list[int]:
    """How many layouts of each number of atoms a case holds."""
    here, open_ = len(case.atoms), len(case.open)
    return [comb(open_, count - here) if count >= here else 0 for count in counts]


def _expanded(case: Case, counts: Sequence[int]) -> Iterator[frozenset[int]]:
    for count in counts:
        further = count - len(case.atoms)
        if 0 <= further <= len(case.open):
            for more in combinations(case.open, further):
                yield frozenset((*case.atoms, *more))


def _drawn(
    cases: Sequence[Case],
    counts: Sequence[int],
    shares: Sequence[Sequence[int]],
    sample: int,
    rng: Rng,
) -> list[frozenset[int]]:
    """Different layouts of these cases, up to *sample*, drawn by their shares."""
    sums = [sum(row) for row in shares]
    total = sum(sums)
    drawn: dict[frozenset[int], None] = {}
    for lot in sorted(rng.below(total) for _ in range(sample)):
        case, rest = _share_of(lot, sums)
        which, _ = _share_of(rest, shares[case])
        atoms, open_ = cases[case].atoms, cases[case].open
        more = rng.sample(open_, counts[which] - len(atoms))
        drawn[frozenset((*atoms, *more))] = None
    return list(drawn)


def _share_of(lot: int, shares: Sequence[int]) -> tuple[int, int]:
    """In whose share a lot lies, and how far in."""
    for which, share in enumerate(shares):
        if lot < share:
            return which, lot
        lot -= share
    raise AssertionError("lots are below the sum of the shares")


def _fitting(
    view: View, layouts: Sequence[frozenset[int]], weights: Sequence[int], *, complete: bool
) -> Candidates:
    """Those that earlier guesses have not shown to be wrong."""
    own, board = view.own, view.options.board
    assert own is not None
    wrong = set(own.guessed)
    guessed = own.guessed if view.options.fair else ()
    wrong_spectra = [trace_all(board, layout) for layout in guessed]
    kept = []
    for layout, weight in zip(layouts, weights, strict=True):
        if layout not in wrong:
            spectrum = trace_all(board, layout)
            if spectrum not in wrong_spectra:
                kept.append((layout, weight, spectrum))
    return Candidates(
        [one[0] for one in kept], [one[1] for one in kept], [one[2] for one in kept], complete
    )
