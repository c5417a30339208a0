"""Two people at one device: one hides the atoms by hand, the other one plays, and no page, address
or answer tells the atoms before the end."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import pytest
from browser_tab import Tab
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from indoors import HandedIn, indoors

from pbmserv.engine.registry import Registry
from pbmserv.errors import PlayerError
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.service.limits.rates import Rates, TooMany, Traffic
from pbmserv.service.solo import hot_seat
from pbmserv.service.solo.hot_seat import HotSeat, HotSeatPage, changed, empty_box, position_of
from pbmserv.service.solo.solo_page import solo_scene
from pbmserv.views.environment import environment
from pbmserv.web.rendering.printer import Printer
from pbmserv.web.rendering.site_facts import SiteFacts

GAMES = Registry([GAME])
PRINTER = Printer(SiteFacts("pbmserv@games.example", (GAME.info,), "confirm", ""), environment())
CELLS = ("B3", "D3", "F6", "G7")
START = urlencode(
    {"option-size": "-size=8x8", "option-atoms": "-atoms=4", "option-guesses": "-guesses=1"}
)


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[HandedIn]:
    with indoors(tmp_path, database_url) as house:
        yield HandedIn(house)


class Device:
    """The one browser that both people use."""

    def __init__(self, server: HandedIn) -> None:
        self.tab = Tab(server.pages, "/hide").load()
        self.answers: list[str] = []

    def send(self, **fields: str) -> Device:
        """Press a button of the page, and go where it leads."""
        turn = re.search(r'name="turn" value="(\d+)"', self.tab.html)
        body = urlencode({**({"turn": turn[1]} if turn else {}), **fields})
        self.tab._ask("POST", self.tab.path, body)
        self.answers += [f"{self.tab.status} {self.tab.headers}", self.tab.html]
        if self.tab.status == 303:
            self.tab.follow()
            self.answers += [str(self.tab.headers), self.tab.html]
        return self

    def begin(self, *cells: str) -> Device:
        self.tab._ask("POST", "/hide", START)
        assert self.tab.status == 303
        self.tab.path = self.tab.headers["location"]
        self.tab.load()
        for cell in cells:
            self.send(tap=cell)
        return self


def test_one_hides_and_the_other_one_finds(server: HandedIn) -> None:
    device = Device(server)
    assert "Hide a box for somebody" in device.tab.text
    device.begin("B3", "D3", "A1")
    page = device.tab
    assert "3 of 4 atoms hidden" in page.text
    assert page.html.count("your atom, take it out") == 3
    assert 'value="A1" autofocus' in page.html
    device.send(hide="yes")
    assert page.status == 422
    assert "There are 3 atoms in the box, but it must hold 4. Put in 1 more." in page.text
    device.send(tap="A1").send(tap="F6").send(tap="G7")
    device.answers.clear()
    address = page.path
    device.send(hide="yes")
    assert "The box is shut." in page.text
    assert page.path == address
    shut = page.html
    # An older page, loaded anew or sent once more, shows the shut box and changes nothing.
    for body in ({"turn": "5", "tap": "B3"}, {"turn": "0", "hide": "yes"}, {"turn": "2"}):
        page.post(urlencode(body))
        assert page.load().html == shut
    device.send(tap="A")
    assert "You fired port A" in page.text
    assert "Score so far" in page.text
    device.send(take="seal")
    assert page.headers["cache-control"] == "no-store"
    assert 'aria-label="A1: empty, seal"' in page.html
    device.send(tool="seal", tap="!A1")
    assert 'value="!A1" autofocus aria-label="A1: sealed by you, open"' in page.html
    device.send(take="lock").send(tool="lock", tap="lock 1")
    assert 'value="lock 1" autofocus' in page.html
    assert page.html.count("sealed by you, unlock") == 8
    device.send(tool="lock", tap="lock 1")  # all of it is locked
    assert "sealed by you" not in page.html
    device.send(tool="seal", tap="!A1")
    device.send(tap="A")
    assert page.status == 422
    assert "already shows" in page.text
    device.send(check="all")
    assert 'id="found"' in page.html
    elsewhere = Tab(server.pages, page.path).load()
    assert elsewhere.text.endswith(page.load().text)
    assert "0 of 5" in page.load("?step=0").text
    assert 'name="tap"' not in page.html
    page.load()
    for answer in device.answers:
        for secret in ("your atom", ": atom", *(f'value="{cell}"' for cell in CELLS)):
            assert secret not in answer
    device.send(tap="+B3").send(tap="+D3").send(tap="+F6").send(tap="+G7").send(tap="?")
    assert "You have found them" in page.text
    assert page.html.count("marker on an atom") == 4
    device.send(tap="B")
    assert "You have found them" in page.load().text


def test_a_tap_that_is_sent_twice_counts_once(server: HandedIn) -> None:
    page = Device(server).begin("B3").tab
    page.post(urlencode({"turn": "0", "tap": "B3"}))  # would take the atom out
    assert "1 of 4 atoms hidden" in page.load().text


@pytest.mark.both_databases
def test_a_box_is_kept_for_a_week_after_its_last_move(server: HandedIn) -> None:
    address = Device(server).begin("B3").tab.path
    for hours, status in ((7 * 24 - 1, 200), (2, 404)):
        server.live(hours=hours)
        Device(server).begin()  # makes room
        assert Tab(server.pages, address).load().status == status
    gone = Tab(server.pages, address).load()
    assert "There is no box here" in gone.text
    assert gone.post("turn=0&tap=A1").status == 404
    assert Tab(server.pages, "/hide/" + "x" * 200).load().status == 404


def test_a_server_has_room_for_so_many_boxes(
    server: HandedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hot_seat, "MOST_BOXES", 1)
    Device(server).begin()
    full = Tab(server.pages, "/hide").post(START)
    assert full.status == 422
    assert "no room for another one" in full.text
    wrong = full.post("option-size=-size%3D1x1")
    assert wrong.status == 422
    assert "-size=1x1" in wrong.text
    for path, body in (("/hide/x", "tap=A1"), ("/hide/x", "turn=" + "9" * 40)):
        assert Tab(server.pages, path).post(body).status == 400


def test_taps_and_boxes_are_counted() -> None:
    moment = datetime(2026, 11, 26, tzinfo=UTC)
    clock = type("Clock", (), {"now": lambda _: moment})()
    traffic = Traffic(Rates("240/hour", "", "", "", "", "", ""), clock)
    for _ in range(120):
        traffic.count("tap", "one")
    with pytest.raises(TooMany):
        traffic.count("tap", "one")
    traffic.count("tap", "another")
    for _ in range(600):
        traffic.count("hidden box", "all")
    with pytest.raises(TooMany):
        traffic.count("hidden box", "all")


def shut_box(cells: list[str], atoms: str = "4") -> HotSeat:
    box = empty_box(GAMES, "blackbox", ("-size=6x6", f"-atoms={atoms}"))
    for cell in cells:
        box = changed(GAMES, box, cell, shuts=False)
    return changed(GAMES, box, "", shuts=True)


def shown(box: HotSeat) -> str:
    scene = solo_scene(position_of(GAME, box))
    page = HotSeatPage(
        scene=scene, key="KEY", game="blackbox", title="Blackbox", turn=box.turn, tap=box.tap
    )
    return PRINTER.render("hide-play", page=page)


@examples(4)
@given(st.sets(st.integers(0, 35), min_size=4, max_size=4), st.randoms())
def test_another_layout_changes_no_octet_of_a_page(atoms: set[int], random: Random) -> None:
    """Two worlds: other atoms, and the same results at the ports that were fired."""
    board = geometry(6, 6)
    other = frozenset(random.sample(range(36), 4))
    boxes = [shut_box([board.names[cell] for cell in cells]) for cells in (atoms, other)]
    assert shown(boxes[0]) == shown(boxes[1])
    results = [trace_all(board, frozenset(cells)) for cells in (atoms, other)]
    same = [board.ports[port] for port in range(24) if results[0][port] == results[1][port]]
    for tap in (*same[:5], "+A1", "!B2", "zz"):
        for number, box in enumerate(boxes):
            with contextlib.suppress(PlayerError):
                boxes[number] = changed(GAMES, box, tap, shuts=False)
        assert shown(boxes[0]) == shown(boxes[1])
