"""Draws boxes as a PDF that prints on A4 and on US Letter.

The drawing fills a block in the middle of the page, which fits on both papers with a margin of at
least 12 mm. Each mark has its own sign and shade, and the colours (from the palette of Okabe and
Ito, 2002) also differ in brightness, so that no reader needs to see colours. Lengths are in
millimetres, font sizes in points. `pdf_box` draws one box.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fpdf import FPDF

from pbmserv.cli.blackbox.arguments import BoxOfId
from pbmserv.cli.blackbox.box_to_show import BoxToShow, marks_of
from pbmserv.cli.blackbox.pdf_box import (
    BLACK_AND_WHITE,
    COLOURS,
    GREY,
    INK,
    POINT,
    Drawing,
    Inks,
    extent,
)
from pbmserv.cli.blackbox.refusals import Unusable
from pbmserv.games.blackbox.game_ids import described
from pbmserv.games.blackbox.options import Options
from pbmserv.plurals import counted

PAPERS = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
BLOCK = (186.0, 250.0)
"""Width and height of the block, which leaves margins of 12 and 14 mm on the smaller paper."""

HEAD = 17.0
FOOT = 9.0
GUTTER = 7.0
USUAL_CELL = 8.0
SMALLEST_CELL = 2.4
"""The smallest cell whose mark can be read."""

TITLE_POINTS = 17.0
TEXT_POINTS = 8.0
ID_POINTS = 6.5
LINE = 1.35
"""Height of a line in heights of its letters."""

_RULES = "Where are the atoms? Each port shows what a ray into it does."
_BLANK_RULES = "Ask the player with the solutions what each ray does, and note it at its port."
_LEGEND = "#  hit     %  reflection     a a  in at one port, out at the other"


@dataclass(frozen=True, slots=True)
class Look:
    """The layout and style of pages.

    Attributes:
        columns, rows: puzzles across and down a page.
        scale: 1 for cells of 8 mm at most; a puzzle never exceeds its place.
        colour: whether marks and atoms have colours.
        paper: a key of `PAPERS`.
        blank: leave the ports empty, to play on paper.
        title: the heading of each page.
    """

    columns: int
    rows: int
    scale: float
    colour: bool
    paper: str
    blank: bool
    title: str


def pages(boxes: Sequence[BoxOfId], look: Look, solutions: bool) -> bytes:
    """Return the PDF of boxes, perhaps followed by their solutions.

    Raises:
        Unusable: too many puzzles on a page, so that they cannot be read.
    """
    sheet = _Sheet(boxes, look)
    sheet.add(opened=False)
    if solutions:
        sheet.add(opened=True)
    return bytes(sheet.pdf.output())


class _Sheet:
    """A PDF of boxes while its pages are made."""

    def __init__(self, boxes: Sequence[BoxOfId], look: Look) -> None:
        self.pdf = FPDF(format=PAPERS[look.paper])
        self.pdf.set_auto_page_break(auto=False)
        self.pdf.set_title(look.title)
        self.pdf.set_creator("pbmserv")
        # The same boxes give the same bytes.
        self.pdf.set_creation_date(datetime(2000, 1, 1, tzinfo=UTC))
        self._boxes = boxes
        self._look = look
        self._inks: Inks = COLOURS if look.colour else BLACK_AND_WHITE
        paper = PAPERS[look.paper]
        self._left = (paper[0] - BLOCK[0]) / 2
        self._top = (paper[1] - BLOCK[1]) / 2
        self._slot = (
            (BLOCK[0] - GUTTER * (look.columns - 1)) / look.columns,
            (BLOCK[1] - HEAD - FOOT - GUTTER * (look.rows - 1)) / look.rows,
        )

    def add(self, opened: bool) -> None:
        """Add the pages of all boxes, closed or opened."""
        a_page = self._look.columns * self._look.rows
        for first in range(0, len(self._boxes), a_page):
            self.pdf.add_page()
            last = min(first + a_page, len(self._boxes))
            self._head(opened, first + 1, last)
            for place in range(last - first):
                self._puzzle(first + place, place, opened)

    def _head(self, opened: bool, first: int, last: int) -> None:
        right = self._left + BLOCK[0]
        base = self._top + TITLE_POINTS * POINT
        title = self._look.title + (": solutions" if opened else "")
        self._write(self._left, base, title, TITLE_POINTS, "B")
        numbers = f"{first}" if first == last else f"{first} to {last}"
        self._write(right, base, f"{numbers} of {len(self._boxes)}", TEXT_POINTS, align=1.0)
        rules = _BLANK_RULES if self._look.blank else _RULES
        if not opened:
            self._write(self._left, base + 5, rules, TEXT_POINTS, grey=True)
        self.pdf.set_draw_color(*INK)
        self.pdf.set_line_width(0.4)
        self.pdf.line(self._left, base + 7.5, right, base + 7.5)
        foot = self._top + BLOCK[1]
        self._write((self._left + right) / 2, foot, _LEGEND, TEXT_POINTS, grey=True, align=0.5)

    def _puzzle(self, number: int, place: int, opened: bool) -> None:
        box = self._boxes[number]
        row, column = divmod(place, self._look.columns)
        left = self._left + column * (self._slot[0] + GUTTER)
        top = self._top + HEAD + row * (self._slot[1] + GUTTER)
        lines = self._id_lines(box)
        above, below = TEXT_POINTS * POINT * LINE + 1, len(lines) * ID_POINTS * POINT * LINE + 2
        across, down = extent(box.board)
        room = (self._slot[0] / across, (self._slot[1] - above - below) / down)
        cell = min(*room, USUAL_CELL * self._look.scale)
        if cell < SMALLEST_CELL:
            raise Unusable(self._too_small(box))
        middle = left + self._slot[0] / 2
        # Centre a puzzle that is smaller than its place.
        top += (self._slot[1] - above - below - cell * down) / 2
        base = top + TEXT_POINTS * POINT
        self._write(middle, base, f"{number + 1}.  {_kind(box)}", TEXT_POINTS, "B", align=0.5)
        drawing = Drawing(
            self.pdf, box.board, middle - cell * across / 2, top + above, cell, self._inks
        )
        drawing.draw(self._marks(box, opened), box.cells if opened else ())
        base = top + above + cell * down + 1 + ID_POINTS * POINT
        for at, line in enumerate(lines):
            down_by = at * ID_POINTS * POINT * LINE
            self._write(middle, base + down_by, line, ID_POINTS, grey=True, align=0.5, mono=True)

    def _marks(self, box: BoxOfId, opened: bool) -> tuple[str, ...]:
        if self._look.blank and not opened:
            return ("",) * len(box.board.ports)
        return marks_of(BoxToShow(Options.of(box.game), "", box), "all")

    def _id_lines(self, box: BoxOfId) -> list[str]:
        """Return the lines of the ID, in its descriptive form if the font cannot show the seed."""
        text = box.game.text
        if not all(" " <= char <= "~" for char in text):
            text = described(box.game)
        # Letters of Courier are 0.6 of the font size wide.
        letters = int(self._slot[0] / (ID_POINTS * POINT * 0.6))
        return textwrap.wrap(text, max(8, letters), break_on_hyphens=False, drop_whitespace=False)

    def _too_small(self, box: BoxOfId) -> str:
        size, look = f"{box.board.width}x{box.board.height}", self._look
        if look.scale < 1:
            return f"at --scale {look.scale:g} a {size} box is too small to read."
        many = f"{look.columns}x{look.rows}"
        return f"{size} boxes are too small to read with {many} on a page."

    def _write(
        self,
        x: float,
        base: float,
        text: str,
        points: float,
        style: str = "",
        *,
        grey: bool = False,
        align: float = 0.0,
        mono: bool = False,
    ) -> None:
        """Write a line at a baseline; *align* is the fraction of its width to the left of *x*."""
        self.pdf.set_font("Courier" if mono else "Helvetica", style, points)
        self.pdf.set_text_color(*(GREY if grey else INK))
        self.pdf.text(x - align * self.pdf.get_string_width(text), base, text)


def _kind(box: BoxOfId) -> str:
    game = box.game
    if game.least == game.most:
        atoms = counted(game.least, "atom")
    else:
        atoms = f"{game.least} to {game.most} atoms"
    return f"{game.width} \u00d7 {game.height}, {atoms}"
