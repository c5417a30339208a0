"""Whose turn it is, what a move that may be made does to the board, and what is told of it."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from string import ascii_letters

from pbmserv.engine.types import Note, Outcome, Rng, Seat, Step, Value
from pbmserv.errors import Illegal
from pbmserv.games.blackbox import racing
from pbmserv.games.blackbox.game_ids import SeededNumbers, descriptive_id
from pbmserv.games.blackbox.geometry import (
    HIT,
    Geometry,
    dead_zone,
    exit_of,
    kind_of,
    spectrum,
    trace,
)
from pbmserv.games.blackbox.moves import AIDS, PRIVATE, Element, Kind, move_of
from pbmserv.games.blackbox.options import SEATS, Options
from pbmserv.games.blackbox.state import HIT_MARK, REFLECTION_MARK, Box, Markers, State, hiding

_LASERS = {HIT_MARK: 0x2000, REFLECTION_MARK: 0x1000}
_BALL, _LOCK = 3, 4

_NOBODY: frozenset[Seat] = frozenset()
_ALONE = tuple(frozenset({Seat(seat)}) for seat in range(SEATS))


def to_act(state: State) -> frozenset[Seat]:
    """The seats that may use a turn now."""
    if state.outcome is not None:
        return _NOBODY
    if state.options.race:
        return frozenset(
            Seat(seat) for seat, box in enumerate(state.boxes) if not box.result.reason
        )
    if state.turns < len(state.boxes):
        return hiding(state)
    return _ALONE[state.turns % len(state.boxes)]


def turn(state: State, seat: Seat) -> int:
    """Number of the turn this seat would use next (the hidings are the first turns).

    In a race every seat counts its own.
    """
    if state.options.race:
        return state.boxes[seat].result.turns + 1
    seats = len(state.boxes)
    if state.turns < seats:
        return 1 if seat in hiding(state) else seats + 1 + seat
    return state.turns + 1 + (seat - state.turns) % seats


def place(state: State, seat: Seat, elements: Sequence[Element]) -> Step[State]:
    """Hide the atoms of a placement in the box that this seat hides for."""
    solver = next(n for n, box in enumerate(state.boxes) if box.hider == seat)
    atoms = frozenset([cell for element in elements for cell in element.cells])
    box = replace(state.boxes[solver], atoms=atoms)
    boxes = (*state.boxes[:solver], box, *state.boxes[solver + 1 :])
    after = State(state.options, boxes, state.turns + 1)
    board = state.options.board
    notes = [
        Note("hid", seat, None, {"atoms": state.options.atoms}),
        Note("hid-cells", seat, frozenset({seat}), {"cells": names(board, atoms)}),
    ]
    if not hiding(after):
        notes.append(Note("begin", Seat(0), None))
    return Step(after, {None: "", seat: move_of(elements).text}, tuple(notes))


def play(
    state: State,
    seat: Seat,
    text: str,
    elements: Sequence[Element],
    rng: Rng,
    seconds: int | None = None,
) -> Step[State]:
    """Apply probe, markers, seals and guess; *seconds* stamp a move of a timed race.

    Markers and seals come first, since a guess is judged by the markers as
    they stand after the whole move; then probe and guess in their order. The
    rest of a move after a guess that ends the game has no effect.

    Args:
        text: the canonical text of *elements*.
    """
    kinds = [element.kind for element in elements]
    box = state.boxes[seat]
    if box.circled:
        box = replace(box, circled=frozenset())
    solver = _Solver(state.options, seat, rng, box)
    if not AIDS.isdisjoint(kinds):
        solver.use_aids(elements)
    for element in elements:
        if solver.ended:
            break
        if element.kind == Kind.PROBE:
            solver.fire("probe", element.port)
        elif element.kind == Kind.GUESS:
            solver.guess()
    used = not AIDS.issuperset(kinds)
    if state.options.race:
        return _raced(state, seat, text, solver, seconds, used=used)
    told = text
    if not PRIVATE.isdisjoint(kinds):
        told = move_of([element for element in elements if element.kind not in PRIVATE]).text
    boxes = (*state.boxes[:seat], solver.box, *state.boxes[seat + 1 :])
    outcome = _ended(len(boxes), seat, solver.ended) if solver.ended else None
    after = State(state.options, boxes, state.turns + used, outcome)
    notes = (*solver.notes, *(revealed(after) if after.outcome else ()))
    return Step(after, _public(told, seat, text), notes, reveals=used)


@lru_cache(maxsize=1_024)  # thousands of moves are remembered, and most are a probe or two
def _public(told: str, seat: Seat, own: str) -> Mapping[Seat | None, str]:
    """A move as all may read it, and as its seat may."""
    return {None: told, seat: own}


def _raced(
    state: State,
    seat: Seat,
    text: str,
    solver: _Solver,
    seconds: int | None,
    *,
    used: bool,
) -> Step[State]:
    """Return the step of a guess in a race, of which nobody else learns before the end."""
    after = (
        racing.after_turn(state, seat, solver.box, solver.ended, seconds)
        if used
        else state.with_box(seat, solver.box)
    )
    notes = tuple(replace(note, audience=frozenset({seat})) for note in solver.notes)
    if after.outcome is not None:
        notes += over(after)
    elif solver.ended:
        notes += (Note("race-done", seat, frozenset({seat})),)
    hidden = used and not state.options.practice
    return Step(after, {None: "", seat: text}, notes, reveals=hidden)


def dropped_out(state: State, seat: Seat, reason: str = "resigned") -> Step[State]:
    """A seat gives its race up, or has taken too long (*reason*); the others go on.

    Raises:
        Illegal: its race is over already.
    """
    box = state.boxes[seat]
    if box.result.reason:
        raise Illegal("blackbox.done")
    after = racing.after_turn(state, seat, box, reason, None)
    told = (Note("resigned", seat, None),)
    notes = (*told, *over(after)) if after.outcome else told
    return Step(after, {None: "resign"}, notes, reveals=not state.options.practice)


def over(state: State) -> tuple[Note, ...]:
    """Return the notes on a board that is over: where the atoms were, the lessons, the scores."""
    if not state.options.race:
        return revealed(state)
    where = (replace(revealed(state)[0], kind="revealed-race"),)
    seats = map(Seat, range(len(state.boxes)))
    untold = (Note(LESSONS, seat, frozenset({seat})) for seat in seats)
    return (*where, *untold, *racing.score_notes(state), _id_of(state, Seat(0), "box-id-race"))


def _ended(seats: int, seat: Seat, reason: str) -> Outcome:
    if reason == "solved":
        places = tuple(1 if other == seat else 2 for other in range(seats))
        return Outcome(places, reason, seat)
    return lost(seats, seat, reason)


def revealed(state: State) -> tuple[Note, ...]:
    """Two notes for each box: where its atoms were, and the game ID that it can be had by."""
    filled = [
        (Seat(solver), box) for solver, box in enumerate(state.boxes) if box.atoms is not None
    ]
    where = tuple(
        Note(
            "revealed",
            solver,
            None,
            {"cells": names(state.options.board, box.atoms or frozenset())},
        )
        for solver, box in filled
    )
    return (*where, *(_id_of(state, solver, "box-id") for solver, _ in filled))


def _id_of(state: State, solver: Seat, kind: str) -> Note:
    """The game ID of an opened box."""
    options, box = state.options, state.boxes[solver]
    atoms = box.atoms or frozenset()
    text = box.id or descriptive_id(
        options.width, options.height, options.least, options.most, atoms
    )
    return Note(kind, solver, None, {"id": text})


def names(board: Geometry, cells: frozenset[int]) -> tuple[str, ...]:
    """The names of these cells, row by row."""
    return tuple([board.names[cell] for cell in sorted(cells)])


@dataclass(slots=True)
class _Solver:
    """One seat's box while a move is applied to it.

    Attributes:
        notes: what is told of it.
        ended: how a guess has ended it for this seat, as `state.Result.reason`; "" if none has.
    """

    options: Options
    seat: Seat
    rng: Rng
    box: Box
    notes: list[Note] = field(default_factory=list)
    ended: str = ""

    def use_aids(self, elements: Sequence[Element]) -> None:
        """Apply markers, seals and locks; neighbours of one kind share a note."""
        box = self.box
        aids = Markers(box.markers, box.sealed, box.locked)
        for kind, cells in aids.use_all(elements, self.options.board):
            readers = None if kind in {"marked", "unmarked"} else frozenset({self.seat})
            self.notes.append(Note(kind, self.seat, readers, {"cells": cells}))
        # thousands of boxes are remembered: what stays as it was is kept once
        markers = box.markers if aids.markers == box.markers else frozenset(aids.markers)
        sealed = box.sealed if aids.sealed == box.sealed else frozenset(aids.sealed)
        locked = box.locked if aids.locked == box.locked else frozenset(aids.locked)
        self.box = replace(box, markers=markers, sealed=sealed, locked=locked)

    def fire(self, kind: str, port: int) -> None:
        """Trace a ray, mark where it went in and came out, and tell of it by a note of this kind.

        A port that a clue has marked in this very move stays as it is.
        """
        box, ports = self.box, self.options.board.ports
        if box.marks[port]:
            self.box = replace(box, fired=port)
            self._tell("probe-known", port=ports[port], mark=box.marks[port])
            return
        marks, detours = list(box.marks), box.detours
        found = trace(self.options.board, box.atoms or frozenset(), port)
        if found == HIT:
            result, mark, end = "hit", HIT_MARK, ""
        elif found == port:
            result, mark, end = "reflection", REFLECTION_MARK, ""
        else:
            result, mark, end = "detour", ascii_letters[detours], ports[found]
            detours += 1
            marks[found] = mark
        marks[port] = mark
        self.box = Box(  # `replace` takes three times as long, and most moves are a ray
            hider=box.hider,
            guesses_left=box.guesses_left,
            marks=tuple(marks),
            atoms=box.atoms,
            markers=box.markers,
            sealed=box.sealed,
            locked=box.locked,
            detours=detours,
            fired=port,
            order=(*box.order, port),
            result=box.result,
            guessed=box.guessed,
            id=box.id,
        )
        told = {"port": ports[port], "result": result, "exit": end, "mark": mark}
        self.notes.append(Note(kind, self.seat, None, told))

    def guess(self) -> None:
        """Judge the markers."""
        box, board = self.box, self.options.board
        markers, atoms = box.markers, box.atoms or frozenset()
        if markers == atoms:
            self._win("guess-right")
        elif self.options.fair and spectrum(board, markers) == spectrum(board, atoms):
            self._win("guess-fair")
        else:
            left, wrong = box.guesses_left - 1, len(markers - atoms)
            missed = max(wrong, len(atoms - markers))
            result = replace(box.result, wrong=missed, faults=box.result.faults + wrong)
            guessed = (*box.guessed, markers)
            self.box = replace(box, guesses_left=left, guessed=guessed, result=result)
            self._tell("guess-wrong", left=left)
            if left < 1:
                self.ended = "out-of-guesses"
            elif self.options.clue:
                self._clue(markers)

    def _win(self, kind: str) -> None:
        self._tell(kind)
        self.box = replace(self.box, result=replace(self.box.result, wrong=0))
        self.ended = "solved"

    def _clue(self, markers: frozenset[int]) -> None:
        board, marks, fired = self.options.board, self.box.marks, self.box.fired
        atoms = self.box.atoms or frozenset()
        real, guessed = spectrum(board, atoms), spectrum(board, markers)
        differing = differing_ports(board, atoms, markers)
        marked = [port for port in differing if marks[port]]
        if marked:
            port = self._one_of(marked)
            values = ray_beside(board, port, real[port], guessed[port])
            self._tell("clue-mark", mark=marks[port], **values)
            self._circle(ends_of(port, real[port]))
        elif differing:
            port = self._one_of(differing)
            self.fire("clue-port", port)
            shown = ends_of(port, real[port])
            result = replace(self.box.result, clues=self.box.result.clues | shown)
            # A clue is not a probe of the player's.
            self.box = replace(self.box, fired=fired, result=result)
            self._circle(shown)
        else:
            self._tell("clue-none")

    def _circle(self, ports: frozenset[int]) -> None:
        """Point at a ray on a box that the server hides, as Simon Tatham's program does."""
        if self.options.race:
            self.box = replace(self.box, circled=ports)

    def _one_of(self, ports: list[int]) -> int:
        """One of some ports. On a box that the server hides it is the one that Simon Tatham's
        program shows, which draws it by what is on its board: so his saved games and ours say the
        same, and the same markers get the same clue again."""
        if not self.options.race:
            return self.rng.choice(ports)
        box = self.box
        held = box.sealed | box.locked
        return beam_shown(self.options.board, box.marks, box.markers, held, ports)

    def _tell(self, kind: str, **values: Value) -> None:
        self.notes.append(Note(kind, self.seat, None, values))


