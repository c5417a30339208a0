"""What an opened box shows: marks that the markers contradict, what would have told, dead zones.

The first two are what Simon Tatham's program points out when a box is opened.
"""

from __future__ import annotations

from pbmserv.engine.types import Note, Seat, Value
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import HIT, seen_by_rays, trace_all
from pbmserv.games.blackbox.state import State


def notes(state: State, seat: Seat) -> tuple[Note, ...]:
    """What there is to learn from a box that is over, for its solver."""
    box, board = state.boxes[seat], state.options.board
    if box.atoms is None:
        return ()
    readers = frozenset({seat})
    found = []
    real, guessed = trace_all(board, box.atoms), trace_all(board, box.markers)
    differing = [port for port in range(len(real)) if real[port] != guessed[port]]
    marked = [board.ports[port] for port in differing if box.marks[port]]
    if marked:
        found.append(Note("contradicted", seat, readers, {"ports": tuple(marked)}))
    elif differing:
        values = _distinguishing(board, differing[0], real, guessed)
        found.append(Note("distinguishing", seat, readers, values))
    dead = dead_zone(board, box.atoms)
    if dead:
        named = tuple(map(board.name, sorted(dead)))
        found.append(Note("dead-zone", seat, readers, {"cells": named}))
    return tuple(found)


def dead_zone(board: Geometry, atoms: frozenset[int]) -> frozenset[int]:
    """Empty cells into which no ray looks: an atom there would change no result."""
    return frozenset(board.cells) - seen_by_rays(board, atoms) - atoms


def _distinguishing(
    board: Geometry, port: int, real: list[int], guessed: list[int]
) -> dict[str, Value]:
    return {
        "port": board.ports[port],
        "result": _kind(port, real[port]),
        "exit": _exit(board, port, real[port]),
        "guessed_result": _kind(port, guessed[port]),
        "guessed_exit": _exit(board, port, guessed[port]),
    }


def _kind(port: int, found: int) -> str:
    return "hit" if found == HIT else "reflection" if found == port else "detour"


def _exit(board: Geometry, port: int, found: int) -> str:
    return board.ports[found] if found not in (HIT, port) else ""
