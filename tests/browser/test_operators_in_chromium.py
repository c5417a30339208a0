"""Operators' pages in a real browser: somebody signs in, and has a kept mail carried out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import enter, follow, looked_at
from failing_handlers import failing_handler
from playwright.sync_api import Browser, Page
from running import Running, start
from seating import seat_pairs

from pbmserv.commands.table.playing import MakeMove
from pbmserv.web.operators.token import new_token

TARGETS = """() => [...document.querySelectorAll('a, button, summary, select, .tick,' +
    'input:not([type=hidden]):not([type=checkbox])')]
    .filter(one => one.offsetParent).map(one => one.getBoundingClientRect().height)"""
LOOKS = (320, "dark"), (375, "light"), (1280, "dark")
PICTURES = os.environ.get("PBMSERV_SCREENSHOTS", "")


@pytest.fixture
def token(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text(new_token())
    file.chmod(0o600)
    return file


@pytest.fixture
def server(tmp_path: Path, token: Path) -> Iterator[Running]:
    named = {"operator_pages": "127.0.0.1:0", "operator_token": str(token)}
    with start(tmp_path, **named) as running:
        yield running


def judged(page: Page, name: str, *looks: tuple[int, str]) -> None:
    """Judge what a page shows, in windows of such widths, by day or in the dark."""
    browser = page.context.browser
    assert browser is not None
    for width, scheme in LOOKS if PICTURES else looks:
        copy = looked_at(browser, page, width, scheme, TARGETS)
        if PICTURES:
            copy.screenshot(
                path=f"{PICTURES}/operators-{name}-{width}-{scheme}.png", full_page=True
            )


def test_a_kept_mail_is_found_and_carried_out(
    chromium: Browser, server: Running, token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = seat_pairs(server.server, 1)[0]
    player = table.players[0]
    with failing_handler(monkeypatch, MakeMove):
        server.send(
            player.address, f"blackbox move {table.board} {player.userid} secret a1,c4,e5,g2"
        )
    context = chromium.new_context()
    page = context.new_page()
    top = f"http://127.0.0.1:{server.operators_port}"
    page.goto(f"{top}/mails")
    judged(page, "sign-in", LOOKS[1])
    page.get_by_label("Your name").fill("olga")
    page.get_by_label("token").fill("not the token")
    follow(page.get_by_role("button", name="Sign in"))
    assert page.get_by_role("alert").inner_text().startswith("That is not the token.")
    assert page.get_by_label("Your name").input_value() == "olga"
    page.get_by_label("token").fill(token.read_text())
    follow(page.get_by_role("button", name="Sign in"))
    assert page.inner_text("h1") == "Queues"
    judged(page, "queues", LOOKS[0])

    follow(page.get_by_role("link", name="mails kept for the operator"))
    follow(page.locator(".rows a"))
    page.get_by_text("Carry it out again").first.click()
    judged(page, "mail", LOOKS[0])
    page.get_by_role("button", name="Carry it out again").click()
    assert page.get_by_role("status").count() == 0, "the browser asks for a reason"
    page.get_by_label("Your reason").locator("visible=true").fill("mended in this version")
    enter(page)
    assert (
        "is carried out, and the answers are on their way"
        in page.get_by_role("status").inner_text()
    )
    assert len(server.letters(player.address)) == 2, "that it was kept, and the answer"
    follow(page.get_by_role("link", name="Audit"))
    assert (
        "olga: retry mail 1: “mended in this version”" in page.locator(".entries li").inner_text()
    )
    rest = {
        "letters?state=all": LOOKS[1:2],
        f"players/{player.userid}": LOOKS[:1],
        f"boards/{table.board}": LOOKS[::2],  # all kinds of fields are on it
    }
    for path, looks in rest.items():
        page.goto(f"{top}/{path}")
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        judged(page, path.partition("?")[0].partition("/")[0], *looks)
    follow(page.get_by_role("button", name="Sign out"))
    page.goto(f"{top}/audit")
    assert page.inner_text("h1") == "Operators"
    context.close()
