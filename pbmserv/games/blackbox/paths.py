"""The way of a ray through a box, cell by cell: for drawing; `rays` answers where it comes out."""

from __future__ import annotations

from collections.abc import Iterable

from pbmserv.games.blackbox.geometry import Geometry


def path(board: Geometry, atoms: Iterable[int], port: int) -> tuple[int, ...]:
    """The cells that a ray into *port* passes, in order.

    A ray that an atom stops, or turns back, before it stands on a cell, passes none. A cell is
    named once for each time the ray comes to it; the atom that absorbs it is not.
    """
    held = frozenset(atoms)
    x, y, dx, dy = _door(board, port)

    def atom(column: int, row: int) -> bool:
        inside = 0 <= column < board.width and 0 <= row < board.height
        return inside and row * board.width + column in held

    passed: list[int] = []
    while True:
        # To the ray's left stands (dy, -dx); rows count downwards.
        left = atom(x + dx + dy, y + dy - dx)
        right = atom(x + dx - dy, y + dy + dx)
        if atom(x + dx, y + dy) or (not passed and (left or right)):
            return tuple(passed)
        if left and right:
            dx, dy = -dx, -dy
        elif left:
            dx, dy = -dy, dx
        elif right:
            dx, dy = dy, -dx
        else:
            x, y = x + dx, y + dy
            if not (0 <= x < board.width and 0 <= y < board.height):
                return tuple(passed)
            passed.append(y * board.width + x)


def _door(board: Geometry, port: int) -> tuple[int, int, int, int]:
    """Column, row and direction of a ray that stands on its port."""
    width, height = board.width, board.height
    if port < width:
        return port, -1, 0, 1
    if port < width + height:
        return width, port - width, -1, 0
    if port < 2 * width + height:
        return port - width - height, height, 0, -1
    return -1, port - 2 * width - height, 1, 0
