"""A bounce counts only for the reader of its letter, and once for each letter."""

from __future__ import annotations

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of
from posting import come_back, comes_from, deliver
from server_reports import REPORTS
from sqlalchemy import select

from pbmserv.mail.bounce_codes import Verdict
from pbmserv.store.tables.mail import bounces

ALICE, BOB = address_of("alice"), address_of("bob")


def held_against(house: Indoors) -> dict[str, int]:
    """Return addresses with their number of hard bounces."""
    with house.server.database.reading.connect() as connection:
        rows = connection.execute(select(bounces.c.address, bounces.c.hard))
        return {row.address: row.hard for row in rows}


def message(house: Indoors) -> Posted:
    """Let bob write to alice; return the letter to her."""
    letters = house.send(BOB, f"message bob {PASSWORD} alice", "Hello.")
    return next(letter for letter in letters if letter.recipient == ALICE)


def test_a_letter_caused_by_somebody_else_says_nothing_about_an_address(house: Indoors) -> None:
    """Otherwise alice could name bob's address, and let letters to it come back."""
    for _ in range(3):
        letters = house.send(ALICE, f"change address alice {PASSWORD} {BOB}")
        (question,) = [letter for letter in letters if letter.recipient == BOB]
        assert question.kind == "address-confirm"
        assert come_back(house, question) == []
        house.live(days=2)
    assert held_against(house) == {}


def test_a_report_about_somebody_else_says_nothing(house: Indoors) -> None:
    """bob knows the bounce address of letters to him; a bounce there is about him only."""
    letters = house.send(BOB, f"prefs bob {PASSWORD}")
    for _ in range(2):
        assert come_back(house, letters[0], to=ALICE) == []
        house.live(days=1)
    assert ALICE not in held_against(house)


def test_one_letter_counts_once_however_often_it_is_reported(house: Indoors) -> None:
    """Reports about a letter may come for a month."""
    (reset, *_) = [x for x in house.send(ALICE, "forgot alice") if x.kind == "reset"]
    for _ in range(3):
        assert come_back(house, reset) == []
        assert held_against(house) == {ALICE: 1}
        house.live(hours=20)


def test_an_answer_that_came_back_is_not_sent_again(house: Indoors) -> None:
    """Its reader may have asked again, and only the newest answer is valid."""
    (reset, *_) = [x for x in house.send(ALICE, "forgot alice") if x.kind == "reset"]
    other = message(house)
    for letter in (reset, other):
        assert come_back(house, letter) == []
    assert [letter.kind for letter in house.live(days=1, hours=1)] == ["message"]


def test_a_letter_refused_by_a_filter_cannot_be_reported_as_dead_later(house: Indoors) -> None:
    letter = message(house)
    filtered = next(r for r in REPORTS if r.verdict is Verdict.REFUSED)
    come_back(house, letter, filtered)
    come_back(house, letter)
    assert held_against(house) == {}


@pytest.mark.parametrize("sender", ["mallory@elsewhere.example", BOB])
def test_only_the_reader_is_told_that_answers_go_elsewhere(house: Indoors, sender: str) -> None:
    """Otherwise anybody who knows such an address could cause letters to its reader."""
    about = comes_from(house, message(house))

    def written(by: str, number: int) -> bytes:
        return (
            f"From: {by}\r\nTo: {about}\r\nSubject: Re: your letter\r\n"
            f"Message-ID: <astray-{number}@x>\r\n\r\nI did not get it.\r\n"
        ).encode()

    assert deliver(house, sender, about, written(sender, 1)) == []
    (letter,) = deliver(house, ALICE, about, written(ALICE, 2))
    assert (letter.kind, letter.recipient) == ("astray", ALICE)
