"""The layouts that may be in a box, each with its likelihood.

They come from `search`, which the loops of `sampler` speed up on larger boards. If there are too
many cases, a crowd of layouts takes in one result after the other: layouts that contradict a new
result die out and are replaced by copies of others, and then the atoms of each wander (a particle
filter whose particles move by the Metropolis rule). The random numbers of crowds begin with a fixed
seed, so that the same results give the same layouts. Without compiled loops, the layouts belong to
the first cases that a search finds.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import comb, log2
from types import ModuleType
from typing import Any

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots.loops import loops_for
from pbmserv.games.blackbox.bots.search import Case, Result, search
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import HIT, field_of, trace_all
from pbmserv.games.blackbox.views import BoxView, View

ALL = 300
"""The most layouts that are all examined. Of more, a sample is drawn."""

SAMPLE = 200
"""The size of the sample. A hundred would cost 0.1 probes on 7x7 with 4 atoms."""

FEWEST = 40
"""The size of the sample on the largest boards."""

SEARCHED = 60_000
"""Rays of a search, about a tenth of a second; 8x8 with 5 atoms sometimes needs most of them."""

LARGE = 144
"""Cells of the largest board with the full effort.

Larger boards, whose rays are longer, get less.
"""

LARGE_RACE = 100
"""`LARGE` for races, in which one mail causes all turns of the bot."""

COMPILED = 600_000
"""Rays of a compiled search, about a twentieth of a second, usually enough for 10x10 with 6 atoms
after three results. Boards on which the search is never complete get less."""

CASES = 8_000
"""The most cases of a compiled search."""

CROWD = 1000
"""Layouts for a move with compiled loops."""

MOVES, ROUNDS = 200, 4
"""See `settled_samples`."""

VAST = 400
"""Cells of a board above which a sample is twice as large and has half as many moves again."""

DOUBTED = 12
"""The most distinguishable layouts that count as complete without a proof."""

CROWDS, KIN = 4, 8
"""The number of independent samples, and the results after which copies are independent again."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Layouts that fit all that a seat has seen.

    Attributes:
        layouts: all of them, or a sample.
        weights: their likelihoods, in any unit.
        spectra: the results of all ports for each layout.
        complete: whether these are all. On boards that are too large for a proof, a few
            indistinguishable layouts may be missing.
    """

    layouts: Sequence[frozenset[int]]
    weights: Sequence[int]
    spectra: Sequence[Sequence[int]]
    complete: bool


@dataclass(frozen=True, slots=True)
class Consistent:
    """Layouts that explain some results.

    Attributes:
        layouts: all of them, or a sample.
        complete: whether these are all; see `Candidates`.
        total: the number of all of them, `None` if unknown.
    """

    layouts: Sequence[frozenset[int]]
    complete: bool
    total: int | None


def candidates(view: View, rng: Rng, crowd: int = CROWD) -> Candidates:
    """Return the layouts that may be in the box of a view's reader.

    Args:
        view: the view.
        rng: random numbers.
        crowd: the number of layouts with compiled loops.
    """
    own, options = view.own, view.options
    assert own is not None
    effort = _effort(view)
    listed, wanted = ALL, max(FEWEST, int(SAMPLE * effort))
    if loops_for(options) is not None:
        listed = wanted = crowd
    fitting = consistent(options, results_as_fired(own), listed, wanted, effort, rng)
    return _without_wrong_guesses(view, fitting)


def results_as_fired(own: BoxView) -> tuple[Result, ...]:
    """Return the results of the reader's box in the order in which the rays were fired."""
    rank = {port: number for number, port in enumerate(own.order)}
    by_rank = sorted(own.results, key=lambda ray: min(rank.get(port, len(rank)) for port in ray))
    return tuple(by_rank)


