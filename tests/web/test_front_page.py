"""The front page and its form: people sign up by page as they do by mail, and learn no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from browser_tab import Tab
from indoors import HandedIn, indoors

KATE = "kate@players.example"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HandedIn]:
    with indoors(tmp_path, signup="confirm", rate_confirmations="5/day") as house:
        yield HandedIn(house)


def sign_up(server: HandedIn, name: str, address: str) -> Tab:
    tab = Tab(server.pages, "/signup")
    tab.post(urlencode({"name": name, "address": address}))
    return tab


def test_a_signup_by_page_leads_to_a_first_game(server: HandedIn) -> None:
    assert "Look into your mail" in sign_up(server, "Kate", KATE).text
    (letter,) = server.letters(KATE)
    assert "Are you kate?" in letter.text
    server.reply(letter, "yes")
    (welcome,) = server.letters(KATE)
    assert "You have no password, and need none" in welcome.one_line
    server.reply(welcome, "challenge house-beginner")
    assert "Board 1" in server.letters(KATE)[-1].text


def test_a_signup_that_cannot_be_says_why_and_sends_nothing(server: HandedIn) -> None:
    sign_up(server, "kate", KATE)
    server.reply(server.letters(KATE)[0], "yes")
    server.letters()
    for name, address, why in (
        ("kate", "other@players.example", "Somebody already plays as"),
        ("blackbox", "other@players.example", "Nobody can have"),
        ("-x", "other@players.example", "A name has 2 to 20"),
        ("kate two", "other@players.example", "A name has 2 to 20"),
        ("katie", "nowhere", "not complete"),
        ("katie", server.server.settings.address, "not complete"),
        ("", "", "A name has 2 to 20"),
    ):
        tab = sign_up(server, name, address)
        assert tab.status == 422
        assert why in tab.text
    assert not server.letters()


def test_a_page_says_nothing_of_addresses_and_asks_one_only_a_few_times(server: HandedIn) -> None:
    sign_up(server, "kate", KATE)
    server.reply(server.letters(KATE)[0], "yes")
    server.letters()
    taken, unknown = sign_up(server, "kitty", KATE), sign_up(server, "kitty", "new@players.example")
    assert taken.text.replace(KATE, "") == unknown.text.replace("new@players.example", "")
    tabs = [sign_up(server, f"kitty-{n}", KATE) for n in range(10)]
    assert tabs[-1].status == 422
    assert "a few times today" in tabs[-1].text
    assert len(server.letters(KATE)) <= 10


def test_the_front_page_names_players_who_may_be_named(server: HandedIn) -> None:
    for name in ("kate", "bob"):
        sign_up(server, name, f"{name}@players.example")
        server.reply(server.letters(f"{name}@players.example")[-1], "yes")
    server.reply(server.letters(KATE)[-1], "challenge bob")
    server.reply(server.letters("bob@players.example")[-1], "b3,d3,f6,g7")
    board = server.letters(KATE)[-1]
    server.reply(board, "a1,c4,e5,g2")
    server.reply(server.letters("bob@players.example")[-1], "prefs public=no")
    server.reply(server.letters(KATE)[-1], "resign")
    page = Tab(server.pages, "/").load()
    assert "Who is playing" in page.text
    assert 'href="/players/kate"' in page.html
    who = page.text.partition("Who is playing")[2]
    assert "bob" not in who
    assert "a player" not in who
