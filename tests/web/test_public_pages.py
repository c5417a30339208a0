"""Pages that everybody may read: seeks that are taken, the archive of daily boxes, players."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

import pytest
from asgi_client import fetch, load_all, site_of
from browser_tab import Tab, page_of
from indoors import HandedIn, address_of, indoors
from rows import rows
from running import start
from sqlalchemy import func, select
from starlette.routing import Route

from pbmserv.engine.ratings import anchor
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.game_ids import atoms_of, read_id
from pbmserv.store.shared_boxes import daily_boxes, day_numbers
from pbmserv.store.tables.boards import boards
from pbmserv.views.public_facts import RatingChange
from pbmserv.web.pages.rating_graph import rating_graph

ALICE, BOB = "alice@players.example", "bob@players.example"
PASSWORD = "wonder-land"


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[HandedIn]:
    with indoors(tmp_path, database_url) as house:
        server = HandedIn(house)
        for name in ("alice", "bob"):
            server.sign_up(name, PASSWORD)
        yield server


def subjects(html: str) -> list[str]:
    """Subjects of the letters that a page's links begin."""
    links = re.findall(r'href="(mailto:[^"]*\?subject=[^"]*)"', html)
    return [parse_qs(urlsplit(unescape(link)).query)["subject"][0] for link in links]


def test_a_seek_is_taken_by_the_letter_that_its_button_writes(server: HandedIn) -> None:
    page = Tab(server.pages, "/seeks").load()
    assert "Nobody is looking for an opponent" in page.text
    server.send(ALICE, f"blackbox seek alice {PASSWORD} -size=8x8 -atoms=5")
    assert "alice is looking for an opponent at Blackbox, -size=8x8 -atoms=5 ." in page.load().text
    assert "open seeks" in Tab(server.pages, "/players/alice").load().text
    (subject,) = (subject for subject in subjects(page.html) if "-size" in subject)
    server.send(BOB, subject.replace("seek", f"seek bob {PASSWORD}"))
    assert "were both looking for Blackbox" in server.letters(ALICE)[-1].text
    assert "Nobody is looking" in page.load().text
    # Whom no letter reaches, or who has left, looks for nobody.
    server.send(ALICE, f"blackbox seek alice {PASSWORD}")
    assert subjects(page.load().html)[0] == "blackbox seek"
    server.send(ALICE, f"signoff alice {PASSWORD}")
    server.reply(server.letters(ALICE)[-1], "yes")
    server.letters()
    assert "Nobody is looking" in page.load().text
    assert "/b/" not in page.html


@pytest.mark.parametrize("options", ["-race -seed='say \"R&D\" <now>'"])
def test_a_seek_in_any_words_is_taken_by_its_button(server: HandedIn, options: str) -> None:
    page = Tab(server.pages, "/seeks")
    server.send(ALICE, f"blackbox seek alice {PASSWORD} {options}")
    (subject,) = (subject for subject in subjects(page.load().html) if "-seed" in subject)
    server.send(BOB, subject.replace("seek", f"seek bob {PASSWORD}", 1))
    assert "were both looking for Blackbox" in server.letters(ALICE)[-1].text


def test_pages_show_a_seek_for_more_than_two(server: HandedIn) -> None:
    server.send(ALICE, f"blackbox seek alice {PASSWORD} 3 -race")
    assert "alice is looking for 2 others at Blackbox" in Tab(server.pages, "/seeks").load().text
    assert "Is looking for 2 others" in Tab(server.pages, "/players/alice").load().text


ATOM = "{http://www.w3.org/2005/Atom}"


