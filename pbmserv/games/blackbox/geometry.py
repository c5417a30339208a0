"""Where ports and cells lie on a board of a given size, what they are called, and where rays go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain, compress, groupby
from string import ascii_uppercase

SMALLEST = 2
LARGEST = 26
"""Of both sides; in practice one may be longer, see `has_labels`."""

_COLUMNS = (*ascii_uppercase, *(a + b for a in ascii_uppercase for b in ascii_uppercase))
"""Labels of the columns of boards wider than the alphabet, as in a table: ``Z`` and then ``AA``."""

_ROW_LAST = re.compile(r"([A-Z]{1,2})([0-9]{1,3})")
_ROW_FIRST = re.compile(r"([0-9]{1,3})([A-Z]{1,2})")


def has_labels(width: int, height: int) -> bool:
    """Whether a board of this size can be labelled: there are 52 letters for detours, of which
    there may be half as many as ports."""
    return min(width, height) >= SMALLEST and width + height <= 2 * LARGEST


class Geometry:
    """Ports, labels and cells of one board size.

    A cell is the number ``row * width + column``, both counted from 0 at the
    top left. A port is a number that counts the top ports from the left, the
    right ports from the top, the bottom ports from the left and the left ports
    from the top: the order of their labels on each side.

    Attributes:
        width, height: cells across and down, 2 or more each and 52 together, since each detour
            needs a letter.
        top, right, bottom, left: the labels of each side, in label order.
        ports: all labels; ``ports[n]`` is the label of port n.
        port: gives the port with a label (upper case), or ``None``.
        column, row: give the column or row that either of its labels (upper case) names, likewise.
        named: gives the cell of a canonical name such as ``B3``, likewise.
    """

    __slots__ = (
        "bottom",
        "cells",
        "column",
        "height",
        "left",
        "named",
        "names",
        "port",
        "ports",
        "right",
        "row",
        "top",
        "width",
    )

    def __init__(self, width: int, height: int) -> None:
        """Lay out a board.

        Raises:
            ValueError: there are no labels for it (`has_labels`).
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
        self.port = {label: port for port, label in enumerate(self.ports)}.get
        self.cells = range(width * height)
        self.names = tuple(self.name(cell) for cell in self.cells)
        self.named = {name: cell for cell, name in enumerate(self.names)}.get
        self.column = _positions(self.top, self.bottom).get
        self.row = _positions(self.left, self.right).get

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

    @property
    def around(self) -> tuple[tuple[int, int], ...]:
        """For each port its column and row, where the cells begin at 1."""
        width, height = self.width, self.height
        return (
            *((column, 0) for column in range(1, width + 1)),
            *((width + 1, row) for row in range(1, height + 1)),
            *((column, height + 1) for column in range(1, width + 1)),
            *((0, row) for row in range(1, height + 1)),
        )

    def cell(self, name: str) -> int | None:
        """The cell of a name such as ``b3``, ``3b`` or ``10i``, or ``None``."""
        if not name.isascii():
            return None
        upper = name.upper()
        if (usual := self.named(upper)) is not None:
            return usual
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
        rows = [self.cells[row * self.width :] for row in range(top, bottom + 1)]
        return tuple(chain.from_iterable([row[left : right + 1] for row in rows]))


def _positions(near: Sequence[str], far: Sequence[str]) -> dict[str, int]:
    return {label: place for side in (near, far) for place, label in enumerate(side)}


@cache
def geometry(width: int, height: int) -> Geometry:
    """The one `Geometry` of this size.

    Raises:
        ValueError: as `Geometry` does.
    """
    return Geometry(width, height)


def in_ranges(board: Geometry, ports: Sequence[str]) -> str:
    """Labels of ports as people list them: ``1-3, 7, A-G``."""
    among = frozenset(ports)
    found = []
    for side in (board.left, board.right, board.top, board.bottom):
        for free, group in groupby(side, key=among.__contains__):
            labels = list(group)
            if free and len(labels) > 2:
                found.append(f"{labels[0]}-{labels[-1]}")
            elif free:
                found += labels
    return ", ".join(found)