def beam_shown(
    board: Geometry,
    marks: Sequence[str],
    markers: Collection[int],
    locked: Collection[int],
    ports: Collection[int],
) -> int:
    """Which of some ports Simon Tatham's program shows to prove that the markers are wrong.

    It draws lots by SHA-1 of the ``grid`` of ``blackbox.c``: 32 bits for each place, row by row,
    the lasers around the arena, and each marker taken for a ball.
    """
    width = board.width + 2
    grid = [0] * (width * (board.height + 2))
    for (column, row), mark in zip(board.around, marks, strict=True):
        detour = ascii_letters.find(mark) + 1 if mark else 0
        grid[row * width + column] = _LASERS.get(mark, detour)
    for cell in board.cells:
        row, column = divmod(cell, board.width)
        ball, lock = _BALL * (cell in markers), _LOCK * (cell in locked)
        grid[(row + 1) * width + column + 1] = ball | lock
    numbers = SeededNumbers(struct.pack(f"<{len(grid)}I", *grid))
    return [port for port in board.clockwise if port in ports][numbers.below(len(ports))]


def ends_of(port: int, exit_port: int) -> frozenset[int]:
    """The ports that a ray into *port* marks; *exit_port* is as `geometry.trace` gives it."""
    return frozenset({port, port if exit_port == HIT else exit_port})


