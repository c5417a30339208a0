"""Boards in sentences, for screen readers."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.game import Grid, Items, Part
from pbmserv.game.cells import Cell, Layout, edge_words, laid_out, piece_of
from pbmserv.plurals import counted


def board_sentences(
    parts: Sequence[Part], names: Sequence[str], you: int | None, *, turned: bool
) -> list[str]:
    """Return what a board shows, as sentences."""
    sentences: list[str] = []
    for part in parts:
        if isinstance(part, Grid):
            sentences += _grid(laid_out(part, turned=turned), names, you)
        elif isinstance(part, Items):
            items = ", ".join(piece_of(part.pieces, key).say for key in part.items)
            sentences.append(f"{part.title}: {items or 'none'}.")
        else:
            sentences += [line for line in part.splitlines() if line.strip()]
    return sentences


def _grid(layout: Layout, names: Sequence[str], you: int | None) -> list[str]:
    has_points = layout.grid.shape == "points"
    sentences = (_points if has_points else _rows)(layout, names, you)
    if new := [cell.name for cell in layout.cells if cell.new]:
        sentences.append(f"Changed last: {', '.join(new)}.")
    if strong := [cell.name for cell in layout.cells if cell.strong]:
        sentences.append(f"Marked: {', '.join(strong)}.")
    return sentences


def _rows(layout: Layout, names: Sequence[str], you: int | None) -> list[str]:
    size = f"{counted(layout.width, 'column')} by {counted(len(layout.rows), 'row')}"
    sentences = [f"{layout.grid.title or 'The board'}: {size}."]
    if words := edge_words(layout, names, you):
        sentences.append(words)
    for line, row in zip(layout.lines, layout.rows, strict=True):
        if cells := [_cell(cell, names, you) for cell in row if cell.piece is not None]:
            sentences.append(f"Row {line}: {', '.join(cells)}.")
    if len(sentences) == 1:
        sentences.append("The board is empty.")
    return sentences


def _points(layout: Layout, names: Sequence[str], you: int | None) -> list[str]:
    """Return a sentence for each row of points: "13 has 5 of yours, 17 has 3 of bob"."""
    sentences = [f"{layout.grid.title or 'The board'}, each row from the left."]
    for row in layout.rows:
        cells = [
            f"{cell.name} has {cell.count or cell.says}{_owner(cell, names, you)}"
            for cell in row
            if cell.piece is not None
        ]
        sentences.append(f"{', '.join(cells) or 'No men'}.")
    return sentences


def _cell(cell: Cell, names: Sequence[str], you: int | None) -> str:
    return f"{cell.name} {cell.says}{_owner(cell, names, you)}"


def _owner(cell: Cell, names: Sequence[str], you: int | None) -> str:
    """Return words for the owner of a cell's piece; ``""`` if nobody owns it."""
    assert cell.piece is not None
    seat = cell.piece.seat
    if seat is None or seat >= len(names):
        return ""
    return " of yours" if seat == you else f" of {names[seat]}"
