"""The system's browser, and what people do in it; Playwright's own is not downloaded."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from urllib.parse import urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from running import Running

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is the same engine without windows: half the processor time."""
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--in-process-gpu", "--process-per-site", "--renderer-process-limit=1"),
    "--js-flags=--no-turbofan",  # axe does not run for long enough to repay its compilation
)


PRESSED = (
    *("button:not(.first)", "summary", "input:not([type=hidden])", "select", "textarea"),
    *("a.quiet", "a.button", "nav a"),
)
TARGETS = (
    f"() => [...document.querySelectorAll('{', '.join(f'main {tag}' for tag in PRESSED)}')]"
    ".filter(one => one.offsetParent).map(one => one.getBoundingClientRect().height)"
)
_LOOK = """one => {
    const box = one.getBoundingClientRect(), look = getComputedStyle(one);
    return {
        name: (one.getAttribute('aria-label') || one.innerText || one.id || '').trim(),
        isSeen: box.width > 0 && box.top < innerHeight && box.bottom > 0,
        outline: look.outlineStyle === 'none' ? 0 : parseFloat(look.outlineWidth),
    };
}"""
FOCUSED = f"() => ({_LOOK})(document.activeElement)"
"""The element that has the focus."""
_WALK = f"""([name, step]) => {{
    const look = {_LOOK}, stops = [...document.querySelectorAll(
        'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]'
    )].filter(one => one.tabIndex >= 0 && !one.disabled && one.checkVisibility());
    const passed = [];
    let at = stops.indexOf(document.activeElement);
    for (const _ of stops) {{
        at = (at + step + stops.length) % stops.length;
        if (look(stops[at]).name.startsWith(name)) break;
        stops[at].focus();
        passed.push(look(document.activeElement));
    }}
    return passed;
}}"""
"""Moves the focus as the tabulator does, to the stop before one with this name."""


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
        base_url=f"http://127.0.0.1:{server.web_port}",
        viewport=viewport,
        color_scheme=scheme,
        java_script_enabled=scripts,
    )
    screen = context.new_page()
    screen.goto(path)
    return screen


COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""Rules of axe-core about colours, which take two thirds of its time."""
COLOURS = f"{{runOnly: {[*COLOUR_RULES]}}}"
ALL_BUT_COLOURS = json.dumps({"rules": {rule: {"enabled": False} for rule in COLOUR_RULES}})


def violations(page: Page, only: str = "{}", within: str = "html") -> list[str]:
    """Return the faults that axe-core finds on a page, which must let scripts in.

    Args:
        only: options that name rules; default: all of them.
        within: selector of the elements that are judged.

    A window has axe once, and may show many documents one after another (`Page.set_content`): after
    the first ones its code is compiled, and takes a third of the processor time.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    options = f"{{resultTypes: ['violations'], iframes: false, ...{only}}}"
    faults = page.evaluate(f"axe.run('{within}', {options}).then(result => result.violations)")
    return [
        f"{fault['id']}: {fault['help']}: {fault['nodes'][0]['html'][:200]}" for fault in faults
    ]


_KINDS = """() => {
    const kind = one => one.tagName + [...one.classList].sort() + (one.getAttribute('role') || '');
    const paths = new Map([[null, '']]);
    const path = one => {
        if (!paths.has(one)) paths.set(one, path(one.parentElement) + '>' + kind(one));
        return paths.get(one);
    };
    const rolls = one => one.scrollWidth > one.clientWidth
        && /auto|scroll/.test(getComputedStyle(one).overflowX);
    const words = one =>
        [!one.textContent.trim(), one.labels?.length, rolls(one), one.checkVisibility()];
    const headings = [...document.querySelectorAll('h1, h2, h3, h4')].map(one => one.tagName);
    return [...new Set([...document.querySelectorAll('body, body *')].map(
        one => path(one) + ' ' + one.getAttributeNames().sort() + words(one)))].concat(
        'headings ' + headings.filter((level, at) => level !== headings[at - 1]));
}"""
"""The kinds of elements on a page: their tags and classes from the root on, names of attributes,
whether they have text, can be rolled and are visible, and how many labels. The order of headings
counts as one more. Nothing else of a page's layout matters to the rules of axe but colours."""
_SHADES = """known => {
    const all = new Map([[null, '']]);
    const grounds = one => {
        if (all.has(one)) return all.get(one);
        const look = getComputedStyle(one), isFlat = !/absolute|fixed|sticky/.test(look.position);
        const isOpaque = /^rgb\\(/.test(look.backgroundColor) && isFlat;
        let ground = [look.backgroundColor, look.backgroundImage, look.opacity, isFlat].join();
        if (ground === 'rgba(0, 0, 0, 0),none,1,true') ground = '';
        all.set(one, ground + (isOpaque ? '' : grounds(one.parentElement)));
        return all.get(one);
    };
    const shade = one => {
        const look = getComputedStyle(one), size = parseFloat(look.fontSize);
        const isLarge = size >= 24 || size >= 18.66 && look.fontWeight >= 700;
        return [one.tagName === 'A', look.color, getComputedStyle(one.parentElement).color, isLarge,
            look.textDecorationLine, look.textShadow, grounds(one)].join();
    };
    const hasText = one => one.matches('input, select, textarea')
        || [...one.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const marked = document.querySelectorAll('[data-judge]');
    for (const one of marked) one.removeAttribute('data-judge');
    const counts = new Map(known.map(each => [each, 3]));
    for (const one of [...document.querySelectorAll('body *')].filter(hasText)) {
        if (!one.checkVisibility()) continue;
        const key = shade(one), count = counts.get(key) || 0;
        counts.set(key, count + 1);
        if (count < 3) one.setAttribute('data-judge', '');
    }
    return [...counts.keys()].filter(each => !known.includes(each));
}"""
"""The shades of visible text on a page that are not known yet: its colour and all that is behind
it, and whether it is as large as the rules for contrast call large. Three elements of each are
marked, because axe takes milliseconds for each element."""
_judged_kinds: set[str] = set()
_judged_shades: set[str] = set()


