"""Public pages in a real browser without scripts: a guest plays by thumb and by keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from browser_tab import Tab, page_of
from chromium import enter, follow, looked_at, opened, tap
from playwright.sync_api import Browser, expect
from running import Running, start

ALICE, BOB = "alice@players.example", "bob@players.example"
PAGES = (
    "/signup",
    "/help/tutorial",
    "/seeks",
    "/daily",
    "/players/alice",
    "/game/2",
    "/game/2?turn=4",
    "/standings",
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a seek, a daily box and a game that is over, all of which stay as they are."""
    folder = tmp_path_factory.mktemp("played")
    with start(folder) as server:
        for name in ("alice", "bob"):
            server.sign_up(name, "wonder-land")
        _play(server)
        yield server


def _play(server: Running) -> None:
    server.send(BOB, "blackbox seek bob wonder-land -size=8x8")
    server.send(ALICE, "blackbox daily alice wonder-land 07:30")
    server.send(ALICE, "blackbox challenge alice wonder-land bob")
    letters = [server.letters(player)[-1] for player in (ALICE, BOB)]
    alice, bob = (Tab(server.web_port, page_of(letter)).load() for letter in letters)
    bob.press("b3,d3,f6,g7")
    alice.load().press("a1,c4,e5,g2")
    for port in ("a,+b3", "5", "c", "l"):
        alice.load().press(port)
        bob.load().press(port)
    alice.load().press("resign")


def test_the_front_page_plays_at_once_and_takes_players(chromium: Browser, played: Running) -> None:
    screen = opened(chromium, played, "/", 320, "light")
    for width, scheme in ((320, "light"), (1280, "dark")):
        looked_at(chromium, screen, width, scheme)
    screen.fill("#name", "kate")
    screen.fill("#address", "kate@players.example")
    follow(screen.get_by_role("button", name="Sign up"))
    assert "Look into your mail, kate" in screen.inner_text("main")
    looked_at(chromium, screen, 1280, "dark")
    screen.goto("/")
    tap(screen, "A")
    assert "You fired port A" in screen.inner_text("main")
    screen.context.close()


def test_public_pages_fit_and_are_accessible(chromium: Browser, played: Running) -> None:
    screen = opened(chromium, played, "/", 320, "light")
    for number, path in enumerate(PAGES):
        screen.goto(path)
        looked_at(chromium, screen, *((320, "light"), (375, "dark"), (1200, "light"))[number % 3])
    screen.context.close()


def test_the_longest_name_fits_a_phone(chromium: Browser, server: Running) -> None:
    name = "w" * 20
    server.sign_up(name, "wonder-land")
    address = f"{name}@players.example"
    server.send(address, f"blackbox seek {name} wonder-land -size=8x8")
    server.send(ALICE, f"blackbox challenge alice wonder-land {name}")
    pages = [page_of(server.letters(player)[-1]) for player in (ALICE, address)]
    Tab(server.web_port, pages[1]).load().press("b3,d3,f6,g7")
    Tab(server.web_port, "/mine").post(f"who={name}")
    server.carry_out()
    match = re.search(r"http://games\.example(/mine/[a-z2-7]+)", server.letters(address)[-1].text)
    assert match is not None
    screen = opened(chromium, server, "/", 320, "light")
    for path in (f"/players/{name}", "/seeks", pages[0], match[1]):
        screen.goto(path)
        looked_at(chromium, screen, 320, "light")
    screen.context.close()


def test_a_game_is_stepped_through_by_slider_keys_and_links(
    chromium: Browser, played: Running
) -> None:
    for scripts in (True, False):
        screen = opened(chromium, played, "/game/2?turn=3", 375, "light", scripts=scripts)
        follow(screen.locator('a[rel="next"]'))
        assert screen.url.endswith("?turn=4")
        assert screen.locator("svg.drawn").count() == 2
        slider = screen.get_by_label("After move")
        slider.focus()
        screen.keyboard.press("ArrowRight")
        if scripts:
            expect(screen.locator("#steps span")).to_have_text("5 of 11")
            expect(screen.locator("#share code")).to_have_text("http://games.example/game/2?turn=5")
            assert screen.url.endswith("?turn=5")
            expect(slider).to_be_focused()
            expect(screen.get_by_role("button", name="Show")).to_be_hidden()
            expect(screen.locator("#told")).to_contain_text("alice fired port 5")
            # The keys work from anywhere; what is quickly passed over is not shown later.
            screen.locator("summary").click()
            for _ in range(7):
                screen.keyboard.press("ArrowLeft")
            expect(screen.locator("#steps span")).to_have_text("0 of 11")
            expect(screen.locator("main details")).to_have_attribute("open", "")
            screen.keyboard.press("ArrowRight")
            expect(screen.locator("#steps span")).to_have_text("1 of 11")
            screen.reload()
            expect(slider).to_have_value("1")
            looked_at(chromium, screen, 320, "dark")
            screen.emulate_media(media="print")
            assert screen.locator("svg.drawn").first.is_visible()
            for away in ("header", "footer", "#steps", ".slide", ".keys"):
                assert screen.locator(away).is_hidden(), away
        else:
            screen.get_by_role("button", name="Show").focus()
            enter(screen)
            assert screen.url.endswith("?turn=5")
            assert screen.inner_text("#steps span") == "5 of 11"
        screen.context.close()
