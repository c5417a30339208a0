"""The guest box of the day: anybody plays it, nobody can forge, keep or turn it into an oracle."""

from __future__ import annotations

import asyncio
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest
from asgi_client import fetch
from browser_tab import Tab
from examples import examples
from heaps import HEAPS
from hypothesis import given
from hypothesis import strategies as st
from indoors import HandedIn, indoors
from starlette.applications import Starlette

from pbmserv.engine.registry import Registry
from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.game_ids import atoms_of, read_id
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.mail.key_ring import KeyRing
from pbmserv.service.core.services import Services
from pbmserv.service.solo import guest_box
from pbmserv.service.solo.daily_box import day_of
from pbmserv.service.solo.guest_box import GuestBoxes, GuestLook, GuestPage
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.boxes import shared_boxes
from pbmserv.views.environment import environment
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.pages.guest_box import guest_box_routes
from pbmserv.web.rendering.printer import Printer
from pbmserv.web.rendering.site_facts import SiteFacts

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
PRINTER = Printer(SiteFacts("pbmserv@games.example", (GAME.info,), "confirm", ""), environment())


class Guest:
    """Somebody at the page, with the server's keys and the time to choose."""

    def __init__(self, keys: dict[int, bytes]) -> None:
        self.ring, self.moment, self.state = KeyRing(keys), NOON, ""
        domain = SimpleNamespace(ring=self.ring)
        services = SimpleNamespace(mail_domain=domain, registry=Registry([HEAPS, GAME]))
        clock = SimpleNamespace(now=lambda: self.moment)
        self.boxes = GuestBoxes(cast("Services", services), clock)

    def look(self, **changes: Any) -> GuestPage:
        page = asyncio.run(self.boxes.page(GuestLook(state=self.state, **changes)))
        assert page is not None
        return page

    def tap(self, *taps: str, check: bool = False) -> GuestPage:
        for tap in taps or ("",):
            page = self.look(tap=tap, check=check)
            self.state = page.state
        return page

    @property
    def board(self) -> Any:
        return GAME.daily(day_of(self.moment)).board

    @property
    def atoms(self) -> frozenset[int]:
        """The part of the box that only the server knows."""
        _, seed = self.ring.secret("guest box of blackbox")
        day = day_of(self.moment)
        return atoms_of(read_id(GAME.fixed(GAME.daily(day), Rng(seed, day)).id))

    @property
    def results(self) -> list[int]:
        return trace_all(self.board, self.atoms)


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


class _OtherBoxes:
    """The same keys, but for the secret by which boxes are dealt."""

    def __init__(self, ring: KeyRing, number: int) -> None:
        self._ring, self.keys, self._number = ring, ring.keys, number

    def secret(self, what: str, *which: int) -> tuple[int, bytes]:
        octets = self._ring.secret(what, *which)
        return (octets[0], key(self._number)) if what.startswith("guest box") else octets


def printed(page: GuestPage) -> str:
    text = PRINTER.render("today", page=page)
    for state in filter(None, (page.state, page.start)):
        text = text.replace(quote(state), "STATE").replace(state, "STATE")
    return text


def test_a_guest_solves_the_box_and_is_asked_to_sign_up() -> None:
    guest = Guest({1: key(1)})
    page = guest.tap("A")
    assert "You fired port A" in page.scene.events[0]
    assert "no marker" not in printed(page)
    assert "Your markers" in guest.tap(check=True).scene.events[0]
    assert "already shows" in guest.tap("a").trouble
    assert guest.tap("<script>").trouble
    marks = [f"+{guest.board.names[cell]}" for cell in sorted(guest.atoms)]
    assert guest.tap(*marks).is_running
    ended = guest.tap("?")
    assert ended.scene.outcome is not None
    assert ended.scene.outcome.reason == "solved"
    assert "You have solved it" in printed(ended)
    assert 'href="/signup"' in printed(ended)
    assert len(ended.shots) == 1
    assert guest.tap("B").scene.outcome == ended.scene.outcome  # what is over is over


def test_a_wrong_guess_opens_the_box() -> None:
    guest = Guest({1: key(1)})
    wrong = [cell for cell in guest.board.cells if cell not in guest.atoms][: len(guest.atoms)]
    ended = guest.tap(*(f"+{guest.board.names[cell]}" for cell in wrong), "?")
    assert "the box is open" in printed(ended)
    assert printed(ended).count(': atom"') == len(guest.atoms)


SIGNED = Guest({1: key(1)}).tap("A", "B").state


@examples(3)
@given(st.integers(0, len(urlsafe_b64decode(SIGNED)) - 1), st.integers(1, 255), st.text(min_size=1))
def test_a_state_that_is_not_ours_is_no_state(place: int, change: int, text: str) -> None:
    guest = Guest({1: key(1)})
    octets = bytearray(urlsafe_b64decode(SIGNED))
    octets[place] ^= change
    for forged in (urlsafe_b64encode(octets).decode(), text, SIGNED + text):
        guest.state = forged
        page = guest.tap("C")
        assert page.state_refused
        assert not page.shots
    guest.state = SIGNED
    assert len(guest.tap("C").shots) == 3


