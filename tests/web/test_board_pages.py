"""The page of a board: people play there, by mail as well, and nobody else can."""

from __future__ import annotations

import http.client
import logging
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from blackbox_alone import every_game
from browser_tab import Tab, page_of
from indoors import HandedIn, indoors
from running import Letter, Running, start
from sqlalchemy.exc import OperationalError

from pbmserv.engine import registry
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.boards import boards
from pbmserv.store.tables.boards import plies

ALICE, BOB = "alice@players.example", "bob@players.example"


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[HandedIn]:
    with indoors(tmp_path, database_url) as house:
        server = HandedIn(house)
        for name in ("alice", "bob"):
            server.sign_up(name, "wonder-land")
        yield server


@pytest.fixture
def connected(database_url: str, tmp_path: Path) -> Iterator[Running]:
    """A server with sockets."""
    with start(tmp_path, database_url, signup="open") as running:
        for name in ("alice", "bob"):
            running.sign_up(name, "wonder-land")
        yield running


def challenged(server: HandedIn | Running) -> tuple[Tab, Tab, Letter]:
    """Alice has challenged bob: their pages, and bob's letter."""
    server.send(ALICE, "blackbox challenge alice wonder-land bob")
    bob = server.letters(BOB)[-1]
    alice = server.letters(ALICE)[-1]
    pages = [Tab(server.pages, page_of(letter)) for letter in (alice, bob)]
    return pages[0], pages[1], bob


def moves(server: HandedIn | Running) -> int:
    return server.server.count(plies)


def last(server: HandedIn, address: str) -> str:
    """The newest letter to somebody, in one line."""
    return " ".join(server.letters(address)[-1].text.split())


def test_a_game_half_by_page_half_by_mail(server: HandedIn) -> None:
    alice, bob, letter = challenged(server)
    assert "waits for your answer" in bob.load().text
    assert "Resign" not in bob.text
    bob.press("accept")
    assert "Hide 4 atoms for alice" in bob.text
    assert "bob has accepted" in last(server, ALICE)

    # Tapped twice is not tapped.
    alice.load().tap("B3", "D3")
    assert "but you hide 4 atoms" in alice.text
    alice.tap("A1", "A1", "G7", "F6")
    assert alice.draft == "B3,D3,G7,F6"
    assert "You would hide atoms at B3, D3, F6 and G7" in alice.text
    assert moves(server) == 0  # nothing was sent so far
    alice.press()
    assert alice.status == 200
    assert "Your atoms are hidden at B3, D3, F6 and G7" in alice.text
    server.reply(letter, "a1,c4,e5,g2")

    alice.load().tap("+C3", "A", "4")
    assert alice.draft == "+C3,4"  # one port a move
    assert 'value="4" aria-pressed="true"' in alice.html
    alice.press(words="Tricky, bob!")
    assert "You fired port 4: hit (#)." in alice.text
    assert 'aria-label="Port 4: hit, ray absorbed; draw its way"' in alice.html
    assert "bob to move" in alice.text
    newest = server.letters(BOB)[-1]
    assert "Tricky, bob!" in newest.text
    assert "alice fired port 4: hit (#)" in newest.text

    # Markers need no turn; checks and rays drawn change nothing.
    alice.tap("/C3", "+A1", "+C4", "+E5", "+G2").press()
    assert alice.text.count("bob to move") == 1
    before = moves(server)
    assert "explain" in alice.load("?check=all").text
    assert "Tap a mark to draw the way that your markers give its ray." in alice.text
    assert (
        'name="check" value="4" aria-label="Port 4: hit, ray absorbed; draw its way"' in alice.html
    )
    alice.load("?check=4&move=/c4")
    assert "With your markers a ray into port 4 would give" in alice.text
    assert "on the way of the ray" in alice.html
    assert alice.draft == "/c4"  # and is drawn with it
    assert 'aria-label="C4: your marker' not in alice.html
    assert moves(server) == before

    server.reply(newest, "b")
    alice.load().tap("?").press()
    assert "won board 1" in alice.text
    assert "Rematch" in alice.text
    assert "board 1" in last(server, BOB)
    bob.load()
    assert 'aria-label="B3: atom"' in bob.html  # nothing is hidden any more
    alice.press("rematch")
    assert "We have sent you a letter" in alice.text
    assert "alice wants a rematch of board 1. The new board is 2." in last(server, BOB)


