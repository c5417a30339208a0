"""Rays: all known cases, and properties of all rays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.rays import HIT, cells_passed, dead_zone, trace, trace_all

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "blackbox"
CASES: list[dict[str, Any]] = json.loads((GOLDEN / "ray_cases.json").read_text())

Box = tuple[Geometry, frozenset[int]]


def in_words(board: Geometry, port: int, end: int) -> str:
    return "#" if end == HIT else "%" if end == port else board.ports[end]


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    board = geometry(draw(st.integers(2, 9)), draw(st.integers(2, 9)))
    return board, draw(st.frozensets(st.sampled_from(board.cells), max_size=12))


@rows("case", CASES, ids=[case["why"] for case in CASES])
def test_every_port_of_a_known_box(case: dict[str, Any]) -> None:
    board = geometry(case["w"], case["h"])
    atoms = [cell for name in case["atoms"] if (cell := board.cell(name)) is not None]
    assert len(atoms) == len(case["atoms"])
    results = trace_all(board, atoms)
    by_label = {
        label: in_words(board, port, results[port]) for port, label in enumerate(board.ports)
    }
    assert by_label == case["all"]
    assert {label: by_label[label] for label in case["expect"]} == case["expect"]


@given(boxes())
def test_one_ray_and_all_rays_agree(box: Box) -> None:
    board, atoms = box
    assert trace_all(board, atoms) == [trace(board, atoms, p) for p in range(len(board.ports))]


@given(boxes())
def test_no_ray_tells_of_a_dead_zone_and_none_goes_there(box: Box) -> None:
    board, atoms = box
    dead = dead_zone(board, atoms)
    assert not dead & atoms
    for cell in dead:
        assert trace_all(board, atoms | {cell}) == trace_all(board, atoms)
    for port in range(len(board.ports)):
        assert dead.isdisjoint(cells_passed(board, atoms, port))


@given(boxes())
def test_rays_are_reversible_and_detours_pair_up(box: Box) -> None:
    board, atoms = box
    for port in range(len(board.ports)):
        result = trace(board, atoms, port)
        if result != HIT:
            assert trace(board, atoms, result) == port


@given(boxes())
def test_a_hit_wins_on_the_first_rank(box: Box) -> None:
    board, atoms = box
    below = board.width + board.height
    for column in range(board.width):
        if column in atoms:
            assert trace(board, atoms, column) == HIT
        if (board.height - 1) * board.width + column in atoms:
            assert trace(board, atoms, below + column) == HIT


@given(st.integers(2, 26), st.integers(2, 26))
@examples(40)
def test_in_an_empty_box_every_ray_goes_straight_through(width: int, height: int) -> None:
    board = geometry(width, height)
    names = {label: board.ports[trace(board, (), p)] for p, label in enumerate(board.ports)}
    assert all(names[top] == bottom for top, bottom in zip(board.top, board.bottom, strict=True))
    assert all(names[left] == right for left, right in zip(board.left, board.right, strict=True))


@given(boxes())
def test_a_box_mirrored_left_to_right_gives_mirrored_rays(box: Box) -> None:
    board, atoms = box
    width, height = board.width, board.height

    def cell(old: int) -> int:
        row, column = divmod(old, width)
        return row * width + width - 1 - column

    def port(old: int) -> int:
        if old < width:
            return width - 1 - old
        if old < width + height:
            return old + width + height
        if old < 2 * width + height:
            return width + height + (2 * width + height - 1 - old)
        return old - width - height

    _assert_same_rays(board, atoms, board, frozenset(map(cell, atoms)), port)


@given(boxes())
def test_a_box_turned_over_its_diagonal_gives_turned_rays(box: Box) -> None:
    """With the mirror image, this makes all 8 symmetries of the square."""
    board, atoms = box
    width, height = board.width, board.height
    turned = geometry(height, width)

    def cell(old: int) -> int:
        row, column = divmod(old, width)
        return column * height + row

    def port(old: int) -> int:
        if old < width:  # top to left
            return 2 * height + width + old
        if old < width + height:  # right to bottom
            return height + width + (old - width)
        if old < 2 * width + height:  # bottom to right
            return height + (old - width - height)
        return old - 2 * width - height  # left to top

    _assert_same_rays(board, atoms, turned, frozenset(map(cell, atoms)), port)


def _assert_same_rays(
    board: Geometry, atoms: frozenset[int], other: Geometry, moved: frozenset[int], port: Any
) -> None:
    before, after = trace_all(board, atoms), trace_all(other, moved)
    assert sorted(map(port, range(len(before)))) == list(range(len(after)))
    for old, result in enumerate(before):
        assert after[port(old)] == (HIT if result == HIT else port(result))
