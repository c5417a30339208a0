"""The truth about a Blackbox board, secrets included."""

from __future__ import annotations

from dataclasses import dataclass, field

from pbmserv.engine.types import Outcome, Seat
from pbmserv.games.blackbox.options import Options

HIT_MARK = "#"
REFLECTION_MARK = "%"


@dataclass(frozen=True, slots=True)
class Result:
    """How one seat's race goes, beside what its box shows.

    Attributes:
        turns: how many of its own it has used.
        reason: ``solved``, ``out-of-guesses`` or ``resigned``; "" while it runs.
        order: 1 for the seat that ended first, and so on; 0 while it runs.
        wrong: atoms that were wrong at its last guess.
        faults: markers that were wrong at all its guesses together.
        clues: ports that clues have fired; they cost nothing.
        seconds: from its first sight of the box to its last turn, in a timed race.
    """

    turns: int = 0
    reason: str = ""
    order: int = 0
    wrong: int = 0
    faults: int = 0
    clues: frozenset[int] = frozenset()
    seconds: int = 0


UNDECIDED = Result()


@dataclass(frozen=True, slots=True)
class Box:
    """The box that one seat solves.

    Attributes:
        hider: the seat that hides its atoms; ``None`` = the server.
        guesses_left: of the seat that solves it.
        marks: for each port what it shows: ``#``, ``%``, a letter or ``""``.
        atoms: the cells that hold one; ``None`` = not hidden yet.
        markers: the cells that carry a marker.
        sealed: the cells that the solver called surely empty (private).
        detours: how many were found, which gives the next one's letter.
        fired: the port that the solver fired last.
        result: what became of a race.
        guessed: the markers of the wrong guesses, in order; everybody who sees markers saw them.
    """

    hider: Seat | None
    guesses_left: int
    marks: tuple[str, ...]
    atoms: frozenset[int] | None = field(default=None, repr=False)
    markers: frozenset[int] = frozenset()
    sealed: frozenset[int] = field(default=frozenset(), repr=False)
    detours: int = 0
    fired: int | None = None
    result: Result = UNDECIDED
    guessed: tuple[frozenset[int], ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """A board.

    Attributes:
        options: its rules.
        boxes: ``boxes[seat]`` is the box that the seat solves.
        turns: how many turns were used; each hiding uses one.
        outcome: how it ended, or ``None``.
    """

    options: Options
    boxes: tuple[Box, ...]
    turns: int = 0
    outcome: Outcome | None = None

    def with_box(self, seat: Seat, box: Box) -> State:
        """The same board with another box for this seat."""
        boxes = tuple(box if at == seat else old for at, old in enumerate(self.boxes))
        return State(self.options, boxes, self.turns, self.outcome)


def new_state(options: Options, seats: int, atoms: frozenset[int] | None = None) -> State:
    """A board on which nothing is hidden yet, and each seat hides for the next one; or a race."""
    ports = len(options.board.ports)
    if options.race:
        box = Box(None, options.guesses, ("",) * ports, atoms)
        return State(options, (box,) * seats)
    boxes = (Box(Seat((seat - 1) % seats), options.guesses, ("",) * ports) for seat in range(seats))
    return State(options, tuple(boxes))


def hiding(state: State) -> frozenset[Seat]:
    """The seats that still have to hide atoms."""
    return frozenset(
        box.hider for box in state.boxes if box.atoms is None and box.hider is not None
    )


def to_act(state: State) -> frozenset[Seat]:
    """The seats that may use a turn now."""
    if state.outcome is not None:
        return frozenset()
    if state.options.race:
        return frozenset(
            Seat(seat) for seat, box in enumerate(state.boxes) if not box.result.reason
        )
    return hiding(state) or frozenset({_mover(state)})


def turn(state: State, seat: Seat) -> int:
    """Number of the turn this seat would use next (the hidings are the first turns).

    In a race every seat counts its own.
    """
    if state.options.race:
        return state.boxes[seat].result.turns + 1
    seats = len(state.boxes)
    still_hiding = hiding(state)
    if still_hiding:
        return 1 if seat in still_hiding else seats + 1 + seat
    return state.turns + 1 + (seat - _mover(state)) % seats


def _mover(state: State) -> Seat:
    seats = len(state.boxes)
    return Seat((state.turns - seats) % seats)


def box_hidden_by(state: State, seat: Seat) -> Seat:
    """The seat that solves the box this seat hides atoms in."""
    return next(Seat(solver) for solver, box in enumerate(state.boxes) if box.hider == seat)
