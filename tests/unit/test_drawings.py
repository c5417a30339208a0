"""Drawings of boxes: every ray goes where its mark says, and nothing unknown is drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.engine.types import Drawing, Seat, Shape
from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.picture import ATOM, CELL, drawing
from pbmserv.games.blackbox.rays import HIT, trace_all
from pbmserv.games.blackbox.views import BoxView, View
from pbmserv.views.environment import environment
from pbmserv.views.pictures import Painter


@st.composite
def boxes(draw: st.DrawFn):
    board = geometry(draw(st.integers(2, 9)), draw(st.integers(2, 9)))
    atoms = frozenset(draw(st.lists(st.sampled_from(list(board.cells)), max_size=8)))
    return board, atoms


def shapes_of(
    board: Geometry, marks: Sequence[str], atoms: frozenset[int] | None
) -> tuple[Shape, ...]:
    """Return the shapes of a box with these marks; its reader knows these atoms."""
    box = BoxView(
        seat=Seat(0),
        hider=None,
        board=board,
        filled=True,
        guesses_left=3,
        marks=tuple(marks),
        markers=frozenset(),
        sealed=frozenset(),
        atoms=atoms,
        opened=False,
    )
    view = View(Seat(0), Options(), "playing", (box,), (), None)
    picture = drawing(view, Seat(0), None)
    assert picture is not None
    return picture.shapes


@given(boxes())
def test_every_ray_begins_and_ends_at_its_ports(box) -> None:
    board, atoms = box
    results = trace_all(board, atoms)
    rays = [(port, out) for port, out in enumerate(results) if out == HIT or out >= port]
    marks = [
        "#" if out == HIT else "%" if out == port else ascii_letters[min(port, out)]
        for port, out in enumerate(results)
    ]
    shapes = shapes_of(board, marks, atoms)
    lines = [shape for shape in shapes if shape.kind == "line" and shape.role != "rule"]
    assert len(lines) == len(rays)
    dots = [shape.at[:2] for shape in shapes if shape.kind == "dot"]
    assert len(dots) == len(atoms)
    for (port, out), line in zip(rays, lines, strict=True):
        points = list(zip(line.at[::2], line.at[1::2], strict=True))
        assert near(points[0], port, board) <= CELL / 2 + 13
        if out == HIT:
            x, y = points[-1]
            assert min(abs(x - a) + abs(y - b) for a, b in dots) <= ATOM + 1 + 2 * 9
        elif out != port:
            assert near(points[-1], out, board) <= CELL / 2 + 13
        for (x, y), (to_x, to_y) in pairwise(points):
            assert x == pytest.approx(to_x) or y == pytest.approx(to_y)  # no ray is aslant


def near(point, port, board) -> float:
    """Return the distance of a point from the middle of a port."""
    column, row = board.port_places[port]
    return max(abs(point[0] - (column + 0.5) * CELL), abs(point[1] - (row + 0.5) * CELL))


@given(boxes())
def test_without_atoms_no_ray_is_drawn(box) -> None:
    board, _ = box
    shapes = shapes_of(board, ["%"] * len(board.ports), None)
    assert not [shape for shape in shapes if shape.kind == "dot"]
    assert {shape.role for shape in shapes if shape.kind == "line"} <= {"rule"}


def test_the_newest_ray_is_thicker() -> None:
    rays = tuple(Shape("line", "hit", (0, 0, 9, 9), is_new=new) for new in (False, True))
    picture = Painter(environment()).svg_file([Drawing(Seat(0), 9, 9, rays)], "two rays")
    older, newest = map(float, re.findall(rb'stroke-width="([0-9.]+)"', picture))
    assert newest == 2 * older
