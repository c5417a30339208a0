"""The address of a private page opens it for some hours; the link in the letter does for good."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from browser_tab import Tab, page_of
from indoors import HandedIn, indoors

ALICE, BOB = "alice@players.example", "bob@players.example"


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[HandedIn]:
    with indoors(tmp_path, database_url) as house:
        server = HandedIn(house)
        for name in ("alice", "bob"):
            server.send(f"{name}@players.example", f"signup {name} wonder-land")
        yield server


def links(server: HandedIn) -> list[str]:
    """The paths of alice's links: to her own page, and to a board on which she hides atoms."""
    (welcome,) = server.letters(ALICE)
    own = re.search(r"http://games\.example(/mine/[a-z2-7]+)", welcome.text)
    assert own is not None
    server.send(BOB, "blackbox challenge bob wonder-land alice")
    return [own[1], page_of(server.letters(ALICE)[-1])]


def test_no_page_has_the_token_of_a_letter_in_its_address_or_text(server: HandedIn) -> None:
    for link in links(server):
        tab = Tab(server.pages, link)
        tab.load("?move=a1")
        assert tab.status == 200
        assert tab.path != link
        assert tab.path.rpartition("/")[0] == link.rpartition("/")[0]
        assert link.rpartition("/")[2] not in tab.html
        assert tab.headers["referrer-policy"] == "no-referrer"
        assert tab.headers["cache-control"] == "no-store"
        assert "set-cookie" not in tab.headers
    assert tab.load("?move=a1&tap=B2").draft == "A1,B2"


def test_an_address_that_was_copied_opens_nothing_after_some_hours(server: HandedIn) -> None:
    own, board = links(server)
    copies = [Tab(server.pages, link).load() for link in (own, board)]
    server.live(minutes=110)
    for copy in copies:  # looking makes it last no longer
        before = copy.path
        assert copy.load().status == 200
        assert copy.path == before
    server.live(minutes=20)
    for copy in copies:
        assert copy.load().status == 410
        assert "open the link in your letter again" in copy.text
        assert "alice" not in copy.html
    for link in (own, board):
        assert Tab(server.pages, link).load().status == 200


def test_words_that_come_too_late_are_shown_and_not_done(server: HandedIn) -> None:
    _, board = links(server)
    tab = Tab(server.pages, board).load()
    fields = tab.fields
    server.letters()
    server.live(minutes=121)
    tab.post(urlencode({**fields, "move": "accept", "words": "A <long> letter to bob"}))
    assert tab.status == 410
    assert "We did not carry out what you sent now" in tab.text
    assert "A <long> letter to bob" in tab.text
    assert not server.letters(BOB)


def test_playing_goes_on_for_longer_than_a_visit(server: HandedIn) -> None:
    _, board = links(server)
    tab = Tab(server.pages, board).load().press("a1,b2,c3,d4")
    assert tab.status == 200
    for number in range(3):
        server.live(minutes=90)
        assert tab.press(words=f"Hello {number}", move="chat").status == 200


def test_a_visit_opens_no_other_page_and_is_no_address_for_mail(server: HandedIn) -> None:
    own, board = links(server)
    own_path, board_path = (Tab(server.pages, link).load().path for link in (own, board))
    server.letters()
    for path in (own_path, board_path):
        token = path.rpartition("/")[2]
        elsewhere = "/b/" if path.startswith("/mine/") else "/mine/"
        assert Tab(server.pages, f"{elsewhere}{token}").load().status == 404
        for page in ("/confirm/", "/unsubscribe/"):
            assert Tab(server.pages, f"{page}{token}").load().status == 404
        assert not server.server.mail_domain.knows(f"pbmserv+{token}@games.example")
