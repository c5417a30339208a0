"""The rules of play: the order of turns, the effect of legal moves, and the notes on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Note, Outcome, Seat, Step, Value
from pbmserv.errors import Illegal
from pbmserv.games.blackbox import racing
from pbmserv.games.blackbox.contradictions import (
    beam_shown,
    differing_ports,
    ends_of,
    two_results,
)
from pbmserv.games.blackbox.game_ids import descriptive_id
from pbmserv.games.blackbox.lessons import LESSONS
from pbmserv.games.blackbox.moves import AIDS, PRIVATE, Element, Kind, move_of
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import exit_of, kind_of, mark_ports, spectrum, trace
from pbmserv.games.blackbox.state import Box, Markers, State, hiding


def to_act(state: State) -> frozenset[Seat]:
    """Return the seats that may use a turn now."""
    if state.outcome is not None:
        return frozenset()
    if state.options.race:
        return frozenset(
            Seat(seat) for seat, box in enumerate(state.boxes) if not box.result.reason
        )
    if state.turns < len(state.boxes):
        return hiding(state)
    return frozenset({Seat(state.turns % len(state.boxes))})


def turn(state: State, seat: Seat) -> int:
    """Return the number of the next turn of a seat. Hiding is the first turn.

    In a race each seat counts its own turns.
    """
    if state.options.race:
        return state.boxes[seat].result.turns + 1
    seats = len(state.boxes)
    if state.turns < seats:
        return 1 if seat in hiding(state) else seats + 1 + seat
    return state.turns + 1 + (seat - state.turns) % seats


def place(state: State, seat: Seat, elements: Sequence[Element]) -> Step[State]:
    """Hide the atoms of a placement in the box of the seat's opponent."""
    solver = next(n for n, box in enumerate(state.boxes) if box.hider == seat)
    atoms = frozenset([cell for element in elements for cell in element.cells])
    hidden = state.with_box(Seat(solver), replace(state.boxes[solver], atoms=atoms))
    after = replace(hidden, turns=state.turns + 1)
    board = state.options.board
    notes = [
        Note("hid", seat, None, {"atoms": state.options.atoms}),
        Note("hid-cells", seat, frozenset({seat}), {"cells": board.names_of(atoms)}),
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
    seconds: int | None,
) -> Step[State]:
    """Apply a move: probe, markers, seals, locks and guess.

    Markers, seals and locks are applied first, since a guess is judged by the markers after the
    whole move. Then probe and guess follow in their order. Elements after a guess that ends the
    game have no effect.

    Args:
        state: the board.
        seat: the seat that moves.
        text: the canonical text of the move.
        elements: the elements of the move.
        rng: the random numbers of the ply.
        seconds: in a timed race, the seconds since the seat first saw the box.
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
    uses_turn = not AIDS.issuperset(kinds)
    if state.options.race:
        return _race_step(state, seat, text, solver, seconds, uses_turn=uses_turn)
    public_text = text
    if not PRIVATE.isdisjoint(kinds):
        public_text = move_of([element for element in elements if element.kind not in PRIVATE]).text
    boxes = (*state.boxes[:seat], solver.box, *state.boxes[seat + 1 :])
    outcome = _outcome(len(boxes), seat, solver.ended) if solver.ended else None
    after = State(state.options, boxes, state.turns + uses_turn, outcome)
    notes = (*solver.notes, *(revealed(after) if after.outcome else ()))
    return Step(after, {None: public_text, seat: text}, notes, reveals=uses_turn)


def _race_step(
    state: State,
    seat: Seat,
    text: str,
    solver: _Solver,
    seconds: int | None,
    *,
    uses_turn: bool,
) -> Step[State]:
    """Return the step of a move in a race, which other seats do not see before the end."""
    after = (
        racing.after_turn(state, seat, solver.box, solver.ended, seconds)
        if uses_turn
        else state.with_box(seat, solver.box)
    )
    notes = tuple(replace(note, audience=frozenset({seat})) for note in solver.notes)
    if after.outcome is not None:
        notes += over(after)
    elif solver.ended:
        notes += (Note("race-done", seat, frozenset({seat})),)
    reveals = uses_turn and not state.options.practice
    return Step(after, {None: "", seat: text}, notes, reveals=reveals)


def drop_out(state: State, seat: Seat, reason: str = "resigned") -> Step[State]:
    """End the race of one seat, which gives up or takes too long.

    Args:
        state: the board.
        seat: the seat.
        reason: see `state.Result`.

    Raises:
        Illegal: the race of the seat is already over.
    """
    box = state.boxes[seat]
    if box.result.reason:
        raise Illegal("blackbox.done")
    after = racing.after_turn(state, seat, box, reason, None)
    notes: tuple[Note, ...] = (Note("resigned", seat, None),)
    if after.outcome:
        notes += over(after)
    return Step(after, {None: "resign"}, notes, reveals=not state.options.practice)


def over(state: State) -> tuple[Note, ...]:
    """Return the notes on a board that is over: the atoms, the lessons and the scores."""
    if not state.options.race:
        return revealed(state)
    atoms = replace(revealed(state)[0], kind="revealed-race")
    seats = map(Seat, range(len(state.boxes)))
    lesson_notes = (Note(LESSONS, seat, frozenset({seat})) for seat in seats)
    return (
        atoms,
        *lesson_notes,
        *racing.score_notes(state),
        _id_note(state, Seat(0), "box-id-race"),
    )


def _outcome(seats: int, seat: Seat, reason: str) -> Outcome:
    if reason == "solved":
        places = tuple(1 if other == seat else 2 for other in range(seats))
        return Outcome(places, reason, seat)
    return lost(seats, seat, reason)


def revealed(state: State) -> tuple[Note, ...]:
    """Return two notes for each box: its atoms and its game ID."""
    filled = [
        (Seat(solver), box) for solver, box in enumerate(state.boxes) if box.atoms is not None
    ]
    atoms = tuple(
        Note(
            "revealed",
            solver,
            None,
            {"cells": state.options.board.names_of(box.atoms or ())},
        )
        for solver, box in filled
    )
    return (*atoms, *(_id_note(state, solver, "box-id") for solver, _ in filled))


def _id_note(state: State, solver: Seat, kind: str) -> Note:
    """Return the note with the game ID of an opened box."""
    box = state.boxes[solver]
    text = box.id or descriptive_id(state.options.kind, box.atoms or frozenset())
    return Note(kind, solver, None, {"id": text})


@dataclass(slots=True)
class _Solver:
    """One seat's box while a move is applied to it.

    Attributes:
        notes: the notes on the move.
        ended: the reason if a guess ended the game for this seat, see `state.Result`; else ``""``.
    """

    options: Options
    seat: Seat
    rng: Rng
    box: Box
    notes: list[Note] = field(default_factory=list)
    ended: str = ""

    def use_aids(self, elements: Sequence[Element]) -> None:
        """Apply markers, seals and locks. Consecutive changes of one kind share a note."""
        box = self.box
        aids = Markers(box.markers, box.sealed, box.locked)
        for kind, cells in aids.use_all(elements, self.options.board):
            readers = None if kind in {"marked", "unmarked"} else frozenset({self.seat})
            self.notes.append(Note(kind, self.seat, readers, {"cells": cells}))
        self.box = replace(
            box,
            markers=frozenset(aids.markers),
            sealed=frozenset(aids.sealed),
            locked=frozenset(aids.locked),
        )

    def fire(self, kind: str, port: int) -> None:
        """Fire a ray, mark its ports, and add a note of this kind.

        A port that a clue marked in the same move does not change.
        """
        box, ports = self.box, self.options.board.ports
        if box.marks[port]:
            self.box = replace(box, fired=port)
            self._add_note("probe-known", port=ports[port], mark=box.marks[port])
            return
        result = trace(self.options.board, box.atoms or frozenset(), port)
        marks = list(box.marks)
        mark_ports(marks, port, result)
        self.box = replace(box, marks=tuple(marks), fired=port, order=(*box.order, port))
        values: dict[str, Value] = {
            "port": ports[port],
            "result": kind_of(port, result),
            "exit": exit_of(self.options.board, port, result),
            "mark": marks[port],
        }
        self.notes.append(Note(kind, self.seat, None, values))

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
            self._add_note("guess-wrong", left=left)
            if left < 1:
                self.ended = "out-of-guesses"
            elif self.options.clue:
                self._clue(markers)

    def _win(self, kind: str) -> None:
        self._add_note(kind)
        self.box = replace(self.box, result=replace(self.box.result, wrong=0))
        self.ended = "solved"

    def _clue(self, markers: frozenset[int]) -> None:
        """Show a result that contradicts the markers."""
        board, marks, fired = self.options.board, self.box.marks, self.box.fired
        atoms = self.box.atoms or frozenset()
        real, guessed = spectrum(board, atoms), spectrum(board, markers)
        differing = differing_ports(board, atoms, markers)
        marked = [port for port in differing if marks[port]]
        if marked:
            port = self._choose(marked)
            values = two_results(board, port, real[port], guessed[port])
            self._add_note("clue-mark", mark=marks[port], **values)
            self._circle(ends_of(port, real[port]))
        elif differing:
            port = self._choose(differing)
            self.fire("clue-port", port)
            shown = ends_of(port, real[port])
            result = replace(self.box.result, clues=self.box.result.clues | shown)
            # A clue is not a probe of the player.
            self.box = replace(self.box, fired=fired, result=result)
            self._circle(shown)
        else:
            self._add_note("clue-none")

    def _circle(self, ports: frozenset[int]) -> None:
        """Highlight a ray on a box that the server hid, as Simon Tatham's program does."""
        if self.options.race:
            self.box = replace(self.box, circled=ports)

    def _choose(self, ports: list[int]) -> int:
        """Choose a port for a clue.

        On a box that the server hid, choose the port that Simon Tatham's program shows. It is drawn
        from the state of the board, so that his saved games and ours agree, and the same markers
        get the same clue again.
        """
        if not self.options.race:
            return self.rng.choice(ports)
        box = self.box
        held = box.sealed | box.locked
        return beam_shown(self.options.board, box.marks, box.markers, held, ports)

    def _add_note(self, kind: str, **values: Value) -> None:
        self.notes.append(Note(kind, self.seat, None, values))


def lost(seats: int, loser: Seat, reason: str) -> Outcome:
    """Return the outcome if one seat loses and all others win."""
    places = tuple(2 if seat == loser else 1 for seat in range(seats))
    return Outcome(places, reason, loser)
