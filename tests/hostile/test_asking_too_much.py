"""Mails that ask for too much at once: their answers, and the part that is not carried out."""

from __future__ import annotations

import pytest
from indoors import PASSWORD, Indoors, address_of

from pbmserv.engine.types import Move, Seat
from pbmserv.errors import Illegal
from pbmserv.games.blackbox.game import GAME
from pbmserv.service.boards import plies
from pbmserv.service.core.budget import Budget
from pbmserv.service.mails import mail_service

ALICE, BOB = address_of("alice"), address_of("bob")


def play_both(house: Indoors, options: str = "-size=4x4 -atoms=1") -> None:
    house.send(ALICE, f"blackbox challenge alice bob {options}")
    house.send(ALICE, f"blackbox move 1 alice {PASSWORD} b2")
    house.send(BOB, f"blackbox move 1 bob {PASSWORD} c3")


def limited(monkeypatch: pytest.MonkeyPatch, allowed: int) -> None:
    monkeypatch.setattr(mail_service, "Budget", lambda: Budget(allowed))


def test_commands_after_the_limit_are_not_tried_and_those_before_it_stay(
    house, monkeypatch
) -> None:
    play_both(house)
    limited(monkeypatch, 600)
    lines = [f"blackbox move 1 alice {PASSWORD} +{cell}" for cell in ("a1", "b1", "c1", "d1", "a2")]
    letter = house.send(ALICE, "multiple", "\n".join(lines))[0]
    done = letter.text.count(": done:") or letter.text.count(". done:")
    assert 1 <= done < 5
    assert letter.text.count(". refused:") == 1
    assert letter.text.count(". not tried:") == 5 - done - 1
    text = letter.one_line
    assert "This mail asks for too much at once" in text
    assert "send it in another mail" in text
    monkeypatch.undo()
    shown = house.send(ALICE, f"blackbox showas alice {PASSWORD} 1")[0]
    assert shown.text.count("? |") == done


def test_a_single_command_that_asks_for_too_much_is_refused_and_changes_nothing(
    house, monkeypatch
) -> None:
    play_both(house)
    limited(monkeypatch, 100)
    letter = house.send(ALICE, f"blackbox move 1 alice {PASSWORD} +a1")[0]
    assert "This command alone asks for more work" in letter.one_line
    monkeypatch.undo()
    shown = house.send(ALICE, f"blackbox showas alice {PASSWORD} 1")[0]
    assert "? |" not in shown.text


def test_a_queued_move_stays_if_the_mail_of_the_opponent_asks_for_too_much(
    house, monkeypatch
) -> None:
    play_both(house)
    house.send(BOB, f"blackbox queue 1 bob {PASSWORD} a; b")
    limited(monkeypatch, 900)
    letters = house.send(ALICE, f"blackbox move 1 alice {PASSWORD} a")
    assert [letter.recipient for letter in letters] == [ALICE]
    monkeypatch.undo()
    letters = house.send(ALICE, f"blackbox move 1 alice {PASSWORD} a")
    assert any("bob fired port A" in letter.text for letter in letters)


def test_a_move_names_each_cell_once_or_so() -> None:
    options = GAME.options(("-size=26x26",), 2)
    state = GAME.setup(2, options, None)
    for seat in (0, 1):
        state = GAME.apply(state, Seat(seat), Move("C3,D4,E5,F6"), None).state
    view = GAME.view(state, Seat(0))
    assert GAME.parse(view, "!a1-z26,!a1-z26").free
    with pytest.raises(Illegal) as error:
        GAME.parse(view, ",".join(["!a1-z26"] * 120))
    assert error.value.refusal.code == "blackbox.too-many-cells"


@pytest.mark.slow
def test_the_record_of_a_board_has_an_end_for_each_seat(house, monkeypatch) -> None:
    play_both(house)
    monkeypatch.setattr(plies, "MOST_WORK", 10)
    text = ""
    for _ in range(6):
        letter = house.send(ALICE, f"blackbox move 1 alice {PASSWORD} +a1")[0]
        text = letter.one_line
    assert "so many moves without a turn on board 1" in text
    bobs = house.send(BOB, f"blackbox move 1 bob {PASSWORD} +a1")[0]
    assert "Not done" not in bobs.text  # his share is his own
    turn = house.send(ALICE, f"blackbox move 1 alice {PASSWORD} a")[0]
    assert "Not done" not in turn.text
    house.send(BOB, f"blackbox move 1 bob {PASSWORD} a")
    text = ""
    for port in "bcdefgh12345678":
        text += house.send(ALICE, f"blackbox move 1 alice {PASSWORD} {port}")[0].text
        house.send(BOB, f"blackbox move 1 bob {PASSWORD} {port}")
    assert "has no room for more of your moves" in " ".join(text.split())
    over = house.send(ALICE, f"blackbox resign 1 alice {PASSWORD}")[0]
    assert "Not done" not in over.text
