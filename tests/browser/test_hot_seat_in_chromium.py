"""Two players at one browser: the second cannot find the atoms that the first has hidden."""

from __future__ import annotations

import pytest
from chromium import follow, opened, tap
from examples import DEEP
from playwright.sync_api import Browser, Page
from running import Running

CELLS = ("B3", "D3", "F6", "G7")


def hidden(screen: Page) -> None:
    """Hide four atoms and shut the box."""
    follow(screen.get_by_role("button", name="Open the box"))
    for cell in CELLS:
        follow(screen.locator(f'button[name="tap"][value="{cell}"]'))
    follow(screen.get_by_role("button", name="Hide!"))


def tells(screen: Page) -> list[str]:
    """Return the parts of a page that reveal atoms: buttons that remove them, filled-in fields."""
    signs = ("your atom", ": atom", "atoms hidden", *(f'value="{cell}"' for cell in CELLS))
    return [sign for sign in signs if sign in screen.content() or sign in screen.url]


@pytest.mark.parametrize("scripts", [False, True] if DEEP else [False])
def test_neither_history_nor_address_nor_source_tells_the_atoms(
    chromium: Browser, server: Running, scripts: bool
) -> None:
    screen = opened(chromium, server, "/today", 390, "light", scripts=scripts)
    urls: list[str] = []
    screen.on("request", lambda r: urls.extend([r.url, str(r.headers.get("referer", ""))]))
    follow(screen.get_by_role("link", name="Hide a box for the other one"))
    hidden(screen)
    address = screen.url
    assert tells(screen) == []
    seen = []
    for _ in range(8):  # as far back as it goes
        if screen.go_back() is None and screen.url == "about:blank":
            break
        seen.append(screen.url)
        assert tells(screen) == [], seen
    assert any(url.endswith("/hide") for url in seen)
    for _ in seen:
        screen.go_forward()
        assert tells(screen) == []
    screen.goto(address)
    screen.reload()
    assert tells(screen) == []
    key = address.rpartition("/")[2]  # random, so it may hold "B3" by chance
    assert not [url for url in urls if any(cell in url.replace(key, "") for cell in CELLS)]
    # The player's moves are not in the history either: no ray is taken back.
    tap(screen, "A", "+B3")
    screen.go_back()
    screen.goto(address)
    assert "marker on B3" in screen.inner_text("main")
    screen.context.close()


def test_the_page_with_the_atoms_is_empty_once_it_is_left(
    chromium: Browser, server: Running
) -> None:
    """A browser that keeps pages in memory shows them as they were when they were left."""
    screen = opened(chromium, server, "/hide", 390, "light", scripts=True)
    follow(screen.get_by_role("button", name="Open the box"))
    tap(screen, *CELLS)
    assert "your atom" in screen.content()
    screen.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))")
    assert screen.inner_text("main") == ""
    assert tells(screen) == []
    with screen.expect_navigation():
        screen.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    assert screen.get_by_label("your atom").count() == len(CELLS)  # nobody has shut it yet
    screen.context.close()
