"""A reader who pays for each octet gets a move in less than 1 kB, and can reply to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from blackbox_alone import every_game
from indoors import PASSWORD, address_of, indoors
from seating import HIDINGS

from pbmserv.engine.registry import Registry

ANNA, BELA = map(address_of, ("anna", "bela"))
MOVES = {
    "battleships": "random",
    "blackbox": HIDINGS[0],
    "chess": "e4",
    "connect4": "d",
    "gomoku": "h8 i9 g7",
    "liar": "2 threes",
    "reversi": "d3",
}


# Dice decide who begins at backgammon, and with which moves.
@pytest.mark.parametrize(
    "key", sorted(entry.name for entry in every_game() if entry.name != "backgammon")
)
def test_a_move_is_a_tiny_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    (rules,) = [entry.load() for entry in every_game() if entry.name == key]
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls([rules])))
    with indoors(tmp_path) as house:
        house.sign_up("anna", "bela")
        house.send(BELA, f"prefs bela {PASSWORD} format=tiny")
        house.send(ANNA, f"{key} challenge anna {PASSWORD} bela")
        (board,) = [
            letter
            for letter in house.send(BELA, f"{key} accept 1 bela {PASSWORD}")
            if letter.recipient == ANNA
        ]
        letters = house.reply(board, f"{MOVES.get(key, 'b2')}\n\nGreetings from the ship!")
        (tiny,) = [letter for letter in letters if letter.recipient == BELA]
        assert len(tiny.raw) < 1_000, len(tiny.raw)
        assert tiny.message.get_content_type() == "text/plain"
        text = tiny.one_line
        assert "anna" in text
        assert "Greetings from the ship!" in text
        assert "Reply above this line" in text
        (answer,) = house.reply(tiny, "show")
        assert "Also:" in answer.text  # the whole letter


def test_other_letters_stay_whole(tmp_path: Path) -> None:
    with indoors(tmp_path) as house:
        house.sign_up("bela")
        (answer,) = house.send(BELA, f"prefs bela {PASSWORD} format=tiny")
        assert "less than 1 kB" in answer.text
        (rules,) = house.send(BELA, "help blackbox")
        assert len(rules.raw) > 1_000
        assert not rules.has_html
