"""The move that a text means among the legal moves of a game."""

from __future__ import annotations

import pytest

from pbmserv.game import matching

CELLS = ("A1", "B2", "C3")
CASTLING = ("O-O", "O-O-O", "Nf3")
COLUMNS = ("A", "B", "C")


@pytest.mark.parametrize(
    ("text", "moves", "move"),
    [
        ("b2", CELLS, "B2"),
        ("B 2.", CELLS, "B2"),
        ("2B", CELLS, "B2"),
        ("nf3", CASTLING, "Nf3"),
        ("I play b2", CELLS, None),
        ("", CELLS, None),
        ("1-1", ("1/1", "1:1"), None),
        ("1.2", ("bid 12", "12"), None),
        ("bid -1", ("bid 1", "bid 2"), None),
        ("-1", ("1", "2"), None),
        ("bid -1", ("bid -1", "bid 1"), "bid -1"),
        ("bid - 1", ("bid 1", "bid 2"), "bid 1"),
        ("13 -7", ("13/7", "13/8"), "13/7"),
        ("e2-4", ("e2 4", "e3 4"), "e2 4"),
    ],
)
def test_a_whole_text_spells_a_move(text: str, moves: tuple[str, ...], move: str | None) -> None:
    assert matching.spelt(text, moves) == move


@pytest.mark.parametrize(
    ("text", "moves", "move"),
    [
        ("I play b2, thanks", CELLS, "B2"),
        ("Thank you! My move is b 2.", CELLS, "B2"),
        ("Can I play b2?", CELLS, "B2"),
        ("Did you play b2?", CELLS, None),
        ("I play b2 and then c3", CELLS, None),
        ("I live at b2", CELLS, None),
        # A shorter move inside a longer one is not meant, but beside it both are.
        ("I play O-O-O, thanks", CASTLING, "O-O-O"),
        ("I play O-O, thanks", CASTLING, "O-O"),
        ("I play O-O-O, then Nf3", CASTLING, None),
        # The names of some columns are words of a sentence.
        ("I play b, thanks", COLUMNS, "B"),
        ("I play a", COLUMNS, None),
        ("a", COLUMNS, "A"),
        ("A please", COLUMNS, "A"),
        ("A then B", COLUMNS, None),
        ("b or a", COLUMNS, None),
        ("A, B", COLUMNS, None),
        ("I drop a disc in B", COLUMNS, "B"),
        ("bid 1 2", ("bid 1", "bid 12"), None),
        ("I bid -1", ("bid 1", "bid 12"), None),
    ],
)
def test_one_move_stands_among_words_that_say_a_move(
    text: str, moves: tuple[str, ...], move: str | None
) -> None:
    assert matching.among_words(text, moves) == move


@pytest.mark.parametrize(
    ("text", "freely", "is_like"),
    [
        ("b2", False, True),
        ("2b", False, True),
        ("pass", False, True),
        ("the 2nd", False, False),
        ("2nd", False, False),
        ("21st", True, False),
        ("e8q1", False, False),
        ("e8q1", True, True),
        ("", True, False),
    ],
)
def test_names_of_cells_and_words_of_moves_look_like_a_move(
    text: str, freely: bool, is_like: bool
) -> None:
    assert matching.is_like(text, ("pass",), freely=freely) == is_like


def test_a_beginning_of_several_moves_names_them_all() -> None:
    moves = ("e2e4", "e2e3", "d2d4")
    assert matching.beginning_with("e2", moves) == ["e2e4", "e2e3"]
    assert matching.beginning_with("e2 e4", moves) == ["e2e4"]
    assert matching.beginning_with("!", moves) == []
    assert matching.beginning_with("bid -1", ("bid 1", "bid 12")) == []