def consistent(
    options: Options,
    results: Sequence[Result],
    listed: int,
    wanted: int,
    effort: float,
    rng: Rng,
) -> Consistent:
    """Return layouts that explain some results.

    The same random numbers give the same layouts. Each number of atoms is equally likely.

    Args:
        options: the rules.
        results: the results in order, so that the state before the last one may be cached.
        listed: the most layouts that are all returned.
        wanted: the approximate size of a sample.
        effort: the fraction of the usual effort of plain Python. Compiled loops need no limit.
        rng: random numbers.
    """
    board, counts = options.board, range(options.least, options.most + 1)
    question = board, results, options.least, options.most
    loops = loops_for(options)
    if loops is None:
        result = search(*question, int(SEARCHED * effort))
    else:
        rays = COMPILED if len(board.cells) <= LARGE else COMPILED // 10
        result = search(*question, rays, CASES, loops.search_squares)
        if not result.complete:
            return _from_crowds(loops, options, results, wanted)
    ways = [[case.ways(count) for count in counts] for case in result.cases]
    total = sum(map(sum, ways)) if result.complete else None
    if total is not None and total <= listed:
        layouts = [layout for case in result.cases for layout in case.layouts(counts)]
        return Consistent(layouts, complete=True, total=total)
    likelihood = likelihoods_of(options)
    shares = [[n * likelihood[k] for n, k in zip(row, counts, strict=True)] for row in ways]
    layouts = _draw(result.cases, counts, shares, wanted, rng) if ways else []
    return Consistent(layouts, complete=False, total=total)


