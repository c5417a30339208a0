"""Several pieces in a cell: drawn above each other, and by their number where they are many."""

from __future__ import annotations

from pbmserv.drawing.html import letter_blocks
from pbmserv.drawing.text import board_text
from pbmserv.game import Grid

NAMES = ("alice", "bob")
POINTS = Grid(
    [["X", "O", "."], [".", ".", "."]],
    shape="points",
    columns=("A", "B", "C"),
    counts={"A1": 5, "B1": 6},
)


def test_a_stack_of_more_than_five_ends_with_its_number() -> None:
    text = board_text([POINTS], NAMES, 0, turned=False)
    levels = [line.split() for line in text.splitlines()[1:6]]
    assert [signs[0] for signs in levels] == ["X"] * 5
    assert [signs[1] for signs in levels] == [*["O"] * 4, "6"]
    (block,) = letter_blocks([POINTS], NAMES, 0, [], None, turned=False)
    assert "<br>".join("\N{MULTIPLICATION X}" * 5) + "</td>" in block.rows
    assert "<br>".join(["\N{WHITE CIRCLE}"] * 4 + ["6"]) + "</td>" in block.rows
