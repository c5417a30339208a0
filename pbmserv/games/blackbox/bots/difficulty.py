"""How hard a box is: how many probes the stored tree needs for it.

The probes are summed over all orientations of the box, since turning or mirroring it makes it no
harder; the sum's place among those of all layouts is the percentile. Boards without a tree have
none: a sample would have to be solved for each answer, which takes a minute.
"""

from __future__ import annotations

import json
import sys
from array import array
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from math import comb, exp

from pbmserv.engine.types import Rng
from pbmserv.games.blackbox import options as choices
from pbmserv.games.blackbox.bots.search import search
from pbmserv.games.blackbox.bots.trees import Damaged, Goal, Tree, orientations, sound, stored
from pbmserv.games.blackbox.game_ids import GameId, atoms_of, stored_id
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.options import Grade, Options, drawn
from pbmserv.games.blackbox.rays import trace_all

SEARCHED = 1_000_000
"""Rays that `is_unique` may fire, a few seconds."""

TRIES = 1_000
"""Boxes that `draw` looks at before it gives up, 0.1 s; one in twenty is of the rarest grade."""


HIDES = (7, 7, 4, 4)
"""The board (and number of atoms) whose layouts have likelihoods of their own."""

HIDING = "7x7-4.hiding"
"""Their file, beside the trees."""

DRAWN = 100
"""Layouts of which `evasive` takes one on other boards that have a tree."""

SHARPNESS = 2.0
"""By how many nats a layout is likelier there that needs a probe more."""

_FINE = 1 << 24

FROM = {Grade.FIENDISH: 95, Grade.HARD: 75, Grade.MEDIUM: 25, Grade.EASY: 0}
"""The percentile from which on a box has this grade."""


def percentile(options: Options, layout: Iterable[int]) -> int | None:
    """How many of a hundred layouts of this size and number of atoms are easier, equals halved.

    It costs 0.2 ms; the first for a kind of board up to 0.1 s, since its tree is read.

    Args:
        layout: the cells that hold an atom, as many as *options* allow.

    Returns:
        0 (easiest) to 100; ``None``: nobody knows it for boards like this (see `trees.KINDS`).
    """
    atoms = frozenset(layout)
    known = _tree(options.board, len(atoms))
    if known is None:
        return None
    return _places(known)[_probes(known, atoms)]


def grade(options: Options, layout: Iterable[int]) -> Grade | None:
    """The grade of a box; costs and ``None`` as `percentile`."""
    place = percentile(options, layout)
    return None if place is None else next(one for one, least in FROM.items() if place >= least)


def mean_probes(options: Options, layout: Iterable[int]) -> float | None:
    """How many probes the stored tree needs for a box, on average over its orientations; costs and
    ``None`` as `percentile`."""
    atoms = frozenset(layout)
    known = _tree(options.board, len(atoms))
    if known is None:
        return None
    return _probes(known, atoms) / len(orientations(known.board))


def is_unique(options: Options, layout: Iterable[int], rays: int = SEARCHED) -> bool | None:
    """Whether the results at all ports fit no other layout with as many atoms as *options* allow.

    It takes milliseconds on the usual boards, seconds on the largest; ``None``: *rays* to fire were
    too few to tell.
    """
    board = options.board
    results = list(enumerate(trace_all(board, layout)))
    found = search(board, results, options.least, options.most, rays)
    counts = range(options.least, options.most + 1)
    layouts = sum(
        comb(len(case.open), count - len(case.atoms))
        for case in found.cases
        for count in counts
        if count >= len(case.atoms)
    )
    return False if layouts > 1 else True if found.complete else None


def draw(options: Options, wanted: Grade, rng: Rng) -> list[int] | None:
    """Cells for the atoms of a box of a grade, each such box as likely as any other.

    It costs at most 0.1 s more than the first `percentile`.

    Returns:
        ``None``: this board has no grades, or `TRIES` boxes were all of other grades.
    """
    if not options.gradable or _tree(options.board, options.least) is None:
        return None
    boxes = (drawn(options, rng) for _ in range(TRIES))
    return next((box for box in boxes if grade(options, box) is wanted), None)


@dataclass(frozen=True, slots=True)
class Hiding:
    """How likely each layout is to be hidden where `python -m benchmarks.hiding` has found it out.

    Attributes:
        numbers: of layouts, as `itertools.combinations` counts; one of all orientations of each.
        shares: how likely it is, in any unit; each orientation alike.
        unique: whether rays tell it from all others.
    """

    numbers: Sequence[int]
    shares: Sequence[int]
    unique: Sequence[bool]

    def sums(self, *, fair: bool) -> list[int]:
        """The shares, one upon the other; with *fair* of those alone that are unique."""
        pairs = zip(self.shares, self.unique, strict=True)
        return list(accumulate(share * (one or not fair) for share, one in pairs))