# -- rays -----------------------------------------------------------------------------------

# The order of the tests is the game's: an atom straight ahead absorbs, on the first rank too; then
# an atom beside the first cell throws the ray back out of its port; then atoms diagonally ahead
# turn the ray where it stands, and it looks again before it moves (Eric Solomon's Black Box, 1976).

HIT = -1
"""The result of a ray that an atom absorbed."""


class Field:
    """A board with a rim of ports around it, for walking by adding offsets.

    Square ``(row + 1) * stride + column + 1`` is the cell (row, column); the
    rim holds the ports, so a ray that steps on a square with a port has left.
    """

    __slots__ = ("doors", "empty", "exits", "squares")

    def __init__(self, board: Geometry) -> None:
        width, height = board.width, board.height
        stride = width + 2
        self.empty = bytes(stride * (height + 2))
        self.squares = tuple(
            (row + 1) * stride + column + 1 for row in range(height) for column in range(width)
        )
        # For each port: the square it lies on, the step inwards, the step to the ray's left.
        self.doors = (
            *((column, stride, 1) for column in range(1, width + 1)),
            *((row * stride + width + 1, -1, stride) for row in range(1, height + 1)),
            *(((height + 1) * stride + column, -stride, -1) for column in range(1, width + 1)),
            *((row * stride, 1, -stride) for row in range(1, height + 1)),
        )
        exits = [-1] * len(self.empty)
        for port, (square, _, _) in enumerate(self.doors):
            exits[square] = port
        self.exits = tuple(exits)

    def filled(self, atoms: Iterable[int]) -> bytearray:
        """The squares, 1 where an atom is."""
        squares = bytearray(self.empty)
        for atom in atoms:
            squares[self.squares[atom]] = 1
        return squares


@cache
def field_of(board: Geometry) -> Field:
    """The one `Field` of this board."""
    return Field(board)


def trace_in(field: Field, atoms: bytearray, port: int) -> int:
    """As `trace`, in squares that `Field.filled` has made."""
    return walk(atoms, field.exits, *field.doors[port], port)


def walk(
    atoms: bytearray, exits: Sequence[int], place: int, ahead: int, left: int, port: int
) -> int:
    """As `trace_in`, with plain values only, so that numba can compile it, too.

    Args:
        place, ahead, left: the port's door, see `Field`.
    """
    front = place + ahead
    if atoms[front]:
        return HIT
    if atoms[front + left] or atoms[front - left]:
        return port
    place = front
    while True:
        front = place + ahead
        if atoms[front]:
            return HIT
        if atoms[front + left]:
            if atoms[front - left]:
                ahead, left = -ahead, -left
            else:
                ahead, left = -left, ahead
        elif atoms[front - left]:
            ahead, left = left, -ahead
        elif exits[front] < 0:
            place = front
        else:
            return exits[front]


def trace(board: Geometry, atoms: Iterable[int], port: int) -> int:
    """Fire one ray.

    Args:
        board: the box's size and labels.
        atoms: the cells that hold an atom.
        port: where the ray goes in.

    Returns:
        `HIT`, or the port where the ray comes out: *port* itself means a
        reflection, any other a detour.
    """
    field = field_of(board)
    return walk(field.filled(atoms), field.exits, *field.doors[port], port)


def trace_all(board: Geometry, atoms: Iterable[int]) -> list[int]:
    """Fire a ray into every port; ``result[port]`` is as `trace` gives it."""
    field = field_of(board)
    squares = field.filled(atoms)
    unknown = HIT - 1
    results = [unknown] * len(field.doors)
    for port, result in enumerate(results):
        if result == unknown:
            found = trace_in(field, squares, port)
            results[port] = found
            if found >= 0:
                results[found] = port  # every ray is reversible
    return results


