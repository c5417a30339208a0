"""Letters in a real browser: phones and desktops, light and dark, by axe-core's rules.

With PBMSERV_SCREENSHOTS=folder every page is kept there as a picture, to be looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from chromium import COLOURS, violations
from letters_to_see import letters_to_see
from playwright.sync_api import Browser, Page

from pbmserv.views.environment import templates_root

SCREENS = ((320, "light"), (320, "dark"), (375, "light"), (600, "light"), (800, "light"))
"""Widths and colour schemes; the dark changes nothing but colours, so one width shows it."""
IN_DAYLIGHT = ("challenge", "board", "eight", "result", "standings", "large", "help")
IN_THE_DARK = ("board", "waiting", "refusal", "games", "digest")
"""Letters that axe checks in the light and in the dark; there, colours alone."""
SMALLEST_TARGET = """() => Math.min(...[...document.querySelectorAll('table[border] a')].map(
    link => { const r = link.getBoundingClientRect(); return Math.min(r.width, r.height) }))"""
CELLS = """() => [...document.querySelectorAll('td a[aria-label]')].map(
    link => link.parentElement.getBoundingClientRect().height)"""
BOXES = (
    "() => [...document.querySelectorAll('table caption')].map(c => c.getBoundingClientRect().y)"
)
THUMBS = ("board", "eight", "waiting", "first", "second")
HIGHEST = {
    **dict.fromkeys(THUMBS, 1000),
    "refusal": 500,
    "challenge": 700,
    "result": 1400,
    "three": 1600,
}
"""Most pixels of height of a letter on a phone (375 wide)."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Letters, made in a thread in which no browser's event loop runs."""
    with ThreadPoolExecutor(1) as pool:
        letters = pool.submit(letters_to_see, tmp_path_factory.mktemp("letters")).result()
    return {name: letter.html for name, letter in letters.items()}


@pytest.fixture(scope="module", params=SCREENS, ids=lambda p: f"{p[0]}-{p[1]}")
def screen(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page as wide as a phone or a window, in one colour scheme, that cannot reach the net."""
    width, scheme = request.param
    viewport = {"width": width, "height": 800}
    context = chromium.new_context(viewport=viewport, color_scheme=scheme, offline=True)
    yield context.new_page()
    context.close()


def width_of(screen: Page) -> int:
    assert screen.viewport_size is not None
    return screen.viewport_size["width"]


def test_every_letter_fits_the_screen_and_is_accessible(
    screen: Page, pages: dict[str, str], request: pytest.FixtureRequest
) -> None:
    urls: list[str] = []
    screen.on("request", lambda request: urls.append(request.url))
    width = width_of(screen)
    dark = screen.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    for name, html in pages.items():
        screen.set_content(html)
        assert screen.evaluate("document.documentElement.scrollWidth") <= width, name
        back = screen.evaluate("getComputedStyle(document.body).backgroundColor")
        assert back == ("rgb(20, 24, 26)" if dark else "rgb(247, 242, 232)"), name
        if width == 375 and name in HIGHEST:
            height = screen.evaluate("document.body.getBoundingClientRect().height")
            assert height <= HIGHEST[name], (name, height)
        if width == 320 and name in (IN_THE_DARK if dark else IN_DAYLIGHT):
            assert violations(screen, COLOURS if dark else "{}") == [], name
        if folder := os.environ.get("PBMSERV_SCREENSHOTS"):
            scheme = "dark" if dark else "light"
            screen.screenshot(path=Path(folder, f"{name}-{width}-{scheme}.png"), full_page=True)
    assert urls == []  # nothing is fetched from anywhere


def test_the_dark_changes_nothing_but_colours() -> None:
    style = (templates_root() / "letters" / "head.css").read_text("utf-8")
    style += (templates_root() / "games" / "blackbox" / "head.css").read_text("utf-8")
    inside = "".join(re.findall(r"@media[^{]*\{(.*?)\n\}", style, re.DOTALL))
    assert set(re.findall(r"[{;]([a-z-]+):", inside)) == {"background", "border-color", "color"}


def test_targets_are_large_enough_for_thumbs(screen: Page, pages: dict[str, str]) -> None:
    for name in ("board", "waiting", "eight", "digest", "large"):
        screen.set_content(pages[name])
        assert screen.evaluate(SMALLEST_TARGET) >= 24, name
        assert name not in THUMBS or min(screen.evaluate(CELLS)) >= 38, name


def test_opened_boxes_stand_below_each_other_on_phones_and_side_by_side_on_desks(
    screen: Page, pages: dict[str, str]
) -> None:
    screen.set_content(pages["result"])
    first, second = screen.evaluate(BOXES)
    assert (first == second) == (width_of(screen) >= 480)


def test_a_letter_without_its_stylesheet_can_be_read_and_pressed(
    chromium: Browser, pages: dict[str, str]
) -> None:
    """Few mail programs drop the style block; then boards lose their colours and nothing else."""
    context = chromium.new_context(viewport={"width": 320, "height": 800}, color_scheme="light")
    page = context.new_page()
    for name in ("board", "result", "digest"):
        page.set_content(pages[name])
        text = page.inner_text("body").split()
        links = page.locator("a:visible").count()
        page.set_content(re.sub(r"<style>.*?</style>", "", pages[name], flags=re.DOTALL))
        assert page.inner_text("body").split() == text, name
        assert page.locator("a:visible").count() == links, name
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
        assert violations(page, COLOURS) == [], name
    context.close()
