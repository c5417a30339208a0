"""The local mailbox in a real browser: two people begin a first game by taps."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import follow, looked_at, send
from playwright.sync_api import Browser, FrameLocator, Page, expect
from running import Running, start

from pbmserv.mail.key_ring import mailbox_secret

SMALLEST_TARGET = """() => [...document.querySelectorAll('header a, main button, main summary,' +
    'main a:not(.letter-text a), main input:not([type=hidden])')]
    .filter(one => one.offsetParent).map(one => one.getBoundingClientRect().height)"""
PICTURES = os.environ.get("PBMSERV_SCREENSHOTS", "")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with start(tmp_path, mailbox="127.0.0.1:0", web_url="") as running:
        yield running


class Reader:
    """A player at the mailbox, in a browser."""

    def __init__(self, chromium: Browser, server: Running) -> None:
        self.chromium, self.server = chromium, server
        secret = mailbox_secret(server.server.mail_domain.ring)
        self.top = f"http://127.0.0.1:{server.mailbox_port}/{secret}/"
        self.context = chromium.new_context(viewport={"width": 375, "height": 740})
        self.page: Page = self.context.new_page()
        self.page.goto(self.top)

    @property
    def letter(self) -> FrameLocator:
        """The letter that is open."""
        return self.page.frame_locator(".letter-frame")

    def judge(self, name: str, width: int, scheme: str) -> None:
        """Judge what the page shows, in a window of such a width, by day or in the dark."""
        copy = looked_at(self.chromium, self.page, width, scheme, SMALLEST_TARGET)
        if PICTURES:
            copy.screenshot(path=f"{PICTURES}/mailbox-{name}-{width}-{scheme}.png")

    def open_newest(self, name: str, subject: str = "") -> None:
        """Go to somebody's letters, and open the newest, or the newest with such a subject."""
        self.server.settle()
        follow(self.page.locator(".people").get_by_role("link", name=name))
        follow(self.page.locator(".subjects a").filter(has_text=subject).first)

    def reply(self, words: str) -> None:
        """Type an answer above what is quoted, and send it."""
        follow(self.page.get_by_role("link", name="Reply", exact=True))
        self.send(words)

    def tap(self, link: str, words: str = "") -> None:
        """Tap a link of the letter, which begins a mail; type more, and send it."""
        follow(self.letter.get_by_role("link", name=link, exact=True).first)
        self.send(words)

    def send(self, words: str) -> None:
        """Type at the text's end where a letter has filled in something, else at its beginning."""
        self.page.locator("#body").press_sequentially(words)
        send(self.page)
        assert "sent" in self.page.url, self.page.inner_text("main")


def test_a_first_game_begins_in_the_mailbox(chromium: Browser, server: Running) -> None:
    reader = Reader(chromium, server)
    page = reader.page
    reader.judge("first", 320, "dark")
    follow(page.get_by_role("button", name="Sign both up"))
    reader.open_newest("alice")
    assert page.inner_text("h1") == "Confirm your signup as alice"
    reader.reply("yes")
    assert page.inner_text("h1") == "Welcome, alice"
    server.reply(server.letter("bob@games.example"), "yes")
    reader.judge("letter", 320, "light")

    reader.open_newest("alice")
    follow(reader.letter.get_by_role("link", name="Find an opponent"))
    assert "seek" in page.locator("#body").input_value()
    reader.judge("write", 1200, "dark")
    page.locator("#body").fill("challenge bob")
    send(page)
    assert page.get_by_text("Sent. This is the answer:").count() == 1
    server.reply(server.letters("bob@games.example")[-1], "a1,c4,e5,g2")
    server.send("alice@games.example", "blackbox move 1 alice wonder-land b3,d3,f6,g7")

    # What comes for the other stands on the page by itself.
    follow(page.locator(".people").get_by_role("link", name="bob"))
    before = page.locator(".subjects li").count()
    server.send("alice@games.example", "message alice wonder-land bob", "Well met!")
    page.locator(".subjects li").nth(before).wait_for()
    assert "new" in page.locator(".people").inner_text()
    assert "for bob" in page.locator("#arrivals").inner_text()

    reader.open_newest("alice", "Your move")
    reader.judge("board", 375, "light")
    reader.tap("A1", ",1")
    reader.open_newest("bob", "Your move")
    expect(reader.letter.locator("body")).to_contain_text("alice fired port 1")
    with reader.context.expect_page() as opened:
        reader.letter.get_by_role("link", name="in a browser").click()
    assert "Your move on board 1" in opened.value.inner_text("h1")
