"""A player's own page: it opens from a letter, speaks for its player, and for nobody else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from browser_tab import Tab
from icalendar import Calendar
from indoors import HandedIn, indoors
from rows import rows
from running import Letter

from pbmserv.service.pages.form_commands import command_of

ALICE, BOB = "alice@players.example", "bob@players.example"
KEY = re.compile(r'name="key" value="([0-9a-f]+)"')


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[HandedIn]:
    with indoors(tmp_path, database_url) as house:
        server = HandedIn(house)
        for name in ("alice", "bob"):
            server.send(f"{name}@players.example", f"signup {name} wonder-land")
        yield server


def link_in(letter: Letter) -> str:
    """The path in a letter's link to its reader's own page."""
    match = re.search(
        r"^(?:In a browser: )?http://games\.example(/mine/[a-z2-7]+)$", letter.text, re.MULTILINE
    )
    assert match is not None, letter.text
    return match[1]


def opened(server: HandedIn, letter: Letter) -> Tab:
    """The page that a letter leads to."""
    return Tab(server.pages, link_in(letter)).load()


def press(tab: Tab, do: str, **fields: str) -> Tab:
    """Send one of its forms; what comes then is loaded."""
    key = KEY.search(tab.html)
    body = urlencode({"key": key[1] if key else "1", "do": do, **fields})
    return tab.post(body)


def mailed(server: HandedIn, who: str) -> str:
    """Ask for a link; what the page says."""
    tab = Tab(server.pages, "/mine")
    tab.post(urlencode({"who": who}))
    assert tab.status == 200
    return tab.html


def test_boards_preferences_and_absence(server: HandedIn) -> None:
    (welcome,) = server.letters(ALICE)
    alice = opened(server, welcome)
    assert alice.headers["cache-control"] == "no-store"
    assert alice.headers["referrer-policy"] == "no-referrer"
    assert "Nobody is waiting for you" in alice.text

    server.send(BOB, "blackbox challenge bob wonder-land alice")
    assert "1 board waits for you" in alice.load().text
    assert "Board 1 waits for your answer" in alice.text
    link = re.search(r'href="(/b/[a-z2-7]+)">Answer', alice.html)
    assert link is not None
    board = Tab(server.pages, link[1]).load()
    board.press("a1,c4,e5,g2")
    assert "Nobody is waiting for you" in alice.load().text
    assert "Board 1: bob to move" in alice.text
    server.send(BOB, "blackbox move 1 bob wonder-land b3,d3,f6,g7")
    server.send(BOB, "blackbox move 1 bob wonder-land 4")
    assert "Your move on board 1" in alice.load().text
    assert "bob fired port 4" in alice.text
    # A tap of the digest opens the board, with the tap in the move.
    assert 'name="tap" value="3" aria-label="Port 3: not used, fire"' in alice.html
    server.letters()

    press(alice, "prefs", digest="daily@07:30", tz="Europe/Berlin", remind="2d", block="bob")
    assert alice.status == 200
    assert "Your preferences are changed." in alice.text
    assert 'value="daily@07:30"' in alice.html
    assert "Blocked now: bob" in alice.text
    (letter,) = server.letters(ALICE)
    assert letter.subject == "Your preferences, alice"
    assert "Europe/Berlin" in letter.text
    press(alice, "prefs", tz="Nowhere/Land")
    assert alice.status == 422
    assert "Nothing has changed." in alice.text
    press(alice, "away", until="2026-03-05")
    assert "You are away until 2026-03-05" in alice.text
    press(alice, "back")
    assert "Welcome back." in alice.text
    press(alice, "away", **{"from": "2026-03-20", "until": "2026-03-25"})
    assert "You are away from 2026-03-20 until 2026-03-25" in alice.text
    assert "Call it off" in alice.text
    press(alice, "back")
    assert "The first day" in alice.text
    server.letters()


def test_addresses_data_and_leaving(server: HandedIn) -> None:
    alice = opened(server, server.letters(ALICE)[0])
    press(alice, "address", addresses="new@players.example", password="wrong-one")
    assert alice.status == 422
    assert "wrong-one" not in alice.html
    assert not server.letters("new@players.example")
    press(alice, "address", addresses=f"new@players.example, {ALICE}", password="wonder-land")
    assert "We have written to the new address" in alice.text
    (letter,) = server.letters("new@players.example")
    assert "wonder-land" not in letter.text + letter.html
    server.letters()

    press(alice, "export")
    (export,) = server.letters(ALICE)
    assert any(part.get_filename() for part in export.message.walk())
    press(alice, "delete")
    (letter,) = server.letters(ALICE)
    server.reply(letter, "yes")
    assert alice.load().status == 404


def test_a_link_is_mailed_and_nobody_learns_who_plays_here(server: HandedIn) -> None:
    server.letters()
    form = Tab(server.pages, "/mine").load()
    assert "Mail me a link" in form.html
    answers = {
        mailed(server, who) for who in ("alice", "nobody", BOB, "x@y.example", "", "@", "é" * 400)
    }
    assert len(answers - {form.html}) == 1
    (to_alice,) = server.letters(ALICE)
    (to_bob,) = server.letters(BOB)
    assert not server.letters()
    assert to_alice.subject == "Your page, alice"
    assert "Nobody is waiting" in opened(server, to_alice).text
    assert "bob" in opened(server, to_bob).text
    mailed(server, ALICE)
    assert not server.letters()  # one in three hours
    server.live(hours=4)
    mailed(server, ALICE)
    assert server.letters(ALICE)


def test_a_link_ends_by_time_and_by_a_new_password_and_is_no_address(server: HandedIn) -> None:
    (welcome,) = server.letters(ALICE)
    alice = opened(server, welcome)
    token, link = (
        opened_token.rpartition("/")[2] for opened_token in (alice.path, link_in(welcome))
    )
    to = f"pbmserv+{token}@games.example"
    assert not server.server.mail_domain.knows(to)
    assert not server.server.mail_domain.knows(f"pbmserv+{link}@games.example")
    for opened_token in (token, link):
        assert Tab(server.pages, f"/b/{opened_token}").load().status == 404
    reply_token = welcome.reply_to.partition("+")[2].partition("@")[0]
    for wrong in (reply_token, token[:-1] + ("a" if token[-1] != "a" else "b"), "x", "a" * 300):
        assert Tab(server.pages, f"/mine/{wrong}").load().status == 404
    # No form but the page's own, and looking changes nothing.
    server.letters()
    assert press(alice, "nothing").status == 400
    alice.load().load("?do=delete&done=delete")
    assert not server.letters()
    server.send(ALICE, "forgot alice")
    server.reply(server.letters(ALICE)[-1], "password another-word")
    assert "no longer works" in alice.load().text
    assert press(alice, "export").status == 404
    server.live(days=20)
    mailed(server, "alice")
    letters = [letter for letter in server.letters(ALICE) if letter.subject == "Your page, alice"]
    alice, link = opened(server, letters[-1]), link_in(letters[-1])
    page = alice.path
    server.live(days=29)
    assert alice.load().status == 410
    alice.path = link
    assert alice.load().status == 200
    assert alice.path not in (link, page)
    server.live(days=2)
    alice.path = link
    assert alice.load().status == 404


def test_the_same_press_twice_is_one(server: HandedIn) -> None:
    alice = opened(server, server.letters(ALICE)[0])
    key = KEY.search(alice.html)
    assert key is not None
    body = urlencode({"key": key[1], "do": "export"})
    for _ in range(2):
        assert alice.post(body).status == 200
    assert len(server.letters(ALICE)) == 1


NOW = {
    "format": "html",
    "digest": "off",
    "tz": "UTC",
    "remind": "off",
    "accept": "ask",
    "public": "yes",
    "broadcast": "off",
    "announce": "on",
}


@rows(
    ("fields", "line"),
    [
        ({"do": "prefs", **NOW}, "prefs"),
        ({"do": "prefs", **NOW, "digest": " 07:30 ", "remind": ""}, "prefs digest=07:30"),
        ({"do": "prefs", "block": "bob\nresign"}, "prefs block=bobresign"),
        ({"do": "prefs", **NOW, "tz": "", "format": "", "accept": "all"}, "prefs accept=all"),
        ({"do": "prefs", **NOW, "tz": "=", "digest": "="}, "prefs"),
        ({"do": "away", "until": "2026-03-05\r\ndelete"}, "away until 2026-03-05delete"),
        ({"do": "away", "from": "", "until": "2026-03-05"}, "away until 2026-03-05"),
        (
            {"do": "address", "addresses": "a@b.c,d@e.f", "password": 'x"y'},
            "change address alice 'x\"y' a@b.c d@e.f",
        ),
        ({"do": "export", "move": "delete"}, "export"),
    ],
)
def test_a_form_is_one_command(fields: dict[str, str], line: str) -> None:
    assert command_of("alice", fields, NOW) == line


def test_games_start_from_the_page(server: HandedIn) -> None:
    """Challenge, invite, race, solo and rematch; deadlines, plans, and how friends stand."""
    alice = opened(server, server.letters(ALICE)[0])
    assert "Start a game" in alice.text
    press(alice, "challenge", game="blackbox", who="bob", words="Hi bob!", options="-size=4x4 x")
    assert alice.status == 200
    assert "A letter tells you about your challenge" in alice.text
    (*_, challenge) = server.letters(BOB)
    assert "Hi bob!" in challenge.text
    assert "4x4" in challenge.text
    server.reply(challenge, "a1,b2,c3,d4")
    alice.load()
    assert "your time is over on" in alice.text.lower()
    assert "(UTC)" in alice.text
    server.send(ALICE, "blackbox move 1 alice wonder-land a1,b2,c3,d4")
    assert "Your move on board 1" in alice.load().text
    server.send(ALICE, "blackbox move 1 alice wonder-land 1")
    assert "Plan your next moves on board 1" in alice.load().text
    server.reply(challenge, "resign")
    alice.load()
    assert "Rematch of board 1" in alice.text
    assert 'aria-label="Challenge bob"' in alice.html
    press(alice, "rematch", game="blackbox", board="1")
    assert "wants a rematch of board 1" in server.letters(BOB)[-1].text
    press(alice, "challenge", game="blackbox", who="My usual opponent", kind="race")
    assert "race" in server.letters(BOB)[-1].text.lower()
    press(alice, "challenge", game="blackbox", who="carol@elsewhere.example")
    assert "alice" in server.letters("carol@elsewhere.example")[-1].text
    press(alice, "solo", game="blackbox", kind="practice")
    assert "A box of your own has begun" in alice.text
    press(alice, "challenge", game="blackbox", who="nobody-here")
    assert alice.status == 422
    assert "Nothing has changed." in alice.text


def test_deadlines_are_in_a_calendar(server: HandedIn) -> None:
    """The link reads the deadlines and opens nothing else; a forgotten password ends it."""
    server.send(BOB, "blackbox challenge bob wonder-land alice")
    alice = opened(server, server.letters(ALICE)[0])
    assert "Your answer is due by" in alice.text
    link = re.search(r'href="(/calendar/([a-z2-7]+)\.ics)"', alice.html)
    assert link is not None
    calendar = Tab(server.pages, link[1])
    calendar.load()
    assert calendar.status == 200
    assert calendar.headers["content-type"] == "text/calendar; charset=utf-8"
    assert calendar.headers["cache-control"] == "no-store"
    (event,) = Calendar.from_ical(calendar.whole).walk("VEVENT")
    assert event["SUMMARY"] == "Blackbox 1 against bob: your answer is due"
    assert event.decoded("DTSTART") > server.server.clock.now()
    assert "http" not in calendar.whole
    for path in ("/mine/", "/b/"):
        assert Tab(server.pages, f"{path}{link[2]}").load().status == 404
    to = f"pbmserv+{link[2]}@games.example"
    assert not server.server.mail_domain.knows(to)
    assert Tab(server.pages, link[1]).load().whole.count("VEVENT") == 2
    assert Tab(server.pages, "/calendar/aaaa.ics").load().status == 404
    server.send(ALICE, "forgot alice")
    server.reply(server.letters(ALICE)[-1], "password another-word")
    assert Tab(server.pages, link[1]).load().status == 404


def test_a_clock_is_on_the_page_and_in_the_calendar(server: HandedIn) -> None:
    server.send(BOB, "blackbox challenge bob wonder-land alice -time=5d+1d")
    first, *_, challenge = server.letters(ALICE)
    server.reply(challenge, "accept")
    alice = opened(server, first)
    link = re.search(r'href="(/calendar/[a-z2-7]+\.ics)"', alice.html)
    assert link is not None
    (event,) = Calendar.from_ical(Tab(server.pages, link[1]).load().whole).walk("VEVENT")
    assert event["SUMMARY"] == "Blackbox 1 against bob: your move is due"
    at = event.decoded("DTSTART")
    assert at - server.server.clock.now() == timedelta(days=5)
    board = re.search(r'href="(/b/[a-z2-7]+)"', alice.html)
    assert board is not None
    text = Tab(server.pages, board[1]).load().text
    assert f"Your clock has 5 days left: it runs until {at:%A}" in text


def test_seeks_are_taken_and_called_off_on_the_page(server: HandedIn) -> None:
    alice = opened(server, server.letters(ALICE)[0])
    bob = opened(server, server.letters(BOB)[0])
    press(alice, "seek", game="blackbox", options="-size=5x5")
    assert "You look for an opponent, -size=5x5" in alice.text
    assert "Stop looking" in alice.text, alice.text[600:2000]
    assert "alice looks for an opponent, -size=5x5" in bob.load().text
    press(bob, "seek", game="blackbox", options="-size=5x5")
    assert "against alice" in bob.text
    press(alice.load(), "seek", game="blackbox")
    press(alice, "seek-off", game="blackbox")
    assert "You no longer look for an opponent" in alice.text
    assert "Stop looking" not in alice.text
    press(bob, "seek", game="delete")
    assert bob.status == 400
    press(alice, "seek", game="blackbox", seats="3", options="-race")
    assert "You look for 2 others, -race" in alice.text
    assert "alice looks for 2 others, -race" in bob.load().text


@rows(
    ("fields", "line"),
    [
        ({"do": "challenge", "game": "go", "who": "bob\ndelete"}, "go challenge bobdelete"),
        ({"do": "challenge", "who": "My usual  opponent"}, "challenge usual"),
        ({"do": "challenge", "who": "bob", "kind": "race"}, "challenge bob -race"),
        ({"do": "challenge", "who": "bob", "kind": "resign"}, "challenge bob"),
        ({"do": "solo", "options": "delete -size=3x3\nresign"}, "solo -size=3x3"),
        ({"do": "seek", "seats": "3"}, "seek 3"),
        ({"do": "seek", "seats": "off"}, "seek"),
        ({"do": "rematch", "board": "12 alice"}, "rematch 12alice"),
    ],
)
def test_a_form_that_starts_a_game_is_one_command(fields: dict[str, str], line: str) -> None:
    assert command_of("alice", fields, NOW) == line
