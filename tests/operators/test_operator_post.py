"""Letters on their way: held ones stay, dropped ones never go, and no token is shown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from indoors import Indoors, address_of, indoors

from pbmserv.errors import OperatorError
from pbmserv.service import operating_people, operating_post
from pbmserv.service.operating import Signature
from pbmserv.store import postroom

SIGNED = Signature("olga", "the relay was mended")
ALICE, BOB = map(address_of, ("alice", "bob"))


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob")
        yield server


def waiting(house: Indoors) -> list[int]:
    """Numbers of letters that have not been sent."""
    found = house.operators.look(
        lambda desk: postroom.listed(desk.connection, ("queued", "held"), "", 99)
    )
    return [row.id for row in found]


def test_a_held_letter_stays_until_it_is_retried(house: Indoors) -> None:
    with house.server.database.reading.connect() as connection:
        newest = max(row.id for row in postroom.listed(connection, ("sent",), "", 9))
    queued = newest + 1
    house.operators.do(SIGNED, partial(operating_people.reset, userid="alice"))
    assert waiting(house) == [queued]
    house.operators.do(SIGNED, partial(operating_post.hold, number=queued))
    assert house.letters() == []
    house.operators.do(SIGNED, partial(operating_post.retry, number=queued))
    (letter,) = house.letters()
    assert letter.recipient == ALICE
    token = letter.reply_to.partition("+")[2].partition("@")[0]
    assert len(token) >= 20
    row, text = house.operators.look(partial(operating_post.shown, number=queued))
    assert row.state == "sent"
    assert "another-word" in text or "password" in text
    assert token not in text
    for deed in (operating_post.retry, operating_post.hold, operating_post.drop):
        with pytest.raises(OperatorError, match="has been sent"):
            house.operators.do(SIGNED, partial(deed, number=queued))


def test_a_dropped_letter_never_goes(house: Indoors) -> None:
    house.operators.do(SIGNED, partial(operating_people.reset, userid="alice"))
    (queued,) = waiting(house)
    house.operators.do(SIGNED, partial(operating_post.drop, number=queued))
    assert house.letters() == []
    row, text = house.operators.look(partial(operating_post.shown, number=queued))
    assert (row.state, row.error, text) == ("failed", "dropped: the relay was mended", "")
