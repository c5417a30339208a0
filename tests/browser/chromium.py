"""The system's browser, and what people do in it; Playwright's own is not downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright
from running import Running

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is the same engine without windows: half the processor time."""
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


PRESSED = (
    *("button:not(.first)", "summary", "input:not([type=hidden])", "select", "textarea"),
    *("a.quiet", "a.button", "nav a"),
)
TARGETS = (
    f"() => [...document.querySelectorAll('{', '.join(f'main {one}' for one in PRESSED)}')]"
    ".filter(one => one.offsetParent).map(one => one.getBoundingClientRect().height)"
)
FOCUSED = """() => {
    const one = document.activeElement, box = one.getBoundingClientRect();
    const look = getComputedStyle(one);
    return {
        name: (one.getAttribute('aria-label') || one.innerText || one.id || '').trim(),
        isSeen: box.width > 0 && box.top < innerHeight && box.bottom > 0,
        outline: look.outlineStyle === 'none' ? 0 : parseFloat(look.outlineWidth),
    };
}"""
MOST_STOPS = 150
"""Presses of the tabulator that somebody may need to get anywhere on a page."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start it. While it runs, Playwright's event loop is this thread's, and no other can run."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("NOT RUN: no Chromium is installed here (.ci/run installs it when it can)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


def opened(
    chromium: Browser, server: Running, path: str, width: int, scheme: str, *, scripts: bool = False
) -> Page:
    """The page in somebody's own browser, in which no script can run, or some can."""
    viewport = {"width": width, "height": 740}
    context = chromium.new_context(
        viewport=viewport, color_scheme=scheme, java_script_enabled=scripts
    )
    screen = context.new_page()
    screen.goto(f"http://127.0.0.1:{server.web_port}{path}")
    return screen


def violations(page: Page) -> list[str]:
    """What axe-core finds on the page, which must let scripts in."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}" for one in found]


def is_well_made(page: Page, width: int, scheme: str, targets: str = TARGETS) -> None:
    """Judge what the page shows in a window of that width, by day ("light") or in the dark."""
    page.set_viewport_size({"width": width, "height": 740})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    seen = (page.url, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, seen
    assert min(page.evaluate(targets), default=44) >= 44, seen
    assert violations(page) == [], seen


@cache
def _judge(chromium: Browser) -> Page:
    """One for all pages: a new one for each costs more than most of what it judges."""
    return chromium.new_context(bypass_csp=True).new_page()


def looked_at(
    chromium: Browser, screen: Page, width: int, scheme: str, targets: str = TARGETS
) -> Page:
    """Judge the page that somebody sees now where scripts can measure it; give that copy."""
    copy = _judge(chromium)
    copy.goto(screen.url)
    is_well_made(copy, width, scheme, targets)
    return copy


def tap(screen: Page, *spots: str) -> None:
    for spot in spots:
        screen.locator(f'button[name="tap"][value="{spot}"]').click()


def send(screen: Page) -> None:
    screen.get_by_role("button", name="Send", exact=True).click()


def reach(screen: Page, name: str, key: str = "Tab") -> None:
    """Go to what has this name, or begins with it, by the tabulator; wherever the focus is on the
    way, it is seen."""
    for _ in range(MOST_STOPS):
        screen.keyboard.press(key)
        here = screen.evaluate(FOCUSED)
        assert here["isSeen"], here
        assert here["outline"] >= 2, here
        if here["name"].startswith(name):
            return
    raise AssertionError(f"no way to {name!r}")


def enter(screen: Page) -> None:
    """Press what has the focus; another page comes."""
    with screen.expect_navigation():
        screen.keyboard.press("Enter")
