"""Sentences of games whose count may be one: "1 point", not "1 points".

The boards of Liar's dice and Reversi keep "1 dice" and "1 discs": they stand in letters of games
that were played, which `pbmserv verify` compares with the boards of today.
"""

from __future__ import annotations

from rows import rows

from pbmserv.drawing.spoken import board_sentences
from pbmserv.game import Grid
from pbmserv.games import go


@rows(
    ("black", "why"),
    [(41, "black by 1 point"), (42, "black by 3 points"), (40, "white by 1 point")],
)
def test_go_is_won_by_one_point(black: int, why: str) -> None:
    board = "X" * black + "O" * (81 - black)
    result = go.GAME.over(go.Position(board, frozenset(), twice_komi=0, stage="over"))
    assert result is not None
    assert result.why == why


def test_a_spoken_board_may_have_one_row() -> None:
    (size, *_) = board_sentences([Grid([".."], {})], ("ann", "bob"), 0, turned=False)
    assert size == "The board: 2 columns by 1 row."
