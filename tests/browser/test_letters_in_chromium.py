"""Letters in a real browser: phones and desktops, light and dark, by axe-core's rules.

With PBMSERV_SCREENSHOTS=folder every page is kept there as a picture, to be looked at.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from chromium import judge, judge_colours, judging_window
from examples import DEEP
from letters_to_see import letters_to_see
from playwright.sync_api import Browser

from pbmserv.views.environment import templates_root

IN_DAYLIGHT = ("challenge", "eight", "result", "standings", "help")
IN_THE_DARK = ("board", "refusal", "games", "digest")
"""Letters that axe checks in the light and in the dark; there, colours alone."""
LOOK = """() => {
    const all = selector => [...document.querySelectorAll(selector)];
    const boxes = selector => all(selector).map(one => one.getBoundingClientRect());
    const cells = all('td a[aria-label]').map(one => one.parentElement);
    return {
        width: document.documentElement.scrollWidth,
        background: getComputedStyle(document.body).backgroundColor,
        height: document.body.getBoundingClientRect().height,
        target: Math.min(
            ...boxes('table[border] a').map(box => Math.min(box.width, box.height)), 1000),
        cell: Math.min(...cells.map(one => one.getBoundingClientRect().height), 1000),
        captions: boxes('table caption').map(box => box.y),
    };
}"""
WITH_TARGETS = ("board", "waiting", "eight", "digest", "large")
"""Letters with targets for thumbs."""
THUMBS = ("board", "eight", "waiting", "first", "second")
BESIDE_EACH_OTHER = ("result", "report", "large")
"""Letters with wide parts, which stand beside each other in wide windows."""
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


def screens_of(name: str) -> tuple[tuple[int, str], ...]:
    """Return the widths and colour schemes in which a letter is looked at.

    A deep run, or one that keeps pictures, looks at each letter in all of them.
    """
    is_complete = DEEP or "PBMSERV_SCREENSHOTS" in os.environ
    letters_by_screen = {
        (320, "light"): (name,),
        (320, "dark"): IN_THE_DARK,
        (375, "light"): HIGHEST,
        (600, "light"): BESIDE_EACH_OTHER,
    }
    return tuple(
        screen for screen, letters in letters_by_screen.items() if is_complete or name in letters
    )


def test_every_letter_fits_the_screen_and_is_accessible(
    chromium: Browser, pages: dict[str, str]
) -> None:
    context = chromium.new_context(offline=True)
    screen = context.new_page()
    urls: list[str] = []
    screen.on("request", lambda request: urls.append(request.url))
    for name, html in pages.items():
        screen.set_content(html)
        for width, scheme in screens_of(name):
            screen.set_viewport_size({"width": width, "height": 800})
            screen.emulate_media(color_scheme=scheme)
            look = screen.evaluate(LOOK)
            assert look["width"] <= width, (name, width)
            back = "rgb(20, 24, 26)" if scheme == "dark" else "rgb(247, 242, 232)"
            assert look["background"] == back, (name, scheme)
            if width == 375 and name in HIGHEST:
                assert look["height"] <= HIGHEST[name], (name, look)
            if name in WITH_TARGETS:
                assert look["target"] >= 24, (name, width)
                assert name not in THUMBS or look["cell"] >= 38, (name, width)
            if name == "result":
                first, second = look["captions"]
                assert (first == second) == (width >= 480), "boxes stand side by side on desks"
            if scheme == "dark" and name in IN_THE_DARK:
                judge_colours(screen, name)
            if (width, scheme) == (320, "light") and name in IN_DAYLIGHT:
                judge(screen, name)
            if folder := os.environ.get("PBMSERV_SCREENSHOTS"):
                file = Path(folder, f"{name}-{width}-{scheme}.png")
                screen.screenshot(path=file, full_page=True)
    assert urls == []  # nothing is fetched from anywhere
    context.close()


def test_the_dark_changes_nothing_but_colours() -> None:
    style = (templates_root() / "letters" / "head.css").read_text("utf-8")
    style += (templates_root() / "games" / "blackbox" / "head.css").read_text("utf-8")
    inside = "".join(re.findall(r"@media[^{]*\{(.*?)\n\}", style, re.DOTALL))
    assert set(re.findall(r"[{;]([a-z-]+):", inside)) == {"background", "border-color", "color"}


def test_a_letter_without_its_stylesheet_can_be_read_and_pressed(
    chromium: Browser, pages: dict[str, str]
) -> None:
    """Few mail programs drop the style block; then boards lose their colours and nothing else."""
    page = judging_window(chromium)
    page.set_viewport_size({"width": 320, "height": 800})
    page.emulate_media(color_scheme="light")
    for name in ("board", "result"):
        page.set_content(pages[name])
        text = page.inner_text("body").split()
        links = page.locator("a:visible").count()
        page.set_content(re.sub(r"<style>.*?</style>", "", pages[name], flags=re.DOTALL))
        assert page.inner_text("body").split() == text, name
        assert page.locator("a:visible").count() == links, name
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
        judge_colours(page, name)
