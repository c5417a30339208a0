"""Ports and cells of a board: their places and their labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, groupby
from string import ascii_uppercase

SMALLEST = 2
LARGEST = 26
"""The longest side; in practice one side may be longer, see `has_labels`."""

_COLUMNS = (*ascii_uppercase, *(a + b for a in ascii_uppercase for b in ascii_uppercase))
"""Column labels of boards wider than the alphabet, as in a spreadsheet: ``AA`` follows ``Z``."""

_ROW_LAST = re.compile(r"([A-Z]{1,2})([0-9]{1,3})")
_ROW_FIRST = re.compile(r"([0-9]{1,3})([A-Z]{1,2})")


def has_labels(width: int, height: int) -> bool:
    """Return whether a board of this size can be labelled.

    There are 52 letters for detours, and half as many detours as ports are possible.
    """
    return min(width, height) >= SMALLEST and width + height <= 2 * LARGEST


class Geometry:
    """Ports, labels and cells of one board size.

    A cell is the number ``row * width + column``, both counted from 0 at the
    top left. A port is a number that counts the top ports from the left, the
    right ports from the top, the bottom ports from the left and the left ports
    from the top: the order of their labels on each side.

    Attributes:
        width, height: cells across and down; see `has_labels`.
        top, right, bottom, left: the labels of each side, in label order.
        ports: all labels; ``ports[n]`` is the label of port n.
        port_places: column and row of each port, on a grid whose first cell is at (1, 1).
        port_at: returns the port at a place of that grid, `None` for none.
        port: returns the port with a label in upper case, `None` for none.
        column, row: return the column or row with a label in upper case, `None` for none. Each
            column and row has a label at both ends.
        named: returns the cell with a canonical name such as ``B3``, `None` for none.
    """

    def __init__(self, width: int, height: int) -> None:
        """Lay out a board.

        Raises:
            ValueError: the board cannot be labelled; see `has_labels`.
        """
        if not has_labels(width, height):
            raise ValueError(f"sides of {SMALLEST} cells or more, together {2 * LARGEST} at most")
        self.width = width
        self.height = height
        self.top: tuple[str, ...] = tuple(ascii_uppercase[:width])
        self.bottom: tuple[str, ...] = tuple(ascii_uppercase[width : 2 * width])
        if width > LARGEST:
            self.top, self.bottom = _COLUMNS[:width], _COLUMNS[width : 2 * width]
        elif 2 * width > LARGEST:
            self.bottom = tuple(letter * 2 for letter in self.top)
        self.left = tuple(str(n) for n in range(1, height + 1))
        self.right = tuple(str(n) for n in range(height + 1, 2 * height + 1))
        self.ports = self.top + self.right + self.bottom + self.left
        columns, rows = range(1, width + 1), range(1, height + 1)
        self.port_places: tuple[tuple[int, int], ...] = (
            *((column, 0) for column in columns),
            *((width + 1, row) for row in rows),
            *((column, height + 1) for column in columns),
            *((0, row) for row in rows),
        )
        self.port_at = {place: port for port, place in enumerate(self.port_places)}.get
        self.port = {label: port for port, label in enumerate(self.ports)}.get
        self.cells = range(width * height)
        self.names = tuple(self.name(cell) for cell in self.cells)
        self.named = {name: cell for cell, name in enumerate(self.names)}.get
        self.column = _indices(self.top, self.bottom).get
        self.row = _indices(self.left, self.right).get

    @property
    def clockwise(self) -> tuple[int, ...]:
        """The ports in the order of their numbers in Simon Tatham's program: clockwise."""
        width, height = self.width, self.height
        bottom, left = width + height, 2 * width + height
        return (
            *range(bottom),
            *range(left - 1, bottom - 1, -1),
            *range(len(self.ports) - 1, left - 1, -1),
        )

    def cell(self, name: str) -> int | None:
        """Return the cell with a name such as ``b3``, ``3b`` or ``10i``, `None` for none."""
        if not name.isascii():
            return None
        upper = name.upper()
        if (cell := self.named(upper)) is not None:
            return cell
        if match := _ROW_LAST.fullmatch(upper):
            column, row = self.column(match[1]), self.row(match[2])
        elif match := _ROW_FIRST.fullmatch(upper):
            column, row = self.column(match[2]), self.row(match[1])
        else:
            return None
        if column is None or row is None:
            return None
        return row * self.width + column

    def name(self, cell: int) -> str:
        """Return the canonical name of a cell: top letter and left number, ``B3``."""
        row, column = divmod(cell, self.width)
        return self.top[column] + self.left[row]

    def names_of(self, cells: Iterable[int]) -> tuple[str, ...]:
        """Return the names of cells, row by row."""
        return tuple([self.names[cell] for cell in sorted(cells)])

    def area(self, first: int, last: int) -> tuple[int, ...]:
        """Return the cells of a rectangle.

        Args:
            first: the cell at the top left.
            last: the cell at the bottom right. If it is above or left of *first*, the rectangle is
                empty.
        """
        top, left = divmod(first, self.width)
        bottom, right = divmod(last, self.width)
        rows = [self.cells[row * self.width :] for row in range(top, bottom + 1)]
        return tuple(chain.from_iterable([row[left : right + 1] for row in rows]))


def _indices(near: Sequence[str], far: Sequence[str]) -> dict[str, int]:
    return {label: index for side in (near, far) for index, label in enumerate(side)}


@cache
def geometry(width: int, height: int) -> Geometry:
    """Return the `Geometry` of this size, always the same object.

    Raises:
        ValueError: the board cannot be labelled; see `has_labels`.
    """
    return Geometry(width, height)


def in_ranges(board: Geometry, ports: Sequence[str]) -> str:
    """Return labels of ports in ranges, as people list them: ``1-3, 7, A-G``."""
    listed = frozenset(ports)
    ranges = []
    for side in (board.left, board.right, board.top, board.bottom):
        for is_listed, group in groupby(side, key=listed.__contains__):
            labels = list(group)
            if is_listed and len(labels) > 2:
                ranges.append(f"{labels[0]}-{labels[-1]}")
            elif is_listed:
                ranges += labels
    return ", ".join(ranges)
