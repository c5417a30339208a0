"""Taps on a board's page: how each one changes the text of the move that is put together."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.errors import MoveError
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.moves import read_elements
from pbmserv.games.blackbox.state import Markers
from pbmserv.games.blackbox.views import View

_MARKER, _SEALED, _EMPTY = "marker", "sealed", "empty"


def tapped(view: View, draft: str, tap: str) -> str:
    """Return the text of a move after a tap.

    A port replaces another port, a guess comes last, and the same tap again takes itself back. Taps
    on a cell (``+C3``, ``/C3``, ``!C3``) follow what the page shows there, and the text keeps the
    one element that leads from the cell as it is to the cell as it is wanted. Nothing is checked:
    `legality` does that.

    Args:
        view: the board without the draft.
        draft: the text so far; anything may stand in it, as in *tap*.
    """
    parts = [part for one in draft.split(",") if (part := one.strip().upper())]
    new = tap.strip().upper()
    board = view.options.board
    cell = _cell_of(board, new)
    if not parts:
        return new
    if cell is not None:
        parts = _with_cell(view, parts, new, cell)
    elif new in parts:
        parts = [part for part in parts if part != new]
    else:
        if board.port(new) is not None:
            parts = [part for part in parts if board.port(part) is None]
        parts.append(new)
    return ",".join(sorted(parts, key=lambda part: part == "?"))


def _with_cell(view: View, parts: Sequence[str], new: str, cell: int) -> list[str]:
    """Return the parts after a tap on a cell, with at most one part about that cell alone."""
    board = view.options.board
    rest = [part for part in parts if _cell_of(board, part) != cell]
    about = [part for part in parts if _cell_of(board, part) == cell]
    about = about[:-1] if about[-1:] == [new] else [*about, new]
    before = _shown(view, rest, cell)
    wanted = before
    for part in about:
        wanted = _after(wanted, part[0])
    sign = _sign(before, wanted)
    return [*rest, sign + board.names[cell]] if sign else rest


def _cell_of(board: Geometry, part: str) -> int | None:
    """The cell that a part marks, unmarks or seals, if it is a single one."""
    return board.named(part[1:]) if part[:1] in {"+", "/", "!"} else None


def _shown(view: View, parts: Sequence[str], cell: int) -> str:
    """Return what a cell shows after these parts; parts that are no elements change nothing."""
    own = view.own
    aids = Markers(own.markers, own.sealed) if own else Markers((), ())
    for part in parts:
        try:
            elements = read_elements(view.options.board, part)
        except MoveError:
            continue
        for element in elements:
            aids.use(element)
    if cell in aids.markers:
        return _MARKER
    return _SEALED if cell in aids.sealed else _EMPTY


def _after(shown: str, sign: str) -> str:
    """Return what a cell shows after one more sign."""
    if sign == "+":
        return _MARKER
    if sign == "/":
        return _EMPTY if shown == _MARKER else shown
    return _EMPTY if shown == _SEALED else _SEALED


def _sign(before: str, wanted: str) -> str:
    """Return the sign that leads from one state of a cell to another; ``""`` for none."""
    if before == wanted:
        return ""
    if wanted == _EMPTY:
        return "/" if before == _MARKER else "!"
    return "+" if wanted == _MARKER else "!"
