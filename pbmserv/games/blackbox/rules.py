"""What a move that may be made does to the board, and what is told of it."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from string import ascii_letters

from pbmserv.engine.types import Note, Outcome, Rng, Seat, Step, Value
from pbmserv.errors import Illegal
from pbmserv.games.blackbox import racing
from pbmserv.games.blackbox.game_ids import SeededNumbers, descriptive_id
from pbmserv.games.blackbox.geometry import HIT, Geometry, seen_by_rays, trace, trace_all
from pbmserv.games.blackbox.moves import Element, Kind, print_elements
from pbmserv.games.blackbox.state import (
    HIT_MARK,
    REFLECTION_MARK,
    Box,
    Markers,
    State,
    box_hidden_by,
    hiding,
)

_USING = frozenset({Kind.PROBE, Kind.GUESS})
"""What of a move uses a turn, once the atoms are hidden."""
_AIDS = frozenset({Kind.MARK, Kind.UNMARK, Kind.SEAL})

_LASERS = {HIT_MARK: 0x2000, REFLECTION_MARK: 0x1000}
_BALL, _LOCK = 3, 4


def place(state: State, seat: Seat, elements: Sequence[Element]) -> Step[State]:
    """Hide the atoms of a placement in the box that this seat hides for."""
    solver = box_hidden_by(state, seat)
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
    return Step(after, {None: "", seat: print_elements(elements)}, tuple(notes))


def play(
    state: State, seat: Seat, elements: Sequence[Element], rng: Rng, seconds: int | None = None
) -> Step[State]:
    """Apply probe, markers, seals and guess; *seconds* stamp a move of a timed race.

    Markers and seals come first, since a guess is judged by the markers as
    they stand after the whole move; then probe and guess in their order. The
    rest of a move after a guess that ends the game has no effect.
    """
    kinds = [element.kind for element in elements]
    turn = _Turn(state, seat, rng)
    if not _AIDS.isdisjoint(kinds):
        turn.use_aids(elements)
    for element in elements:
        if turn.ended:
            break
        if element.kind == Kind.PROBE:
            turn.probe(element.port)
        elif element.kind == Kind.GUESS:
            turn.guess()
    used = not _USING.isdisjoint(kinds)
    own = told = print_elements(elements)
    if Kind.SEAL in kinds:
        told = print_elements([element for element in elements if element.kind != Kind.SEAL])
    if state.options.race:
        return _raced(state, seat, elements, turn, seconds, used=used)
    boxes = (*state.boxes[:seat], turn.box(), *state.boxes[seat + 1 :])
    outcome = _ended(len(boxes), seat, turn.ended) if turn.ended else None
    after = State(state.options, boxes, state.turns + used, outcome)
    notes = (*turn.notes, *(revealed(after) if after.outcome else ()))
    return Step(after, _public(told, seat, own), notes, reveals=used)


@lru_cache(maxsize=1_024)  # thousands of moves are remembered, and most are a probe or two
def _public(told: str, seat: Seat, own: str) -> Mapping[Seat | None, str]:
    """A move as all may read it, and as its seat may."""
    return {None: told, seat: own}


def _raced(
    state: State,
    seat: Seat,
    elements: Sequence[Element],
    turn: _Turn,
    seconds: int | None,
    *,
    used: bool,
) -> Step[State]:
    """The same in a race, where nobody else is told of it before the end."""
    after = (
        racing.after_turn(state, seat, turn.box(), turn.ended, seconds)
        if used
        else state.with_box(seat, turn.box())
    )
    notes = tuple(replace(note, audience=frozenset({seat})) for note in turn.notes)
    if after.outcome is not None:
        notes += over(after)
    elif turn.ended:
        notes += (Note("race-done", seat, frozenset({seat})),)
    hidden = used and not state.options.practice
    return Step(after, {None: "", seat: print_elements(elements)}, notes, reveals=hidden)


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
    """What is told when a board is over: where the atoms were, what the markers missed, scores."""
    if not state.options.race:
        return revealed(state)
    where = (replace(revealed(state)[0], kind="revealed-race"),)
    found = [lessons(state, Seat(seat)) for seat in range(len(state.boxes))]
    notes = (note for notes in found for note in notes)
    return (*where, *notes, *racing.score_notes(state), _id_of(state, Seat(0), "box-id-race"))


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
    options, atoms = state.options, state.boxes[solver].atoms or frozenset()
    text = descriptive_id(options.width, options.height, options.least, options.most, atoms)
    return Note(kind, solver, None, {"id": text})


def names(board: Geometry, cells: frozenset[int]) -> tuple[str, ...]:
    """The names of these cells, row by row."""
    return tuple([board.names[cell] for cell in sorted(cells)])


class _Turn:
    """One seat's box while a move is applied to it."""

    def __init__(self, state: State, seat: Seat, rng: Rng) -> None:
        self._options = state.options
        self._board = state.options.board
        self._seat = seat
        self._rng = rng
        self._before: Box = state.boxes[seat]
        self._atoms = self._before.atoms or frozenset()
        self._markers = self._before.markers
        self._sealed = self._before.sealed
        self._marks = list(self._before.marks)
        self._detours = self._before.detours
        self._guesses_left = self._before.guesses_left
        self._fired = self._before.fired
        self._order = self._before.order
        self._result = self._before.result
        self._wrong_guesses = self._before.guessed
        self.notes: list[Note] = []
        self.ended = ""

    def box(self) -> Box:
        """The box after what was applied so far."""
        return Box(
            hider=self._before.hider,
            guesses_left=self._guesses_left,
            marks=tuple(self._marks),
            atoms=self._before.atoms,
            markers=self._markers,
            sealed=self._sealed,
            detours=self._detours,
            fired=self._fired,
            order=self._order,
            result=self._result,
            guessed=self._wrong_guesses,
        )

    def use_aids(self, elements: Sequence[Element]) -> None:
        """Apply markers and seals; neighbours of one kind share a note."""
        aids = Markers(self._markers, self._sealed)
        for kind, cells in aids.use_all(elements, self._board):
            readers = None if kind in {"marked", "unmarked"} else frozenset({self._seat})
            self.notes.append(Note(kind, self._seat, readers, {"cells": cells}))
        # thousands of boxes are remembered: what stays as it was is kept once
        if aids.markers != self._markers:
            self._markers = frozenset(aids.markers)
        if aids.sealed != self._sealed:
            self._sealed = frozenset(aids.sealed)

    def probe(self, port: int) -> None:
        """Fire a ray; a port that a clue has marked in this very move stays as it is."""
        self._fired = port
        if self._marks[port]:
            self._tell("probe-known", port=self._board.ports[port], mark=self._marks[port])
        else:
            self.notes.append(Note("probe", self._seat, None, self._fire(port)))

    def guess(self) -> None:
        """Judge the markers."""
        markers = self._markers
        if markers == self._atoms:
            self._win("guess-right")
        elif self._options.fair and trace_all(self._board, markers) == trace_all(
            self._board, self._atoms
        ):
            self._win("guess-fair")
        else:
            self._guesses_left -= 1
            self._wrong_guesses = (*self._wrong_guesses, markers)
            wrong = len(markers - self._atoms)
            missed = max(wrong, len(self._atoms - markers))
            faults = self._result.faults + wrong
            self._result = replace(self._result, wrong=missed, faults=faults)
            self._tell("guess-wrong", left=self._guesses_left)
            if self._guesses_left < 1:
                self.ended = "out-of-guesses"
            elif self._options.clue:
                self._clue(markers)

    def _win(self, kind: str) -> None:
        self._tell(kind)
        self._result = replace(self._result, wrong=0)
        self.ended = "solved"

    def _clue(self, markers: frozenset[int]) -> None:
        real = trace_all(self._board, self._atoms)
        guessed = trace_all(self._board, markers)
        differing = [port for port in range(len(real)) if real[port] != guessed[port]]
        marked = [port for port in differing if self._marks[port]]
        if marked:
            port = self._one_of(marked)
            values = ray_beside(self._board, port, real[port], guessed[port])
            self._tell("clue-mark", mark=self._marks[port], **values)
        elif differing:
            port = self._one_of(differing)
            self._tell("clue-port", **self._fire(port))
            fired = {at for at, mark in enumerate(self._marks) if mark == self._marks[port]}
            shown = {port} if self._marks[port] in (HIT_MARK, REFLECTION_MARK) else fired
            self._result = replace(self._result, clues=self._result.clues | shown)
        else:
            self._tell("clue-none")

    def _one_of(self, ports: list[int]) -> int:
        """One of some ports. On a box that the server hides it is the one that Simon Tatham's
        program shows, which draws it by what is on its board: so his saved games and ours say the
        same, and the same markers get the same clue again."""
        if not self._options.race:
            return self._rng.choice(ports)
        return beam_shown(self._board, self._marks, self._markers, self._sealed, ports)

    def _fire(self, port: int) -> dict[str, Value]:
        """Trace a ray, mark where it went in and came out, and tell of it."""
        self._order = (*self._order, port)
        ports, found = self._board.ports, trace(self._board, self._atoms, port)
        if found == HIT:
            result, mark, end = "hit", HIT_MARK, ""
        elif found == port:
            result, mark, end = "reflection", REFLECTION_MARK, ""
        else:
            result, mark, end = "detour", ascii_letters[self._detours], ports[found]
            self._detours += 1
            self._marks[found] = mark
        self._marks[port] = mark
        return {"port": ports[port], "result": result, "exit": end, "mark": mark}

    def _tell(self, kind: str, **values: Value) -> None:
        self.notes.append(Note(kind, self._seat, None, values))


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


def kind_of(port: int, found: int) -> str:
    """The name of what a ray into *port* does, as `geometry.trace` found it."""
    return "hit" if found == HIT else "reflection" if found == port else "detour"


def exit_of(board: Geometry, port: int, found: int) -> str:
    """The label of the other port where a ray comes out; "" where it does not."""
    return board.ports[found] if found not in (HIT, port) else ""


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


def lessons(state: State, seat: Seat) -> tuple[Note, ...]:
    """What an opened box shows its solver: marks that the markers contradict, what would have
    told, dead zones. The first two are what Simon Tatham's program points out."""
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
        port = differing[0]
        values = {**ray_beside(board, port, real[port], guessed[port]), "fired": any(box.marks)}
        found.append(Note("distinguishing", seat, readers, values))
    dead = dead_zone(board, box.atoms)
    if dead:
        named = tuple(map(board.name, sorted(dead)))
        found.append(Note("dead-zone", seat, readers, {"cells": named}))
    return tuple(found)


def dead_zone(board: Geometry, atoms: frozenset[int]) -> frozenset[int]:
    """Empty cells into which no ray looks: an atom there would change no result."""
    return frozenset(board.cells) - seen_by_rays(board, atoms) - atoms
