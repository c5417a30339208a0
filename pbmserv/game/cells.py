"""Lays out a `Grid` as its reader sees it; every kind of drawing begins with this."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pbmserv.game import matching
from pbmserv.game.api import Grid, Part, Piece

EMPTY, NO_CELL = ".", " "

MOST_STACKED = 5
"""Most signs that are drawn above each other in a cell; of more pieces, the last is a number."""


@dataclass(frozen=True)
class Cell:
    """A cell of a board.

    Attributes:
        name: "" if there is no cell here.
        piece: `None` in an empty cell.
        count: pieces in it.
        dark: whether it is a dark square of a chequered board.
        new: whether the last move changed it.
        strong: whether it matters, such as a cell of a winning line.
        tap: the reply that a tap sends; "" if nothing can be played here.
    """

    name: str
    piece: Piece | None = None
    count: int = 1
    dark: bool = False
    new: bool = False
    strong: bool = False
    tap: str = ""

    @property
    def says(self) -> str:
        """The content of the cell in words."""
        if self.piece is None:
            return "empty"
        return f"{self.count} x {self.piece.say}" if self.count > 1 else self.piece.say


@dataclass(frozen=True)
class Layout:
    """A board as its reader sees it, turned if need be.

    Attributes:
        columns, lines: the labels, from the left and from the top.
        taps: the reply that a tap on the label of each column sends; "" for none.
        edges: owners of the edges, as the reader sees them.
    """

    grid: Grid
    rows: tuple[tuple[Cell, ...], ...]
    columns: tuple[str, ...]
    lines: tuple[str, ...]
    taps: tuple[str, ...]
    edges: Mapping[str, int]

    @property
    def width(self) -> int:
        return max(map(len, self.rows), default=0)

    @property
    def cells(self) -> list[Cell]:
        return [cell for row in self.rows for cell in row if cell.name]


_OPPOSITE = {"top": "bottom", "bottom": "top", "left": "right", "right": "left"}


def laid_out(grid: Grid, moves: Iterable[str] = (), *, turned: bool = False) -> Layout:
    """Return a board as its reader sees it.

    Args:
        moves: the moves that the reader can make now, which taps send.
        turned: whether the reader sits at the other side.
    """
    width = max(map(len, grid.rows), default=0)
    columns = tuple(grid.columns[n] if n < len(grid.columns) else "" for n in range(width))
    lines = tuple(
        (grid.lines[n] if n < len(grid.lines) else "") if grid.lines else str(n + 1)
        for n in range(len(grid.rows))
    )
    replies = _Replies(() if grid.still else tuple(moves))
    taps = tuple(replies.to_column(name) for name in columns)
    rows = [
        tuple(
            _cell(grid, (row, column), f"{columns[column]}{lines[row]}", replies, taps[column])
            for column in range(len(keys))
        )
        for row, keys in enumerate(grid.rows)
    ]
    edges = dict(grid.edges)
    if turned:
        rows = [row[::-1] for row in reversed(rows)]
        columns, lines, taps = columns[::-1], lines[::-1], taps[::-1]
        edges = {_OPPOSITE[side]: seat for side, seat in edges.items()}
    return Layout(grid, tuple(rows), columns, lines, taps, edges)


class _Replies:
    """The replies that taps send, by the moves that the reader can make now."""

    def __init__(self, moves: Collection[str]) -> None:
        self._moves = {"".join(matching.tokens(move)): move for move in moves}
        self._first_pieces = {matching.pieces(move)[:1] for move in moves}

    def to_column(self, name: str) -> str:
        """Return the move that has the name of a column, "" if there is none."""
        return self._moves.get(name.casefold(), "")

    def to_cell(self, name: str) -> str:
        """Return the move that is a cell, or the cell if a move begins with it; "" for neither."""
        move = self._moves.get("".join(matching.tokens(name)))
        return move or (name if matching.pieces(name) in self._first_pieces else "")


def _cell(
    grid: Grid, place: tuple[int, int], label: str, replies: _Replies, column_tap: str
) -> Cell:
    """Return a cell of a grid.

    Args:
        place: its row and column.
        label: the labels of its column and line.
        column_tap: the reply that a tap on the label of its column sends.
    """
    row, column = place
    key = grid.rows[row][column]
    if key == NO_CELL:
        return Cell("")
    name = grid.names.get(place, label or f"{row + 1}.{column + 1}")
    piece = None if key == EMPTY else piece_of(grid.pieces, key)
    return Cell(
        name,
        piece,
        count=grid.counts.get(name, 1),
        dark=grid.shape == "chequered" and (row + column) % 2 == 1,
        new=name in grid.new,
        strong=name in grid.strong,
        tap=replies.to_cell(name) or (column_tap if piece is None else ""),
    )


def piece_of(pieces: Mapping[str, Piece], key: str) -> Piece:
    """Return the piece with a key; a key without a description is shown as it is."""
    return pieces[key] if key in pieces else Piece(key, key)


def legend(
    parts: Sequence[Part], names: Sequence[str], you: int | None, *, glyphs: bool = False
) -> str:
    """Return a sentence that says whose pieces are whose and explains the marks on the board.

    It is "" if no piece has an owner and no cell is marked.

    Args:
        names: the names of the players, by side.
        glyphs: whether the board is drawn with glyphs.
    """
    grids = [part for part in parts if isinstance(part, Grid)]
    owned: dict[int, list[Piece]] = {}
    others: list[Piece] = []
    for part in grids:
        there = {key for row in part.rows for key in row}
        for key, piece in part.pieces.items():
            if piece.seat is not None and piece not in owned.setdefault(piece.seat, []):
                owned[piece.seat].append(piece)
            elif piece.seat is None and key in there and piece not in others:
                others.append(piece)
    phrases = [
        f"{'you have' if seat == you else names[seat] + ' has'} {_set_of(pieces, glyphs)}"
        for seat, pieces in sorted(owned.items(), key=lambda owner: (owner[0] != you, owner[0]))
        if seat < len(names)
    ]
    phrases += [
        f"{face(piece, glyphs)}: {piece.say}"
        for piece in others
        if face(piece, glyphs).strip() and piece.text != piece.say
    ]
    text = "; ".join(phrases) + "." if phrases else ""
    text = f"Y{text[1:]}" if text.startswith("you ") else text
    men = "" if glyphs else _names_of_men(owned)
    return " ".join(filter(None, (text, men, _marks(grids, glyphs))))


def _names_of_men(owned: Mapping[int, Sequence[Piece]]) -> str:
    """Return "K king, Q queen." for the letters of one side's men, "" if these are all alike."""
    men = {
        piece.text.upper(): piece.say.split()[-1]
        for piece in next(iter(owned.values()), ())
        if " " in piece.say
    }
    return ", ".join(f"{letter} {man}" for letter, man in men.items()) + "." if len(men) > 1 else ""


