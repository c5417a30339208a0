"""The page of a board in a real browser without scripts: two people play, by thumb and by keys."""

from __future__ import annotations

from browser_tab import page_of
from chromium import FOCUSED, enter, follow, looked_at, opened, reach, send, tap
from playwright.sync_api import Browser, Request
from running import Running

ALICE, BOB = "alice@players.example", "bob@players.example"


def test_two_people_play_without_scripts(chromium: Browser, server: Running) -> None:
    server.send(ALICE, "blackbox challenge alice wonder-land bob")
    challenges = {name: server.letters(name)[-1] for name in (ALICE, BOB)}
    server.reply(challenges[BOB], "a1,c4,e5,g2")
    alice = opened(chromium, server, page_of(challenges[ALICE]), 320, "light")
    tap(alice, "B3")
    alice.locator("#move").fill("B3,D3,F6,G7")  # as good as three more taps
    looked_at(chromium, alice, 320, "light")
    send(alice)
    tap(alice, "+A1", "1")
    looked_at(chromium, alice, 320, "dark")
    alice.locator("#move").fill("+A1,+C4,+E5,+G2,1")
    send(alice)
    assert "bob to move" in alice.inner_text("h1")

    # By keys alone: the words of a move, and Enter, which sends and taps nothing.
    bob = opened(chromium, server, page_of(challenges[BOB]), 1200, "dark")
    looked_at(chromium, bob, 1200, "dark")
    bob.locator("#move").press_sequentially("b")
    enter(bob)
    assert "alice to move" in bob.inner_text("h1")
    assert "/b/" in bob.url
    assert "tap=" not in bob.url

    alice.reload()
    tap(alice, "?")
    send(alice)
    assert "found all the atoms and won" in alice.inner_text("h1")
    looked_at(chromium, alice, 375, "dark")
    for screen in (alice, bob):
        screen.context.close()


def test_buttons_and_taps_are_seen_in_somebody_s_own_colours(
    chromium: Browser, server: Running
) -> None:
    """The colours of a system with high contrast, which replace all of ours."""
    server.send(ALICE, "blackbox challenge alice wonder-land bob")
    screen = opened(chromium, server, page_of(server.letters(ALICE)[-1]), 320, "light")
    tap(screen, "B3")
    screen.emulate_media(forced_colors="active")
    colour = "one => getComputedStyle(one).backgroundColor"
    tapped, other = (
        screen.get_by_label(f"{name}: hide an atom").evaluate(colour) for name in ("B3", "C3")
    )
    assert tapped != other
    button = screen.get_by_role("button", name="Send", exact=True)
    assert button.evaluate("one => getComputedStyle(one).borderTopWidth") == "1px"
    screen.context.close()


def test_wide_boards_fit_a_phone(chromium: Browser, server: Running) -> None:
    server.send(ALICE, "blackbox challenge alice wonder-land bob -size=20x6 -atoms=9")
    letters = server.letters(ALICE)
    path = page_of(letters[-1])
    mine = letters[0].text.rpartition("http://games.example")[2].strip()
    screen = opened(chromium, server, path, 320, "light")
    for url in (path, mine, "/game/1"):
        screen.goto(url)
        looked_at(chromium, screen, 320, "dark")
    screen.context.close()


def test_a_turn_by_the_keyboard_alone_from_ones_own_page(
    chromium: Browser, server: Running
) -> None:
    """Without scripts, and the focus is always to be seen."""
    server.send(ALICE, "blackbox challenge alice wonder-land bob")
    (welcome, *_, challenge) = server.letters(BOB)
    mine = welcome.text.rpartition("http://games.example")[2].strip()
    server.reply(challenge, "a1,c4,e5,g2")
    server.send(ALICE, "blackbox move 1 alice wonder-land b3,d3,f6,g7")
    server.send(ALICE, "blackbox move 1 alice wonder-land 4")
    screen = opened(chromium, server, mine, 375, "light")
    asked_for: list[Request] = []
    screen.on("request", lambda request: asked_for.extend([request]))
    assert "1 board waits for you" in screen.inner_text("h1")
    reach(screen, "Your move on board 1")
    enter(screen)
    reach(screen, "B3: empty")
    enter(screen)
    assert screen.evaluate(FOCUSED)["name"] == "B3: your marker, take off"
    reach(screen, "Port B: not used", "Shift+Tab")
    enter(screen)
    assert screen.evaluate(FOCUSED) == {
        "name": "Port B: not used, fire",
        "isSeen": True,
        "outline": 3,
    }
    reach(screen, "A1: empty")
    enter(screen)
    assert screen.evaluate(FOCUSED)["name"].startswith("A1: your marker")
    enter(screen)  # once more takes it back
    reach(screen, "Check my markers")
    enter(screen)
    assert screen.evaluate(FOCUSED)["name"] == "Check my markers"
    assert "No port shows a mark yet" in screen.inner_text("#found")
    check = screen.get_by_role("button", name="Check my markers")
    assert check.get_attribute("aria-describedby") == "found", "it is read out at once"
    assert screen.locator("#move").input_value() == "+B3,B"
    reach(screen, "Say something to alice")
    screen.keyboard.press("Enter")
    reach(screen, "words")
    screen.keyboard.type("Your turn!")
    reach(screen, "Send", "Shift+Tab")
    enter(screen)
    assert "alice to move" in screen.inner_text("h1")
    assert "Your turn!" in server.letters(ALICE)[-1].text
    screen.goto(f"http://127.0.0.1:{server.web_port}{mine}")
    assert "Nobody is waiting for you" in screen.inner_text("h1")

    # Preferences, with what a keyboard does in lists and fields.
    reach(screen, "name you")
    screen.keyboard.press("ArrowDown")
    reach(screen, "Save")
    enter(screen)
    assert "Your preferences are changed." in screen.inner_text("main")
    assert "Public pages call you" in screen.inner_text("main")
    follow(screen.get_by_role("link", name="Standings"))
    assert any(request.url.endswith("/standings") for request in asked_for)
    assert {request.all_headers().get("referer", "") for request in asked_for} == {""}
    screen.context.close()
