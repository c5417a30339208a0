"""Real letters, quoted as mail programs do it: nobody learns a hidden atom by that."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from examples import DEEP
from indoors import PASSWORD, Indoors, Posted, indoors
from mangling import MANGLERS, Mangler, quoted
from poison import ALICE, BOB, HELLO, last_letter, words_to_others
from running import MovableClock

pytestmark = pytest.mark.slow

SIZES = ("-size=4x4 -atoms=3 -unrated", "-size=8x8 -atoms=4 -unrated -clue")
FORMATS = ("html", "text", "spoken") if DEEP else ("html", "spoken")
GAMES = (*((SIZES[0], form) for form in FORMATS), *([(SIZES[1], "html")] if DEEP else []))
SEEDS = 20 if DEEP else 1


@dataclass
class Game:
    """Letters to alice about a board, and where her atoms are."""

    server: Indoors
    letters: list[Posted]
    cells: tuple[str, ...]


@pytest.fixture(scope="module", params=GAMES, ids=str)
def game(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Game]:
    size, form = request.param
    with indoors(tmp_path_factory.mktemp("quoted"), web_url="http://games.example") as server:
        server.sign_up("alice", "bob")
        server.send(ALICE, f"prefs alice {PASSWORD} format={form}")
        new_letters = server.send(ALICE, f"blackbox challenge alice bob {size}")
        cells = ("a2", "c4", "d1") if "=3" in size else ("a2", "c4", "d1", "f7")
        theirs = "b3,c1,d3" if "=3" in size else "b3,c1,d3,h8"
        (challenge,) = (letter for letter in new_letters if letter.recipient == BOB)
        new_letters += server.reply(challenge, theirs)
        turn_letter = [letter for letter in new_letters if letter.recipient == ALICE][-1]
        new_letters += server.reply(turn_letter, ",".join(cells))
        new_letters += server.reply(
            [letter for letter in new_letters if letter.recipient == ALICE][-1], "a,+b2"
        )
        new_letters += server.send(BOB, f"blackbox move 1 bob {PASSWORD} 2", "A try!")
        new_letters += server.reply(
            [letter for letter in new_letters if letter.recipient == ALICE][-1], "show"
        )
        letters = [
            letter for letter in new_letters if letter.recipient == ALICE and letter.board == 1
        ]
        yield Game(server, letters[-5:], cells)


@pytest.mark.parametrize("mangle", MANGLERS, ids=lambda mangler: mangler.__name__)
def test_a_quoted_letter_tells_nobody_a_hidden_cell(game: Game, mangle: Mangler) -> None:
    """A usual run mangles one of the five letters in each way, a deep run each of them."""
    first = 0 if DEEP else MANGLERS.index(mangle) % 5
    for number, letter in list(enumerate(game.letters))[first :: 1 if DEEP else 5]:
        for seed in range(SEEDS):
            dice = random.Random(f"{mangle.__name__} {number} {seed}")
            if "without" in mangle.__name__ and not letter.has_html:
                continue
            before = last_letter(game.server)
            body = (
                f"chat\n{HELLO} {mangle.__name__} {number}.{seed}\n\n{quoted(letter, mangle, dice)}"
            )
            game.server.reply_unread(letter, body)
            for _, words in words_to_others(game.server, ALICE, before):
                _tells_nothing(words, game.cells)
            _later(game.server)


def _tells_nothing(text: str, cells: tuple[str, ...]) -> None:
    assert HELLO in text
    rest = text.partition("\n")[2]
    named = {"".join(cell.split()) for cell in re.findall(r"\b[a-z]\s?[0-9]\b", rest.lower())}
    assert not named & set(cells), text
    assert "@" not in rest, text
    assert rest.count("|") < 3, text


def _later(server: Indoors) -> None:
    """Hours later, so that nobody's words look like a program's; no clock is looked at."""
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    clock.move(hours=12)


def test_a_letter_about_another_board_is_recognised(tmp_path: Path) -> None:
    """People answer one letter while they read another, which their headers do not name."""
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        (_, challenge) = server.send(ALICE, f"blackbox challenge alice bob {SIZES[0]}")
        (turn,) = (x for x in server.reply(challenge, "b3,c1,d3") if x.recipient == ALICE)
        (hidden, *_) = (x for x in server.reply(turn, "a2,c4,d1") if x.recipient == ALICE)
        (sentence,) = re.findall(r"Your atoms are hidden at .*", hidden.text)
        (other_board, _) = server.send(ALICE, f"blackbox challenge alice bob {SIZES[0]}")
        before = last_letter(server)
        server.reply_unread(other_board, f"chat\n{HELLO}\n\n{sentence}")
        ((_, words),) = words_to_others(server, ALICE, before)
        _tells_nothing(words, ("a2", "c4", "d1"))
