"""Where the house hides its atoms."""

from __future__ import annotations

from collections import Counter
from math import log

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.options import Options, drawn
from pbmserv.games.blackbox.rays import trace_all

USUAL = 100
"""Cells of a board up to which so many are looked at; larger ones get any layout."""

TRIED = 12
"""Layouts that a hard house draws before it takes the one that looks most usual from outside."""

COMPARED = 100
"""Layouts that tell it what is usual."""


def anywhere(options: Options, rng: Rng) -> frozenset[int]:
    """Any layout, each number of atoms and each place as likely as any other."""
    return frozenset(drawn(options, rng))


def unobtrusive(options: Options, rng: Rng) -> frozenset[int]:
    """One of a few layouts, whose results surprise least, so that each probe tells little.

    On 7x7 with 4 atoms a greedy player needs 0.6 probes more for them. Nobody can count on
    anything but that: any layout may be drawn.
    """
    board = options.board
    if len(board.cells) > USUAL:
        return anywhere(options, rng)
    usual = [Counter[int]() for _ in board.ports]
    for _ in range(COMPARED):
        for seen, out in zip(usual, trace_all(board, anywhere(options, rng)), strict=True):
            seen[out] += 1

    def surprise(layout: frozenset[int]) -> float:
        results = trace_all(board, layout)
        return -sum(log(seen[out] + 1) for seen, out in zip(usual, results, strict=True))

    return min((anywhere(options, rng) for _ in range(TRIED)), key=surprise)
