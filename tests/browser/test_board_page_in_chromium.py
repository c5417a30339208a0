"""The page of a board in a real browser without scripts: two people play, by thumb and by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from chromium import chromium as browser
from playwright.sync_api import Browser, Page
from pressing import page_of
from running import Running, start

ALICE, BOB = "alice@players.example", "bob@players.example"
TALLEST_TARGET = """() => [...document.querySelectorAll('main button:not(.first), main summary')]
    .filter(one => one.offsetParent).map(one => one.getBoundingClientRect().height)"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with start(f"sqlite:///{tmp_path}/game.sqlite3", tmp_path, signup="open") as running:
        for name in ("alice", "bob"):
            running.send(f"{name}@players.example", f"signup {name} wonder-land")
        yield running


def opened(chromium: Browser, server: Running, path: str, width: int, scheme: str) -> Page:
    """The page in somebody's own browser, in which no script can run."""
    viewport = {"width": width, "height": 740}
    context = chromium.new_context(
        viewport=viewport, color_scheme=scheme, java_script_enabled=False
    )
    screen = context.new_page()
    screen.goto(f"http://127.0.0.1:{server.web_port}{path}")
    return screen


def looked_at(chromium: Browser, screen: Page, width: int, scheme: str) -> None:
    """Judge what the page shows now where scripts can measure it."""
    viewport = {"width": width, "height": 740}
    context = chromium.new_context(viewport=viewport, color_scheme=scheme, bypass_csp=True)
    copy = context.new_page()
    copy.goto(screen.url)
    assert copy.evaluate("document.documentElement.scrollWidth") <= width
    assert min(copy.evaluate(TALLEST_TARGET), default=44) >= 44
    violations = Axe().run(copy).response["violations"]
    assert [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in violations] == []
    context.close()


def tap(screen: Page, *spots: str) -> None:
    for spot in spots:
        screen.locator(f'button[name="tap"][value="{spot}"]').click()


def send(screen: Page) -> None:
    screen.get_by_role("button", name="Send", exact=True).click()


def test_two_people_play_without_scripts(chromium: Browser, server: Running) -> None:
    server.send(ALICE, "blackbox challenge alice wonder-land bob")
    paths = {name: page_of(server.letters(name)[-1]) for name in (ALICE, BOB)}
    alice = opened(chromium, server, paths[ALICE], 320, "light")
    bob = opened(chromium, server, paths[BOB], 1200, "dark")
    bob.get_by_role("button", name="Accept").click()
    tap(bob, "A1", "C4", "E5", "G2")
    looked_at(chromium, bob, 1200, "dark")
    send(bob)

    alice.reload()
    tap(alice, "B3", "D3", "F6", "G7")
    looked_at(chromium, alice, 320, "light")
    send(alice)
    tap(alice, "+A1", "+C4", "+E5", "+G2", "1")
    looked_at(chromium, alice, 320, "dark")
    send(alice)
    assert "bob to move" in alice.inner_text("h1")
    looked_at(chromium, alice, 375, "light")

    # By keys alone: the words of a move, and Enter, which sends and taps nothing.
    bob.reload()
    bob.locator("#move").press_sequentially("b,+b3")
    bob.locator("#move").press("Enter")
    assert "alice to move" in bob.inner_text("h1")
    assert "/b/" in bob.url
    assert "tap" not in bob.url

    alice.reload()
    tap(alice, "?")
    send(alice)
    assert "found all the atoms and won" in alice.inner_text("h1")
    looked_at(chromium, alice, 375, "dark")
    bob.reload()
    assert bob.get_by_label("A1: atom").count() + bob.get_by_label("A1: marker on an atom").count()
    for screen in (alice, bob):
        screen.context.close()


def test_public_pages_and_wide_boards_fit_a_phone(chromium: Browser, server: Running) -> None:
    server.send(ALICE, "blackbox challenge alice wonder-land bob -size=20x20 -atoms=9")
    letters = server.letters(ALICE)
    path = page_of(letters[-1])
    mine = letters[0].text.rpartition("http://games.example")[2].strip()
    for one in (path, mine, "/game/1", "/game/1?turn=0", "/standings", "/players/alice"):
        screen = opened(chromium, server, one, 320, "light")
        looked_at(chromium, screen, 320, "dark")
        screen.context.close()
