"""Stored trees solve every layout, waste no probe, and measure the difficulty of boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from statistics import mean

import pytest
from examples import DEEP
from rows import rows

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots import trees
from pbmserv.games.blackbox.bots.difficulty import (
    LOWEST_PERCENTILES,
    Grade,
    draw,
    grade,
    mean_probes,
    percentile,
)
from pbmserv.games.blackbox.bots.orientations import orientations
from pbmserv.games.blackbox.bots.trees import (
    KINDS,
    Damaged,
    Goal,
    Tree,
    tree,
)
from pbmserv.games.blackbox.options import Options, draw_cells
from pbmserv.games.blackbox.rays import HIT, trace, trace_all
from pbmserv.log import TextFormatter

COUNT = 1_000 if DEEP else 50
"""Layouts of a sample."""

STORED = [(kind, goal) for kind, goals in KINDS.items() for goal in goals]

KNOWN = {
    ((7, 7, 4), Goal.PROBES): 6.6540,
    ((7, 7, 4), Goal.POINTS): 9.6039,
    ((8, 8, 3), Goal.PROBES): 5.0348,
    ((8, 8, 3), Goal.POINTS): 7.9968,
    ((8, 8, 4), Goal.PROBES): 6.6964,
    ((8, 8, 4), Goal.POINTS): 10.0480,
}
"""Means over all layouts, as `python -m generators.trees` prints them."""


def stored(kind: tuple[int, int, int], goal: Goal) -> Tree:
    loaded = tree(*kind, goal)
    assert loaded is not None
    return loaded


def some_layouts(kind: tuple[int, int, int], count: int) -> list[list[int]]:
    """Return random layouts, the same in each run."""
    width, height, atoms = kind
    rng = Rng(b"layouts", 0)
    return [draw_cells(Options(width, height, atoms, atoms), rng) for _ in range(count)]


def played(tree: Tree, layout: Iterable[int]) -> list[tuple[int, int]]:
    """Return the probes of a whole game, which ends with a right guess."""
    cells = tuple(layout)
    history: list[tuple[int, int]] = []
    while isinstance(port := tree.port(history), int):
        out = trace(tree.board, cells, port)
        assert (port, out) not in history
        assert (out, port) not in history, "a detour is known from both ends"
        history.append((port, out))
    assert trace_all(tree.board, port) == trace_all(tree.board, cells)
    return history


def points(history: Iterable[tuple[int, int]]) -> int:
    return sum(1 if out in {HIT, port} else 2 for port, out in history)


def test_every_layout_of_a_small_board_is_solved_in_as_many_probes_as_it_says() -> None:
    solution = stored((5, 5, 3), Goal.PROBES)
    probes = {}
    for number, layout in enumerate(combinations(solution.board.cells, 3)):
        probes[layout] = solution.probes(layout)
        if not number % 20:  # the search for the guess takes longest
            assert len(played(solution, layout)) == probes[layout]
    sums = Counter(
        sum(probes[tuple(sorted(turned[cell] for cell in layout))] for turned in every)
        for every in [orientations(solution.board)]
        for layout in probes
    )
    assert sums == {place: count for place, count in enumerate(solution.ranks) if count}


@pytest.mark.slow
@rows(("kind", "goal"), STORED)
def test_layouts_of_each_stored_board_are_solved(kind: tuple[int, int, int], goal: Goal) -> None:
    solution = stored(kind, goal)
    for layout in some_layouts(kind, 20 if DEEP else 2):
        assert len(played(solution, layout)) == solution.probes(layout)


@rows(("kind", "goal"), KNOWN)
def test_a_tree_plays_as_well_as_its_maker_says(kind: tuple[int, int, int], goal: Goal) -> None:
    """Four standard errors, of 1.1 probes or 1.7 points a game."""
    solution = stored(kind, goal)
    layouts = some_layouts(kind, COUNT)
    if goal is Goal.PROBES:
        paid = [solution.probes(layout) for layout in layouts]
    else:
        paid = [points(walked(solution, layout)) for layout in layouts]
    assert mean(paid) == pytest.approx(KNOWN[kind, goal], abs=4 * 1.7 / COUNT**0.5)


def walked(tree: Tree, layout: Iterable[int]) -> list[tuple[int, int]]:
    """Return the probes as `played` does, without the search for the guess."""
    cells = tuple(layout)
    history: list[tuple[int, int]] = []
    for _ in range(tree.probes(cells)):
        port = tree.port(history)
        assert isinstance(port, int)
        history.append((port, trace(tree.board, cells, port)))
    return history


@pytest.mark.usefixtures("reread_trees")
@pytest.mark.parametrize("damage", ["missing", "torn", "another"])
def test_a_damaged_file_is_found_out_and_boxes_have_no_grade(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = Path(trees.__file__).parent / trees.FOLDER
    name = trees.file_name(6, 6, 3, Goal.PROBES)
    (tmp_path / trees.SUMS).write_bytes((real / trees.SUMS).read_bytes())
    if damage == "torn":
        (tmp_path / f"{name}.xz").write_bytes((real / f"{name}.xz").read_bytes()[:900])
    elif damage == "another":
        other = trees.file_name(5, 5, 3, Goal.PROBES)
        (tmp_path / f"{name}.xz").write_bytes((real / f"{other}.xz").read_bytes())
    monkeypatch.setattr(trees, "FOLDER", str(tmp_path))
    with pytest.raises(Damaged):
        tree(6, 6, 3, Goal.PROBES)
    options = Options(6, 6, 3, 3)
    assert percentile(options, (0, 1, 2)) is None
    assert draw(options, Grade.EASY, Rng(b"", 0)) is None
    assert [record.message for record in caplog.records] == [
        "a stored tree is damaged; its boards are played without"
    ], "it is logged, but not for every box"
    assert name in TextFormatter().format(caplog.records[0])


def test_the_hardest_boxes_are_fiendish_and_easy_ones_need_few_probes() -> None:
    """B1 B2 A3 D4 is one of those that greedy play needs most probes for."""
    options = Options(7, 7, 4, 4)
    hardest = [options.board.cell(name) for name in ("B1", "B2", "A3", "D4")]
    assert grade(options, [cell for cell in hardest if cell is not None]) is Grade.FIENDISH
    rng = Rng(b"grades", 0)
    needed = []
    for wanted in Grade:
        boxes = [draw(options, wanted, rng) for _ in range(8)]
        assert all(box is not None and grade(options, box) is wanted for box in boxes)
        assert len({frozenset(box or ()) for box in boxes}) == 8
        needed.append(mean(mean_probes(options, box or ()) or 0 for box in boxes))
    assert needed == sorted(needed)


@pytest.mark.slow
@rows("kind", [kind for kind, goal in STORED if goal is Goal.PROBES])
def test_grades_are_shared_out_about_as_promised(kind: tuple[int, int, int]) -> None:
    width, height, atoms = kind
    options = Options(width, height, atoms, atoms)
    grades = Counter(grade(options, layout) for layout in some_layouts(kind, COUNT))
    steps = [*sorted(LOWEST_PERCENTILES.values()), 100]
    for wanted, least, most in zip(Grade, steps, steps[1:], strict=False):
        assert grades[wanted] / COUNT == pytest.approx(
            (most - least) / 100, abs=0.12 if DEEP else 0.2
        )
