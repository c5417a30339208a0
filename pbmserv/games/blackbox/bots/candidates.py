"""The layouts that a solver must still reckon with, each with the weight of its likelihood.

They come from `search`, and on larger boards from the loops of `sampler`. Where those cannot run
and the board is too large for `search`, atoms wander: they are moved one at a time, and a move that
explains fewer results is made, too, but seldom (the Metropolis rule). Whatever fits on the way is
kept. That is no fair sample, but one to play by.
"""

from __future__ import annotations

import logging
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, combinations
from math import comb, log
from mmap import PAGESIZE, PROT_EXEC, PROT_READ, PROT_WRITE, mmap
from types import ModuleType

from pbmserv.engine.types import Rng
from pbmserv.games.blackbox.bots.search import Case, Result, search
from pbmserv.games.blackbox.geometry import Field, Geometry, field_of, trace_all, trace_in
from pbmserv.games.blackbox.options import Options
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
"""The same in a race, where one mail leads to all of the bot's turns."""

PLAIN = 1_000_000
"""Layouts of a board up to which `search` does in plain Python: 8x8 with 4 atoms has 635,376."""

COMPILED = 1_500_000
"""Rays of a search by compiled loops, about a twentieth of a second: enough for 10x10 with 6 atoms,
once three results are known. Where a search comes to no end anyway, it gets less."""

CASES = 8_000
"""How many cases it may find."""

CROWD = 1000
"""Layouts to play by where all this is compiled."""

MOVES, ROUNDS = 200, 4
"""See `sampler.settled`."""

DOUBTED = 12
"""As many kinds of layouts may all be known on a board too large to prove it."""

WARMTH = 0.3
"""How readily a move that makes things worse is made, in results (0.3: one in 28)."""

STUCK = 600
"""Moves without anything new after which it begins elsewhere."""

_FINE = 1 << 16

