"""Where things lie on the drawn board: cells and ports as one grid of squares.

A square is (column, row); cells count from (0, 0), ports stand in column or row -1 and in the
column or row behind the last cell. The corners are nothing.
"""

from __future__ import annotations

from pbmserv.games.blackbox.geometry import Geometry

Square = tuple[int, int]


def port_at(board: Geometry, square: Square) -> int | None:
    """The port of a square, if it is one."""
    column, row = square
    width, height = board.width, board.height
    if 0 <= column < width:
        if row == -1:
            return column
        if row == height:
            return width + height + column
    if 0 <= row < height:
        if column == width:
            return width + row
        if column == -1:
            return 2 * width + height + row
    return None


def cell_at(board: Geometry, square: Square) -> int | None:
    """The cell of a square, if it is one."""
    column, row = square
    inside = 0 <= column < board.width and 0 <= row < board.height
    return row * board.width + column if inside else None


def exists(board: Geometry, square: Square) -> bool:
    """Whether there is a cell or a port."""
    return cell_at(board, square) is not None or port_at(board, square) is not None


def line_of(board: Geometry, square: Square) -> str:
    """How the row or column of a port's square is named when it is sealed."""
    column, row = square
    return board.left[row] if 0 <= row < board.height else board.top[column]


def moved(board: Geometry, square: Square, across: int, down: int) -> Square:
    """The next square that way; over a corner one comes round it, at an edge one stays."""
    column, row = square[0] + across, square[1] + down
    if not (-1 <= column <= board.width and -1 <= row <= board.height):
        return square
    if exists(board, (column, row)):
        return column, row
    # A corner: from a port beside the board to the nearest one above or below it, and back.
    if across:
        return column, min(max(row, 0), board.height - 1)
    return min(max(column, 0), board.width - 1), row
