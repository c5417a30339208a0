"""Boards of `pbmserv.game` as facts for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pbmserv.game import Grid, Items, Part, cells
from pbmserv.game.cells import laid_out, piece_of


@dataclass(frozen=True)
class Cell:
    """A cell of a grid.

    Attributes:
        name: the name of the cell in moves.
        key: the key of the piece in it; empty if there is none.
        piece: the name of the piece; empty if there is none.
        owner: the seat of its owner; null if nobody owns it.
        count: the number of pieces.
        new: whether the last move changed the cell.
        strong: whether the cell is marked, such as one of a winning line.
    """

    name: str
    key: str
    piece: str
    owner: int | None
    count: int
    new: bool
    strong: bool


@dataclass(frozen=True)
class Things:
    """Things beside a board, such as dice.

    Attributes:
        title: the heading.
        items: the names of the things.
    """

    title: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class BoardGrid:
    """A grid.

    Attributes:
        title: the heading; empty for none.
        shape: squares, chequered, lines, hexes or points.
        rows: from the top, as seat 0 sees it.
    """

    title: str
    shape: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class GameBoard:
    """A board as its reader sees it.

    Attributes:
        grids: the grids.
        things: the things beside them.
        texts: paragraphs of the game about the position.
        moves: the moves that the game lists for the reader; empty if it is not their turn.
        last: the last move, as the reader may know it.
        offer: the offer that waits for the reader's answer: "draw", "takeback" or empty.
        may_swap: whether the reader may take the other side now.
    """

    grids: tuple[BoardGrid, ...]
    things: tuple[Things, ...]
    texts: tuple[str, ...]
    moves: tuple[str, ...]
    last: str
    offer: str
    may_swap: bool


def grids_of(parts: Sequence[Part], seats: Sequence[int]) -> tuple[BoardGrid, ...]:
    """Return the grids of a board; *seats* are those of each side."""
    return tuple(
        BoardGrid(
            part.title,
            part.shape,
            tuple(
                tuple(_cell(cell, seats) for cell in row if cell.name)
                for row in laid_out(part).rows
            ),
        )
        for part in parts
        if isinstance(part, Grid)
    )


def _cell(cell: cells.Cell, seats: Sequence[int]) -> Cell:
    piece = cell.piece
    if piece is None:
        return Cell(cell.name, "", "", None, 0, cell.new, cell.strong)
    owner = None if piece.seat is None else seats[piece.seat]
    return Cell(cell.name, piece.text, piece.say, owner, cell.count, cell.new, cell.strong)


def things_of(parts: Sequence[Part]) -> tuple[Things, ...]:
    """Return the things beside the grids of a board."""
    return tuple(
        Things(part.title, tuple(piece_of(part.pieces, key).say for key in part.items))
        for part in parts
        if isinstance(part, Items)
    )
