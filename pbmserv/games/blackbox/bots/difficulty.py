"""How hard a box is: how many probes the stored tree needs for it.

The probes are summed over all orientations of the box, since turning or mirroring it makes it no
harder; the sum's place among those of all layouts is the percentile. Boards without a tree have
none: a sample would have to be solved for each answer, which takes a minute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from math import comb

from pbmserv.engine.types import Rng
from pbmserv.games.blackbox import options as choices
from pbmserv.games.blackbox.bots.search import search
from pbmserv.games.blackbox.bots.trees import Damaged, Goal, Tree, orientations, tree
from pbmserv.games.blackbox.game_ids import GameId, atoms_of, read_id
from pbmserv.games.blackbox.geometry import Geometry, trace_all
from pbmserv.games.blackbox.options import Grade, Options, drawn

SEARCHED = 1_000_000
"""Rays that `is_unique` may fire, a few seconds."""

TRIES = 1_000
"""Boxes that `draw` looks at before it gives up, 0.1 s; one in twenty is of the rarest grade."""


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
    return _probes(known, atoms) / len(_orientations(known.board))


def is_unique(options: Options, layout: Iterable[int]) -> bool | None:
    """Whether the results at all ports fit no other layout with as many atoms as *options* allow.

    It takes milliseconds on the usual boards, seconds on the largest; ``None``: even that was too
    short.
    """
    board = options.board
    results = list(enumerate(trace_all(board, layout)))
    found = search(board, results, options.least, options.most, SEARCHED)
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
        return replace(box, grade=grade(box, atoms_of(read_id(box.id))) or "" if named else "")
    game = GameId(options.width, options.height, options.least, options.most, tuple(cells))
    return replace(options, id=game.text)


def _tree(board: Geometry, atoms: int) -> Tree | None:
    try:
        return tree(board.width, board.height, atoms, Goal.PROBES)
    except Damaged:  # then no box has a grade, which is no reason to play none
        return None


@cache
def _orientations(board: Geometry) -> tuple[tuple[int, ...], ...]:
    return orientations(board)


def _probes(known: Tree, layout: frozenset[int]) -> int:
    """Summed over all orientations."""
    return sum(
        known.probes([turned[cell] for cell in layout]) for turned in _orientations(known.board)
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