def evasive(options: Options, rng: Rng) -> frozenset[int] | None:
    """A layout that is hard to find also for a solver who knows how it is drawn.

    Any layout may come, harder ones more often. Where equal results count as right, it is one
    that rays tell from all others. It costs 50 ms at most, the first one 0.2 s.

    Returns:
        ``None``: nobody knows how hard layouts are on boards like this.
    """
    board = options.board
    if (board.width, board.height, options.least, options.most) == HIDES:
        return _hidden(options, rng)
    if not options.gradable or _tree(board, options.least) is None:
        return None
    boxes = [frozenset(drawn(options, rng)) for _ in range(DRAWN)]
    probes = [mean_probes(options, box) or 0.0 for box in boxes]
    sums = list(accumulate(round(exp(SHARPNESS * (one - max(probes))) * _FINE) for one in probes))
    while True:
        box = boxes[bisect(sums, rng.below(sums[-1]))]
        if not options.fair or is_unique(options, box) is not False:
            return box


def _hidden(options: Options, rng: Rng) -> frozenset[int] | None:
    try:
        known, sums = hiding(), hiding_sums(options.fair)
    except Damaged:
        return None
    ways = orientations(options.board)
    while True:
        number = known.numbers[bisect(sums, rng.below(sums[-1]))]
        layout = numbered(number, len(options.board.cells), options.least)
        images = {frozenset(way[cell] for cell in layout) for way in ways}
        if rng.below(len(ways)) < len(images):  # of what looks the same when turned there are fewer
            turned = rng.choice(ways)
            return frozenset(turned[cell] for cell in layout)


def likelihoods(options: Options, *, fair: bool) -> Iterator[tuple[tuple[int, ...], int]]:
    """Each layout that `evasive` may draw on 7x7 with 4 atoms, and how likely it is."""
    known, cells = hiding(), len(options.board.cells)
    for number, share, unique in zip(known.numbers, known.shares, known.unique, strict=True):
        if unique or not fair:
            layout = numbered(number, cells, options.least)
            ways = orientations(options.board)
            for image in {tuple(sorted(way[cell] for cell in layout)) for way in ways}:
                yield image, share


def numbered(number: int, cells: int, atoms: int) -> tuple[int, ...]:
    """The combination of this number, in the order of `itertools.combinations`."""
    found: list[int] = []
    for cell in range(cells):
        here = comb(cells - cell - 1, atoms - len(found) - 1)
        if number < here:
            found.append(cell)
            if len(found) == atoms:
                break
        else:
            number -= here
    return tuple(found)


@cache
def hiding() -> Hiding:
    """How likely each layout of `HIDES` is; raises `Damaged` as `trees.stored`."""
    head, _, planes = stored(HIDING).partition(b"\n")
    about = json.loads(head)
    count = about["classes"]
    gaps, steps = array("H", planes[: 2 * count]), planes[2 * count : 3 * count]
    if sys.byteorder == "big":
        gaps.byteswap()
    bits = "".join(f"{octet:08b}" for octet in planes[3 * count :])
    most = max(steps)
    shares = [round(exp((step - most) / about["levels"]) * _FINE) for step in steps]
    return Hiding(list(accumulate(gaps)), shares, [bit == "1" for bit in bits[:count]])


@cache
def hiding_sums(fair: bool) -> list[int]:
    """`Hiding.sums` of it; raises as `hiding`."""
    return hiding().sums(fair=fair)


def fixed(options: Options, rng: Rng) -> Options:
    """As `options.fixed`, with a box of the grade that is asked for.

    A box that was named has the grade it has, whatever was asked for, and no word of one where
    none was. Where no box of the grade can be found, the options come back without it.
    """
    if not options.grade:
        return choices.fixed(options, rng)
    named = bool(options.id or options.seed)
    cells = None if named else draw(options, Grade(options.grade), rng)
    if cells is None:
        box = choices.fixed(options, rng)
        return replace(box, grade=grade(box, atoms_of(stored_id(box.id))) or "" if named else "")
    game = GameId(options.width, options.height, options.least, options.most, tuple(cells))
    return replace(options, id=game.text)


def _tree(board: Geometry, atoms: int) -> Tree | None:
    # Where it is damaged no box has a grade, which is no reason to play none.
    return sound(board.width, board.height, atoms, Goal.PROBES)


def _probes(known: Tree, layout: frozenset[int]) -> int:
    """Summed over all orientations."""
    return sum(
        known.probes([turned[cell] for cell in layout]) for turned in orientations(known.board)
    )


@cache
def _places(known: Tree) -> tuple[int, ...]:
    return tuple(_percentiles(known.ranks))


def _percentiles(ranks: Iterable[int]) -> Iterator[int]:
    """The percentile for each sum of probes."""
    counts = list(ranks)
    total, easier = sum(counts), 0
    for count in counts:
        yield round(100 * (easier + count / 2) / total)
        easier += count
