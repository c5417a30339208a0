"""In a reply to a letter about a board, a number behind a command is not the number of a board.

"3 twos" is a bid of Liar's dice, also behind "queue", and is not twos on board 3 by a player whose
password is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors

from pbmserv.engine.registry import Registry
from pbmserv.games import liar

ANNA, BELA = map(address_of, ("anna", "bela"))


@pytest.fixture(scope="module")
def liars(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Indoors, Posted]]:
    """A house with a board on which anna begins, and bela's letter about it."""
    folder: Path = tmp_path_factory.mktemp("liars")
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr(Registry, "installed", classmethod(lambda cls: cls([liar.GAME])))
        house = stack.enter_context(indoors(folder))
        house.sign_up("anna", "bela")
        house.send(ANNA, "liar challenge anna bela -dice=2")
        letters = house.send(BELA, f"liar accept 1 bela {PASSWORD}")
        (board,) = [letter for letter in letters if letter.recipient == BELA]
        yield house, board


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("queue 3 twos", "3 twos"),
        ("liar queue 3 twos", "3 twos"),
        ("queue 3 twos if 2 twos", "if 2 twos: 3 twos"),
    ],
)
def test_a_plan_begins_with_a_number(liars: tuple[Indoors, Posted], text: str, plan: str) -> None:
    house, board = liars
    (answer,) = house.reply(board, text)
    assert answer.kind == "queued"
    assert f"\n  {plan}\n" in answer.text


@pytest.mark.parametrize(
    "text",
    ["move 3 twos", "liar move 3 twos", "liar 3 twos", "submit 3 twos"],
)
def test_a_move_begins_with_a_number(liars: tuple[Indoors, Posted], text: str) -> None:
    house, board = liars
    (answer,) = house.reply(board, text)
    assert "It is anna's turn. You can queue this move" in answer.one_line
    assert "queue 3 twos" in answer.text


def test_a_previewed_move_begins_with_a_number(liars: tuple[Indoors, Posted]) -> None:
    house, board = liars
    (answer,) = house.reply(board, "preview 3 twos")
    assert '3 twos" cannot be played now: it is not your turn.' in answer.one_line


def test_a_note_begins_with_a_number(liars: tuple[Indoors, Posted]) -> None:
    house, board = liars
    (answer,) = house.reply(board, "note 2 sixes are likely")
    assert "2 sixes are likely" in answer.text


def test_a_command_in_full_still_names_its_board(liars: tuple[Indoors, Posted]) -> None:
    house, board = liars
    (answer,) = house.reply(board, f"liar queue 1 bela {PASSWORD} 2 sixes")
    assert answer.kind == "queued"
    (answer,) = house.reply(board, f"liar queue 7 bela {PASSWORD}")
    assert PASSWORD not in answer.text