def judge(page: Page, seen: object) -> None:
    """Judge a page by axe where it has a kind of element or a shade that no judged page has."""
    kinds = set(page.evaluate(_KINDS))
    if not kinds <= _judged_kinds:
        assert violations(page, ALL_BUT_COLOURS) == [], seen
        _judged_kinds.update(kinds)
    judge_colours(page, seen)


def judge_colours(page: Page, seen: object) -> None:
    """Judge the shades of a page that no judged page has."""
    if shades := page.evaluate(_SHADES, [*_judged_shades]):
        assert violations(page, COLOURS, "[data-judge]") == [], seen
        _judged_shades.update(shades)


def _is_well_made(page: Page, width: int, scheme: str, targets: str) -> None:
    """Judge a page in a window of that width.

    All but its colours is the same in each colour scheme.
    """
    page.set_viewport_size({"width": width, "height": 740})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    seen = (page.url, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, seen
    assert min(page.evaluate(targets), default=44) >= 44, seen
    judge(page, seen)


@cache
def judging_window(chromium: Browser) -> Page:
    """Return the one window in which pages and letters are judged.

    A new window costs more than it judges, and would have to load and compile axe again.
    """
    return chromium.new_context(bypass_csp=True).new_page()


def looked_at(
    chromium: Browser, screen: Page, width: int, scheme: str, targets: str = TARGETS
) -> Page:
    """Judge the page that somebody sees now in a window of that width, by day ("light") or in the
    dark, where scripts can measure it; give that copy, in which the page's own do not run.
    """
    copy = judging_window(chromium)
    if urlsplit(screen.url)[:2] != urlsplit(copy.url)[:2]:
        copy.goto(urljoin(screen.url, "/there-is-no-such-page"))
    copy.evaluate("url => history.replaceState(null, '', url)", screen.url)
    copy.set_content(re.sub(r"<script\b.*?</script>", "", screen.content(), flags=re.DOTALL))
    _is_well_made(copy, width, scheme, targets)
    return copy


@contextmanager
def another_page(screen: Page) -> Iterator[None]:
    """Wait for the page to which the block leads, and until it has set the focus."""
    with screen.expect_navigation():
        yield
    if screen.locator("[autofocus]").count():
        screen.locator("[autofocus]:focus").wait_for(state="attached")


def follow(link: Locator) -> None:
    """Press Enter on a link or button that leads to another page, and wait for that page.

    A click takes twice the processor time: the browser draws several frames for it.
    """
    with another_page(link.page):
        link.press("Enter")


def tap(screen: Page, *spots: str) -> None:
    """Tap ports and cells, which nothing may cover."""
    for spot in spots:
        with another_page(screen):
            screen.locator(f'button[name="tap"][value="{spot}"]').click()


def send(screen: Page) -> None:
    follow(screen.get_by_role("button", name="Send", exact=True))


def reach(screen: Page, name: str, key: str = "Tab") -> None:
    """Go to the element whose name begins so by the tabulator; wherever the focus is on the way, it
    is seen.

    Most of the way is walked in one step, as a key takes the browser ten milliseconds.
    """
    screen.keyboard.press(key)
    passed = [screen.evaluate(FOCUSED)]
    if not passed[-1]["name"].startswith(name):
        passed += screen.evaluate(_WALK, [name, -1 if key.startswith("Shift") else 1])
        screen.keyboard.press(key)
        passed.append(screen.evaluate(FOCUSED))
    for focused in passed:
        assert focused["isSeen"], focused
        assert focused["outline"] >= 2, focused
    assert passed[-1]["name"].startswith(name), f"no way to {name!r}"


def enter(screen: Page) -> None:
    """Press what has the focus; another page comes."""
    with another_page(screen):
        screen.keyboard.press("Enter")
