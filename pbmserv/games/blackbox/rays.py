"""The ways of rays through a box, and their results.

The tests follow the order of the game (Eric Solomon's Black Box, 1976). An atom straight ahead
absorbs the ray, also on the first rank. An atom beside the first cell reflects it out of its port.
Further in, atoms diagonally ahead turn the ray on its cell, and it looks again before it moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import compress
from string import ascii_letters

from pbmserv.games.blackbox.geometry import Geometry

HIT = -1
"""The result of a ray that an atom absorbed."""

HIT_MARK = "#"
REFLECTION_MARK = "%"


class Field:
    """A board with a rim of ports around it, on which a ray moves by adding offsets.

    Square ``(row + 1) * stride + column + 1`` is the cell (row, column). The rim holds the ports,
    so that a ray has left the box when it reaches a square with a port.

    Attributes:
        empty: zeros, one for each square.
        squares: the square of each cell.
        cells: the cell on each square, -1 for none.
        doors: for each port its square, the step inwards, and the step to the left of the ray.
        exits: for each square the port on it, -1 for none.
    """

    def __init__(self, board: Geometry) -> None:
        width, height = board.width, board.height
        stride = width + 2
        self.empty = bytes(stride * (height + 2))
        self.squares = tuple(
            (row + 1) * stride + column + 1 for row in range(height) for column in range(width)
        )
        cells = [-1] * len(self.empty)
        for cell, square in enumerate(self.squares):
            cells[square] = cell
        self.cells = tuple(cells)
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
        """Return the squares, 1 where an atom is."""
        squares = bytearray(self.empty)
        for atom in atoms:
            squares[self.squares[atom]] = 1
        return squares


@cache
def field_of(board: Geometry) -> Field:
    """Return the `Field` of a board, always the same object."""
    return Field(board)


def trace_in(field: Field, atoms: bytearray, port: int) -> int:
    """Fire a ray as `trace` does, among atoms on squares; see `Field.filled`."""
    return walk(atoms, field.exits, *field.doors[port], port)


def walk(
    atoms: bytearray, exits: Sequence[int], place: int, ahead: int, left: int, port: int
) -> int:
    """Fire a ray as `trace_in` does. Its arguments are plain values, so that numba can compile it.

    Args:
        atoms: see `Field.filled`.
        exits: see `Field`.
        place, ahead, left: the door of the port; see `Field`.
        port: the port where the ray enters.
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
    """Fire a ray.

    Args:
        board: size and labels of the box.
        atoms: the cells that hold an atom.
        port: the port where the ray enters.

    Returns:
        `HIT`, or the port where the ray exits: *port* itself for a reflection, another one for a
        detour.
    """
    field = field_of(board)
    return trace_in(field, field.filled(atoms), port)


def trace_all(board: Geometry, atoms: Iterable[int]) -> list[int]:
    """Fire a ray into each port; ``result[port]`` is the result of `trace`."""
    field = field_of(board)
    squares = field.filled(atoms)
    unknown = HIT - 1
    results = [unknown] * len(field.doors)
    for port, earlier_result in enumerate(results):
        if earlier_result == unknown:
            result = trace_in(field, squares, port)
            results[port] = result
            if result >= 0:
                results[result] = port  # every ray is reversible
    return results


@lru_cache(maxsize=64)
def spectrum(board: Geometry, atoms: frozenset[int]) -> tuple[int, ...]:
    """Return the results of all ports, as `trace_all` does.

    The results are cached, since a game traces the same box again and again: guesses compare the
    markers with the atoms, and so do clues, saved games and the lessons at the end.
    """
    return tuple(trace_all(board, atoms))


def kind_of(port: int, result: int) -> str:
    """Return the name of a ray's result: ``hit``, ``reflection`` or ``detour``.

    Args:
        port: the port where the ray entered.
        result: the result of `trace`.
    """
    return "hit" if result == HIT else "reflection" if result == port else "detour"


def exit_of(board: Geometry, port: int, result: int) -> str:
    """Return the label of the other end of a detour, ``""`` for a hit or reflection."""
    return board.ports[result] if result not in (HIT, port) else ""


def result_text(board: Geometry, port: int, result: int) -> str:
    """Return the result of a ray as players read it: ``#``, ``%`` or the label of its exit."""
    if result == HIT:
        return HIT_MARK
    return REFLECTION_MARK if result == port else board.ports[result]


def mark_ports(marks: list[str], port: int, result: int) -> None:
    """Set the marks of a ray. A detour gets the next letter at both ends.

    Args:
        marks: the marks of all ports.
        port: the port where the ray entered.
        result: the result of `trace`.
    """
    if result == HIT:
        marks[port] = HIT_MARK
    elif result == port:
        marks[port] = REFLECTION_MARK
    else:
        earlier_detours = sum(map(str.isalpha, marks)) // 2
        marks[port] = marks[result] = ascii_letters[earlier_detours]


def cells_passed(board: Geometry, atoms: Iterable[int], port: int) -> list[int]:
    """Return the cells that a ray passes, in order, with a cell repeated where it turns there.

    The list is empty if the ray cannot enter.
    """
    field = field_of(board)
    return _cells_passed(field, _stops(field, field.filled(atoms), port))


def path(board: Geometry, atoms: Iterable[int], port: int) -> tuple[list[int], int | None]:
    """Return the `cells_passed` by a ray, and the atom that absorbs it, if any."""
    field = field_of(board)
    filled = field.filled(atoms)
    stops = _stops(field, filled, port)
    place, ahead, _ = stops[-1]
    front = place + ahead
    return _cells_passed(field, stops), field.cells[front] if filled[front] else None


def seen_by_rays(board: Geometry, atoms: frozenset[int]) -> frozenset[int]:
    """Return the cells into which any ray looks before it moves."""
    field = field_of(board)
    filled, seen = field.filled(atoms), bytearray(field.empty)
    for port in range(len(field.doors)):
        for place, ahead, left in _stops(field, filled, port):
            front = place + ahead
            seen[front] = seen[front + left] = seen[front - left] = 1
    return frozenset(compress(board.cells, map(seen.__getitem__, field.squares)))


def dead_zone(board: Geometry, atoms: frozenset[int]) -> frozenset[int]:
    """Return the empty cells into which no ray looks. An atom there would change no result."""
    return frozenset(board.cells) - seen_by_rays(board, atoms) - atoms


def _stops(field: Field, filled: bytearray, port: int) -> list[tuple[int, int, int]]:
    """Return place, step ahead and step to the left of a ray each time it looks.

    The ray goes the same way as in `walk`. The first stop is on the port.
    """
    place, ahead, left = field.doors[port]
    stops = [(place, ahead, left)]
    front = place + ahead
    if filled[front] or filled[front + left] or filled[front - left]:
        return stops
    place = front
    while True:
        stops.append((place, ahead, left))
        front = place + ahead
        if filled[front]:
            return stops
        if filled[front + left]:
            if filled[front - left]:
                ahead, left = -ahead, -left
            else:
                ahead, left = -left, ahead
        elif filled[front - left]:
            ahead, left = left, -ahead
        elif field.exits[front] < 0:
            place = front
        else:
            return stops


def _cells_passed(field: Field, stops: Sequence[tuple[int, int, int]]) -> list[int]:
    """Return the cells of stops, without the port in front."""
    return [field.cells[place] for place, _, _ in stops[1:]]