def test_the_page_of_a_game_that_has_not_drawn_shows_no_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "announced", every_game)
    with indoors(tmp_path) as house:
        server = HandedIn(house)
        server.sign_up("alice", "wonder-land")
        server.sign_up("bob", "wonder-land")
        server.send(ALICE, "liar challenge alice wonder-land bob")
        page = Tab(server.pages, page_of(server.letters(BOB)[-1])).load()
    assert page.status == 200
    assert "The board is set up when all have accepted" in page.html
    assert "<table" not in page.html


def test_locks_are_put_together_by_taps(server: HandedIn) -> None:
    """After "Lock cells" each cell and each port, fired or not, is a button that locks."""
    alice, _, letter = challenged(server)
    alice.load().tap("B3", "D3", "A1", "G7").press()
    server.reply(letter, "a1,c4,e5,g2")
    alice.load().tap("+A1", "4").press()
    alice.load("?take=lock")
    assert 'aria-pressed="true" autofocus>Lock cells' in alice.html
    assert "Tap a cell to lock it as it is" in alice.text
    assert 'value="lock 4" aria-label="Port 4: hit, ray absorbed; lock or' in alice.html
    alice.tap("lock A1", "lock B2", "unlock B2")
    assert alice.draft == "lock A1"
    assert "You would lock A1." in alice.text
    assert 'value="unlock A1" autofocus' not in alice.html
    alice.press()
    assert "You locked A1." in alice.text
    assert 'aria-label="A1: your marker, locked">&#9670;!</td>' in alice.html
    alice.load("?move=/a1")
    assert "You have locked A1" in alice.text


def test_a_plan_is_written_and_seen_by_its_owner_alone(server: HandedIn) -> None:
    alice, bob, letter = challenged(server)
    server.reply(letter, "a1,c4,e5,g2")
    alice.load().press("b3,d3,f6,g7")
    assert "Moves for your next turns" not in alice.text
    alice.press("4")
    assert "Moves for your next turns" in alice.load().text
    alice.press("queue a; c")
    assert "We have sent you a letter" in alice.text
    assert 'name="move" value="queue A; C"' in alice.load().html
    assert "queue" not in bob.load().html
    alice.press("queue -")
    assert 'name="move" value="queue "' in alice.load().html
    alice.press("queue banana")
    assert alice.status == 422
    assert "banana" in alice.text


@pytest.mark.slow
def test_a_form_sent_twice_is_played_once(server: HandedIn) -> None:
    alice, bob, _ = challenged(server)
    bob.load().press("b3,d3,f6,g7")
    alice.load()
    form = urlencode({**alice.fields, "move": "a1,c4,e5,g2"})
    other = Tab(server.pages, alice.path).load()  # a second tab
    for _ in range(3):
        assert alice.post(form).status == 200
    assert moves(server) == 2
    assert len(server.letters(ALICE)) == 2  # bob has begun, and this move

    other.press("a1,c4,e5,g3")
    assert other.status == 422
    assert "Not played." in other.text
    assert "if you still want this, send it again" in other.text
    assert other.draft == "a1,c4,e5,g3"  # it can be mended and sent again
    assert moves(server) == 2

    # The same words again from a page that was loaded since are said again.
    for _ in range(2):
        alice.load().press("", "hello bob")
    assert sum("hello bob" in letter.text for letter in server.letters(BOB)) == 2


