"""A sentence is a move only if it leaves no doubt."""

from __future__ import annotations

from pathlib import Path

from rows import rows

from pbmserv.commands.grammar.consent import consent_in
from pbmserv.commands.grammar.sentences import sentences
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.spoken import leaves_it_to_chance, spoken_cells, spoken_move

BOARD = Options().board
SMALL_TALK = Path(__file__).parents[1] / "replies" / "small_talk.txt"


def test_small_talk_with_numbers_and_letters_is_no_move() -> None:
    lines = [line for line in SMALL_TALK.read_text("utf-8").splitlines() if line[:1] != "#"]
    assert len(lines) >= 60
    for line in lines:
        for sentence in sentences(line):
            move = spoken_move(BOARD, sentence.text)
            assert not move or move not in BOARD.ports, line


@rows(
    ("sentence", "move"),
    [
        ("I would like to fire from port 12", "12"),
        ("Ich schieße in Port 5", "5"),
        ("my next move is port 5", "5"),
        ("fire prot 5", "5"),
        ("ok 5", "5"),
        ("top G", "G"),
        ("I bet there is one at c5", "+C5"),
        ("fire 5 or 6", ""),
        ("E, mark D2 and D3, and then guess", ""),
        ("remove the marker at b4", ""),
        ("is it port three?", ""),
        ("the 5", ""),
        ("I think I tried that b4", ""),
        ("I bet b4", "+B4"),
        ("me 2", ""),
    ],
)
def test_a_sentence_with_other_words(sentence: str, move: str) -> None:
    assert spoken_move(BOARD, sentence) == move


def test_cells_in_a_sentence() -> None:
    assert spoken_cells(BOARD, "Ich verstecke sie auf a2, c4, e6 und g1") == "A2,C4,E6,G1"
    assert spoken_cells(BOARD, "are a2 and c4 free?") == ""
    assert leaves_it_to_chance("Hide them for me, please")
    assert not leaves_it_to_chance("a2 and three anywhere")


@rows(
    ("text", "answer"),
    [
        ("Yes please, I would love to", True),
        ("I cannot wait to play!", True),
        ("Hi Bob,\n\nja, gerne.\n\nAlice", True),
        ("No thanks, maybe later", False),
        ("Thanks for asking but no", False),
        ("Sure\nif you give me a week", None),
        ("yes or no", None),
        ("yes. no.", None),
        ("Right now I am busy", None),
        ("I am in Berlin this week", None),
        ("ok, who are you?", None),
        ("I can't see the board", None),
    ],
)
def test_a_clear_yes_or_no(text: str, answer: bool | None) -> None:
    consent = consent_in(text)
    assert (consent.is_yes if consent else None) is answer
