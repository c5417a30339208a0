"""Draws one box on a page of a PDF, with its ports, marks, labels and atoms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fpdf import FPDF

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import HIT_MARK, REFLECTION_MARK

LABELS = 0.7
"""Space for a label beside the ports, in cells."""

POINT = 25.4 / 72
INK = (25, 25, 25)
GREY = (120, 120, 120)
PALE = (205, 205, 205)
WHITE = (255, 255, 255)

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Inks:
    """Colours of the atoms, and background and sign of each kind of port."""

    hit: tuple[Colour, Colour]
    reflection: tuple[Colour, Colour]
    detour: tuple[Colour, Colour]
    atom: Colour

    def colours_of(self, mark: str) -> tuple[Colour, Colour]:
        """Return the colours of background and sign for a mark."""
        if mark == HIT_MARK:
            return self.hit
        return self.reflection if mark == REFLECTION_MARK else self.detour


BLACK_AND_WHITE = Inks((INK, WHITE), (PALE, INK), (WHITE, INK), INK)
COLOURS = Inks(((213, 94, 0), WHITE), ((240, 228, 66), INK), ((173, 216, 240), INK), (0, 80, 140))


def extent(board: Geometry) -> tuple[float, float]:
    """Return width and height of a drawn box with ports and labels, in cells."""
    beside = 2 * (1 + LABELS)
    return board.width + beside, board.height + beside


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing of a box.

    Attributes:
        pdf: the PDF, whose last page is drawn on.
        board: size and labels of the box.
        left, top: the corner of the drawing, labels included.
        cell: width and height of a cell.
        inks: the colours.
    """

    pdf: FPDF
    board: Geometry
    left: float
    top: float
    cell: float
    inks: Inks

    def draw(self, marks: tuple[str, ...], atoms: tuple[int, ...]) -> None:
        """Draw the box with the marks of its ports, and these atoms."""
        self._cells()
        for port, (x, y, label_x, label_y) in enumerate(self._ports()):
            self._port(x, y, marks[port])
            self._write(label_x, label_y, self.board.ports[port], 0.42, GREY)
        for atom in atoms:
            row, column = divmod(atom, self.board.width)
            self._atom(self._x(column) + self.cell / 2, self._y(row) + self.cell / 2)

    def _x(self, column: float) -> float:
        return self.left + (1 + LABELS + column) * self.cell

    def _y(self, row: float) -> float:
        return self.top + (1 + LABELS + row) * self.cell

    def _cells(self) -> None:
        pdf, width, height = self.pdf, self.board.width, self.board.height
        pdf.set_draw_color(*PALE)
        pdf.set_line_width(self.cell * 0.02)
        for column in range(1, width):
            pdf.line(self._x(column), self._y(0), self._x(column), self._y(height))
        for row in range(1, height):
            pdf.line(self._x(0), self._y(row), self._x(width), self._y(row))
        pdf.set_draw_color(*INK)
        pdf.set_line_width(self.cell * 0.06)
        pdf.rect(self._x(0), self._y(0), width * self.cell, height * self.cell)

    def _ports(self) -> Iterator[tuple[float, float, float, float]]:
        """Yield the centre of each port's square and of its label."""
        for column, row in self.board.port_places:
            x, y = self._x(column - 0.5), self._y(row - 0.5)
            outwards = self.cell * (1 + LABELS) / 2
            across = (column > self.board.width) - (column < 1)
            down = (row > self.board.height) - (row < 1)
            yield x, y, x + across * outwards, y + down * outwards

    def _port(self, x: float, y: float, mark: str) -> None:
        ground, sign = self.inks.colours_of(mark) if mark else (WHITE, INK)
        side = self.cell * 0.8
        self.pdf.set_fill_color(*ground)
        self.pdf.set_draw_color(*(INK if mark else PALE))
        self.pdf.set_line_width(self.cell * 0.03)
        corner = (x - side / 2, y - side / 2, side, side)
        self.pdf.rect(*corner, style="DF", round_corners=True, corner_radius=side * 0.2)
        if mark:
            self._write(x, y, mark, 0.56, sign, "B")

    def _atom(self, x: float, y: float) -> None:
        radius = self.cell * 0.33
        self.pdf.set_fill_color(*self.inks.atom)
        self.pdf.circle(x, y, radius, style="F")
        self.pdf.set_fill_color(*WHITE)
        self.pdf.circle(x - radius * 0.35, y - radius * 0.35, radius * 0.2, style="F")

    def _write(
        self, x: float, y: float, text: str, size: float, colour: Colour, style: str = ""
    ) -> None:
        """Write a text around its centre; *size* is the font size in cells."""
        height = self.cell * size
        self.pdf.set_font("Helvetica", style, height / POINT)
        self.pdf.set_text_color(*colour)
        width = self.pdf.get_string_width(text)
        # Capitals and digits of Helvetica are 0.72 of the font size high.
        self.pdf.text(x - width / 2, y + height * 0.36, text)