def differing_ports(board: Geometry, atoms: Collection[int], markers: Collection[int]) -> list[int]:
    """Return the ports whose rays end elsewhere among the markers than among the atoms."""
    real, guessed = spectrum(board, frozenset(atoms)), spectrum(board, frozenset(markers))
    return [port for port in range(len(real)) if real[port] != guessed[port]]


def ray_beside(board: Geometry, port: int, found: int, guessed: int) -> dict[str, Value]:
    """What a ray into *port* does (*found*), and what it would do by the markers (*guessed*)."""
    return {
        "port": board.ports[port],
        "result": kind_of(port, found),
        "exit": exit_of(board, port, found),
        "guessed_result": kind_of(port, guessed),
        "guessed_exit": exit_of(board, port, guessed),
    }


def lost(seats: int, loser: Seat, reason: str) -> Outcome:
    """The outcome when one seat loses at once and all others win."""
    places = tuple(2 if seat == loser else 1 for seat in range(seats))
    return Outcome(places, reason, loser)


LESSONS = "lessons"
"""Kind of the note that stands for the lessons of a seat: see `explained`."""


def explained(state: State, note: Note) -> tuple[Note, ...]:
    """Return the notes that a reader gets in place of one of the step that led to *state*.

    To work the lessons of a large box out takes as long as dozens of moves, so replaying a board
    leaves them alone: only a letter or page that shows them asks.
    """
    return lessons(state, note.seat) if note.kind == LESSONS else (note,)


def lessons(state: State, seat: Seat) -> tuple[Note, ...]:
    """Return the notes of an opened box for its solver.

    They name the marks that the markers contradict, the other ports that would have told, and the
    dead zones. Simon Tatham's program points at the same ports.
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
    telling = [port for port in differing if not box.marks[port]]
    if telling:
        real, guessed = spectrum(board, box.atoms), spectrum(board, box.markers)
        first = telling[0]
        values = {
            **ray_beside(board, first, real[first], guessed[first]),
            "ports": tuple(board.ports[port] for port in telling),
            "results": tuple(kind_of(port, real[port]) for port in telling),
            "exits": tuple(exit_of(board, port, real[port]) for port in telling),
            "marked": len(marked),
            "fired": any(box.marks),
        }
        notes.append(Note("distinguishing", seat, readers, values))
    dead = dead_zone(board, box.atoms)
    if dead:
        named = tuple(map(board.name, sorted(dead)))
        notes.append(Note("dead-zone", seat, readers, {"cells": named}))
    return tuple(notes)
