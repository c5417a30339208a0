"""Changes the text of a move by taps on a board's page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pbmserv.errors import MoveError
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.moves import Element, as_written, read_elements
from pbmserv.games.blackbox.state import Markers
from pbmserv.games.blackbox.views import View

_MARKER, _LOCKED, _SEALED, _EMPTY = "marker", "locked", "sealed", "empty"
_LOCK, _UNLOCK = "lock ", "unlock "

_CHANGES = {
    (_EMPTY, _MARKER): ("+",),
    (_EMPTY, _SEALED): ("!",),
    (_EMPTY, _LOCKED): ("+", _LOCK),
    (_SEALED, _MARKER): ("+",),
    (_SEALED, _EMPTY): ("!",),
    (_SEALED, _LOCKED): ("+", _LOCK),
    (_MARKER, _EMPTY): ("/",),
    (_MARKER, _SEALED): ("!",),
    (_MARKER, _LOCKED): (_LOCK,),
    (_LOCKED, _MARKER): (_UNLOCK,),
    (_LOCKED, _EMPTY): (_UNLOCK, "/"),
    (_LOCKED, _SEALED): (_UNLOCK, "!"),
}
"""Signs of moves that change a cell from one state to another."""
_BY_LOCK = {(_EMPTY, _SEALED): (_LOCK,), (_SEALED, _EMPTY): (_UNLOCK,)}
"""Signs for taps that lock. To lock an empty cell is to seal it."""


def tapped(view: View, draft: str, tap: str) -> str:
    """Return the text of a move after a tap.

    A port replaces another port, a guess comes last, and the same tap again takes itself back. For
    a tap on a cell (``+C3``, ``/C3``, ``!C3``, ``lock C3``) the text gets the elements that change
    the cell of the board into the cell that the page shows after the tap. A tap that locks a cell,
    a row or a column unlocks it if the page shows all of it locked. Nothing is checked: `legality`
    does that.

    Args:
        view: the board without the draft.
        draft: the text so far; it may contain anything.
        tap: the value of the button that was tapped; it may contain anything.
    """
    parts = [part for text in draft.split(",") if (part := as_written(text))]
    new = as_written(tap)
    if not new:
        return ",".join(parts)
    board = view.options.board
    if new.startswith(_LOCK) and _is_held(view, parts, new):
        new = _UNLOCK + new.removeprefix(_LOCK)
    if not parts:
        return new
    cell = _cell_of(board, new)
    if cell is not None:
        parts = _with_cell(view, parts, new, cell)
    elif new.startswith((_LOCK, _UNLOCK)):
        parts = _with_line(board, parts, new)
    elif new in parts:
        parts = [part for part in parts if part != new]
    else:
        if board.port(new) is not None:
            parts = [part for part in parts if board.port(part) is None]
        parts.append(new)
    return ",".join(sorted(parts, key=lambda part: part == "?"))


def _with_line(board: Geometry, parts: Sequence[str], new: str) -> list[str]:
    """Return the parts after a tap that locks or unlocks a row or column, or takes that back."""
    line = new.partition(" ")[2]
    aids = [n for n, part in enumerate(parts) if part != "?" and board.port(part) is None]
    if aids and parts[aids[-1]] in {_LOCK + line, _UNLOCK + line}:
        return [part for n, part in enumerate(parts) if n != aids[-1]]
    return [*parts, new]


def _with_cell(view: View, parts: Sequence[str], new: str, cell: int) -> list[str]:
    """Return the parts after a tap on a cell, with few parts about that cell alone.

    Parts before a row, a column or an area stay: what these change depends on them.
    """
    board = view.options.board
    first = max((n + 1 for n, part in enumerate(parts) if _is_wide(board, part)), default=0)
    rest = [*parts[:first], *[part for part in parts[first:] if _cell_of(board, part) != cell]]
    about = [part for part in parts[first:] if _cell_of(board, part) == cell]
    if about[-1:] == [new] and not new.startswith("!"):
        about.pop()
    else:
        about.append(new)
    aids = _aids_after(view, rest)
    before = _shown(aids, cell)
    for element in _elements(board, about):
        if aids.forbids(element):
            return [*parts, new]  # `legality` says why not
        aids.use(element)
    change = before, _shown(aids, cell)
    is_lock = bool(about) and about[-1].startswith((_LOCK, _UNLOCK))
    signs = (is_lock and _BY_LOCK.get(change)) or _CHANGES.get(change, ())
    return [*rest, *[sign + board.names[cell] for sign in signs]]


def _cell_of(board: Geometry, part: str) -> int | None:
    """Return the only cell that a part changes; `None` if it changes none or several."""
    if part.startswith((_LOCK, _UNLOCK)):
        return board.named(part.partition(" ")[2])
    return board.named(part[1:]) if part[:1] in {"+", "/", "!"} else None


def _is_wide(board: Geometry, part: str) -> bool:
    """Return whether a part seals, locks or unlocks a row, a column or an area."""
    return part.startswith(("!", _LOCK, _UNLOCK)) and _cell_of(board, part) is None


def _is_held(view: View, parts: Sequence[str], new: str) -> bool:
    """Return whether all cells of a part are locked or sealed after the other parts."""
    elements = _elements(view.options.board, [new])
    if not elements:
        return False
    aids = _aids_after(view, parts)
    return (aids.locked | aids.sealed).issuperset(elements[0].cells)


def _aids_after(view: View, parts: Iterable[str]) -> Markers:
    """Return the reader's markers, seals and locks after some parts, as far as they may be used."""
    own = view.own
    aids = Markers(own.markers, own.sealed, own.locked) if own else Markers((), (), ())
    for element in _elements(view.options.board, parts):
        if not aids.forbids(element):
            aids.use(element)
    return aids


def _elements(board: Geometry, parts: Iterable[str]) -> list[Element]:
    """Return the elements of some parts, without parts that are none."""
    elements: list[Element] = []
    for part in parts:
        try:
            elements += read_elements(board, part)
        except MoveError:
            continue
    return elements


def _shown(aids: Markers, cell: int) -> str:
    """Return what a cell shows."""
    if cell in aids.locked:
        return _LOCKED
    if cell in aids.markers:
        return _MARKER
    return _SEALED if cell in aids.sealed else _EMPTY
