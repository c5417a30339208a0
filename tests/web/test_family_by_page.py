"""A girl and her grandfather play a whole game on pages, and write nothing but names and "yes"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from browser_tab import Tab, page_of
from running import Running, start

MIA, OTTO = "mia@players.example", "otto@players.example"


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Running]:
    with start(database_url, tmp_path, signup="confirm") as running:
        yield running


def link_in(text: str, kind: str) -> str:
    match = re.search(rf"http://games\.example(/{kind}/[a-z2-7]+)", text)
    assert match is not None, text
    return match[1]


def board_of(server: Running, address: str) -> Tab:
    """Open the page of the board in somebody's newest letter about one."""
    letters = [letter for letter in server.letters(address) if "/b/" in letter.text]
    return Tab(server.web_port, page_of(letters[-1])).load()


def test_a_family_plays_by_tapping(server: Running) -> None:
    front = Tab(server.web_port, "/").load()
    assert 'action="/signup"' in front.html
    front.path = "/signup"
    assert "Look into your mail" in front.post(urlencode({"name": "mia", "address": MIA})).text
    server.carry_out()
    confirm = Tab(server.web_port, link_in(server.letters(MIA)[-1].text, "confirm")).load()
    confirm.post("yes=")
    server.carry_out()
    mine = Tab(server.web_port, link_in(server.letters(MIA)[-1].text, "mine")).load()
    form = next(form for form in mine.html.split("<form")[1:] if 'value="challenge"' in form)
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    mine.post(urlencode({**hidden, "game": "blackbox", "who": OTTO, "words": "hi grandpa!"}))
    server.carry_out()
    invitation = server.letters(OTTO)[-1]
    assert "hi grandpa!" in invitation.text
    server.reply(invitation, "Yes, with pleasure, Mia!")

    otto, mia = board_of(server, OTTO), board_of(server, MIA)
    assert "tap the cells, then send" in otto.text
    otto.tap("B2", "D4", "F6", "G1").press()
    assert "Your atoms are hidden at G1, B2, D4 and F6." in otto.text
    mia.load().tap("A1", "C3", "E5", "G7").press()
    assert "Tap a port to fire a ray into it" in mia.text
    for port in ("A", "C"):
        mia.load().tap(port).press()
        otto.load().tap(port).press()
    mia.load().tap("+B2", "+D4", "+F6", "+G1", "?").press()
    assert "You found all the atoms and won board 1" in mia.text
    assert "Rematch" in mia.text
    assert "mia found all the atoms and won board 1" in otto.load().text
