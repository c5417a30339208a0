"""Help pages in a real browser, on small phones, by axe-core's rules."""

from __future__ import annotations

import pytest
from chromium import judge
from playwright.sync_api import Browser

from pbmserv.engine.registry import Registry
from pbmserv.views.environment import environment
from pbmserv.web.pages.help import HelpPages
from pbmserv.web.rendering.site_facts import SiteFacts

SLUGS = ("", "tutorial", "blackbox", "challenge", "queue", "times", "replies")
LONE_QUOTES = r"""() => {
    const found = [], range = document.createRange();
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());)
        for (let at = 1; at < node.length - 1; at++)
            if (node.data[at] === '"' && node.data[at - 1] !== ' ') {
                range.setStart(node, at - 1); range.setEnd(node, at);
                const before = range.getBoundingClientRect();
                range.setStart(node, at); range.setEnd(node, at + 1);
                if (range.getBoundingClientRect().top > before.bottom - 2)
                    found.push(node.data.slice(Math.max(0, at - 20), at + 10));
            }
    return found; }"""


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    templates = environment()
    games = tuple(game.info for game in Registry.installed())
    shared = {"pages": SiteFacts("pbmserv@games.example", games, "confirm", ""), "style": "x.css"}
    pages = HelpPages(games, templates, shared)
    style = f"<style>{templates.get_template('web/style.css').render()}</style></head>"
    by_slug = {slug: pages.page(slug) or "" for slug in SLUGS}
    return {slug: html.replace("</head>", style) for slug, html in by_slug.items()}


def test_help_pages_are_accessible_on_phones(chromium: Browser, texts: dict[str, str]) -> None:
    context = chromium.new_context(offline=True)
    screen = context.new_page()
    for slug, html in texts.items():
        assert html, slug
        screen.set_content(html)
        for width in (390, 320):
            screen.set_viewport_size({"width": width, "height": 800})
            assert screen.evaluate("document.documentElement.scrollWidth") <= width, slug
            assert screen.evaluate(LONE_QUOTES) == [], slug
        judge(screen, slug)  # no width has colours or tags of its own
    context.close()
