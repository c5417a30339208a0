"""Boards as tables of HTML: for letters, whose cells are links, and for pages with buttons.

Classes of cells: ``p0`` and ``p1`` the pieces of seats 0 and 1, ``dk`` a dark square, ``wd`` wood,
``ln`` a crossing of lines, ``hx`` a hexagon, ``nw`` changed last, ``sg`` part of a winning line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from pbmserv.game import Grid, Items, Part, matching
from pbmserv.game.cells import MOST_STACKED, Cell, Layout, edge_words, face, laid_out, piece_of

_LARGE = 9
"""The most columns of a board whose cells are as large as a thumb."""
_SMALL = frozenset({"hexes", "points"})


@dataclass(frozen=True)
class Block:
    """A part of a board, ready for a template.

    Attributes:
        kind: ``grid``, ``items`` or ``text``.
        title: the title of the part.
        rows: the rows of the table, for a grid; every text in them is escaped.
        texts: the items or paragraphs.
        is_large: whether the cells are as large as a thumb.
        shape: the shape of the grid.
        notes: sentences below the board.
    """

    kind: str
    title: str = ""
    rows: str = ""
    texts: tuple[str, ...] = ()
    is_large: bool = False
    shape: str = ""
    notes: tuple[str, ...] = ()


Draw = Callable[[Cell], str]
"""Returns the content of a cell."""
Head = Callable[[str, str], str]
"""Returns the head of a column, by its name and the reply that a tap on it sends."""


def letter_blocks(
    parts: Sequence[Part],
    names: Sequence[str],
    you: int | None,
    moves: Sequence[str],
    link: Callable[[str], str] | None,
    *,
    turned: bool,
) -> list[Block]:
    """Return the parts of a board for a letter.

    Args:
        moves: the moves that the reader can make now.
        link: makes the address of a reply with a move; `None` if there is no room for links.
    """
    grids = [part for part in parts if isinstance(part, Grid)]
    is_points = any(grid.shape == "points" for grid in grids)
    named = all(_is_large(grid) and grid.shape != "lines" for grid in grids)

    def draw(cell: Cell) -> str:
        shown = _inside(cell, named=named, stacked=is_points)
        if cell.piece is None and not named and not is_points:
            shown = "&middot;"
        if link is None or not cell.tap:
            return shown
        words = cell.tap if cell.tap in moves else f"{cell.tap} "
        label = "" if named or cell.piece else f' aria-label="{escape(cell.name)}"'
        return f'<a href="{escape(link(words))}"{label}>{shown}</a>'

    def head(name: str, tap: str) -> str:
        if link is None or not tap:
            return str(escape(name))
        return f'<a href="{escape(link(tap))}">{escape(name)}</a>'

    return list(_blocks(parts, names, you, moves if link else (), draw, head, turned=turned))


def page_blocks(
    parts: Sequence[Part],
    names: Sequence[str],
    you: int | None,
    moves: Sequence[str],
    draft: str,
    *,
    turned: bool,
) -> list[Block]:
    """Return the parts of a board for a page, with a button in each cell that can be played.

    Args:
        moves: the moves that the reader can make now.
        draft: the text of the move so far; cells that complete it are buttons, too.
    """
    begun = matching.pieces(draft)
    is_points = any(isinstance(part, Grid) and part.shape == "points" for part in parts)
    further = {
        matching.pieces(move)[len(begun) : len(begun) + 1]
        for move in (matching.beginning_with(draft, moves) if begun else ())
    }

    def draw(cell: Cell) -> str:
        name = matching.pieces(cell.name)
        tap = cell.name if name in further else cell.tap
        if not tap:
            return _inside(cell, named=False, stacked=is_points)
        pressed = begun and (name == begun[-1:] or matching.pieces(tap) == begun)
        state = ' aria-pressed="true"' if pressed else ""
        label = escape(f"{cell.name}: {cell.says}")
        return (
            f'<button class="tap" name="tap" value="{escape(tap)}"{state} '
            f'aria-label="{label}">{_inside(cell, named=False, stacked=is_points)}</button>'
        )

    def head(name: str, tap: str) -> str:
        if not tap:
            return str(escape(name))
        return f'<button class="tap" name="tap" value="{escape(tap)}">{escape(name)}</button>'

    return list(_blocks(parts, names, you, moves, draw, head, turned=turned))


def _blocks(
    parts: Sequence[Part],
    names: Sequence[str],
    you: int | None,
    moves: Sequence[str],
    draw: Draw,
    head: Head,
    *,
    turned: bool,
) -> Iterator[Block]:
    for part in parts:
        if isinstance(part, Grid):
            layout = laid_out(part, moves, turned=turned)
            rows = _rows(layout, draw, head)
            edges = edge_words(layout, names, you)
            yield Block(
                "grid",
                part.title,
                Markup("\n".join(rows)),  # noqa: S704 - every text in it is escaped
                is_large=_is_large(part),
                shape=part.shape,
                notes=(edges,) if edges else (),
            )
        elif isinstance(part, Items):
            texts = tuple(face(piece_of(part.pieces, key)) for key in part.items)
            yield Block("items", part.title, texts=texts)
        else:
            texts = tuple(line for line in part.splitlines() if line.strip())
            yield Block("text", texts=texts)


def _is_large(grid: Grid) -> bool:
    """Return whether there is room for large cells."""
    return max(map(len, grid.rows), default=0) <= _LARGE and grid.shape not in _SMALL


def _rows(layout: Layout, draw: Draw, head: Head) -> list[str]:
    """Return the rows of a table."""
    if layout.grid.shape == "points":
        return _points(layout, draw)
    is_hex = layout.grid.shape == "hexes"
    span = ' colspan="2"' if is_hex else ""
    first = "".join(
        f"<th{span}{_edge_class(layout, 'top')}>{head(name, tap)}</th>"
        for name, tap in zip(layout.columns, layout.taps, strict=True)
    )
    lines = []
    for name, row in zip(layout.lines, layout.rows, strict=True):
        lines.append((escape(name), _cells(layout, row, draw, span)))
    if is_hex:
        return _shifted(layout, first, lines)
    left, right = _edge_class(layout, "left"), _edge_class(layout, "right")
    rows = [f"<tr><th{left}>{name}</th>{cells}<th{right}>{name}</th></tr>" for name, cells in lines]
    return [f"<tr><th></th>{first}<th></th></tr>", *rows]


def _shifted(layout: Layout, first: str, lines: Sequence[tuple[str, str]]) -> list[str]:
    """Return rows of hexes, each shifted by half a cell, which is a column of the table.

    Args:
        first: the heads of the columns.
        lines: the names and cells of the rows.
    """
    height = len(lines)
    # w3m gives columns that have no cell of their own any width, and shifts rows by chance.
    columns = "<th>&nbsp;</th>" * (2 * len(layout.columns) + height + 2)
    rows = [f'<tr class="even" aria-hidden="true">{columns}</tr>']
    rows.append(f"<tr><th></th>{first}{_gap(height + 1)}</tr>")
    for place, (name, cells) in enumerate(lines):
        width = 2 if len(name) > 1 else 1  # so that no column becomes wider than others
        on_left = min(width, place + 1)
        left = _gap(place + 1 - on_left) + _line_name(layout, "left", name, on_left)
        right = _line_name(layout, "right", name, width) + _gap(height + 1 - place - width)
        rows.append(f"<tr>{left}{cells}{right}</tr>")
    last = first.replace(_edge_class(layout, "top"), _edge_class(layout, "bottom"))
    return [*rows, f"<tr>{_gap(height)}{last}{_gap(2)}</tr>"]


def _line_name(layout: Layout, side: str, name: str, columns: int) -> str:
    """Return the cell with the name of a row, across some columns of the table."""
    span = f' colspan="{columns}"' if columns > 1 else ""
    return f"<th{span}{_edge_class(layout, side)}>{name}</th>"


def _gap(columns: int) -> str:
    """Return an empty cell across some columns of a table, ``""`` for none."""
    return f'<th colspan="{columns}"></th>' if columns else ""


def _points(layout: Layout, draw: Draw) -> list[str]:
    """Return points as columns: names at the outer edge, men above each other inside."""
    rows = []
    for place, row in enumerate(layout.rows):
        is_top = place < len(layout.rows) / 2
        names = "".join(f"<th>{escape(cell.name)}</th>" for cell in row)
        men = _cells(layout, row, draw)
        pair = [f"<tr>{names}</tr>", f'<tr valign="{"top" if is_top else "bottom"}">{men}</tr>']
        rows += pair if is_top else pair[::-1]
    return rows


def _cells(layout: Layout, row: Sequence[Cell], draw: Draw, span: str = "") -> str:
    """Return the cells of a row; cells without a name are empty."""
    return "\n".join(
        f'<td{span} class="{_classes(layout, cell)}"{_aria_label(cell)}>{draw(cell)}</td>'
        if cell.name
        else f"<td{span}></td>"
        for cell in row
    )


_CLASS_OF_SHAPE = {"chequered": "wd", "lines": "ln", "hexes": "hx", "points": "pt"}


def _classes(layout: Layout, cell: Cell) -> str:
    words = []
    if cell.dark:
        words.append("dk")
    elif layout.grid.shape in _CLASS_OF_SHAPE:
        words.append(_CLASS_OF_SHAPE[layout.grid.shape])
    if cell.piece is not None:
        words.append(f"p{cell.piece.seat}" if cell.piece.seat in {0, 1} else "pn")
    if cell.strong:
        words.append("sg")
    elif cell.new:
        words.append("nw")
    return " ".join(words) or "em"


def _aria_label(cell: Cell) -> str:
    if cell.piece is None:
        return ""
    return f' aria-label="{escape(f"{cell.name}: {cell.says}")}"'


def _edge_class(layout: Layout, side: str) -> str:
    owner = layout.edges.get(side)
    return f' class="p{owner}"' if owner in {0, 1} else ""


def _inside(cell: Cell, *, named: bool, stacked: bool) -> str:
    """Return the content of a cell: its piece, or in a letter the name of an empty cell.

    Args:
        stacked: several pieces are drawn above each other; otherwise by their number.
    """
    if cell.piece is None:
        return str(escape(cell.name)) if named else "&nbsp;"
    man = str(escape(face(cell.piece)))
    if cell.count == 1:
        return man
    if not stacked:
        return f"{man}{cell.count}"
    if cell.count <= MOST_STACKED:
        return "<br>".join([man] * cell.count)
    return "<br>".join([*[man] * (MOST_STACKED - 1), str(cell.count)])
