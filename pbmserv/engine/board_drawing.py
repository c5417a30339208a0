"""Boards of `pbmserv.game` as shapes, for pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pbmserv.engine.types import Drawing, Seat, Shape
from pbmserv.game import Grid, Items, Part
from pbmserv.game.cells import MOST_STACKED, Cell, Layout, laid_out, piece_of

SIDE = 36.0
_GAP = 24.0
_WOOD = frozenset({"chequered", "lines", "points"})
_ROUND = frozenset("\N{BLACK CIRCLE}\N{WHITE CIRCLE}\N{DOTTED CIRCLE}")


def board_drawing(parts: Sequence[Part], *, turned: bool) -> Drawing | None:
    """Return the grids of a board below each other, `None` if it has none."""
    shapes: list[Shape] = []
    width, top = 0.0, 0.0
    for part in parts:
        if not isinstance(part, Grid):
            continue
        layout = laid_out(part, turned=turned)
        is_tall = part.shape == "points"
        height = SIDE * (len(layout.rows) * (MOST_STACKED if is_tall else 1) + 2)
        shapes += _of_grid(layout, top)
        slant = SIDE / 2 * len(layout.rows) if part.shape == "hexes" else 0
        width = max(width, SIDE * (layout.width + 2) + slant)
        top += height + _GAP
    if not shapes:
        return None
    return Drawing(Seat(0), width, top - _GAP, tuple(shapes), {"said": _said(parts)})


def _of_grid(layout: Layout, top: float) -> Iterator[Shape]:
    shape = layout.grid.shape
    tall = MOST_STACKED if shape == "points" else 1
    for column, name in enumerate(layout.columns):
        x = (column + 1.5) * SIDE
        yield Shape("word", "label", (x, top + SIDE / 2), name)
    if shape == "lines":
        yield from _lines(layout, top)
    for row, cells in enumerate(layout.rows):
        slant = SIDE / 2 * row if shape == "hexes" else 0
        y = top + SIDE * (1 + row * tall)
        if layout.lines[row]:
            yield Shape("word", "label", (SIDE / 2 + slant, y + SIDE / 2), layout.lines[row])
        for column, cell in enumerate(cells):
            if cell.name:
                x = SIDE * (column + 1) + slant
                yield from _of_cell(layout, cell, x, y, is_top=row < len(layout.rows) / 2)


def _lines(layout: Layout, top: float) -> Iterator[Shape]:
    across, down = SIDE * layout.width, SIDE * len(layout.rows)
    yield Shape("box", "wood", (SIDE, top + SIDE, across, down))
    for n in range(layout.width):
        x = SIDE * (n + 1.5)
        yield Shape("line", "grain", (x, top + 1.5 * SIDE, x, top + down + SIDE / 2))
    for n in range(len(layout.rows)):
        y = top + SIDE * (n + 1.5)
        yield Shape("line", "grain", (1.5 * SIDE, y, across + SIDE / 2, y))


def _of_cell(layout: Layout, cell: Cell, x: float, y: float, *, is_top: bool) -> Iterator[Shape]:
    shape = layout.grid.shape
    middle = x + SIDE / 2, y + SIDE / 2
    if shape == "points":
        yield Shape("box", "wood", (x, y, SIDE, SIDE * MOST_STACKED))
        for n in range(min(cell.count, MOST_STACKED) if cell.piece else 0):
            level = n if is_top else MOST_STACKED - 1 - n
            text = str(cell.count) if n == MOST_STACKED - 1 and cell.count > MOST_STACKED else ""
            yield from _man(cell, middle[0], y + SIDE * (level + 0.5), text)
        return
    if shape == "hexes":
        yield Shape("dot", "cell", (*middle, SIDE * 0.48))
    elif shape != "lines":
        role = "shade" if cell.dark else "wood" if shape in _WOOD else "field"
        yield Shape("box", "strong" if cell.strong else role, (x, y, SIDE, SIDE))
    if cell.piece is not None:
        yield from _man(cell, *middle, str(cell.count) if cell.count > 1 else "")
    if cell.new or (cell.strong and shape in {"lines", "hexes"}):
        yield Shape("box", "new", (x + 1, y + 1, SIDE - 2, SIDE - 2))


def _man(cell: Cell, x: float, y: float, text: str) -> Iterator[Shape]:
    """Draw a piece: a stone, a stone with a letter, or a letter in its owner's colour.

    Args:
        text: a number that stands beside the letter or on the stone; ``""`` for none.
    """
    assert cell.piece is not None
    piece = cell.piece
    colour = next((colour for colour in ("white", "black") if colour in piece.say.split()), "")
    owner = {0: "first", 1: "second"}.get(-1 if piece.seat is None else piece.seat, "mark")
    if piece.glyph in _ROUND:
        role = colour or owner
        yield Shape("dot", role, (x, y, SIDE * 0.38))
        if text:
            yield Shape("word", "on-black" if role == "black" else "on-white", (x, y), text)
    elif colour:
        yield Shape("dot", colour, (x, y, SIDE * 0.42))
        yield Shape("word", f"on-{colour}", (x, y), piece.text.upper() + text)
    else:
        yield Shape("word", owner, (x, y), piece.text + text)


def _said(parts: Sequence[Part]) -> str:
    """Return the content of a picture in words."""
    sentences = []
    for part in parts:
        if isinstance(part, Grid):
            cells = [cell for cell in laid_out(part).cells if cell.piece is not None]
            pieces = ", ".join(f"{cell.name} {cell.says}" for cell in cells)
            sentences.append(f"{part.title or 'The board'}: {pieces or 'empty'}")
        elif isinstance(part, Items):
            items = ", ".join(piece_of(part.pieces, key).say for key in part.items)
            sentences.append(f"{part.title}: {items or 'none'}")
    return "; ".join(sentences)