def test_a_state_is_good_for_its_day_its_server_and_as_long_as_its_key() -> None:
    guest, other = Guest({1: key(1)}), Guest({1: key(2)})
    guest.tap("A")
    other.state = guest.state
    assert other.tap("B").state_refused
    guest.ring.keys = {1: key(1), 2: key(3)}  # a new key in the middle of the day
    assert len(guest.tap("B").shots) == 2
    guest.ring.keys = {2: key(3)}
    assert guest.tap("C").state_refused
    guest.moment += timedelta(hours=11, minutes=59)
    assert len(guest.tap("A").shots) == 1
    assert 'content="noindex' in printed(guest.tap())
    guest.moment += timedelta(days=guest_box.KEPT_DAYS + 1)
    page = guest.tap("B")
    assert page.state_refused
    assert "too old" in printed(page)
    assert page.is_today


def test_an_address_brings_a_game_back_on_another_device_and_another_day() -> None:
    guest = Guest({1: key(1)})
    guest.tap("A", "+B2", "!C3")
    before = guest.look()
    (address,) = re.findall(
        r'id="address"><a href="([^"]*)">', PRINTER.render("today", page=before)
    )
    for days in (0, 1, guest_box.KEPT_DAYS):
        elsewhere = Guest({1: key(1)})
        elsewhere.moment += timedelta(days=days)
        elsewhere.state = parse_qs(urlsplit(unescape(address)).query)["state"][0]
        after = elsewhere.look()
        assert (after.scene, after.state, after.day) == (before.scene, before.state, before.day)
        assert after.is_today == (not days)
        assert ("The box of 22 November" in printed(after)) == bool(days)
        again = Guest({1: key(1)})
        again.moment = elsewhere.moment
        again.state = after.start
        begun = again.look()
        assert (begun.steps, begun.day == before.day) == (0, True)
        elsewhere.tap(*(f"+{guest.board.names[cell]}" for cell in sorted(guest.atoms)))
        ended = elsewhere.tap("/B2", "/C3", "?") if days else elsewhere.tap("?")
        assert (ended.scene.outcome is not None) == bool(days) or ended.trouble


def test_another_box_changes_no_octet_of_an_answer() -> None:
    """The same server dealt other atoms: state, size, headers and ETag are the same, too."""
    guests = [Guest({1: key(0)}), Guest({1: key(0)})]
    for number in range(1, 500):
        guests[1].ring = guests[1].boxes._ring = cast("Any", _OtherBoxes(guests[0].ring, number))
        results = [guest.results for guest in guests]
        same = [p for p in range(len(results[0])) if results[0][p] == results[1][p]]
        if len(same) > 5 and guests[0].atoms != guests[1].atoms:
            break
    sites = [
        Starlette(routes=guest_box_routes(PRINTER, guest.boxes, Allowance(()))) for guest in guests
    ]
    ports = [guests[0].board.ports[port] for port in same[:4]]
    state = ""
    for tap in ("", *ports, "+B3", "?", "zz"):
        path = "/today?" + urlencode({"state": state, "tap": tap, "check": "all"})
        answer, other = (asyncio.run(fetch(site, path)) for site in sites)
        assert answer == other, tap
        assert answer.header("etag")
        state = unescape(re.findall(rb'name="state" value="([^"]*)"', answer.body)[0].decode())


def test_a_form_carries_no_more_than_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest_box, "MOST_MOVES", 10)
    guest = Guest({1: key(1)})
    assert not guest.tap(*["+A1", "/A1"] * 5).is_nearly_full
    assert guest.tap("+A1").is_nearly_full
    assert "Guess with the markers that you have" in printed(guest.tap("+A1"))
    assert guest.tap("A").shots == ()
    guest.state = ""
    marks = [f"+{guest.board.names[cell]}" for cell in sorted(guest.atoms)]
    guest.tap(*marks, *["+A1", "/A1"] * 3)
    assert guest.tap().is_nearly_full
    ended = guest.tap("?")  # there is room for the guess
    assert not ended.is_running
    assert "more moves" not in printed(ended)
    guest.state = ""
    page = guest.tap("+A1" + ",+A1" * 5_000)
    assert len(page.state) < 6_000


def test_a_server_without_such_a_game_has_no_page() -> None:
    guest = Guest({1: key(1)})
    domain = SimpleNamespace(ring=guest.ring)
    services = SimpleNamespace(mail_domain=domain, registry=Registry([HEAPS]))
    boxes = GuestBoxes(cast("Services", services), SimpleNamespace(now=lambda: NOON))
    assert asyncio.run(boxes.page(GuestLook())) is None


def test_the_table_has_another_box_and_a_guest_leaves_nothing(
    database_url: str, tmp_path: Path
) -> None:
    with indoors(tmp_path, database_url) as house:
        server = HandedIn(house)
        server.send("alice@players.example", "signup alice wonder-land")
        tab = Tab(server.pages, "/today").load()
        first = tab.html
        tag = tab.headers["etag"]
        assert len(tab.html.encode()) < 50_000
        assert "set-cookie" not in tab.headers
        for _ in range(2):
            state = unescape(re.findall(r'name="state" value="([^"]*)"', tab.html)[0])
            tab.load("?" + urlencode({"state": state, "tap": "A"}))
        assert "already shows" in tab.text
        assert "noindex" in tab.headers["x-robots-tag"]
        # Somebody gets the box of the table: the guests' page stays what it was.
        server.send("alice@players.example", "blackbox daily alice wonder-land 07:30")
        server.letters()
        assert tab.load().html == first
        assert tab.headers["etag"] == tag
        kept = server.server.rows(shared_boxes.select())
        rows = server.server.rows(boards.select())
        assert len(kept) == len(rows)
        ring = server.server.base.mail_domain.ring
        for row in kept:
            _, seed = ring.secret("guest box of blackbox")
            options = GAME.fixed(GAME.daily(row.day), Rng(seed, row.day))
            assert options.id not in " ".join(row.options)