logger = logging.getLogger("pbmserv.games")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Layouts that explain everything their seat has seen.

    Attributes:
        layouts: all of them, or a sample.
        weights: how likely each of them is, in any unit.
        spectra: for each layout where rays into all ports come out.
        complete: these are all there are; on boards too large to prove it, a few of those that rays
            cannot tell apart may be missing.
    """

    layouts: Sequence[frozenset[int]]
    weights: Sequence[int]
    spectra: Sequence[Sequence[int]]
    complete: bool


def candidates(view: View, rng: Rng) -> Candidates:
    """What the reader of a view must still reckon with in the own box."""
    own, options = view.own, view.options
    assert own is not None
    effort = _effort(view)
    wanted = max(FEWEST, int(SAMPLE * effort)) if _loops_for(options) is None else CROWD
    place = {port: at for at, port in enumerate(own.order)}
    results = sorted(own.results, key=lambda ray: min(place.get(port, len(place)) for port in ray))
    return _fitting(view, consistent(options, results, wanted, effort, rng))


def consistent(
    options: Options, results: Sequence[Result], wanted: int, effort: float, rng: Rng
) -> Candidates:
    """Layouts that explain some results, without their spectra; with the same lots the same ones.

    How many atoms there are counts as equally likely for every number the options allow.

    Args:
        results: in the order in which they came; then those before the last may be remembered.
        wanted: how many, about, where these cannot be all.
        effort: how much of the usual effort plain Python may make; compiled loops need no bound.
    """
    board, counts = options.board, range(options.least, options.most + 1)
    likely = _likelihoods(len(board.cells), counts)
    loops = _loops_for(options)
    if loops is None:
        found = search(board, results, options.least, options.most, int(SEARCHED * effort))
    else:
        rays = COMPILED if len(board.cells) <= LARGE else COMPILED // 10
        found = loops.search(board, results, options.least, options.most, rays, CASES)
    if found.complete:
        ways = [_ways(case, counts) for case in found.cases]
        if sum(map(sum, ways)) <= (ALL if loops is None else wanted):
            layouts = [layout for case in found.cases for layout in _expanded(case, counts)]
            return Candidates(layouts, [likely[len(one)] for one in layouts], (), complete=True)
        shares = [[n * likely[k] for n, k in zip(row, counts, strict=True)] for row in ways]
        layouts = _drawn(found.cases, counts, shares, wanted, rng)
        return Candidates(layouts, [1] * len(layouts), (), complete=False)
    if loops is not None:
        return _settled(loops, options, results, wanted)
    layouts = wander(board, results, counts, wanted, int(WANDERED * effort), rng)
    return Candidates(layouts, [likely[len(one)] for one in layouts], (), complete=False)


def _settled(
    loops: ModuleType, options: Options, results: Sequence[Result], wanted: int
) -> Candidates:
    """Several samples in one. If all hold the same few layouts, as far as rays can tell, these are
    said to be all there are: others would have been found."""
    board, limits = options.board, (options.least, options.most)
    people = max(1, wanted // loops.CROWDS)
    samples = loops.settled(board, results, limits, people, MOVES, ROUNDS)
    layouts = list(dict.fromkeys(layout for sample in samples for layout in sample))
    kinds = [{tuple(shown) for shown in loops.spectra(board, sample)} for sample in samples]
    agree = len(kinds) > 1 and all(these == kinds[0] for these in kinds)
    if not agree or len(kinds[0]) > DOUBTED:
        return Candidates(layouts, [1] * len(layouts), (), complete=False)
    likely = _likelihoods(len(board.cells), range(options.least, options.most + 1))
    return Candidates(layouts, [likely[len(one)] for one in layouts], (), complete=True)


def _loops_for(options: Options) -> ModuleType | None:
    """The module `sampler`; ``None`` on a small board, and where it cannot be had."""
    cells = len(options.board.cells)
    layouts = sum(comb(cells, count) for count in range(options.least, options.most + 1))
    return compiled_loops() if layouts > PLAIN else None


@cache
def compiled_loops() -> ModuleType | None:
    """The module `sampler`; ``None`` where numba is missing, or may not compile."""
    try:
        # What it compiles is written and then run, which the system may forbid.
        with mmap(-1, PAGESIZE, prot=PROT_READ | PROT_WRITE | PROT_EXEC):
            from pbmserv.games.blackbox.bots import sampler
    except (ImportError, OSError) as missing:
        logger.warning(
            "the house is weak on large Blackbox boards: pip install pbmserv[solver]",
            extra={"because": str(missing)},
        )
        return None
    return sampler


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
    ends = list(accumulate(map(sum, shares)))
    drawn: dict[frozenset[int], None] = {}
    for lot in sorted(rng.below(ends[-1]) for _ in range(sample)):
        case = bisect(ends, lot)
        which = bisect(list(accumulate(shares[case])), lot - (ends[case] - sum(shares[case])))
        atoms, open_ = cases[case].atoms, cases[case].open
        more = rng.sample(open_, counts[which] - len(atoms))
        drawn[frozenset((*atoms, *more))] = None
    return list(drawn)


def _fitting(view: View, found: Candidates) -> Candidates:
    """Those that earlier guesses have not shown to be wrong, with their spectra."""
    own, options = view.own, view.options
    assert own is not None
    board, wrong = options.board, set(own.guessed)
    guessed = own.guessed if options.fair else ()
    wrong_spectra = [trace_all(board, layout) for layout in guessed]
    loops = _loops_for(options)
    if loops is None:
        spectra: Sequence[Sequence[int]] = [trace_all(board, layout) for layout in found.layouts]
    else:
        spectra = loops.spectra(board, found.layouts)
    kept = [
        (layout, weight, spectrum)
        for layout, weight, spectrum in zip(found.layouts, found.weights, spectra, strict=True)
        if layout not in wrong and spectrum not in wrong_spectra
    ]
    return Candidates(
        [one[0] for one in kept], [one[1] for one in kept], [one[2] for one in kept], found.complete
    )


def wander(
    board: Geometry,
    results: Sequence[Result],
    counts: Sequence[int],
    wanted: int,
    rays: int,
    rng: Rng,
    known: Sequence[frozenset[int]] = (),
) -> list[frozenset[int]]:
    """Up to *wanted* different layouts that explain all results.

    Args:
        counts: how many atoms there may be; each beginning draws one of them.
        rays: how many may be fired, about.
        known: such layouts; they come back, and each is where a search begins.
    """
    found: dict[frozenset[int], None] = dict.fromkeys(known)
    begin = iter(known)
    while rays > 0 and len(found) < wanted:
        atoms = next(begin, None) or rng.sample(board.cells, rng.choice(counts))
        one = _Layout(board, results, list(atoms))
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