def _marks(grids: Sequence[Grid], glyphs: bool) -> str:
    """Return what the marks of cells mean, "" if none is marked."""
    new, strong = ("framed", "coloured") if glyphs else ("( )", "[ ]")
    shown = [grid for grid in grids if glyphs or grid.shape != "points"]
    phrases = [f"{new}: the last move"] if any(grid.new for grid in shown) else []
    meaning = next((grid.strong_is for grid in shown if grid.strong), "")
    phrases += [f"{strong}: {meaning}"] if meaning else []
    return _sentence(phrases)


def _set_of(pieces: Sequence[Piece], glyphs: bool) -> str:
    """Return the pieces of a player in a few words: "X", or "white" for all that are white."""
    faces = " ".join(dict.fromkeys(face(piece, glyphs) for piece in pieces))
    colours = {piece.say.split()[0] for piece in pieces}
    if len(pieces) == 1 or len(colours) > 1:
        return faces
    if not glyphs and faces.isupper() != faces.islower():
        faces = "capitals" if faces.isupper() else "small letters"
    return colours.pop() if glyphs else f"{colours.pop()} ({faces})"


def face(piece: Piece, glyphs: bool = True) -> str:
    """Return the character that stands for a piece."""
    return piece.glyph if glyphs and piece.glyph else piece.text


def edge_words(layout: Layout, names: Sequence[str], you: int | None) -> str:
    """Return a sentence about the owners of edges, "" if these have none."""
    owners: dict[int, list[str]] = {}
    for side in ("top", "bottom", "left", "right"):
        if side in layout.edges:
            owners.setdefault(layout.edges[side], []).append(side)
    phrases = [
        f"{' and '.join(sides)} {'are yours' if seat == you else 'belong to ' + names[seat]}"
        for seat, sides in owners.items()
    ]
    return _sentence(phrases)


def _sentence(phrases: Sequence[str]) -> str:
    """Join phrases to a sentence, "" for none."""
    text = "; ".join(phrases)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
