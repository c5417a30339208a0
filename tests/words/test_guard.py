"""Passages that the guard removes from words for others, and the answer to their writer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors
from poison import ALICE, BOB, hidden, words_to_others
from rows import rows

from pbmserv.commands.reading.quoted_lines import Quoted
from pbmserv.errors import ServerFault
from pbmserv.service.core import said, words_for_others
from pbmserv.service.core.outcome import Part

pytestmark = pytest.mark.slow

LETTER = """Your move on board 1

* Your atoms are hidden at D1, A2 and C4.
* You have 3 guesses left, none of 3 markers set and 16 unused ports.

A message from bob (another player):

 1|  |  |  | @|5
"""


def _words_to_others(house: Indoors) -> str:
    return "\n".join(text for _, text in words_to_others(house, ALICE) if text)


def test_the_writers_password_goes_to_nobody(house: Indoors) -> None:
    board = hidden(house)[-1]
    for words in (
        f"It is {PASSWORD}.",
        f"pw={PASSWORD}",
        f"Hello\n\nI use *{PASSWORD}*, do you?",
        "It is wonder\u2010land.",
        f"{PASSWORD}/bob",
    ):
        (answer,) = house.reply(board, f"chat\n{words}")
        assert _words_to_others(house) == ""
        assert answer.recipient == ALICE
        assert "Your message has your password in it" in answer.one_line
        assert PASSWORD not in answer.text


def test_a_password_with_blanks_is_found_without_its_quotes(house: Indoors) -> None:
    house.send(ALICE, f'change password alice {PASSWORD} "queen of hearts"')
    house.reply(hidden(house)[-1], "chat\nShe is the queen\nof hearts.")
    assert _words_to_others(house) == ""


def test_only_the_line_goes_of_who_has_typed_the_password(house: Indoors) -> None:
    hidden(house)
    house.send(ALICE, f"blackbox chat 1 alice {PASSWORD}", f"Hello!\nIt is {PASSWORD}.\nBye!")
    assert _words_to_others(house) == "Hello!\nBye!"


def test_another_players_password_is_a_word_as_any_other(house: Indoors) -> None:
    house.send(BOB, f"change password bob {PASSWORD} caterpillar")
    house.reply(hidden(house)[-1], "chat\nI saw a caterpillar.")
    assert _words_to_others(house) == "I saw a caterpillar."


def test_a_reply_address_is_not_passed_on(house: Indoors) -> None:
    letter = hidden(house)[-1]
    link = letter.reply_to.replace("+", "%2B")
    body = f"Look:\n[B3](mailto:{link}?body=B3)\n{letter.reply_to.upper()}\nalice+g@home.example"
    house.reply(letter, f"chat\n{body}")
    assert _words_to_others(house) == "Look:\nalice+g@home.example"


def test_words_that_have_not_passed_get_into_no_letter() -> None:
    with pytest.raises(ServerFault):
        Part("message", {"by": "alice", "said": "Hello!"})


def test_only_the_guard_makes_words_for_others() -> None:
    guards = {Path(words_for_others.__file__), Path(said.__file__)}
    for path in set(Path(words_for_others.__file__).parents[1].rglob("*.py")) - guards:
        assert not re.search(r"\bSaid\(", path.read_text("utf-8")), path


@rows(
    "line",
    [
        "# * Your atoms are hidden at D1, A2 and C4.",
        "YOUR ATOMS ARE HIDDEN AT D1, A2",
        "hidden at D1, A2 and C4. * You have",
        "Nice! Your move on board 1 * Your atoms are hidden at D1, A2 and C4. * You have 3",
        "| 1|  |  |  | @|5",
        "D1, A2 and C4.",
        "c4",
    ],
)
def test_a_letters_line_is_known(line: str) -> None:
    assert Quoted([LETTER]).quoted_places(["See you!", line]) == {1}


@rows(
    "line",
    [
        "Good luck!",
        "Good luck to you, too!",
        "I think that yours is at B2.",
        "You have many guesses left, I fear.",
        "gr8",
        "",
    ],
)
def test_ordinary_words_are_not_taken_for_lines_of_a_letter(line: str) -> None:
    assert Quoted([LETTER], ["Good luck to you, too!"]).quoted_places([line]) == set()
