"""The complete state of a Blackbox board, including its secrets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from pbmserv.engine.types import Outcome, Seat
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.moves import Element, Kind
from pbmserv.games.blackbox.options import Options


@dataclass(frozen=True, slots=True)
class Result:
    """The state of one seat's race beside its box.

    Attributes:
        turns: the number of turns that it used.
        reason: ``solved``, ``out-of-guesses``, ``resigned``, ``forfeit`` or ``declined``; ``""``
            while it runs.
        order: 1 for the seat that ended first, and so on; 0 while it runs.
        wrong: the number of wrong atoms in its last guess.
        faults: the number of wrong markers in all its guesses.
        clues: the ports that clues fired, which are free.
        seconds: the seconds from its first sight of the box to its last turn, in a timed race.
        hints: the number of hints.
    """

    turns: int = 0
    reason: str = ""
    order: int = 0
    wrong: int = 0
    faults: int = 0
    clues: frozenset[int] = frozenset()
    seconds: int = 0
    hints: int = 0


UNDECIDED = Result()


@dataclass(frozen=True, slots=True)
class Box:
    """The box that one seat solves.

    Attributes:
        hider: the seat that hides its atoms, `None` for the server.
        guesses_left: the number of guesses that its solver has left.
        marks: the mark of each port: ``#``, ``%``, a letter, or ``""`` for none.
        atoms: the cells with an atom, `None` if they are not hidden yet.
        markers: the cells with a marker.
        sealed: the cells that the solver sealed as surely empty (private).
        locked: the cells with a locked marker (private).
        fired: the port that the solver fired last, `None` for none.
        order: the ports in the order in which they were fired, including those of clues.
        result: the state of the race.
        guessed: the markers of the wrong guesses, in order. All readers who see markers saw them.
        id: the game ID if the server hid the box, else ``""``.
        circled: the ports of the ray that contradicted the newest guess, until the next move. Only
            if the server hid the box.
    """

    hider: Seat | None
    guesses_left: int
    marks: tuple[str, ...]
    atoms: frozenset[int] | None = field(default=None, repr=False)
    markers: frozenset[int] = frozenset()
    sealed: frozenset[int] = field(default=frozenset(), repr=False)
    locked: frozenset[int] = field(default=frozenset(), repr=False)
    fired: int | None = None
    order: tuple[int, ...] = ()
    result: Result = UNDECIDED
    guessed: tuple[frozenset[int], ...] = ()
    id: str = field(default="", repr=False)
    circled: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class State:
    """A board.

    Attributes:
        options: its rules.
        boxes: ``boxes[seat]`` is the box that the seat solves.
        turns: the number of used turns, including those for hiding.
        outcome: the outcome, `None` while the board runs.
    """

    options: Options
    boxes: tuple[Box, ...]
    turns: int = 0
    outcome: Outcome | None = None

    def with_box(self, seat: Seat, box: Box) -> State:
        """Return the state with another box for this seat."""
        boxes = (*self.boxes[:seat], box, *self.boxes[seat + 1 :])
        return State(self.options, boxes, self.turns, self.outcome)


def new_state(
    options: Options, seats: int, atoms: frozenset[int] | None = None, game_id: str = ""
) -> State:
    """Return a new board, on which each seat hides atoms for the next seat, or a new race.

    Args:
        options: the rules.
        seats: the number of seats.
        atoms: in a race, the atoms of the box.
        game_id: in a race, the game ID of the box.
    """
    ports = len(options.board.ports)
    if options.race:
        box = Box(None, options.guesses, ("",) * ports, atoms, id=game_id)
        return State(options, (box,) * seats)
    boxes = (Box(Seat((seat - 1) % seats), options.guesses, ("",) * ports) for seat in range(seats))
    return State(options, tuple(boxes))


def hiding(state: State) -> frozenset[Seat]:
    """Return the seats that have not hidden their atoms yet."""
    if state.turns >= len(state.boxes):  # hiding is the first turn of each seat
        return frozenset()
    return frozenset(
        [box.hider for box in state.boxes if box.atoms is None and box.hider is not None]
    )


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of an element on markers, seals and locks.

    Attributes:
        kind: ``marked``, ``unmarked``, ``marker-there``, ``marker-absent``,
            ``sealed``, ``opened``, ``locked``, ``unlocked``, ``lock-there`` or ``lock-absent``.
        also: the cells with an opposite change: seals that a new marker opened, or markers that a
            new seal removed.
    """

    kind: str
    also: tuple[int, ...] = ()


class Markers:
    """Markers, seals and locks while a move is applied to them, element by element.

    A lock on a cell with a marker makes it a locked marker. A lock on another cell seals it.

    Attributes:
        markers: cells with a marker.
        sealed: cells with a seal. A cell has a marker or a seal, but not both.
        locked: cells with a locked marker.
    """

    def __init__(
        self, markers: Iterable[int], sealed: Iterable[int], locked: Iterable[int]
    ) -> None:
        self.markers = set(markers)
        self.sealed = set(sealed)
        self.locked = set(locked)

    def forbids(self, element: Element) -> bool:
        """Return whether locks forbid an element, since it would only remove locked markers."""
        return element.kind in {Kind.UNMARK, Kind.SEAL} and self.locked.issuperset(element.cells)

    def use(self, element: Element) -> Change | None:
        """Apply a marker, seal or lock. Return `None` for other elements, which change nothing."""
        if element.kind is Kind.MARK:
            return self._mark(element.cells[0])
        if element.kind is Kind.UNMARK:
            return self._unmark(element.cells[0])
        if element.kind is Kind.SEAL:
            return self._seal(set(element.cells) - self.locked)
        if element.kind is Kind.LOCK:
            return self._lock(set(element.cells))
        if element.kind is Kind.UNLOCK:
            return self._unlock(set(element.cells))
        return None

    def use_all(
        self, elements: Sequence[Element], board: Geometry
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Apply all markers, seals and locks.

        Returns:
            Kind and names of the areas of each change. Consecutive changes of one kind are joined.
        """
        changes: list[tuple[str, str]] = []
        for element in elements:
            change = self.use(element)
            if change is None:
                continue
            changes.append((change.kind, element.area))
            other = "marker-opens" if change.kind == "marked" else "seal-unmarks"
            changes.extend((other, board.name(cell)) for cell in change.also)
        return [
            (kind, tuple(name for _, name in group))
            for kind, group in groupby(changes, key=lambda pair: pair[0])
        ]

    def _mark(self, cell: int) -> Change:
        if cell in self.markers:
            return Change("marker-there")
        self.markers.add(cell)
        if cell not in self.sealed:
            return Change("marked")
        self.sealed.remove(cell)
        return Change("marked", (cell,))

    def _unmark(self, cell: int) -> Change:
        if cell not in self.markers:
            return Change("marker-absent")
        self.markers.remove(cell)
        return Change("unmarked")

    def _seal(self, area: set[int]) -> Change:
        if area <= self.sealed:
            self.sealed -= area
            return Change("opened")
        removed = self.markers & area
        self.markers -= removed
        self.sealed |= area
        return Change("sealed", tuple(sorted(removed)))

    def _lock(self, area: set[int]) -> Change:
        if area <= self.locked | self.sealed:
            return Change("lock-there")
        self.locked |= area & self.markers
        self.sealed |= area - self.markers
        return Change("locked")

    def _unlock(self, area: set[int]) -> Change:
        if area.isdisjoint(self.locked | self.sealed):
            return Change("lock-absent")
        self.locked -= area
        self.sealed -= area
        return Change("unlocked")