@lru_cache(maxsize=64)
def spectrum(board: Geometry, atoms: frozenset[int]) -> tuple[int, ...]:
    """Return the results of all ports, as `trace_all` does.

    Moves of one game ask for the same box again and again: each guess compares its markers with the
    atoms, and so do clues, saved games and the lessons at the end.
    """
    return tuple(trace_all(board, atoms))


def kind_of(port: int, found: int) -> str:
    """The name of what a ray into *port* does, as `trace` found it."""
    return "hit" if found == HIT else "reflection" if found == port else "detour"


def exit_of(board: Geometry, port: int, found: int) -> str:
    """The label of the other port where a ray comes out; "" where it does not."""
    return board.ports[found] if found not in (HIT, port) else ""


def way(board: Geometry, atoms: Iterable[int], port: int) -> list[int]:
    """The cells on which a ray stands one after the other, as `trace` walks; none if it cannot
    go in."""
    return [cell for cell, _ in _steps(board, atoms, port) if cell is not None]


def path(board: Geometry, atoms: Iterable[int], port: int) -> tuple[list[int], int | None]:
    """As `way`, and the atom that absorbs the ray, if one does."""
    filled = frozenset(atoms)
    steps = _steps(board, filled, port)
    front = steps[-1][1][:1]
    absorbed = trace(board, filled, port) == HIT
    return [cell for cell, _ in steps if cell is not None], front[0] if absorbed else None


def seen_by_rays(board: Geometry, atoms: frozenset[int]) -> frozenset[int]:
    """Return the cells into which any ray looks before it moves."""
    field = field_of(board)
    filled, looked = field.filled(atoms), bytearray(field.empty)
    for door in field.doors:
        _look_along(filled, field.exits, looked, *door)
    return frozenset(compress(board.cells, map(looked.__getitem__, field.squares)))


def _look_along(
    filled: bytearray, exits: Sequence[int], looked: bytearray, place: int, ahead: int, left: int
) -> None:
    """Mark the squares into which one ray looks; it goes the way that `walk` goes."""
    front = place + ahead
    looked[front] = looked[front + left] = looked[front - left] = 1
    if filled[front] or filled[front + left] or filled[front - left]:
        return
    place = front
    while True:
        front = place + ahead
        looked[front] = looked[front + left] = looked[front - left] = 1
        if filled[front]:
            return
        if filled[front + left]:
            if filled[front - left]:
                ahead, left = -ahead, -left
            else:
                ahead, left = -left, ahead
        elif filled[front - left]:
            ahead, left = left, -ahead
        elif exits[front] < 0:
            place = front
        else:
            return


def dead_zone(board: Geometry, atoms: frozenset[int]) -> frozenset[int]:
    """Empty cells into which no ray looks: an atom there would change no result."""
    return frozenset(board.cells) - seen_by_rays(board, atoms) - atoms


def _steps(
    board: Geometry, atoms: Iterable[int], port: int
) -> list[tuple[int | None, tuple[int, ...]]]:
    """Where a ray stands (``None`` on its port) and the cells it looks into from there."""
    field = field_of(board)
    filled = field.filled(atoms)
    cells = {square: cell for cell, square in enumerate(field.squares)}
    place, ahead, left = field.doors[port]
    found: list[tuple[int | None, tuple[int, ...]]] = []

    def look() -> None:
        front = place + ahead
        squares = (front, front + left, front - left)
        found.append(
            (cells.get(place), tuple(cells[square] for square in squares if square in cells))
        )

    look()
    front = place + ahead
    if filled[front] or filled[front + left] or filled[front - left]:
        return found
    place = front
    while True:
        look()
        front = place + ahead
        if filled[front]:
            return found
        if filled[front + left] and filled[front - left]:
            ahead, left = -ahead, -left
        elif filled[front + left]:
            ahead, left = -left, ahead
        elif filled[front - left]:
            ahead, left = left, -ahead
        elif field.exits[front] < 0:
            place = front
        else:
            return found
