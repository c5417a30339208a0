"""The hook of Blackbox for the contract tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.games.blackbox.state import Box, State

OPTIONS = [
    (),
    ("-size=3x2", "-atoms=1-3", "-fair", "-clue"),
    ("-size=14x2", "-atoms=2-3", "-guesses=2", "-clue"),
    ("-size=2x2", "-guesses=1", "-unrated"),
    ("-race", "-size=4x3", "-atoms=1-2"),
    ("-race", "-size=3x3", "-atoms=2", "-guesses=3", "-clue"),
    ("-race", "-size=3x3", "-atoms=1", "-scoring=first"),
    ("-race", "-size=5x5", "-atoms=3", "-grade=hard"),
]


def seats(words: tuple[str, ...]) -> int:
    """Return the number of players with these options."""
    return 2 if "-race" not in words else 1 if "-clue" in words else 3


GARBAGE = "abcgnz01235789 +-/!?,;"
FREE = ("+a1", "/a1", "lock 1", "unlock 1")
TEXTS = ("a1", "a1,b2", "1,+b2", "a,+b2,?", "+a1,+b2,?", "+a1,lock a1", "lock b,1")


def alternatives(state: State, seat: Seat | None) -> Iterator[State]:
    """Yield the same board with other atoms and seals that the seat cannot know."""
    if state.outcome is not None:
        return
    if state.options.race:
        yield from _other_races(state, seat)
        return
    for solver in map(Seat, range(len(state.boxes))):
        box = state.boxes[solver]
        if solver != seat:
            free = frozenset(state.options.board.cells) - box.markers
            yield state.with_box(solver, replace(box, sealed=free - box.sealed))
            if box.markers:
                yield state.with_box(solver, replace(box, locked=box.markers - box.locked))
        if box.hider != seat and box.atoms is not None:
            for atoms in _other_layouts(state, box):
                yield state.with_box(solver, replace(box, atoms=atoms))


def _other_layouts(state: State, box: Box) -> Iterator[frozenset[int]]:
    """Yield layouts of an allowed size with the same result at every marked port."""
    options, board = state.options, state.options.board
    marked = [port for port, mark in enumerate(box.marks) if mark]
    real = trace_all(board, box.atoms or ())
    dice = Rng(repr(box.marks).encode(), 0)
    for _ in range(20):
        count = options.least + dice.below(options.most - options.least + 1)
        atoms = frozenset(dice.sample(board.cells, count))
        results = trace_all(board, atoms)
        if atoms != box.atoms and all(results[port] == real[port] for port in marked):
            yield atoms


def _other_races(state: State, seat: Seat | None) -> Iterator[State]:
    """Yield the same race with another box, and other results of all other seats."""
    blank = ("",) * len(state.boxes[0].marks)
    own = state.boxes[seat] if seat is not None else replace(state.boxes[0], marks=blank)
    for atoms in _other_layouts(state, own):
        boxes = tuple(replace(box, atoms=atoms) for box in state.boxes)
        yield replace(state, boxes=boxes)
    for other in map(Seat, range(len(state.boxes))):
        if other != seat:
            box = state.boxes[other]
            marks = tuple("#" if not mark else "" for mark in box.marks)
            yield state.with_box(other, replace(box, marks=marks, markers=frozenset({0})))
