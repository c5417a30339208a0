"""A board in sentences, for those who hear it instead of seeing it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.display import MarkedRay, MarkedSide, marked_parts
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.views import BoxView
from pbmserv.views.texts import render_text

BOARD = geometry(7, 7)


def box(seat: int, marks: dict[str, str], **fields: object) -> BoxView:
    facts: dict[str, Any] = {
        "seat": Seat(seat),
        "hider": None,
        "board": BOARD,
        "filled": True,
        "guesses_left": 3,
        "marks": tuple(marks.get(port, "") for port in BOARD.ports),
        "markers": frozenset(),
        "sealed": frozenset(),
        "atoms": None,
        "opened": False,
    }
    return BoxView(**{**facts, **fields})


def cells(*names: str) -> frozenset[int]:
    numbers = [BOARD.cell(name) for name in names]
    return frozenset(cell for cell in numbers if cell is not None)


def spoken(*boxes: BoxView, phase: str = "playing") -> str:
    view = SimpleNamespace(shown=boxes, phase=phase)
    values = {"view": view, "names": ["alice", "bob"], "you": 0}
    return render_text("games/blackbox/spoken.txt.j2", values)


def test_sides_rays_and_rows_are_told_in_order_and_nothing_empty() -> None:
    sentences = marked_parts(
        BOARD, box(0, {"9": "B", "F": "B", "K": "a", "3": "a", "A": "#"}).marks, []
    )
    assert sentences.sides == (
        MarkedSide("top", (("A", "#"), ("F", "B"))),
        MarkedSide("right", (("9", "B"),)),
        MarkedSide("bottom", (("K", "a"),)),
        MarkedSide("left", (("3", "a"),)),
    )
    assert sentences.rays == (MarkedRay("a", ("K", "3")), MarkedRay("B", ("F", "9")))
    assert sentences.rows == ()


def test_a_game_in_play() -> None:
    mine = box(
        0,
        {"A": "#", "C": "%", "F": "a", "9": "a"},
        markers=cells("B3", "C3"),
        sealed=cells("D3", "E5"),
    )
    theirs = box(1, {}, guesses_left=1, markers=cells("B3"), atoms=cells("B3", "G7"))
    assert spoken(mine, theirs).split("\n") == [
        "Your box, 7 columns by 7 rows: you have 3 guesses left.",
        "Along the top, from the left: port A hit, port C reflection, port F ray a.",
        "On the right, from above: port 9 ray a.",
        "Ray a joins ports F and 9.",
        "Row 3: markers on B3 and C3; sealed D3.",
        "Row 5: sealed E5.",
        "",
        "The box of bob, 7 columns by 7 rows: bob has 1 guess left.",
        "No port shows a mark.",
        "Row 3: marker on an atom at B3.",
        "Row 7: atom at G7.",
    ]


def test_a_box_without_atoms_and_a_game_that_is_over() -> None:
    assert spoken(box(0, {}, filled=False)).endswith("No atoms are hidden in it yet.")
    over = box(
        1, {}, guesses_left=0, markers=cells("A1", "B1"), atoms=cells("A1", "C1"), opened=True
    )
    assert spoken(over, phase="over").split("\n") == [
        "The box of bob, 7 columns by 7 rows: bob has no guesses left.",
        "No port shows a mark.",
        "Row 1: marker on an atom at A1; marker without an atom on B1; atom that was",
        "not found at C1.",
    ]
