"""What a move would do, as far as its maker can know before it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.engine.types import Move, Note, Preview, Seat
from pbmserv.games.blackbox.markers import Markers
from pbmserv.games.blackbox.notation.moves import Element, Kind, print_elements
from pbmserv.games.blackbox.notation.reading import elements_of, is_free
from pbmserv.games.blackbox.playing import names
from pbmserv.games.blackbox.views import FIRED, BoxView, View


def preview(view: View, seat: Seat, text: str) -> Preview[View]:
    """The boards with the markers, seals and atoms that a move by *seat* would set.

    A probe is named, not fired, and a guess is named, not judged. A spectator sees what any
    spectator would see.

    Raises:
        NotUnderstood | Illegal: the move would be refused.
    """
    as_mover = replace(view, seat=seat)  # whatever the view does not show stays unknown
    elements = elements_of(as_mover, text)
    after, told = _foreseen(as_mover, elements)
    notes = [Note(f"would-{kind}", seat, None, {"cells": cells}) for kind, cells in told]
    for element in elements:
        if element.kind == Kind.PROBE:
            port = view.options.board.ports[element.port]
            notes.append(Note("would-fire", seat, None, {"port": port}))
        elif element.kind == Kind.GUESS:
            markers = after.boxes[seat].markers
            cells = names(view.options.board, markers)
            notes.append(Note("would-guess", seat, None, {"cells": cells}))
    move = Move(print_elements(elements), is_free(elements))
    if view.seat is None:
        after = replace(after, boxes=tuple(map(_without_atoms, after.boxes, view.boxes)))
    return Preview(move, replace(after, seat=view.seat), tuple(notes))


def expect(view: View, move: Move) -> View:
    """The mover's view at the next turn, if the game goes on: ports fired now are used then."""
    elements = elements_of(view, move.text)
    after, _ = _foreseen(view, elements)
    own = after.own
    if own is None:
        return after
    marks = list(own.marks)
    left = own.guesses_left
    fired = own.fired
    for element in elements:
        if element.kind == Kind.PROBE:
            marks[element.port] = FIRED
            fired = element.port
        elif element.kind == Kind.GUESS:
            left -= 1
    return _with_box(after, replace(own, marks=tuple(marks), guesses_left=left, fired=fired))


def _foreseen(
    view: View, elements: Sequence[Element]
) -> tuple[View, list[tuple[str, tuple[str, ...]]]]:
    board = view.options.board
    hidden, own = view.hides_in, view.own
    if elements[0].kind == Kind.CELL and hidden is not None:
        atoms = frozenset(cell for element in elements for cell in element.cells)
        box = replace(hidden, filled=True, atoms=atoms)
        return _with_box(view, box), [("hide", names(board, atoms))]
    assert own is not None
    aids = Markers(own.markers, own.sealed)
    told = aids.use_all(elements, board)
    box = replace(own, markers=frozenset(aids.markers), sealed=frozenset(aids.sealed))
    return _with_box(view, box), told


def _with_box(view: View, box: BoxView) -> View:
    boxes = tuple(box if old.seat == box.seat else old for old in view.boxes)
    return replace(view, boxes=boxes)


def _without_atoms(box: BoxView, before: BoxView) -> BoxView:
    """A box as spectators see it: neither the seals nor the atoms of the previewed move."""
    return replace(box, sealed=before.sealed, atoms=before.atoms)