def feed(server: HandedIn, path: str) -> list[dict[str, str]]:
    """The entries of a feed, which is one by RFC 4287."""
    octets = octets_of(server, path)
    assert b"/b/" not in octets
    top = ET.fromstring(octets)
    assert top.tag == f"{ATOM}feed"
    for element in (top, *top.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert element.findtext(f"{ATOM}{name}"), name
        datetime.fromisoformat(element.findtext(f"{ATOM}updated", ""))
    return [
        {
            "title": entry.findtext(f"{ATOM}title", ""),
            "summary": entry.findtext(f"{ATOM}summary", ""),
            "link": entry.find(f"{ATOM}link").attrib["href"],
        }
        for entry in top.findall(f"{ATOM}entry")
    ]


def daily_of(server: HandedIn, address: str) -> Tab:
    """The page of somebody's newest daily box."""
    letters = [letter for letter in server.letters(address) if "Daily Box" in letter.subject]
    return Tab(server.pages, page_of(letters[-1])).load()


@pytest.mark.slow
def test_a_daily_box_is_in_the_archive_and_opens_when_all_are_done(server: HandedIn) -> None:
    archive = Tab(server.pages, "/daily").load()
    assert "Nobody has got one yet" in archive.text
    for name, address in (("alice", ALICE), ("bob", BOB)):
        server.send(address, f"blackbox daily {name} {PASSWORD} 07:30")
    server.live(days=1)
    number = int(re.findall(r"Daily Box (\d+)", archive.load().text)[0])  # today's
    table = Tab(server.pages, f"/daily/{number}").load()
    assert "Nobody has solved it yet" in table.text
    assert "2 still play it" in table.text
    assert feed(server, "/daily.atom") == []
    alice, bob = daily_of(server, ALICE), daily_of(server, BOB)

    box = server.server.read(daily_boxes.of_day, "blackbox", day_numbers.day_of_number(number))
    assert box is not None
    options = GAME.options(box.options, 1)
    assert options.grade
    assert f"Daily Box {number}: {options.grade}" in table.text
    assert re.search(rf"Daily Box {number} [^|]{{5,30}} {options.grade} 2 0", archive.text)
    assert f"This box is {options.grade}: " in alice.text
    assert f"This box is {options.grade}: " in Tab(server.pages, "/today").load().text
    cells = [options.board.names[cell] for cell in sorted(atoms_of(read_id(options.id)))]
    alice.press("+" + ",+".join(cells) + ",?")
    assert feed(server, "/games.atom") == []  # it is over, and not to be seen yet
    assert "/game/" not in octets_of(server, "/sitemap.xml").decode()
    assert "The box stays shut until the day is over" in table.load().text
    assert "atom" not in "".join(re.findall('aria-label="[^"]*"', table.html))
    before = table.html
    bob.press("a")  # what somebody finds out is nobody else's
    assert table.load().html == before
    server.live(days=1)
    assert "The box stays shut until all who got it are done" in table.load().text
    assert "1 still plays it" in table.text
    bob.reopen().press("resign")
    assert "1 player guessed wrong or gave up" in table.load().text
    assert re.search(r"1 alice \d+", table.text)
    assert f"atoms at {', '.join(cells[:-1])} and {cells[-1]}" in table.html
    (entry,) = feed(server, "/daily.atom")
    assert (entry["title"].partition(",")[0], entry["link"]) == (
        f"Daily Box {number}",
        f"http://games.example/daily/{number}",
    )
    assert "1. alice, " in entry["summary"]
    assert "daily box solved in a row" in Tab(server.pages, "/players/alice").load().text
    for other in ("/daily/0", "/daily/99999", "/daily/999999999999", "/daily/x", "/daily/-1"):
        assert Tab(server.pages, other).load().status == 404


def resigned(server: HandedIn, loser: int) -> None:
    """A rated game that alice (0) or bob (1) gives up."""
    server.send(ALICE, f"blackbox challenge alice {PASSWORD} bob")
    board = server.server.value(select(func.max(boards.c.id)))
    people = (ALICE, "alice"), (BOB, "bob")
    for words in ("b3,d3,f6,g7", *"abc"):
        for address, userid in people:
            server.send(address, f"blackbox move {board} {userid} {PASSWORD} {words}")
    address, userid = people[loser]
    server.send(address, f"blackbox resign {board} {userid} {PASSWORD}")


def test_a_players_page_counts_opponents_and_kinds_and_draws_the_rating(server: HandedIn) -> None:
    for n in range(2):
        resigned(server, n)
    page = Tab(server.pages, "/players/alice").load()
    assert "Opponent Games Won Lost Drawn bob 2 1 1 0" in page.text
    assert "Kind Games Won Lost Drawn Blackbox 2 1 1 0" in page.text
    assert re.search(
        r'role="img" aria-label="Blackbox rating of alice over 2 games: \d+', page.html
    )
    assert page.html.count("<circle") == 2
    server.send(ALICE, "blackbox solo alice -size=2x2 -atoms=4")
    server.reply(server.letters(ALICE)[-1], "yes")
    Tab(server.pages, page_of(server.letters(ALICE)[-1])).load().press("+a1,+a2,+b1,+b2,?")
    assert "Best scores Kind Games Fewest points Blackbox 2x2/4 1 0" in page.load().text
    assert len(page.html.encode()) < 50_000
    assert "players.example" not in page.html  # nobody's mail address
    for name in ("nobody", "ALICE%00", "%3Cb%3E", ".."):
        assert Tab(server.pages, f"/players/{name}").load().status == 404


def test_no_page_says_whether_a_player_takes_challenges(server: HandedIn) -> None:
    """Beside it, the refusal that hides a block would tell of the block."""
    paths = "/players/alice", "/api/players/alice"
    pages = set()
    for accept in ("ask", "auto", "none"):
        server.send(ALICE, f"prefs alice {PASSWORD} accept={accept}")
        pages.add(tuple(Tab(server.pages, path).load().html for path in paths))
    assert len(pages) == 1
    assert "Challenge alice" in pages.pop()[0]


def of_everybody(server: HandedIn, *more: str) -> list[str]:
    """Every address that everybody may read, with these in place of what varies."""
    paths = [route.path for route in site_of(server.server).routes if isinstance(route, Route)]
    public_paths = set(more)
    for path in paths:
        if "{token}" not in path and not path.startswith("/health"):
            public_paths.add(path.replace("{number:nine_digits}", "1").replace("{topic}", "prefs"))
    for path in ("/", "/games", "/boards", "/boards/1", "/boards/2", "/ratings", "/seeks"):
        public_paths.add(f"/api{path}")
    # The sitemap names nobody, and may be some minutes old.
    left_out = {"/players/{userid}", "/players/{userid}/games.atom", "/api", "/sitemap.xml"}
    return sorted(public_paths - left_out)


@pytest.mark.slow
def test_a_player_who_wants_no_name_on_the_pages_has_none(server: HandedIn) -> None:
    """The name is on no page, picture or feed, and back as soon as its player wants."""
    examples = {path for path in of_everybody(server) if b"alice" in octets_of(server, path, 404)}
    resigned(server, 0)
    public = Tab(server.pages, "/game/1")
    server.send(ALICE, f"blackbox challenge alice {PASSWORD} bob")
    server.send(ALICE, f"blackbox seek alice {PASSWORD}")
    server.send(ALICE, f"blackbox daily alice {PASSWORD} 07:30")
    server.live(days=1)
    alice = daily_of(server, ALICE)
    number = int(re.findall(r"Daily Box (\d+)", alice.text)[0])
    box = server.server.read(daily_boxes.of_day, "blackbox", day_numbers.day_of_number(number))
    assert box is not None
    options = GAME.options(box.options, 1)
    atoms = [options.board.names[cell] for cell in sorted(atoms_of(read_id(options.id)))]
    alice.press("+" + ",+".join(atoms) + ",?")
    own = ["/players/alice", "/players/alice/games.atom"]
    own += ["/api/players/alice", "/api/players/alice/boards"]
    paths = of_everybody(server, "/game/1?turn=3", "/players/bob", f"/daily/{number}", "/game/2")
    paths += ["/api/boards/1?turn=3", "/api/players/bob", "/api/players/bob/boards"]
    named = {path: octets_of(server, path, 404) for path in (*paths, *own)}
    telling = {path for path, octets in named.items() if b"alice" in octets}
    assert telling >= {"/", "/game/1", "/game/2", "/game/1.svg", "/seeks", "/standings"}
    assert telling >= {f"/daily/{number}", "/players/bob", "/games.atom", *own}
    assert telling >= {"/api/boards", "/api/boards/1", "/api/players/bob", "/api/ratings"}

    server.send(ALICE, f"prefs alice {PASSWORD} public=no")
    quiet = {path: octets_of(server, path, 404) for path in paths}
    assert {path for path, octets in quiet.items() if b"alice" in octets} == examples
    assert quiet["/game/1.png"] != named["/game/1.png"]
    for path in own:
        assert Tab(server.pages, path).load().status == 404
    assert "A player fired port A" in public.load("?turn=3").text
    assert public.text.startswith("Blackbox 1 · a player - bob")
    assert "A player is looking for an opponent" in Tab(server.pages, "/seeks").load().text
    assert "Opponent Games Won Lost Drawn players who give no name 1 1" in (
        Tab(server.pages, "/players/bob").load().text
    )
    entry = feed(server, "/games.atom")[-1]
    assert (entry["title"], entry["summary"]) == (
        "Blackbox 1: a player - bob",
        "Won by bob (resigned), 9 moves.",
    )
    server.send(BOB, f"prefs bob {PASSWORD} public=no")
    assert public.load().text.startswith("Blackbox 1 · player 1 - player 2")
    assert "Won by player 2" in feed(server, "/games.atom")[-1]["summary"]
    assert public.load("?turn=3").text.count("Player 1 fired port A") == 1

    for name, address in (("alice", ALICE), ("bob", BOB)):
        server.send(address, f"prefs {name} {PASSWORD} public=yes")
    assert {path: octets_of(server, path, 404) for path in (*paths, *own)} == named


def test_opponents_without_a_name_are_one_row_and_a_bot_has_a_page_before_its_first_game(
    tmp_path: Path,
) -> None:
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob", "carol")
        for number, name in enumerate(("bob", "carol"), 1):
            server.send(ALICE, f"blackbox challenge alice {PASSWORD} {name}")
            server.send(address_of(name), f"blackbox move {number} {name} {PASSWORD} b3,d3,f6,g7")
            server.send(ALICE, f"blackbox move {number} alice {PASSWORD} a1,c4,e5,g2")
            server.send(address_of(name), f"blackbox resign {number} {name} {PASSWORD}")
            server.send(address_of(name), f"prefs {name} {PASSWORD} public=no")
        pages = load_all(site_of(server.server), "/players/alice", "/players/house-hard")
    texts = (re.sub("<[^>]*>", " ", value.body.decode()) for value in pages.values())
    alice, house = (" ".join(text.split()) for text in texts)
    assert "Opponent Games Won Lost Drawn players who give no name 2 2 0 0 Kinds" in alice
    strong = anchor(GAME.info.strength["house-hard"]["mu"]).shown
    assert f"We measured its Blackbox rating, {strong}, and games do not change it." in house
    assert "No rated game yet" not in house


@rows("shown", [[1500, 1500], [900, 2400, 1200], [1, 2], [-50, 30]])
def test_a_graph_holds_all_its_points(shown: list[int]) -> None:
    graph = rating_graph([RatingChange(1, "2026-11-22", rating) for rating in shown])
    assert graph is not None
    assert all(14 <= y <= 190 and 68 <= x <= 624 for x, y, _ in graph.dots)
    assert 2 <= len(graph.lines) <= 7
    assert rating_graph([]) is None


def played(server: HandedIn) -> Tab:
    """The public page of a game that is over."""
    server.send(ALICE, f"blackbox challenge alice {PASSWORD} bob")
    alice, bob = (Tab(server.pages, page_of(server.letters(a)[-1])) for a in (ALICE, BOB))
    bob.load().press("b3,d3,f6,g7")
    alice.load().press("a1,c4,e5,g2")
    for port in ("a,+b3", "1,+d3"):
        alice.load().press(port)
        bob.load().press(port)
    public = Tab(server.pages, "/game/1").load()
    assert 'stroke="var(--hit)"' not in public.html
    assert "circle" not in public.html
    alice.load().press("resign")
    return public


@pytest.mark.slow
def test_a_game_that_is_over_is_gone_through_with_every_ray_drawn(server: HandedIn) -> None:
    public = played(server).load()
    assert public.html.count("<circle") == 8
    assert len(re.findall(r'<polyline [^>]*stroke="var\(--(hit|turned|passed)', public.html)) == 4
    assert "atoms at A1, G2, C4 and E5" in public.html
    # What is no game's own says nothing that would be wrong of another.
    sides = re.findall(r"<figcaption>(\w+).s side</figcaption>", public.html)
    assert sides == ["alice", "bob"]
    assert "<summary>The same without pictures</summary>" in public.html
    for path in ("/games.atom", "/players/bob/games.atom", "/players/BOB/games.atom"):
        (entry,) = feed(server, path)
        assert entry["title"] == "Blackbox 1: alice - bob"
        assert entry["summary"] == "Won by bob (resigned), 7 moves."
        assert entry["link"] == "http://games.example/game/1"
    for path in ("/players/nobody/games.atom", "/players/%3Cb%3E/games.atom"):
        assert Tab(server.pages, path).load().status == 404
    sitemap = ET.fromstring(octets_of(server, "/sitemap.xml"))
    places = [element.text or "" for element in sitemap.iter() if element.tag.endswith("loc")]
    assert "http://games.example/game/1" in places
    for place in places:
        path = place.removeprefix("http://games.example")
        page = Tab(server.pages, path).load()
        assert (page.status, "noindex" in page.html) == (200, False), place
    assert "Disallow: /b/" in octets_of(server, "/robots.txt").decode()
    assert Tab(server.pages, "/.well-known/security.txt").load().status == 404
    assert 'accesskey="b"' in public.html
    for turn, rays in ((0, 0), (2, 0), (3, 1), (4, 2), (6, 4)):
        assert public.load(f"?turn={turn}").status == 200
        assert public.html.count("<circle") == 8
        drawn = re.findall(r'<polyline [^>]*stroke="var\(--(hit|turned|passed)', public.html)
        assert len(drawn) == rays, turn
        assert f"http://games.example/game/1?turn={turn}</code>" in public.html
        assert f'og:image" content="http://games.example/game/1.png?turn={turn}"' in public.html
    assert 'rel="next"' in public.html
    assert 'type="range" id="turn" name="turn" min="0" max="7" value="6"' in public.html
    assert re.findall(r"\sstyle=|<script[^>]*>", public.html) == [
        f'<script src="{script}" defer>'
        for script in re.findall(r'"(/replay.js[^"]*)"', public.html)
    ]
    assert "script-src 'self'" in public.headers["content-security-policy"]
    assert "script" not in Tab(server.pages, "/today").load().headers["content-security-policy"]
    for kind, mark in (("svg", "<svg"), ("png", "PNG")):
        picture = octets_of(server, f"/game/1.{kind}?turn=4")
        assert mark.encode() in picture[:8]
        assert octets_of(server, f"/game/1.{kind}?turn=5") != picture


def test_without_pillow_a_picture_as_png_leads_to_the_one_as_svg(
    server: HandedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(server)
    monkeypatch.setitem(sys.modules, "PIL", None)
    png = Tab(server.pages, "/game/1.png").load("?turn=4")
    assert (png.status, png.headers["location"]) == (307, "/game/1.svg?turn=4")
    assert octets_of(server, png.headers["location"]).startswith(b"<svg")
    assert Tab(server.pages, "/game/1.png").load().headers["location"] == "/game/1.svg"


def test_a_race_says_what_it_is_while_it_runs_and_goes_move_by_move_when_it_is_over(
    tmp_path: Path,
) -> None:
    with indoors(tmp_path) as server:

        def title(path: str) -> str:
            page = server.loop.run_until_complete(fetch(site_of(server.server), path))
            match = re.search(r"<title>(.*?)</title>", page.body.decode())
            assert match is not None
            return match[1]

        server.sign_up("alice", "bob")
        server.send(ALICE, "blackbox challenge alice bob -race -size=4x4 -atoms=1")
        server.send(BOB, f"blackbox accept 1 bob {PASSWORD}")
        assert title("/game/1") == "Board 1, a race: alice - bob"
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} 1")
        assert title("/game/1") == "Board 1, a race: alice - bob"
        server.send(ALICE, f"blackbox solve 1 alice {PASSWORD}")
        server.send(BOB, f"blackbox solve 1 bob {PASSWORD}")
        assert [title(f"/game/1?turn={turn}") for turn in range(4)] == [
            "Board 1 before the first move",
            "Board 1 after 1 move",
            "Board 1 after 2 moves",
            "Nobody solved board 1",
        ]


def octets_of(server: HandedIn, path: str, *other_statuses: int) -> bytes:
    """Return the body of a page; *other_statuses*: statuses other than 200 that will do."""
    answer = server.pages("GET", path, "")
    assert answer.status in {200, *other_statuses}
    return answer.body


def test_security_txt_names_the_operators(tmp_path: Path) -> None:
    with start(tmp_path, security_contact="security@games.example") as server:
        fields = dict(
            line.split(": ", 1)
            for line in Tab(server.pages, "/.well-known/security.txt").load().whole.splitlines()
        )
    assert fields["Contact"] == "mailto:security@games.example"
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=30) < expires - datetime.now(UTC) < timedelta(days=365)
