"""Commands from pages: carried out once, for the player of the page's link, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from asgi_client import fetch, site_of
from failing_handlers import failing_handler
from indoors import PASSWORD, Indoors, address_of, indoors
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from pbmserv.commands.table.playing import Chat
from pbmserv.errors import NotDone
from pbmserv.service.accounts import signing_up
from pbmserv.service.core.submission import Request
from pbmserv.service.pages.board_presses import Press
from pbmserv.service.pages.page_requests import (
    LINK_ENDED,
    PageRequest,
    PageRequests,
)
from pbmserv.store.tables.mail import MailState, inbox

ALICE, BOB = address_of("alice"), address_of("bob")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        yield server


def board_token(house: Indoors) -> str:
    """Begin a board, and return the token of Alice's page."""
    letters = house.send(BOB, f"blackbox challenge bob {PASSWORD} alice")
    letter = next(letter for letter in letters if letter.recipient == ALICE)
    (link,) = {word for word in letter.text.split() if "/b/" in word}
    return link.rpartition("/")[2]


def rows(house: Indoors) -> int:
    return house.server.count(inbox)


def test_a_link_that_has_ended_plays_nothing(house: Indoors) -> None:
    """Play checks the link again, since it may end after the page has looked."""
    board_token(house)
    before = rows(house)
    request = PageRequest(1, epoch=9, board=1, turn=0, key="k", command="chat", words="Hello?")
    press = house.server.web_stage.play.press
    assert house.loop.run_until_complete(press(request)) == LINK_ENDED
    assert rows(house) == before
    assert not house.letters()


def test_a_press_on_which_our_code_fails_changes_nothing(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, before = board_token(house), rows(house)
    presses, run = house.server.web_requests.presses, house.loop.run_until_complete
    with failing_handler(monkeypatch, Chat), pytest.raises(NotDone):
        run(presses.press(token, Press(0, "k", "", "Good evening!")))
    assert rows(house) == before
    assert not house.letters()
    pressed = run(presses.press(token, Press(0, "k", "", "Good evening!")))
    assert pressed is not None
    assert pressed.refused is None
    kept = select(inbox.c.id).where(inbox.c.state == MailState.KEPT)
    assert house.server.rows(kept) == []


def test_a_press_that_failed_is_explained_and_counts_once_when_it_is_tried_again(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, site = board_token(house), site_of(house.server)
    body = b"turn=0&key=k&move=&words=Good+evening!"
    with failing_handler(monkeypatch, Chat):
        answer = house.loop.run_until_complete(fetch(site, f"/b/{token}", "POST", body))
    page = answer.body.decode()
    assert answer.status == 500
    assert "Your words were not sent, and board 1 is as it was." in page
    assert "inner workings" not in page
    form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
    assert form == {"turn": "0", "key": "k", "move": "", "words": "Good evening!"}
    for _ in range(2):
        assert house.loop.run_until_complete(fetch(site, f"/b/{token}", "POST", body)).status == 303
    assert [letter.kind for letter in house.letters() if letter.recipient == BOB] == ["chat"]


def test_a_form_that_failed_is_not_told_as_done(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, run = site_of(house.server), house.loop.run_until_complete
    body = b"name=carol&address=carol%40players.example"
    with monkeypatch.context() as broken:
        broken.setattr(signing_up, "signup_by_page", lambda *_: 1 // 0)
        answer = run(fetch(site, "/signup", "POST", body))
    assert answer.status == 500
    assert b"Nothing has changed, and nothing of yours is lost" in answer.body
    assert not house.letters()
    assert run(fetch(site, "/signup", "POST", body)).status == 200
    assert [letter.kind for letter in house.letters()] == ["confirm"]


def test_a_database_that_is_away_for_a_moment_loses_no_press(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = board_token(house)
    presses, read = house.server.web_requests.presses, PageRequests.read
    failures = [OperationalError("select", {}, Exception("away"))]

    def sometimes(requests: PageRequests, stored: PageRequest) -> Request | None:
        if failures:
            raise failures.pop()
        return read(requests, stored)

    monkeypatch.setattr(PageRequests, "read", sometimes)
    run = house.loop.run_until_complete
    pressed = run(presses.press(token, Press(0, "k", "", "Good evening!")))
    assert pressed is not None
    assert pressed.refused is None
    assert [letter.kind for letter in house.letters() if letter.recipient == BOB] == ["chat"]
