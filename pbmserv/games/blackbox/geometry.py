"""Where ports and cells lie on a board of a given size, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from string import ascii_uppercase

SMALLEST = 2
LARGEST = 26

_ROW_LAST = re.compile(r"([A-Z]{1,2})([0-9]{1,3})")
_ROW_FIRST = re.compile(r"([0-9]{1,3})([A-Z]{1,2})")


class Geometry:
    """Ports, labels and cells of one board size.

    A cell is the number ``row * width + column``, both counted from 0 at the
    top left. A port is a number that counts the top ports from the left, the
    right ports from the top, the bottom ports from the left and the left ports
    from the top: the order of their labels on each side.

    Attributes:
        width, height: cells across and down, 2 to 26 each.
        top, right, bottom, left: the labels of each side, in label order.
        ports: all labels; ``ports[n]`` is the label of port n.
    """

    __slots__ = (
        "_columns",
        "_names",
        "_ports",
        "_rows",
        "bottom",
        "cells",
        "height",
        "left",
        "names",
        "ports",
        "right",
        "top",
        "width",
    )

    def __init__(self, width: int, height: int) -> None:
        """Lay out a board.

        Raises:
            ValueError: a side is shorter than 2 or longer than 26.
        """
        if not (SMALLEST <= width <= LARGEST and SMALLEST <= height <= LARGEST):
            raise ValueError(f"a board is {SMALLEST} to {LARGEST} cells wide and high")
        self.width = width
        self.height = height
        self.top = tuple(ascii_uppercase[:width])
        if 2 * width <= len(ascii_uppercase):
            self.bottom = tuple(ascii_uppercase[width : 2 * width])
        else:
            self.bottom = tuple(letter * 2 for letter in self.top)
        self.left = tuple(str(n) for n in range(1, height + 1))
        self.right = tuple(str(n) for n in range(height + 1, 2 * height + 1))
        self.ports = self.top + self.right + self.bottom + self.left
        self._ports = {label: port for port, label in enumerate(self.ports)}
        self.cells = range(width * height)
        self.names = tuple(self.name(cell) for cell in self.cells)
        self._names = {name: cell for cell, name in enumerate(self.names)}
        self._columns = _positions(self.top, self.bottom)
        self._rows = _positions(self.left, self.right)

    def port(self, label: str) -> int | None:
        """The port with this label (upper case), or ``None``."""
        return self._ports.get(label)

    def column(self, label: str) -> int | None:
        """The column that either of its labels (upper case) names, or ``None``."""
        return self._columns.get(label)

    def row(self, label: str) -> int | None:
        """The row that either of its labels names, or ``None``."""
        return self._rows.get(label)

    def named(self, name: str) -> int | None:
        """The cell of a canonical name such as ``B3``, or ``None``."""
        return self._names.get(name)

    def cell(self, name: str) -> int | None:
        """The cell of a name such as ``b3``, ``3b`` or ``10i``, or ``None``."""
        if not name.isascii():
            return None
        upper = name.upper()
        if found := _ROW_LAST.fullmatch(upper):
            column, row = self.column(found[1]), self.row(found[2])
        elif found := _ROW_FIRST.fullmatch(upper):
            column, row = self.column(found[2]), self.row(found[1])
        else:
            return None
        if column is None or row is None:
            return None
        return row * self.width + column

    def name(self, cell: int) -> str:
        """The canonical name of a cell: top letter and left number, ``B3``."""
        row, column = divmod(cell, self.width)
        return self.top[column] + self.left[row]

    def area(self, first: int, last: int) -> tuple[int, ...]:
        """The cells of the rectangle from *first* (top left) to *last*; empty if backwards."""
        top, left = divmod(first, self.width)
        bottom, right = divmod(last, self.width)
        return tuple(
            row * self.width + column
            for row in range(top, bottom + 1)
            for column in range(left, right + 1)
        )


def _positions(near: Sequence[str], far: Sequence[str]) -> dict[str, int]:
    return {label: place for side in (near, far) for place, label in enumerate(side)}


@cache
def geometry(width: int, height: int) -> Geometry:
    """The one `Geometry` of this size.

    Raises:
        ValueError: as `Geometry` does.
    """
    return Geometry(width, height)