def likelihoods_of(options: Options) -> dict[int, int]:
    """Return the likelihood of a layout by its number of atoms, in any unit.

    Each number of atoms is equally likely.
    """
    counts = range(options.least, options.most + 1)
    sizes = {count: comb(len(options.board.cells), count) for count in counts}
    if len(sizes) == 1:
        return dict.fromkeys(sizes, 1)
    unit = max(sizes.values()) << 20
    return {count: unit // size for count, size in sizes.items()}


def entropy(shares: Mapping[int, int]) -> float:
    """Return the expected information of a result in bits, from the share of each result."""
    total = sum(shares.values())
    bits = -sum(share / total * log2(share / total) for share in shares.values())
    return bits if len(shares) > 1 else 0.0


def _from_crowds(
    loops: ModuleType, options: Options, results: Sequence[Result], wanted: int
) -> Consistent:
    """Return the layouts of several samples.

    If all samples have the same few distinguishable layouts, these count as complete, since other
    layouts would have been found.
    """
    board, size, moves = options.board, max(1, wanted // CROWDS), MOVES
    if len(board.cells) > VAST:
        size, moves = size * 2, moves * 3 // 2
    limits = options.least, options.most
    samples = settled_samples(loops, board, tuple(results), limits, size, moves, ROUNDS)
    layouts = list(dict.fromkeys(layout for sample in samples for layout in sample))
    kinds = [{tuple(shown) for shown in loops.spectra(board, sample)} for sample in samples]
    agree = len(kinds) > 1 and all(kind == kinds[0] for kind in kinds)
    complete = agree and len(kinds[0]) <= DOUBTED
    return Consistent(layouts, complete, len(layouts) if complete else None)


def settled_samples(
    loops: ModuleType,
    board: Geometry,
    results: tuple[Result, ...],
    limits: tuple[int, int],
    *amounts: int,
) -> list[list[frozenset[int]]]:
    """Return up to `CROWDS` samples of layouts that explain the results. None of them is empty.

    Args:
        loops: the module `sampler`.
        board: the board.
        results: the results in the order in which crowds take them in. The state before the last
            one may be cached.
        limits: the range of the number of atoms. Each number is equally likely.
        amounts: the most layouts of a sample; moves and rounds as in `sampler.take_in`.
    """
    cells = field_of(board).cells
    samples: dict[tuple[int, int], dict[frozenset[int], None]] = {}
    for (squares, _, wrong), kin in _crowds(loops, board, results, limits, *amounts):
        sample = samples.setdefault(kin, {})
        for row in squares[wrong == 0].tolist():
            sample[frozenset(cells[square] for square in row if square)] = None
    return [list(sample) for sample in samples.values() if sample]


@lru_cache(maxsize=256)
def _crowds(
    loops: ModuleType,
    board: Geometry,
    results: tuple[Result, ...],
    limits: tuple[int, int],
    size: int,
    *amounts: int,
) -> tuple[tuple[Any, tuple[int, int]], ...]:
    """Return the crowds that have taken in all results, each with its kin.

    A crowd that has died out becomes a copy of another one. If all have died out, a new one begins
    with the detours. The kin of copies is the number of results at the copy and the number of the
    crowd.
    """
    if not results:
        return tuple((loops.scatter(board, limits, size, n), (0, n)) for n in range(CROWDS))
    count, crowds = len(results), []
    before = _crowds(loops, board, results[:-1], limits, size, *amounts)
    for n, (old, kin) in enumerate(before):
        crowd = loops.take_in(board, results, old, *amounts, count * CROWDS + n)
        crowds.append((crowd, kin if count - kin[0] < KIN else (0, n)))
    living = [n for n, (crowd, _) in enumerate(crowds) if not crowd[2].all()]
    if not living:
        crowd = loops.scatter(board, limits, size, count)
        ordered = sorted(results, key=lambda ray: (ray[1] in (HIT, ray[0]), ray))
        for end in range(1, count + 1):
            crowd = loops.take_in(board, ordered[:end], crowd, *amounts, end)
        return ((crowd, (count, 0)),) * CROWDS
    sources = [n if n in living else living[n % len(living)] for n in range(CROWDS)]
    copied = {n for n in sources if sources.count(n) > 1}
    return tuple((crowds[n][0], (count, n) if n in copied else crowds[n][1]) for n in sources)


def _effort(view: View) -> float:
    """Return the fraction of the usual effort for a turn, all of it if only a guess can follow."""
    own = view.own
    if own is None or "" not in own.marks:
        return 1.0
    return effort_on(len(own.board.cells), LARGE_RACE if view.options.race else LARGE)


def effort_on(cells: int, large: int = LARGE) -> float:
    """Return the fraction of the usual effort on a board, which is less if it is larger."""
    return min(1.0, (large / cells) ** 2)


def _draw(
    cases: Sequence[Case],
    counts: Sequence[int],
    shares: Sequence[Sequence[int]],
    sample: int,
    rng: Rng,
) -> list[frozenset[int]]:
    """Draw up to *sample* different layouts of cases by their shares."""
    ends = list(accumulate(map(sum, shares)))
    drawn: dict[frozenset[int], None] = {}
    for number in sorted(rng.below(ends[-1]) for _ in range(sample)):
        case = bisect(ends, number)
        which = bisect(list(accumulate(shares[case])), number - (ends[case] - sum(shares[case])))
        atoms, open_ = cases[case].atoms, cases[case].open
        more = rng.sample(open_, counts[which] - len(atoms))
        drawn[frozenset((*atoms, *more))] = None
    return list(drawn)


def _without_wrong_guesses(view: View, fitting: Consistent) -> Candidates:
    """Return the layouts that earlier guesses do not rule out, with weights and spectra."""
    own, options = view.own, view.options
    assert own is not None
    board, wrong = options.board, set(own.guessed)
    guessed = own.guessed if options.fair else ()
    wrong_spectra = [trace_all(board, layout) for layout in guessed]
    loops = loops_for(options)
    if loops is None:
        spectra: Sequence[Sequence[int]] = [trace_all(board, layout) for layout in fitting.layouts]
    else:
        spectra = loops.spectra(board, fitting.layouts)
    kept = [
        (layout, spectrum)
        for layout, spectrum in zip(fitting.layouts, spectra, strict=True)
        if layout not in wrong and spectrum not in wrong_spectra
    ]
    likelihood = likelihoods_of(options)  # a sample is drawn by it
    return Candidates(
        [layout for layout, _ in kept],
        [likelihood[len(layout)] if fitting.complete else 1 for layout, _ in kept],
        [spectrum for _, spectrum in kept],
        fitting.complete,
    )
