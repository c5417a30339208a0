"""Public pages in a real browser without scripts: a guest plays by thumb and by keys."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import chromium as browser
from playwright.sync_api import Browser
from pressing import Tab, page_of
from running import Running, start
from test_board_page_in_chromium import looked_at, opened, tap

ALICE, BOB = "alice@players.example", "bob@players.example"
PAGES = ("/seeks", "/daily", "/players/alice", "/game/2", "/game/2?turn=4", "/standings")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with start(f"sqlite:///{tmp_path}/game.sqlite3", tmp_path, signup="open") as running:
        for name in ("alice", "bob"):
            running.send(f"{name}@players.example", f"signup {name} wonder-land")
        running.send(BOB, "blackbox seek bob wonder-land -size=8x8")
        running.send(ALICE, "blackbox daily alice wonder-land 07:30")
        running.send(ALICE, "blackbox challenge alice wonder-land bob")
        letters = [running.letters(one)[-1] for one in (ALICE, BOB)]
        alice, bob = (Tab(running.web_port, page_of(one)).load() for one in letters)
        bob.press("b3,d3,f6,g7")
        alice.load().press("a1,c4,e5,g2")
        for port in ("a,+b3", "5", "c", "l"):
            alice.load().press(port)
            bob.load().press(port)
        alice.load().press("resign")
        yield running


def test_a_guest_plays_today_s_box_without_scripts(chromium: Browser, server: Running) -> None:
    screen = opened(chromium, server, "/today", 320, "light")
    looked_at(chromium, screen, 320, "light")
    tap(screen, "A", "+B3")
    assert "marker on B3" in screen.inner_text("main")
    free = screen.locator("td.port button").first
    port = free.get_attribute("value")
    free.focus()
    with screen.expect_navigation():
        screen.keyboard.press("Enter")
    assert f"You fired port {port}" in screen.inner_text("main")
    looked_at(chromium, screen, 375, "dark")
    screen.go_back()
    assert "marker on B3" in screen.inner_text("main")
    screen.context.close()


def test_public_pages_fit_and_are_accessible(chromium: Browser, server: Running) -> None:
    for number, path in enumerate(PAGES):
        width, scheme = ((320, "light"), (375, "dark"), (1200, "light"))[number % 3]
        screen = opened(chromium, server, path, width, scheme)
        looked_at(chromium, screen, width, scheme)
        if folder := os.environ.get("PBMSERV_SCREENSHOTS"):
            name = path.strip("/").replace("/", "-").replace("?", "-")
            screen.screenshot(path=Path(folder, f"{name}-{width}-{scheme}.png"), full_page=True)
        screen.context.close()
    screen = opened(chromium, server, "/game/2?turn=3", 375, "light")
    screen.locator('a[rel="next"]').click()
    assert screen.url.endswith("?turn=4")
    assert screen.locator("svg.drawn").count() == 2
    screen.context.close()