def test_links_that_open_no_board(server: HandedIn) -> None:
    alice, bob, letter = challenged(server)
    bob.load().press("accept")
    ring = server.server.base.mail_domain.ring
    address = ring.read(alice.path.removeprefix("/b/"))
    assert address is not None
    others = [
        ReplyAddress(Purpose.PLAYER, address.player, 0, 0, address.epoch),
        ReplyAddress(Purpose.FOLLOW, address.player, address.about, 0, address.epoch),
        ReplyAddress(
            Purpose.BOARD, address.player, address.about, address.number, address.epoch + 1
        ),
        ReplyAddress(
            Purpose.BOARD, address.player, address.about + 7, address.number, address.epoch
        ),
        ReplyAddress(
            Purpose.BOARD, address.player + 7, address.about, address.number, address.epoch
        ),
    ]
    good = alice.path.removeprefix("/b/")
    forged = ("b" if good[9] == "a" else "a").join((good[:9], good[10:]))
    tokens = [*map(ring.token, others), "a" * 26, "x" * 1000, forged, "%00", "%C3%9F"]
    for token in tokens:
        tab = Tab(server.pages, f"/b/{token}")
        assert tab.load().status == 404
        assert tab.post("turn=1&key=ab&move=resign").status == 404
    assert "alice" not in tab.html
    assert moves(server) == 0

    # Who has asked that old letters be worth nothing has shut the page, too.
    server.send(ALICE, "forgot alice")
    assert server.reply(server.letters(ALICE)[-1], "password new-wonder-land").startswith("250")
    server.letters()
    assert alice.load().status == 404
    assert bob.load().status == 200
    assert letter.subject


@pytest.mark.slow
def test_looking_changes_nothing_and_nonsense_is_refused_kindly(server: HandedIn) -> None:
    alice, bob, _ = challenged(server)
    bob.load().press("b3,d3,f6,g7")
    alice.load().press("a1,c4,e5,g2")
    before = moves(server)
    for query in ("?move=resign", "?move=a&turn=1", "?tap=resign", "?check=resign", "?move=%ff"):
        assert alice.load(query).status == 200
    assert alice.load("?move=" + "a," * 3000).status in {200, 414, 431}
    assert alice.load("?tap=%3Cscript%3E&move=%22%3E%3Cscript%3E").status == 200
    assert "<script>" not in alice.html
    assert alice.headers["cache-control"] == "no-store"
    assert "noindex" in alice.headers["x-robots-tag"]
    assert re.search(r"\sstyle=|<script|http", alice.html.partition("<main>")[2]) is None
    for body in ("", "turn=x", "turn=1e9", "turn=" + "9" * 99, "&" * 99, "turn=1&move=%00\r\n"):
        assert alice.post(body).status in {400, 405, 422}, body
    assert alice.post("words=" + "x" * 100_000).status == 400
    assert moves(server) == before
    alice.load()
    for words in ("frobnicate", "z9", "+a1,+b1,?", "fire the gribble", "a,b"):
        assert alice.press(words).status in {200, 422}, words
        alice.load()
    assert "Your move on board 1" in alice.text
    assert alice.load("?" + urlencode({"words": "half a sen", "move": "c"})).draft == "c"
    assert "half a sen" in alice.text


def test_head_is_get_without_the_page_and_does_nothing(connected: Running) -> None:
    """Programs that look whether a link is good ask so (RFC 9110 section 9.3.2)."""
    alice, bob, _ = challenged(connected)
    Tab(connected.pages, "/mine").post("who=alice")
    connected.carry_out()
    mine = re.search(r"http://games\.example(/mine/[a-z2-7]+)", connected.letters(ALICE)[-1].text)
    assert mine is not None
    before = moves(connected)
    for tab, form in (
        (alice, urlencode({**alice.load().fields, "move": "a1,b2,c3,d4"})),
        (bob, urlencode({**bob.load().fields, "move": "accept"})),
        (Tab(connected.pages, mine[1]), "do=export&key=1"),
        (Tab(connected.pages, "/mine"), "who=bob"),
    ):
        shown = dict(tab.load().headers)
        for body in ("", form):
            assert (tab.head(body).status, tab.html) == (200, "")
            kept_headers = {name: shown[name] for name in shown.keys() & {"etag", "cache-control"}}
            assert kept_headers.items() <= tab.headers.items()
    connected.settle()
    assert moves(connected) == before
    assert not connected.letters(BOB)


def test_a_bot_has_moved_when_the_page_comes_back(connected: Running) -> None:
    connected.send(ALICE, "blackbox challenge alice wonder-land house-easy")
    alice = Tab(connected.pages, page_of(connected.letters(ALICE)[-1])).load()
    alice.tap("A1", "B2", "C3", "D4").press()
    assert "Your move" in alice.text
    alice.tap("A").press()
    assert "You fired port A" in alice.text or "house-easy" in alice.text
    assert "Your move" in alice.text


