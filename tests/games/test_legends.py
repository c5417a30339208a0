"""Below each board a short legend says whose pieces are whose, and what its marks mean."""

from __future__ import annotations

from importlib import import_module

import pytest
from test_engine import begun, moved

from pbmserv.drawing.filters import drawn_text, whose_pieces
from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.types import Seat
from pbmserv.game import Grid, Piece
from pbmserv.games.tictactoe import TicTacToe

NAMES = ("anna", "bela")


@pytest.mark.parametrize(
    ("key", "moves", "text", "page"),
    [
        (
            "chess",
            "f3 e5 g4 Qh4",
            (
                "You have white (capitals); bela has black (small letters). K king, Q queen, "
                "R rook, B bishop, N knight, P pawn. ( ): the last move; [ ]: a king in check."
            ),
            "You have white; bela has black. Framed: the last move; coloured: a king in check.",
        ),
        (
            "tictactoe",
            "b2",
            "You have X; bela has O. ( ): the last move.",
            "Framed: the last move.",
        ),
        ("connect4", "a b a b a b a", "[ ]: the winning line.", "Coloured: the winning line."),
        ("go", "c3", "You have X; bela has O. ( ): the last move.", "Framed: the last move."),
        ("backgammon", "", "You have X; bela has O.", "You have"),
    ],
)
def test_the_legend_of_a_board(key: str, moves: str, text: str, page: str) -> None:
    position = begun(AdaptedGame(import_module(f"pbmserv.games.{key}").GAME))
    for place, move in enumerate(moves.split()):
        position = moved(position, place % 2, move)
    view = position.game.view(position.state, Seat(0))
    assert text in " ".join(drawn_text(view, NAMES).split())
    assert page in whose_pieces(view, NAMES)


class Fences(TicTacToe):
    """Has dots, empty fields that look like nothing, and a heading."""

    def show(self, state, seat):
        pieces = {"+": Piece("+", "dot"), "_": Piece(" ", "field")}
        return "Lines of {0}:", Grid(["+_+", "_._"], pieces)


def test_a_piece_that_looks_like_nothing_is_not_explained() -> None:
    position = begun(AdaptedGame(Fences()))
    view = position.game.view(position.state, Seat(0))
    text = drawn_text(view, NAMES)
    assert text.splitlines()[0] == "Lines of you:"
    assert text.splitlines()[-1] == "+: dot."
    assert whose_pieces(view, NAMES) == "+: dot."
