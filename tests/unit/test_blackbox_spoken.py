"""Small talk with numbers and letters in it is no move."""

from __future__ import annotations

from pathlib import Path

from pbmserv.commands.grammar.sentences import sentences
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.meanings import meant

SMALL_TALK = Path(__file__).parents[1] / "replies" / "small_talk.txt"


def test_small_talk_with_numbers_and_letters_is_no_move() -> None:
    """`tests/replies` sends the first lines to a server; these are all."""
    lines = [line for line in SMALL_TALK.read_text("utf-8").splitlines() if line[:1] != "#"]
    assert len(lines) >= 60
    race = GAME.setup(1, GAME.options(("-race", "-size=7x7"), 1), Rng(b"talk", 0))
    view = GAME.view(race, Seat(0))
    for line in lines:
        for sentence in sentences(line):
            move = meant(view, sentence.text)
            assert move is None or move.free, line
