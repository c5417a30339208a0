"""Reads letters as their readers' mail programs do, and checks the form that all of them keep."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser

from indoors import Indoors, Posted

from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.views import View
from pbmserv.store.boards import boards

WIDTH = 76
ENDED_BY = {
    "td": {"td", "th"},
    "th": {"td", "th"},
    "tr": {"td", "th", "tr"},
    "/table": {"td", "th", "tr"},
}
"""Elements that a tag ends, so that they need no end tag of their own in HTML."""
VOID = {"br", "hr", "meta", "col", "img", "input", "link"}
SINGLE = (
    *("Date", "From", "To", "Reply-To", "Subject", "Message-ID", "In-Reply-To", "References"),
    *("Auto-Submitted", "X-Loop", "List-Id", "MIME-Version", "Content-Type"),
)

Rows = tuple[tuple[str, ...], ...]
"""The rows of a drawn board from its top labels to its bottom labels, blanks stripped."""


@dataclass(frozen=True)
class Drawn:
    """A board as a letter draws it."""

    title: str
    grid: Rows
    guesses: int


@dataclass
class Spot:
    """A cell of a table: what is written in it, and the class of it or of the chip in it."""

    pieces: list[str] = field(default_factory=list)
    look: str = ""


@dataclass
class Grid:
    """A table; a board's has lines."""

    title: str
    has_lines: bool
    rows: list[list[Spot]] = field(default_factory=list)


