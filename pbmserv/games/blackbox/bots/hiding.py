"""Layouts that bots hide: any one, or one that is hard to find."""

from __future__ import annotations

import json
import sys
from array import array
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import comb, exp, log

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots.difficulty import is_unique, mean_probes
from pbmserv.games.blackbox.bots.trees import Damaged, orientations, read_stored
from pbmserv.games.blackbox.options import Options, draw_cells
from pbmserv.games.blackbox.rays import trace_all

HIDES = (7, 7, 4, 4)
"""Width, height and range of atoms of the board whose layouts have stored likelihoods."""

HIDING = "7x7-4.hiding"
"""The file with these likelihoods, beside the trees."""

DRAWN = 100
"""Layouts of which `hard_layout` takes one on other boards with a tree (see `trees.KINDS`)."""

SHARPNESS = 2.0
"""The increase of the logarithm of a layout's likelihood there for each further probe."""

_FINE = 1 << 24

USUAL = 100
"""Cells of the largest board on which layouts are compared; larger boards get any layout."""

TRIED = 12
"""Layouts that the hard bot draws, of which it takes the one with the most usual results."""

COMPARED = 100
"""Layouts that show it which results are usual."""

UNIQUE = 30_000
"""Rays of a search for another layout with the same results, a tenth of a second."""


def random_layout(options: Options, rng: Rng) -> frozenset[int]:
    """Return a random layout. Each number of atoms and each cell are equally likely."""
    return frozenset(draw_cells(options, rng))


def hard_layout(options: Options, rng: Rng) -> frozenset[int]:
    """Return a layout that is hard to find, even for a solver who knows how it is drawn.

    Any layout is possible. If equal results count as right, it is a unique one, as far as that can
    be found out.
    """
    layout = _evasive_layout(options, rng)
    if layout is not None:
        return layout
    if len(options.board.cells) > USUAL:
        return random_layout(options, rng)
    return _usual_layout(options, rng)


def _usual_layout(options: Options, rng: Rng) -> frozenset[int]:
    """Return the layout of a few with the least surprising results, so that probes give little
    information."""
    board = options.board
    counts = [Counter[int]() for _ in board.ports]
    for _ in range(COMPARED):
        for count, out in zip(counts, trace_all(board, random_layout(options, rng)), strict=True):
            count[out] += 1

    def surprise(layout: frozenset[int]) -> float:
        results = trace_all(board, layout)
        return -sum(log(count[out] + 1) for count, out in zip(counts, results, strict=True))

    layouts = sorted((random_layout(options, rng) for _ in range(TRIED)), key=surprise)
    if not options.fair:
        return layouts[0]
    for layout in layouts:
        if is_unique(options, layout, UNIQUE) is not False:
            return layout
    return layouts[0]


def _evasive_layout(options: Options, rng: Rng) -> frozenset[int] | None:
    """Return a layout by its difficulty, harder ones more often; `None` if that is unknown.

    It takes 50 ms at most, the first call 0.2 s.
    """
    board = options.board
    if (board.width, board.height, options.least, options.most) == HIDES:
        return _draw_by_likelihood(options, rng)
    if not options.gradable:
        return None
    boxes = [frozenset(draw_cells(options, rng)) for _ in range(DRAWN)]
    probes = [count for box in boxes if (count := mean_probes(options, box)) is not None]
    if not probes:  # the tree is damaged
        return None
    sums = list(
        accumulate(round(exp(SHARPNESS * (count - max(probes))) * _FINE) for count in probes)
    )
    while True:
        box = boxes[bisect(sums, rng.below(sums[-1]))]
        if not options.fair or is_unique(options, box) is not False:
            return box


def _draw_by_likelihood(options: Options, rng: Rng) -> frozenset[int] | None:
    try:
        likelihood, sums = stored_likelihoods(), stored_sums(options.fair)
    except Damaged:
        return None
    turns = orientations(options.board)
    while True:
        number = likelihood.numbers[bisect(sums, rng.below(sums[-1]))]
        layout = numbered(number, len(options.board.cells), options.least)
        images = {frozenset(turn[cell] for cell in layout) for turn in turns}
        if rng.below(len(turns)) < len(images):  # a symmetric layout has fewer images
            turn = rng.choice(turns)
            return frozenset(turn[cell] for cell in layout)


@dataclass(frozen=True, slots=True)
class StoredLikelihoods:
    """Likelihoods with which layouts are hidden, computed by `python -m generators.hiding`.

    Attributes:
        numbers: the numbers of layouts in the order of `itertools.combinations`, one for all
            orientations of a layout.
        shares: their likelihoods, in any unit. Each orientation has the same.
        unique: whether rays can distinguish the layout from all others.
    """

    numbers: Sequence[int]
    shares: Sequence[int]
    unique: Sequence[bool]

    def sums(self, *, fair: bool) -> list[int]:
        """Return the cumulative shares, with *fair* those of unique layouts alone."""
        pairs = zip(self.shares, self.unique, strict=True)
        return list(accumulate(share * (is_alone or not fair) for share, is_alone in pairs))


def numbered(number: int, cells: int, atoms: int) -> tuple[int, ...]:
    """Return the combination with a number, in the order of `itertools.combinations`."""
    combination: list[int] = []
    for cell in range(cells):
        with_cell = comb(cells - cell - 1, atoms - len(combination) - 1)
        if number < with_cell:
            combination.append(cell)
            if len(combination) == atoms:
                break
        else:
            number -= with_cell
    return tuple(combination)


@cache
def stored_likelihoods() -> StoredLikelihoods:
    """Return the likelihoods of the layouts of `HIDES`; raises `Damaged` as `trees.read_stored`."""
    head, _, planes = read_stored(HIDING).partition(b"\n")
    about = json.loads(head)
    count = about["classes"]
    gaps, steps = array("H", planes[: 2 * count]), planes[2 * count : 3 * count]
    if sys.byteorder == "big":
        gaps.byteswap()
    bits = "".join(f"{octet:08b}" for octet in planes[3 * count :])
    most = max(steps)
    shares = [round(exp((step - most) / about["levels"]) * _FINE) for step in steps]
    return StoredLikelihoods(list(accumulate(gaps)), shares, [bit == "1" for bit in bits[:count]])


@cache
def stored_sums(fair: bool) -> list[int]:
    """Return `StoredLikelihoods.sums` of the layouts of `HIDES`; raises as `stored_likelihoods`."""
    return stored_likelihoods().sums(fair=fair)
