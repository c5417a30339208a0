"""An operator gives a seat to another player: secrets and clocks."""

from __future__ import annotations

import re
from functools import partial

import pytest
from deeds import ALICE, BOB, CAROL, do, start_board, to
from indoors import PASSWORD, Indoors
from sqlalchemy import select, update

from pbmserv.errors import OperatorError
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.operators import boards
from pbmserv.service.operators.overviews import board_facts
from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow


@pytest.mark.both_databases
def test_a_board_is_handed_over(house: Indoors) -> None:
    number = start_board(house)
    do(house, boards.hand_over, number=number, old="alice", new="carol")
    letters = house.letters()
    (news,) = to(letters, BOB)
    assert f"On board {number} carol now plays in place of alice." in news.one_line
    (farewell,) = to(letters, ALICE)
    assert f"Another player has your seat on board {number}." in farewell.one_line
    (hers,) = to(letters, CAROL)
    moved = house.reply(hers, "1")
    assert any("You fired port 1" in letter.text for letter in moved)
    (refused,) = house.send(ALICE, f"blackbox move {number} alice {PASSWORD} 2")
    assert "Not done" in refused.text
    facts, entries = house.look(partial(board_facts, number=number))
    assert ("rated", "no") in facts
    assert [(e.operator, e.action, e.why) for e in entries] == [
        ("olga", "hand-over", "it was asked for")
    ]


def test_a_board_is_handed_over_only_to_somebody_who_can_take_it(house: Indoors) -> None:
    number = start_board(house)
    for old, new, why in (
        ("carol", "bob", "does not play"),
        ("alice", "bob", "already"),
        ("alice", "zed", "no active player"),
    ):
        with pytest.raises(OperatorError, match=why):
            do(house, boards.hand_over, number=number, old=old, new=new)


SECRET = re.compile(r"\b[cC]3\b")
"""As a word: a link may have it inside."""


def hidden_by_carol(house: Indoors, number: int) -> None:
    """Alice's atom is no secret to anybody here; carol's is."""
    house.send(CAROL, f"blackbox move {number} carol {PASSWORD} c3")


@pytest.mark.parametrize("state", ["tray", "queued", "parked", "returned", "held"])
def test_the_old_player_sees_nothing_through_a_lost_seat(house: Indoors, state: str) -> None:
    house.send(BOB, f"prefs bob {PASSWORD} digest=daily@07:30")
    house.send(ALICE, "blackbox challenge alice bob -size=4x4 -atoms=1")
    with house.server.database.writing.begin() as connection:
        waiting = update(outbox).where(outbox.c.player_id == 2, outbox.c.state == "tray")
        due = house.server.clock.now() if state == "queued" else None
        assert connection.execute(waiting.values(state=state, due_at=due)).rowcount == 1
    do(house, boards.hand_over, number=1, old="bob", new="carol")
    after = to(house.letters(), BOB)
    hidden_by_carol(house, 1)
    after += to([*house.live(hours=20), *house.live(days=1)], BOB)
    assert [letter.kind for letter in after] == ["operator-account"]
    with house.server.database.reading.connect() as connection:
        left = connection.execute(select(outbox.c.state).where(outbox.c.letter == "challenge"))
        assert list(left.scalars()) == ["failed"]


def test_a_letter_never_shows_a_seat_that_its_reader_has_lost(house: Indoors) -> None:
    """A letter of any state may be sent again, or have been on its way."""
    house.send(ALICE, "blackbox challenge alice bob -size=4x4 -atoms=1")
    do(house, boards.hand_over, number=1, old="bob", new="carol")
    house.letters()
    hidden_by_carol(house, 1)
    news = {"event": "news", "undecided": [], "ratings": []}
    now = house.server.clock.now()
    with house.server.database.writing.begin() as connection:
        connection.execute(
            update(outbox)
            .where(outbox.c.player_id == 2, outbox.c.board_id == 1)
            .values(state="queued", due_at=now, letter="board", words=news, ply=1)
        )
    (letter,) = to(house.letters(), BOB)
    assert letter.board == 1
    assert not SECRET.search(letter.text)
    read = house.server.mail_domain.read(letter.reply_to)
    assert read is None or read.purpose is not Purpose.BOARD


def test_clocks_start_when_a_handover_starts_the_board(house: Indoors) -> None:
    house.send(ALICE, "blackbox challenge alice bob -size=4x4 -atoms=1")
    house.live(minutes=1)
    do(house, boards.hand_over, number=1, old="bob", new="carol")
    house.letters()
    facts, _ = house.look(partial(board_facts, number=1))
    assert ("status", "active") in facts
    assert [value.partition(" ")[0] for name, value in facts if name == "waits for"] == [
        "alice",
        "carol",
    ]
    reminded = {letter.recipient for letter in house.live(days=7, hours=1)}
    assert reminded == {ALICE, CAROL}


def test_the_new_player_has_the_full_time(house: Indoors) -> None:
    number = start_board(house, "bob", "alice")
    facts, _ = house.look(partial(board_facts, number=number))
    (slow,) = [value.partition(" ")[0] for name, value in facts if name == "waits for"]
    house.live(days=6)
    do(house, boards.hand_over, number=number, old=slow, new="carol")
    house.letters()
    assert house.live(days=6) == []
    (reminder,) = house.live(days=1, hours=1)
    assert (reminder.kind, reminder.recipient) == ("reminder", CAROL)
