"""Operators hold, drop and retry letters, and never see a token."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

import pytest
from indoors import Indoors, address_of

from pbmserv.errors import OperatorError
from pbmserv.service.operators import people
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.letters import (
    drop_letter,
    flush,
    hold_letter,
    letter_text,
    retry_failed,
    retry_letters,
)
from pbmserv.store.delivery import bounces, letter_claims
from pbmserv.store.operators.letters import failed_letters, letter_lines

SIGNED = Signature("olga", "the relay was mended")
ALICE, BOB = map(address_of, ("alice", "bob"))


def waiting(house: Indoors) -> list[int]:
    """Return the numbers of unsent letters."""
    rows = house.look(lambda context: letter_lines(context.connection, ("queued", "held"), "", 99))
    return [row.id for row in rows]


def test_a_held_letter_stays_until_it_is_retried(house: Indoors) -> None:
    house.operators.do(SIGNED, partial(people.reset, userid="alice"))
    (queued,) = waiting(house)
    house.operators.do(SIGNED, partial(hold_letter, number=queued))
    assert house.letters() == []
    house.operators.do(SIGNED, partial(retry_letters, numbers=[queued]))
    (letter,) = house.letters()
    assert letter.recipient == ALICE
    token = letter.reply_to.partition("+")[2].partition("@")[0]
    assert len(token) >= 20
    row, text = house.look(partial(letter_text, number=queued))
    assert row.state == "sent"
    assert "another-word" in text or "password" in text
    assert token not in text
    with pytest.raises(OperatorError, match="has been sent"):
        house.operators.do(SIGNED, partial(retry_letters, numbers=[queued]))
    for deed in (hold_letter, drop_letter):
        with pytest.raises(OperatorError, match="has been sent"):
            house.operators.do(SIGNED, partial(deed, number=queued))


@pytest.mark.both_databases
def test_a_dropped_letter_never_goes(house: Indoors) -> None:
    house.operators.do(SIGNED, partial(people.reset, userid="alice"))
    (queued,) = waiting(house)
    house.operators.do(SIGNED, partial(drop_letter, number=queued))
    assert house.letters() == []
    row, text = house.look(partial(letter_text, number=queued))
    assert (row.state, row.error) == ("failed", "dropped: the relay was mended")
    assert "To: alice@players.example" in text


@pytest.mark.both_databases
def test_one_command_sends_all_letters_that_a_broken_relay_lost(house: Indoors) -> None:
    for userid in ("alice", "bob", "alice"):
        house.operators.do(SIGNED, partial(people.reset, userid=userid))
    first, second, third = sorted(waiting(house))
    with house.server.database.writing.begin() as connection:
        letter_claims.mark_failed(
            connection, [(n, "554 5.7.1 Relay access denied") for n in (first, second)]
        )
    house.operators.do(SIGNED, partial(drop_letter, number=third))

    def failed(since: datetime | None = None) -> list[int]:
        return house.look(lambda context: failed_letters(context.connection, since))

    assert failed() == failed(house.server.clock.now()) == [first, second]
    assert failed(house.server.clock.now() + timedelta(days=1)) == []
    with house.server.database.writing.begin() as connection:  # bob's came back: a copy will go
        letter = bounces.lock_letter(connection, second)
        assert letter is not None
        later = house.server.clock.now() + timedelta(days=1)
        bounces.send_later(connection, letter, later, house.server.clock.now())
    assert failed() == [first]

    tomorrow = f"{house.server.clock.now() + timedelta(days=1):%Y-%m-%d}"
    deed = house.operators.do(SIGNED, partial(retry_failed, since=tomorrow))
    assert deed.summary == "No letters have failed since then."
    deed = house.operators.do(SIGNED, partial(retry_letters, numbers=[first, third, 9_999]))
    assert deed.summary.splitlines() == [
        f"We send letter {first} to {ALICE} as soon as possible.",
        f"We send letter {third} to {ALICE} as soon as possible.",
        "Not sent: there is no letter 9999; `pbmserv outbox list` shows them.",
    ]
    assert deed.facts == {"before": {str(first): "failed", str(third): "failed"}}
    assert {letter.recipient for letter in house.letters()} == {ALICE}


@pytest.mark.both_databases
def test_all_letters_that_wait_after_an_outage_are_sent_at_once(house: Indoors) -> None:
    for userid in ("alice", "bob", "carol"):
        house.operators.do(SIGNED, partial(people.reset, userid=userid))
    first, second, third = sorted(waiting(house))
    later = house.server.clock.now() + timedelta(hours=4)
    with house.server.database.writing.begin() as connection:
        letter_claims.retry_later(connection, [(first, later, "421"), (second, later, "421")])
    house.operators.do(SIGNED, partial(hold_letter, number=third))
    assert house.letters() == []
    deed = house.operators.do(SIGNED, flush)
    assert deed.summary == "We send 2 letters that wait for another attempt as soon as possible."
    assert {letter.recipient for letter in house.letters()} == {ALICE, BOB}
    assert "No letter waits" in house.operators.do(SIGNED, flush).summary