def test_a_hint_stands_until_something_is_done_and_the_coach_reports(server: HandedIn) -> None:
    server.send(ALICE, "blackbox solo alice -size=4x4 -atoms=1")
    server.reply(server.letters(ALICE)[-1], "yes")
    alice = Tab(server.pages, page_of(server.letters(ALICE)[-1])).load()
    assert "Hint: 3 points" in alice.text
    assert "Report" not in alice.text
    alice.press("hint")
    assert "The best port now is B" in alice.text
    assert "This hint costs 3 points." in alice.text
    assert "Hint: 3 points" not in alice.load().text
    alice.tap("B").press()
    assert "The best port now" not in alice.text
    alice.press("solve")
    assert "Ruled out" not in alice.text
    alice.press("report")
    assert "You gave up after 1 probe" in alice.text
    assert "The coach needs" in alice.text
    assert "Ruled out" in alice.load().text
    assert "Report" not in alice.text
    subjects = {letter.subject for letter in server.letters(ALICE)}
    assert subjects >= {"A hint: Blackbox 1", "The coach's report: Blackbox 1"}


@pytest.mark.usefixtures("heaps_installed")
def test_a_game_without_a_page_of_its_own(database_url: str, tmp_path: Path) -> None:
    with indoors(tmp_path, database_url) as house:
        server = HandedIn(house)
        server.sign_up("alice", "wonder-land")
        server.send(ALICE, "heaps challenge alice wonder-land house")
        alice = Tab(server.pages, page_of(server.letters(ALICE)[-1])).load()
        assert "<pre" in alice.html
        before = alice.text
        alice.press("2")
        assert alice.status == 200
        assert alice.text != before
        assert "You played 2." in server.letters(ALICE)[-1].text
        assert alice.press("1000").status == 422


@pytest.mark.slow
def test_everybody_may_look_at_a_game_and_go_through_it(server: HandedIn) -> None:
    alice, bob, _ = challenged(server)
    bob.load().press("b3,d3,f6,g7")
    alice.load().press("a1,c4,e5,g2")
    alice.press("+b3,+d3,+f6,+g7,c", "between us")
    public = Tab(server.pages, "/game/1").load()
    assert "Board 1 after 3 moves" in public.text or "Board 1 after 1 move" in public.text
    assert "atom" not in "".join(re.findall('aria-label="[^"]*"', public.html))
    assert "alice fired port C" in public.text
    assert "between us" not in public.text
    assert 'method="post"' not in public.html
    assert "/b/" not in public.html

    bob.load().press("b")
    alice.load().press("?")
    over = public.load().text
    assert "alice found all the atoms and won board 1" in over
    assert "B3: marker on an atom" in public.html
    assert "A1: atom" in public.html
    last = int(re.findall(r"(\d+) of \1", over)[0])
    seen = []
    for turn in range(last + 1):
        assert public.load(f"?turn={turn}").status == 200
        assert f"{turn} of {last}" in public.text
        seen.append(public.html)
    assert len(set(seen)) == last + 1
    assert all("atoms at B3, D3, F6 and G7" in page for page in seen)  # it is over: all is told
    assert "Look at it again" in alice.load().text

    for path in ("/game/2", "/game/0", "/game/99999999999999999999", "/game/x", "/game/1?turn=99"):
        assert Tab(server.pages, path).load().status == 404
    for path in ("/game/1?turn=-1", "/game/1?turn=x", "/game/1?turn=", "/game/1?turn=%C2%B2"):
        assert Tab(server.pages, path).load().status in {200, 404}


