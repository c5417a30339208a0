"""Boards in plain text, at most 76 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from pbmserv.game import Grid, Items, Part, Piece
from pbmserv.game.cells import MOST_STACKED, Cell, Layout, edge_words, laid_out, legend, piece_of

WIDTH = 76
"""Columns of a text letter (spec/mail.md)."""
_BOXED = 8
"""The most columns of a board whose cells are drawn as boxes."""
_GAP = "    "


def board_text(
    parts: Sequence[Part], names: Sequence[str], you: int | None, *, turned: bool
) -> str:
    """Return the text board.

    Args:
        names: the names of the players, by side.
        you: the reader's side.
        turned: whether the reader sits at the other side.
    """
    blocks: list[list[str]] = []
    grids: list[list[str]] = []
    for part in parts:
        if isinstance(part, Grid):
            layout = laid_out(part, turned=turned)
            block = _grid(layout)
            if part.title:
                block = [*textwrap.wrap(part.title, WIDTH), "", *block]
            if words := edge_words(layout, names, you):
                block += ["", *textwrap.wrap(words, WIDTH)]
            if grids and _is_beside(grids[-1], block):
                blocks[-1] = grids[-1] = _beside(grids[-1], block)
            else:
                blocks.append(block)
                grids.append(block)
            continue
        grids.clear()
        blocks.append(_words(part))
    if words := legend(parts, names, you):
        blocks.append(textwrap.wrap(words, WIDTH))
    lines = [line.rstrip() for block in blocks for line in (*block, "")]
    return "\n".join(lines[:-1]) + "\n"


def _words(part: Items | str) -> list[str]:
    if isinstance(part, str):
        return [line for text in part.splitlines() for line in textwrap.wrap(text, WIDTH) or [""]]
    shown = [piece_of(part.pieces, key).text for key in part.items]
    text = f"{part.title}: {' '.join(shown) or '-'}"
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ")


def _grid(layout: Layout) -> list[str]:
    if layout.grid.shape == "points":
        return _points(layout)
    if layout.grid.shape in {"squares", "chequered"} and layout.width <= _BOXED:
        return _boxed(layout)
    return _close(layout)


def _boxed(layout: Layout) -> list[str]:
    """Return a board of boxes, with a letter and a number at each edge."""
    margin = max(map(len, layout.lines), default=0)
    size = max(3, _widest_sign(layout) + 2)
    rule = " " * (margin + 2) + "+" + ("-" * size + "+") * layout.width
    head = " " * (margin + 2) + "".join(f" {name:^{size}}" for name in layout.columns)
    lines = [head, rule]
    for name, row in zip(layout.lines, layout.rows, strict=True):
        cells = "|".join(_in_box(cell, size) for cell in row)
        lines += [f" {name:>{margin}} |{cells}|", rule]
    return lines


def _in_box(cell: Cell, size: int) -> str:
    if not cell.name:
        return " " * size
    if cell.piece is None:
        text = "(.)" if cell.new else "[.]" if cell.strong else ":" * size if cell.dark else ""
        return f"{text:^{size}}"
    return f"{_marked(cell):^{size}}"


def _marked(cell: Cell) -> str:
    text = "." if cell.piece is None else _sign(cell.piece, cell.count)
    return f"[{text}]" if cell.strong else f"({text})" if cell.new else text


def _sign(piece: Piece, count: int) -> str:
    """Return the text of a piece; of several pieces in a cell, with their number."""
    return piece.text if count == 1 else f"{piece.text}{count}"


def _close(layout: Layout) -> list[str]:
    """Return a board with one sign for each cell; rows of hexes are shifted."""
    margin = max(map(len, layout.lines), default=0)
    size = max(_widest_sign(layout), *map(len, layout.columns))
    is_hex = layout.grid.shape == "hexes"
    head = " " * (margin + 1) + "".join(f" {name:>{size}}" for name in layout.columns)
    lines = [head]
    for place, (name, row) in enumerate(zip(layout.lines, layout.rows, strict=True)):
        indent = " " * place if is_hex else ""
        lines.append(f"{indent}{name:>{margin}} {_close_row(row, size)} {name}")
    if is_hex or len(layout.rows) > _BOXED:
        indent = " " * len(layout.rows) if is_hex else ""
        lines.append(indent + head)
    return lines


def _close_row(row: Sequence[Cell], size: int) -> str:
    """Return a row of signs; a mark around a sign stands in the gaps beside it."""
    line, closing = "", ""
    for cell in row:
        text = _marked(cell) if cell.name else ""
        before, after = (text[0], text[-1]) if len(text) > 2 and text[0] in "([" else ("", "")
        sign = text[1:-1] if before else text
        line += f"{before or closing or ' '}{sign:>{size}}"
        closing = after
    return line + (closing or " ")


def _widest_sign(layout: Layout) -> int:
    """Return the width of the widest sign on the board."""
    return max(
        (len(_sign(cell.piece, cell.count)) for cell in layout.cells if cell.piece), default=1
    )


def _points(layout: Layout) -> list[str]:
    """Return points with their pieces above each other, in two rows."""
    lines: list[str] = []
    for place, row in enumerate(layout.rows):
        is_top = place < len(layout.rows) / 2
        names = " ".join(f"{cell.name or '|':>3}" for cell in row)
        tallest = max((min(cell.count, MOST_STACKED) for cell in row if cell.piece), default=0)
        stacks = [
            " ".join(f"{_stacked_sign(cell, level):>3}" for cell in row)
            for level in range(1, max(tallest, 1) + 1)
        ]
        lines += [names, *stacks, ""] if is_top else [*reversed(stacks), names]
    return lines


def _stacked_sign(cell: Cell, level: int) -> str:
    """Return what a point shows at a level, counted from the edge of the board."""
    if not cell.name:
        return "|"
    if cell.piece is None:
        return "." if level == 1 else ""
    if level == MOST_STACKED and cell.count > MOST_STACKED:
        return str(cell.count)
    return cell.piece.text if level <= cell.count else ""


def _is_beside(left: list[str], right: list[str]) -> bool:
    return _width(left) + len(_GAP) + _width(right) <= WIDTH and _width(left) <= WIDTH // 2


def _width(block: Iterable[str]) -> int:
    return max(map(len, block), default=0)


def _beside(left: list[str], right: list[str]) -> list[str]:
    width = _width(left)
    height = max(len(left), len(right))
    padded = [*left, *[""] * (height - len(left))], [*right, *[""] * (height - len(right))]
    return [f"{line:<{width}}{_GAP}{other}" for line, other in zip(*padded, strict=True)]
