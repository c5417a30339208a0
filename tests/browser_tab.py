"""A browser without scripts at the page of a board: it taps, fills in fields and sends forms."""

from __future__ import annotations

import http.client
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlencode

from asgi_client import FORM, Answer
from running import Letter

_HIDDEN = re.compile(r'<input type="hidden" name="(turn|key)" value="([^"]*)">')
_TOOL = re.compile(r'<input type="hidden" name="tool" value="([^"]*)">')
_DRAWER = re.compile(r'<details class="drawer">.*?</details>', re.DOTALL)
_DRAFT = re.compile(r'<input id="move" name="move" value="([^"]*)"')


class Words(HTMLParser):
    """The text of a page without its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)


def page_of(letter: Letter) -> str:
    """Return the path of a board's page from the link in a letter."""
    match = re.search(
        r"In a browser: http://games\.example(/b/[a-z2-7]+)$", letter.text, re.MULTILINE
    )
    assert match is not None, letter.text
    return match[1]


@dataclass
class Tab:
    """A tab of a browser.

    Attributes:
        pages: the port of the pages, or a function that asks them without a socket.
        html: the page without the drawers of signs and rules.
        link: the path in the letter, if it has led to the address of a visit.
        whole: the page as it came.
    """

    pages: int | Callable[[str, str, str], Answer]
    path: str
    html: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    link: str = ""
    whole: str = ""

    def load(self, query: str = "") -> Tab:
        """Load the page; the link of a letter redirects to the address of a visit."""
        self._ask("GET", f"{self.path}{query}")
        if self.status == 303:
            self.link = self.path
            self.follow()
        return self

    def follow(self) -> Tab:
        """Load the page to which the answer redirects."""
        address = self.headers["location"]
        self.path = address.partition("?")[0]
        return self._ask("GET", address)

    def reopen(self) -> Tab:
        """Open the link of the letter again, as a player does some hours later."""
        self.path = self.link
        return self.load()

    def tap(self, *spots: str) -> Tab:
        """Tap ports and cells, one after the other."""
        for spot in spots:
            assert f'name="tap" value="{spot}"' in self.html, spot
            self.load("?" + urlencode({**self.fields, "move": self.draft, "tap": spot}))
        return self

    def press(self, move: str | None = None, words: str = "") -> Tab:
        """Send the draft, or *move*, and follow the redirection."""
        sent = self.draft if move is None else move
        return self.post(urlencode({**self.fields, "move": sent, "words": words}))

    def post(self, body: str) -> Tab:
        """Send a form as it is."""
        self._ask("POST", self.path, body)
        if self.status == 303:
            assert self.headers["location"].rpartition("/")[0] == self.path.rpartition("/")[0]
            return self.follow()
        return self

    def head(self, body: str = "") -> Tab:
        """Send the request of `load` with HEAD."""
        return self._ask("HEAD", self.path, body)

    @property
    def fields(self) -> dict[str, str]:
        """The hidden fields of the first form, and the tool of the next tap."""
        tool = _TOOL.search(self.html)
        return dict(_HIDDEN.findall(self.html)[:2]) | ({"tool": tool[1]} if tool else {})

    @property
    def draft(self) -> str:
        """The move that taps have put together so far."""
        match = _DRAFT.search(self.html)
        return unescape(match[1]) if match else ""

    @property
    def text(self) -> str:
        """The text of the page in one line."""
        words = Words()
        words.feed(self.html.partition("<main>")[2].partition("</main>")[0])
        return " ".join(" ".join(words.pieces).split())

    @property
    def bare(self) -> str:
        """The page without the key that tells two presses of its button apart."""
        return self.html.replace(self.fields.get("key", "-"), "KEY")

    def _ask(self, method: str, path: str, body: str = "") -> Tab:
        if isinstance(self.pages, int):
            connection = http.client.HTTPConnection("127.0.0.1", self.pages, timeout=60)
            connection.request(method, path, body or None, {"Content-Type": FORM} if body else {})
            reply = connection.getresponse()
            self.whole, self.status = reply.read().decode(), reply.status
            self.headers = {name.lower(): value for name, value in reply.getheaders()}
            connection.close()
        else:
            answer = self.pages(method, path, body)
            self.whole, self.status = answer.body.decode(), answer.status
            self.headers = {name.decode(): value.decode() for name, value in answer.headers}
        self.html = _DRAWER.sub("", self.whole)
        assert self.status < 500, self.html
        return self
