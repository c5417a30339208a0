"""Small talk with numbers and letters in it is no move."""

from __future__ import annotations

from pathlib import Path

from pbmserv.commands.grammar.sentences import sentences
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.spoken import spoken_move

BOARD = Options().board
SMALL_TALK = Path(__file__).parents[1] / "replies" / "small_talk.txt"


def test_small_talk_with_numbers_and_letters_is_no_move() -> None:
    """`tests/replies` sends the first lines to a server; these are all."""
    lines = [line for line in SMALL_TALK.read_text("utf-8").splitlines() if line[:1] != "#"]
    assert len(lines) >= 60
    for line in lines:
        for sentence in sentences(line):
            move = spoken_move(BOARD, sentence.text)
            assert not move or move not in BOARD.ports, line
