"""The grid of squares on which the cells and ports of a box lie.

A square is (column, row). The first cell is (0, 0). Ports are in column or row -1 and in the column
or row behind the last cell. The corners are empty.
"""

from __future__ import annotations

from pbmserv.games.blackbox.geometry import Geometry

Square = tuple[int, int]


def port_at(board: Geometry, square: Square) -> int | None:
    """Return the port at a square, `None` for none."""
    return board.port_at((square[0] + 1, square[1] + 1))


def cell_at(board: Geometry, square: Square) -> int | None:
    """Return the cell at a square, `None` for none."""
    column, row = square
    inside = 0 <= column < board.width and 0 <= row < board.height
    return row * board.width + column if inside else None


def exists(board: Geometry, square: Square) -> bool:
    """Return whether a square is a cell or a port."""
    return cell_at(board, square) is not None or port_at(board, square) is not None


def area_of(board: Geometry, square: Square) -> tuple[str, frozenset[int]]:
    """Return name and cells of the area that a lock at a square holds: a cell, row or column."""
    column, row = square
    cell = cell_at(board, square)
    if cell is not None:
        return board.name(cell), frozenset({cell})
    if 0 <= row < board.height:
        return board.left[row], frozenset(board.cells[row * board.width :][: board.width])
    return board.top[column], frozenset(board.cells[column :: board.width])


def moved(board: Geometry, square: Square, across: int, down: int) -> Square:
    """Return the next square in a direction. Skip corners, and stay at the edge."""
    column, row = square[0] + across, square[1] + down
    if not (-1 <= column <= board.width and -1 <= row <= board.height):
        return square
    if exists(board, (column, row)):
        return column, row
    # At a corner, go from a port beside the board to the nearest one above or below it, or back.
    if across:
        return column, min(max(row, 0), board.height - 1)
    return min(max(column, 0), board.width - 1), row