def test_a_box_that_others_solve_today_is_kept(server: HandedIn) -> None:
    server.send(ALICE, "blackbox daily alice wonder-land 07:30")
    server.live(days=1)
    box = [letter for letter in server.letters(ALICE) if "In a browser" in letter.text][-1]
    alice = Tab(server.pages, page_of(box)).load()
    address = server.server.base.mail_domain.ring.read(alice.path.removeprefix("/b/"))
    assert address is not None
    public = Tab(server.pages, f"/game/{address.about}")
    before = public.load().bare
    alice.tap("A").press()
    assert public.load().bare == before
    alice.load().press("resign")
    assert "not open yet" in public.load().text
    assert "og:image" not in public.html
    for kind in ("png", "svg", "png?turn=0", "svg?turn=1"):
        assert Tab(server.pages, f"/game/{address.about}.{kind}").load().status == 404
    assert "atom" not in "".join(re.findall('aria-label="[^"]*"', public.html))


def test_a_refusal_is_told_even_if_no_more_letters_are_sent(
    database_url: str, tmp_path: Path
) -> None:
    with indoors(tmp_path, database_url, rate_refusals="2/hour") as house:
        server = HandedIn(house)
        for name in ("alice", "bob"):
            server.sign_up(name, "wonder-land")
        alice, _, _ = challenged(server)
        for _ in range(4):
            assert alice.load().press("nonsense").status == 422
        assert "we no longer say why" in alice.text


