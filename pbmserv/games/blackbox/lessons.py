"""The lessons of an opened box for its solver."""

from __future__ import annotations

from pbmserv.engine.types import Note, Seat
from pbmserv.games.blackbox.contradictions import differing_ports, two_results
from pbmserv.games.blackbox.rays import dead_zone, exit_of, kind_of, spectrum
from pbmserv.games.blackbox.state import State

LESSONS = "lessons"
"""The kind of the note that `explained` replaces by the lessons of a seat."""


def explained(state: State, note: Note) -> tuple[Note, ...]:
    """Return the notes that a reader gets in place of a note of the step that led to *state*.

    The lessons of a large box take as much time as dozens of moves. Therefore replaying a board
    does not work them out, but only a letter or page that shows them.
    """
    return lessons_of(state, note.seat) if note.kind == LESSONS else (note,)


def lessons_of(state: State, seat: Seat) -> tuple[Note, ...]:
    """Return the notes of an opened box for its solver.

    They name the marks that contradict the markers, the unmarked ports that would have shown a
    contradiction, and the dead zones. Simon Tatham's program points at the same ports.
    """
    box, board = state.boxes[seat], state.options.board
    if box.atoms is None:
        return ()
    readers = frozenset({seat})
    notes = []
    differing = differing_ports(board, box.atoms, box.markers)
    marked = [board.ports[port] for port in differing if box.marks[port]]
    if marked:
        notes.append(Note("contradicted", seat, readers, {"ports": tuple(marked)}))
    unmarked = [port for port in differing if not box.marks[port]]
    if unmarked:
        real, guessed = spectrum(board, box.atoms), spectrum(board, box.markers)
        first = unmarked[0]
        values = {
            **two_results(board, first, real[first], guessed[first]),
            "ports": tuple(board.ports[port] for port in unmarked),
            "results": tuple(kind_of(port, real[port]) for port in unmarked),
            "exits": tuple(exit_of(board, port, real[port]) for port in unmarked),
            "marked": len(marked),
            "fired": any(box.marks),
        }
        notes.append(Note("distinguishing", seat, readers, values))
    dead = dead_zone(board, box.atoms)
    if dead:
        notes.append(Note("dead-zone", seat, readers, {"cells": board.names_of(dead)}))
    return tuple(notes)
