"""Where a ray that is fired into a box of atoms comes out.

The order of the tests is the game's: an atom straight ahead absorbs, on the
first rank too; then an atom beside the first cell throws the ray back out of
its port; then atoms diagonally ahead turn the ray where it stands, and it
looks again before it moves (Eric Solomon's Black Box, 1976).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from pbmserv.games.blackbox.geometry import Geometry

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
    place, ahead, left = field.doors[port]
    front = place + ahead
    if atoms[front]:
        return HIT
    if atoms[front + left] or atoms[front - left]:
        return port
    exits = field.exits
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
    return trace_in(field, field.filled(atoms), port)


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


def way(board: Geometry, atoms: Iterable[int], port: int) -> list[int]:
    """The cells on which a ray stands one after the other, as `trace` walks; none if it cannot
    go in."""
    return [cell for cell, _ in _steps(board, atoms, port) if cell is not None]


def seen_by_rays(board: Geometry, atoms: frozenset[int]) -> frozenset[int]:
    """The cells into which any ray looks before it moves."""
    return frozenset(
        cell
        for port in range(len(board.ports))
        for _, looked in _steps(board, atoms, port)
        for cell in looked
    )


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