def test_while_the_database_is_away_pages_say_when_to_come_again(
    connected: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, _, _ = challenged(connected)
    token = alice.load().path.removeprefix("/b/")
    away = OperationalError("SELECT 1", {}, sqlite3.OperationalError("unable to open"))

    def broken(*_: object) -> None:
        raise away

    monkeypatch.setattr(boards, "load", broken)
    for path, kind, headers in (
        (alice.path, "text/html", {}),
        ("/api/seat", "application/problem+json", {"Authorization": f"Bearer {token}"}),
    ):
        connection = http.client.HTTPConnection("127.0.0.1", connected.web_port, timeout=60)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        html = answer.read().decode()
        connection.close()
        assert (answer.status, answer.getheader("Retry-After")) == (503, "10"), (path, html)
        assert (answer.getheader("Content-Type") or "").startswith(kind)
        assert "SELECT" not in html


def test_no_link_gets_into_the_log_even_by_a_fault(
    connected: Running, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob, _ = challenged(connected)
    caplog.set_level(logging.DEBUG)
    bob.load().press("b3,d3,f6,g7")
    alice.load("?move=a1&tap=C4").press("nonsense")
    Tab(connected.pages, f"{alice.path}x").load()

    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(boards, "load", broken)
    with pytest.raises(AssertionError):  # 500
        alice.load()
    assert "a page failed" in caplog.text
    for tab in (alice, bob):
        assert tab.path.removeprefix("/b/") not in caplog.text


def alone(server: HandedIn, options: str) -> Letter:
    """Alice begins a solo game: the letter that brings it."""
    server.send(ALICE, f"blackbox solo alice {options}")
    server.reply(server.letters(ALICE)[-1], "yes")
    return server.letters(ALICE)[-1]


def test_scores_at_the_end_of_a_race_are_no_move_in_the_list(server: HandedIn) -> None:
    letter = alone(server, "-size=4x4 -atoms=1 -seed=monday")
    server.reply(letter, "1")
    server.reply(letter, "solve")
    page = Tab(server.pages, page_of(letter)).load().text
    moves_listed = page.partition("The moves so far")[2]
    assert "You resigned." in moves_listed
    assert page.count("You gave up.") == 1
    assert "You gave up." not in moves_listed


def test_one_s_own_plies_are_stepped_through_while_the_game_runs(server: HandedIn) -> None:
    alice, bob, letter = challenged(server)
    assert "The moves so far" not in alice.load().text
    server.reply(letter, "a1,c4,e5,g2")
    alice.load().press("b3,d3,f6,g7")
    alice.press("4,+a1")
    bob.load().press("!b2-d4")  # private, and no turn
    alice.load()
    assert "The moves so far" in alice.text
    assert "3 of 3" in alice.text
    assert "4 of 4" in bob.load().text
    for step, shown, hidden in (
        (0, "before the first move", "4 of"),
        (1, "after 1 move", "fired port 4"),
        (2, "Your box", "fired port 4"),
    ):
        alice.load(f"?step={step}")
        assert shown in alice.text
        assert hidden not in alice.text
        assert f"{step} of 3" in alice.text
        for pressed in ("<button", "<form", 'name="tap"'):
            assert pressed not in alice.html
        assert "A1: your marker" not in alice.html
    alice.load("?step=3")
    assert "bob to move" in alice.text  # the game as it is
    assert "A1: atom" not in alice.html
    bob.load("?step=2")
    assert "A1: atom" in bob.html  # bob hid it himself
    assert "B3: atom" not in bob.html


def test_the_score_and_what_a_wrong_atom_costs_are_always_there(server: HandedIn) -> None:
    letter = alone(server, "-size=8x8 -atoms=4")
    alice = Tab(server.pages, page_of(letter)).load()
    free = "Score so far: 0 points. A wrong atom in your guess costs 5."
    assert free in alice.text
    for form in (letter.text, letter.html):
        assert " ".join(form.split()).count(free) == 1
    alice.press("a")
    points = re.search(r"Score so far: ([12]) points?\. A wrong atom", alice.text)
    assert points is not None
    assert points[0] in last(server, ALICE)
    for count, cell in enumerate(("A1", "B1", "C1", "D1", "E1"), 1):
        alice.load("?" + urlencode({"move": alice.draft, "tap": f"+{cell}"}))
        assert ("too many" in alice.text) == (count == 5)
    assert "Markers: 5, 1 too many. Take 1 off before you guess" in alice.text
    alice.press()
    assert "You have 5 markers; take 1 off before you guess." in last(server, ALICE)
    server.send(ALICE, "blackbox challenge alice wonder-land bob -race")
    server.reply(server.letters(BOB)[-1], "accept\nqueue a; b")  # two turns at once: "run"
    letters = server.letters(BOB)
    assert "Score so far" in letters[-1].text
    for letter in letters:
        for form in (letter.text, letter.html):
            assert form.count("Score so far") == form.count("A wrong") <= 1
    timed = Tab(server.pages, page_of(alone(server, "-scoring=timed"))).load()
    assert re.search("A wrong marker in (a|your) guess costs 50, each second 1.", timed.text)
    assert "Score" not in alone(server, "-practice").text


def test_the_page_tells_what_was_said_and_played(server: HandedIn) -> None:
    """The newest words of both, the moves that the reader knows of, the signs and the rules."""
    alice, bob, letter = challenged(server)
    assert "Nothing yet." in alice.load().text
    server.reply(letter, "a1,c4,e5,g2\n\nWatch the <corners>!\n\n> a quoted line")
    alice.load().press("b3,d3,f6,g7")
    alice.press("4", words="I will.")
    bob.load().press("!b2")  # a seal is private
    alice.load().press("", words="Your turn!")
    assert "What you said bob Watch the <corners>! You I will. You Your turn!" in alice.text
    assert "<corners>" not in alice.html  # it is escaped
    assert "a quoted line" not in alice.text  # as in letters
    assert "The moves so far" in alice.text
    assert "You fired port 4: hit (#)." in alice.text
    assert "sealed" not in alice.html
    assert "alice fired port 4: hit (#)." in bob.load().text
    assert "You sealed B2" in bob.text
    assert "#<small>4</small>" in bob.html
    assert "What the signs mean" in alice.whole
    assert "The rules of Blackbox" in alice.whole

    server.send(ALICE, "prefs alice wonder-land block=bob")
    assert "corners" not in alice.load().text
    assert "I will." in alice.text


def test_atoms_are_hidden_by_a_button(server: HandedIn) -> None:
    """ "Hide for me" plays a placement that was drawn for this page, and is gone then."""
    alice, bob, _ = challenged(server)
    assert "Hide for me" not in bob.load().text  # bob is still to say yes
    bob.press("accept")
    drawn = re.search(r'name="move" value="([A-G1-7,]+)">Hide for me', alice.load().html)
    again = re.search(r'name="move" value="([A-G1-7,]+)">Hide for me', alice.load().html)
    assert drawn is not None
    assert again is not None
    assert len(set(drawn[1].split(","))) == 4
    assert drawn[1] != again[1]
    assert "Check my markers" not in alice.text
    alice.press(again[1])
    assert "You hid 4 atoms" in alice.text
    assert "Hide for me" not in alice.text
    assert "Check my markers" in alice.text
