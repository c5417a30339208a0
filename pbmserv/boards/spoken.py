"""Boards in sentences, for screen readers."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.game import Grid, Items, Part
from pbmserv.game.cells import Cell, Layout, edge_words, laid_out, piece_of


def board_sentences(
    parts: Sequence[Part], names: Sequence[str], you: int | None, *, turned: bool
) -> list[str]:
    """Return what a board shows, as sentences."""
    said: list[str] = []
    for part in parts:
        if isinstance(part, Grid):
            said += _grid(laid_out(part, turned=turned), names, you)
        elif isinstance(part, Items):
            items = ", ".join(piece_of(part.pieces, key).say for key in part.items)
            said.append(f"{part.title}: {items or 'none'}.")
        else:
            said += [line for line in part.splitlines() if line.strip()]
    return said


def _grid(layout: Layout, names: Sequence[str], you: int | None) -> list[str]:
    size = f"{layout.width} columns by {len(layout.rows)} rows"
    said = [f"{layout.grid.title or 'The board'}: {size}."]
    if words := edge_words(layout, names, you):
        said.append(words)
    for line, row in zip(layout.lines, layout.rows, strict=True):
        if cells := [_cell(cell, names, you) for cell in row if cell.piece is not None]:
            said.append(f"Row {line}: {', '.join(cells)}.")
    if len(said) == 1:
        said.append("The board is empty.")
    if new := [cell.name for cell in layout.cells if cell.new]:
        said.append(f"Changed last: {', '.join(new)}.")
    if strong := [cell.name for cell in layout.cells if cell.strong]:
        said.append(f"Marked: {', '.join(strong)}.")
    return said


def _cell(cell: Cell, names: Sequence[str], you: int | None) -> str:
    assert cell.piece is not None
    seat, said = cell.piece.seat, cell.says
    if seat is not None and seat < len(names):
        said += " of yours" if seat == you else f" of {names[seat]}"
    return f"{cell.name} {said}"