class Page(HTMLParser):
    """An HTML body; refuses tags that are not closed in order, and what mail must not hold.

    `words` are all that it shows, `plain` those that stand in no board, `quoted` those in a block
    of their own.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.grids: list[Grid] = []
        self.links: list[str] = []
        self.heading = ""
        self.words: list[str] = []
        self.plain: list[str] = []
        self.quoted: list[str] = []
        self.numbers: list[str] = []
        self._items = 0
        self._inside: list[Grid] = []
        self._aside = 0
        self._label = ""
        self.feed(html)
        self.close()
        assert self.open == []

    @property
    def text(self) -> str:
        """The visible text, with single blanks."""
        return " ".join(" ".join(self.words).split())

    @property
    def prose(self) -> str:
        """Return the text outside boards, with numbers of lists and the targets of links to pages.

        Not the counts beside boards, nor which board the letter is about.
        """
        pages = (link for link in self.links if link.startswith("http"))
        return " ".join((" ".join(self.plain), *self.numbers, *pages))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "img", "iframe", "form", "object", "link"}, tag
        self._end_before(tag)
        assert tag != "style" or self.open == ["html", "head"]
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        assert all(value is not None for _, value in attrs), (tag, attrs)
        assert not any(name.startswith("on") for name in names), (tag, names)
        attributes = {name: str(value) for name, value in attrs}
        look = attributes.get("class", "")
        if tag not in VOID:
            self.open.append(tag)
            if self._aside or look in {"about", "found", "have"}:
                self._aside += 1
        if tag == "a":
            self.links.append(attributes["href"])
        elif tag == "ol":
            self._items = 0
        elif tag == "li" and self.open[-2] == "ol":
            self._items += 1
            self.numbers.append(str(self._items))
        elif tag == "table":
            self._inside.append(
                Grid(attributes.get("aria-label", ""), attributes.get("border") == "1")
            )
            self.grids.append(self._inside[-1])
        elif tag == "tr":
            self._inside[-1].rows.append([])
        elif tag in {"td", "th"}:
            self._inside[-1].rows[-1].append(Spot(look=look))
        elif tag == "div" and self._inside and self._inside[-1].has_lines:
            self._inside[-1].rows[-1][-1].look = look

    def handle_endtag(self, tag: str) -> None:
        self._end_before(f"/{tag}")
        assert self.open.pop() == tag, tag
        self._aside = max(0, self._aside - 1)
        if tag == "table":
            self._inside.pop()

    def _end_before(self, tag: str) -> None:
        """End the elements whose end tags may be left out in front of this tag."""
        while self.open[-1:] and self.open[-1] in ENDED_BY.get(tag, ()):
            self.open.pop()
            self._aside = max(0, self._aside - 1)

    def handle_data(self, data: str) -> None:
        if {"title", "style"} & set(self.open):
            return
        self.words.append(data)
        is_board = bool(self._inside) and self._inside[-1].has_lines
        if not is_board and not self._aside:
            self.plain.append(data)
        if "blockquote" in self.open:
            self.quoted.append(data)
        if "h1" in self.open:
            self.heading += data
        elif is_board and "caption" in self.open:
            self._inside[-1].title += data
        elif is_board and {"td", "th"} & set(self.open[-4:]) and data.strip():
            self._inside[-1].rows[-1][-1].pieces.append(data.strip())

    @property
    def boards(self) -> list[Drawn]:
        """The boards, in their order, without the names of ports and cells."""
        return [
            _drawn(grid.title, tuple(tuple(map(_shown, row)) for row in grid.rows))
            for grid in self.grids
            if grid.has_lines
        ]


IN_TEXT = {"\u00b7": ".", "\u25cf": "@", "\u25c6": "?"}
"""Signs of the text for signs of the page."""


def _shown(spot: Spot) -> str:
    """Return the sign on a spot: a mark in front of its name, or no name."""
    if not spot.pieces or (spot.look in {"", "p", "off"} and len(spot.pieces) == 1):
        return ""
    first = spot.pieces[0]
    return (
        ".*"
        if first == "*" and spot.look == "seal"
        else "".join(IN_TEXT.get(sign, sign) for sign in first)
    )


def boards_in_text(text: str, width: int, height: int) -> list[Drawn]:
    """The boards that the plain text draws, in their order."""
    lines = text.split("\n")
    box_width = 3 * width + 11
    rule = "     |" + "=" * (3 * width - 1) + "|     "
    titles = re.findall(r"^Player \S+'s board|(?<=  )Player \S+'s board", text, re.MULTILINE)
    guesses = re.findall(r"Player (\S+) has (\d+) guess(?:es)? left\.", text)
    grids: list[Rows] = []
    for start, line in enumerate(lines):
        if line.startswith(rule) and lines[start - 2].strip()[0] == "A":
            block = lines[start - 2 : start + 2 * height + 3]
            grids += [
                _grid([row[first : first + box_width] for row in block], width)
                for first in range(0, len(line), box_width)
            ]
    assert len(grids) == len(guesses) >= len(titles) > 0
    return [
        _drawn(f"Player {name}'s board: {left} guess", grid)
        for grid, (name, left) in zip(grids, guesses, strict=True)
    ]


def _grid(block: list[str], width: int) -> Rows:
    """The rows of one board out of its lines; every character stands where it belongs."""
    assert {len(line) for line in block} == {3 * width + 11}
    for between in block[3:-3][1::2]:
        assert between == "  |" + "--|" * (width + 2) + "  "
    inner = [block[0], block[1], *block[3:-3][::2], block[-2], block[-1]]
    rows = [
        [line[:2], *(line[3 * n : 3 * n + 2] for n in range(1, width + 3)), line[3 * width + 9 :]]
        for line in inner
    ]
    return tuple(tuple(cell.strip() for cell in row) for row in rows)


def _drawn(caption: str, grid: Rows) -> Drawn:
    title, left = re.split(", |: ", caption)
    return Drawn(title, grid, int(left.split()[0]))


def boards_in_view(view: View, names: tuple[str, ...]) -> list[Drawn]:
    """The boards as the letter has to draw them."""
    return [
        Drawn(
            f"Player {names[box.seat]}'s board",
            (
                ("", "", *box.board.top, "", ""),
                ("", "", *box.drawn.top_marks, "", ""),
                *(
                    (row.left, row.left_mark, *map(str.strip, row.cells), row.right_mark, row.right)
                    for row in box.drawn.rows
                ),
                ("", "", *box.drawn.bottom_marks, "", ""),
                ("", "", *box.board.bottom, "", ""),
            ),
            box.guesses_left,
        )
        for box in view.shown
    ]


def boards_in_page(view: View, names: tuple[str, ...], *, alone: bool) -> list[Drawn]:
    """The boards as the page has to draw them: none before atoms are hidden.

    In a letter to be answered, not *alone* to be looked at, others' only if they know something.
    """
    boxes = () if view.phase == "hiding" else view.shown
    if view.phase == "playing" and view.own and not alone:
        boxes = tuple(b for b in boxes if b.seat == view.seat or b.results or b.markers)
    return [
        Drawn(
            "Your box" if box.seat == view.seat else f"{names[box.seat]}'s box",
            (
                ("", *box.drawn.top_marks, ""),
                *(
                    (row.left_mark, *map(str.strip, row.cells), row.right_mark)
                    for row in box.drawn.rows
                ),
                ("", *box.drawn.bottom_marks, ""),
            ),
            box.guesses_left,
        )
        for box in boxes
    ]


def check_form(letter: Posted, *, ascii_only: bool = True, own_words: bool = True) -> Page:
    """Check the form of every letter, and return its HTML, read (an empty page if it has none).

    With *own_words* no player's words are in it, so blank lines are ours too.
    """
    _check_headers(letter)
    text = letter.text
    assert text.isascii() or not ascii_only, [c for c in text if not c.isascii()]
    assert not any(unicodedata.category(c) == "Cc" for c in text if c != "\n")
    for line in text.split("\n"):
        assert len(line) <= WIDTH or _of_wide_board(line), line
    if own_words:
        assert "\n\n\n" not in text, text
    assert not text.startswith("\n")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert re.search(r"\A\S.*  -- Reply above this line --\n(?!\n\n)", text), text
    head, signature, _ = text.rpartition("\n\n-- \n")
    assert signature, text
    assert not head.endswith("\n"), text
    return page_of(letter.html if letter.has_html else "")


@lru_cache(maxsize=1024)
def page_of(html: str) -> Page:
    """A page, read once for all tests that look at the same letters."""
    return Page(html)


def _of_wide_board(line: str) -> bool:
    """One board alone is wider than a letter from 22 columns on, and is not cut; nor is an ID."""
    if re.fullmatch(r"  w\d+h\d+m\d+M\d+:[0-9a-f]+\.?", line):
        return True
    width, rest = divmod(len(line) - 11, 3)
    drawn = "|" in line or re.fullmatch(r" {6}(?:[A-Z]{1,2} {1,2})+ {5}", line)
    return rest == 0 and width >= 22 and bool(drawn)


def _check_headers(letter: Posted) -> None:
    header = letter.raw.partition(b"\r\n\r\n")[0].decode("ascii")
    lines = header.split("\r\n")
    assert not re.search(r"[\x00-\x1f\x7f]", "".join(lines)), header
    assert all(re.match(r"[A-Za-z-]+: \S| \S", line) for line in lines), header
    assert max(map(len, lines)) <= 998
    for name in SINGLE:
        assert len(letter.message.get_all(name, [])) <= 1, name
    assert letter.message.get_all("Bcc", []) == letter.message.get_all("Cc", []) == []
    assert letter.message["To"] == letter.recipient
    assert not letter.message.defects
    assert letter.raw.count(b"\n") == letter.raw.count(b"\r\n") == letter.raw.count(b"\r")
    kinds = [part.get_content_type() for part in letter.message.walk()]
    files = {"export": "application/json", "saved": "text/plain", "result": "text/plain"}
    attached = [part.get_content_type() for part in letter.message.iter_attachments()]
    assert attached or letter.kind not in files or letter.kind == "result"
    if attached:  # a result may be a part of the letter
        assert kinds[0] == "multipart/mixed"
        assert set(attached) == {files.get(letter.kind, "text/plain")}
        kinds = kinds[1 : -len(attached)]
    assert kinds in (["multipart/alternative", "text/plain", "text/html"], ["text/plain"])


def facts(text: str, userids: Collection[str]) -> set[str]:
    """Return facts that text and page share: numbers, cells, options, addresses, players."""
    words = re.findall(r"[\w@=.:+-]*\w", text)
    return {word for word in words if re.search(r"[\d@=]", word) or word in userids}


def seen_in(server: Indoors, letter: Posted) -> View:
    """Return the view of the reader of this letter at its moment."""
    assert letter.board is not None
    assert letter.ply is not None
    row = server.server.read(boards.load, letter.board)
    assert row is not None
    position = server.server.read(server.server.positions.newest, row).at(letter.ply)
    view: View = position.game.view(
        position.state, None if letter.seat is None else Seat(letter.seat)
    )
    return view
