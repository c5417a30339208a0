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
    size = f"{counted(layout.width, 'column')} by {counted(len(layout.rows), 'row')}"
    sentences = [f"{layout.grid.title or 'The board'}: {size}."]
    if words := edge_words(layout, names, you):
        sentences.append(words)
    for line, row in zip(layout.lines, layout.rows, strict=True):
        if cells := [_cell(cell, names, you) for cell in row if cell.piece is not None]:
            sentences.append(f"Row {line}: {', '.join(cells)}.")
    if len(sentences) == 1:
        sentences.append("The board is empty.")
    if new := [cell.name for cell in layout.cells if cell.new]:
        sentences.append(f"Changed last: {', '.join(new)}.")
    if strong := [cell.name for cell in layout.cells if cell.strong]:
        sentences.append(f"Marked: {', '.join(strong)}.")
    return sentences


def _cell(cell: Cell, names: Sequence[str], you: int | None) -> str:
    assert cell.piece is not None
    seat, words = cell.piece.seat, cell.says
    if seat is not None and seat < len(names):
        words += " of yours" if seat == you else f" of {names[seat]}"
    return f"{cell.name} {words}"
