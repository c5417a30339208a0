"""Rotations and reflections of boards, after which a box is as hard as before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from pbmserv.games.blackbox.geometry import Geometry


@cache
def orientations(board: Geometry) -> tuple[tuple[int, ...], ...]:
    """Return the new cell of each cell in all rotations and reflections of the board."""
    places = [divmod(cell, board.width) for cell in board.cells]
    return tuple(
        tuple(row * board.width + column for row, column in turned)
        for turned in _turned(board, places)
    )


@cache
def port_orientations(board: Geometry) -> tuple[tuple[int, ...], ...]:
    """Return the new port of each port, in the order of `orientations`."""
    places = [(row - 1, column - 1) for column, row in board.port_places]
    return tuple(
        tuple(places.index(place) for place in turned) for turned in _turned(board, places)
    )


def _turned(board: Geometry, places: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield new rows and columns in all orientations. Ports are around the cells, from -1 on."""
    width, height = board.width, board.height
    for swapped in (False, True) if width == height else (False,):
        for down in (False, True):
            for across in (False, True):
                turned = []
                for row, column in places:
                    new_row = height - 1 - row if down else row
                    new_column = width - 1 - column if across else column
                    turned.append((new_column, new_row) if swapped else (new_row, new_column))
                yield turned
