"""Sentences of games whose count may be one: "1 point", not "1 points".

The boards of Liar's dice and Reversi keep "1 dice" and "1 discs": they stand in letters of games
that were played, which `pbmserv verify` compares with the boards of today.
"""

from __future__ import annotations

from rows import rows

from pbmserv.drawing.spoken import board_sentences
from pbmserv.game import Grid, Seat
from pbmserv.games import backgammon, go


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


def test_points_are_spoken_with_their_numbers_of_men() -> None:
    board = backgammon.Board(backgammon.start_points(), 0, (3, 2), Seat(0))
    grid = backgammon.GAME.grid(board, Seat(0))
    sentences = board_sentences([grid], ("ann", "bob"), 0, turned=False)
    assert sentences == [
        "The board, each row from the left.",
        "13 has 5 of yours, 17 has 3 of bob, 19 has 5 of bob, 24 has 2 of yours.",
        "12 has 5 of bob, 8 has 3 of yours, 6 has 5 of yours, 1 has 2 of bob.",
    ]
