"""Layouts that bots hide: any one, or one that is hard to find."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from itertools import accumulate
from math import exp, log

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots.difficulty import is_unique, mean_probes
from pbmserv.games.blackbox.options import Options, draw_cells
from pbmserv.games.blackbox.rays import trace_all

DRAWN = 100
"""Layouts of which `hard_layout` takes one on boards with a tree (see `trees.KINDS`)."""

SHARPNESS = 2.0
"""The increase of the logarithm of a layout's likelihood among these for each further probe."""

_FINE = 1 << 24

USUAL = 100
"""Cells of the largest board on which layouts are compared; larger boards get any layout."""

TRIED = 12
"""Layouts that the hard bot draws, of which it takes the one with the most usual results."""

COMPARED = 100
"""Layouts that show it which results are usual."""

UNIQUE = 30_000
"""Rays of a search for another layout with the same results, a twentieth of a second."""


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
