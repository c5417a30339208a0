"""The board as it would be after a move, made from the view alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.engine.types import Note, Preview, Seat
from pbmserv.games.blackbox.moves import Element, Kind, move_of
from pbmserv.games.blackbox.refusals import elements_of
from pbmserv.games.blackbox.state import Markers
from pbmserv.games.blackbox.views import BoxView, View


def preview(view: View, seat: Seat, text: str) -> Preview[View]:
    """Return the board with the markers, seals and atoms that a move by *seat* would set.

    Probes are not fired and guesses are not judged. A spectator sees the board as any spectator
    would.

    Raises:
        NotUnderstood | Illegal: the move would be refused.
    """
    # Facts that the view does not show stay unknown.
    as_mover = view if view.seat == seat else replace(view, seat=seat)
    elements = elements_of(as_mover, text)
    move = move_of(elements)
    after, changes = with_elements(as_mover, elements)
    notes = [Note(f"would-{kind}", seat, None, {"cells": cells}) for kind, cells in changes]
    for element in elements:
        if element.kind == Kind.PROBE:
            port = view.options.board.ports[element.port]
            notes.append(Note("would-fire", seat, None, {"port": port}))
        elif element.kind == Kind.GUESS:
            markers = after.boxes[seat].markers
            cells = view.options.board.names_of(markers)
            notes.append(Note("would-guess", seat, None, {"cells": cells}))
    if view.seat is None:
        after = replace(after, boxes=tuple(map(_without_atoms, after.boxes, view.boxes)))
    shown = after if view.seat == seat else replace(after, seat=view.seat)
    return Preview(move, shown, tuple(notes))


def with_elements(
    view: View, elements: Sequence[Element]
) -> tuple[View, list[tuple[str, tuple[str, ...]]]]:
    """Return the view after a placement or after markers, seals and locks, and the changes."""
    board = view.options.board
    hidden, own = view.hides_in, view.own
    if elements[0].kind == Kind.CELL and hidden is not None:
        atoms = frozenset(cell for element in elements for cell in element.cells)
        box = replace(hidden, filled=True, atoms=atoms)
        return view.with_box(box), [("hide", board.names_of(atoms))]
    assert own is not None
    aids = Markers(own.markers, own.sealed, own.locked)
    changes = aids.use_all(elements, board)
    box = replace(
        own,
        markers=frozenset(aids.markers),
        sealed=frozenset(aids.sealed),
        locked=frozenset(aids.locked),
        circled=frozenset(),
    )
    return view.with_box(box), changes


def _without_atoms(box: BoxView, before: BoxView) -> BoxView:
    """Return a box as spectators see it, without seals, locks and atoms of the previewed move."""
    return replace(box, sealed=before.sealed, locked=before.locked, atoms=before.atoms)
