"""Sentences of games whose count may be one: "1 disc", not "1 discs"."""

from __future__ import annotations

from typing import Any

from rows import rows

from pbmserv.drawing.spoken import board_sentences
from pbmserv.game import Grid
from pbmserv.games import go, liar, reversi


@rows(
    ("parts", "sentence"),
    [
        (liar.GAME.show(liar.Round(((3,), ())), None), "There is 1 die, 1 + 0."),
        (liar.GAME.show(liar.Round(((3,), (2,))), None), "There are 2 dice, 1 + 1."),
        (reversi.GAME.show("X" + "." * 63, None), "1 disc for {0}, 0 for {1}."),
        (reversi.GAME.show("XX" + "." * 62, None), "2 discs for {0}, 0 for {1}."),
    ],
)
def test_a_board_counts_one_thing_in_the_singular(parts: list[Any], sentence: str) -> None:
    assert sentence in parts


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
