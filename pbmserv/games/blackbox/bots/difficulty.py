"""The difficulty of a box, measured by the probes that the stored tree needs for it.

The probes are summed over all orientations of the box, since rotations and reflections are equally
hard. The rank of the sum among all layouts is the percentile. Boards without a tree have none,
since solving a sample for each answer would take a minute.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox import options as choices
from pbmserv.games.blackbox.bots.orientations import orientations
from pbmserv.games.blackbox.bots.search import search
from pbmserv.games.blackbox.bots.trees import Goal, Tree, usable_tree
from pbmserv.games.blackbox.game_ids import GameId, atoms_of, stored_id
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.options import Grade, Options, draw_cells
from pbmserv.games.blackbox.rays import trace_all

SEARCHED = 1_000_000
"""Rays that `is_unique` may fire, which take two seconds."""

TRIES = 1_000
"""Boxes that `draw` examines, which take 0.1 s. One in twenty has the rarest grade."""

LOWEST_PERCENTILES = {Grade.FIENDISH: 95, Grade.HARD: 75, Grade.MEDIUM: 25, Grade.EASY: 0}
"""The lowest percentile of each grade, the hardest first."""


def percentile(options: Options, layout: Iterable[int]) -> int | None:
    """Return the percentage of easier layouts of the same size and number of atoms.

    Equally hard layouts count half. A call takes 0.2 ms, the first for a board up to 0.1 s.

    Args:
        options: the rules.
        layout: the cells of the atoms.

    Returns:
        0 (easiest) to 100, `None` if the board has no tree (see `trees.KINDS`).
    """
    atoms = frozenset(layout)
    tree = _tree(options.board, len(atoms))
    return None if tree is None else _percentiles(tree)[_total_probes(tree, atoms)]


def grade(options: Options, layout: Iterable[int]) -> Grade | None:
    """Return the grade of a box, `None` if the board has no tree; see `percentile`."""
    rank = percentile(options, layout)
    if rank is None:
        return None
    return next(name for name, lowest in LOWEST_PERCENTILES.items() if rank >= lowest)


def mean_probes(options: Options, layout: Iterable[int]) -> float | None:
    """Return the mean probes of the stored tree for all orientations of a box.

    Return `None` if the board has no tree; see `percentile`.
    """
    atoms = frozenset(layout)
    tree = _tree(options.board, len(atoms))
    if tree is None:
        return None
    return _total_probes(tree, atoms) / len(orientations(tree.board))


def is_unique(options: Options, layout: Iterable[int], rays: int = SEARCHED) -> bool | None:
    """Return whether rays can distinguish a layout from all others that *options* allow.

    It takes milliseconds on the usual boards, seconds on the largest.

    Returns:
        `None` if *rays* are not enough to find out.
    """
    board = options.board
    results = list(enumerate(trace_all(board, layout)))
    result = search(board, results, options.least, options.most, rays)
    counts = range(options.least, options.most + 1)
    layouts = sum(case.ways(count) for case in result.cases for count in counts)
    return False if layouts > 1 else True if result.complete else None


def draw(options: Options, wanted: Grade, rng: Rng) -> list[int] | None:
    """Draw the cells of the atoms of a box with a grade. Each such box is equally likely.

    It takes at most 0.1 s more than the first call of `percentile`.

    Returns:
        `None` if the board has no grades, or `TRIES` boxes all have other grades.
    """
    if not options.gradable or _tree(options.board, options.least) is None:
        return None
    boxes = (draw_cells(options, rng) for _ in range(TRIES))
    return next((box for box in boxes if grade(options, box) is wanted), None)


def with_graded_box(options: Options, rng: Rng) -> Options:
    """Return the options with their box as `options.with_box` does, with a box of the chosen grade.

    If seed or game ID name the box, its own grade replaces the chosen one. If no box of the grade
    is found, the options have no grade.
    """
    if not options.grade:
        return choices.with_box(options, rng)
    is_named = bool(options.id or options.seed)
    cells = None if is_named else draw(options, Grade(options.grade), rng)
    if cells is None:
        box = choices.with_box(options, rng)
        return replace(box, grade=grade(box, atoms_of(stored_id(box.id))) or "" if is_named else "")
    return replace(options, id=GameId.of_cells(options.kind, tuple(cells)).text)


def _tree(board: Geometry, atoms: int) -> Tree | None:
    # If the tree is damaged, boxes have no grades but can be played.
    return usable_tree(board.width, board.height, atoms, Goal.PROBES)


def _total_probes(tree: Tree, layout: frozenset[int]) -> int:
    """Return the sum of the probes of all orientations."""
    return sum(tree.probes([turn[cell] for cell in layout]) for turn in orientations(tree.board))


@cache
def _percentiles(tree: Tree) -> tuple[int, ...]:
    """Return the percentile for each sum of probes."""
    total, easier = sum(tree.ranks), 0
    percentiles = []
    for count in tree.ranks:
        percentiles.append(round(100 * (easier + count / 2) / total))
        easier += count
    return tuple(percentiles)
