"""The truth about a Blackbox board, secrets included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from pbmserv.engine.types import Outcome, Seat
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.moves import Element, Kind
from pbmserv.games.blackbox.options import Options

HIT_MARK = "#"
REFLECTION_MARK = "%"


@dataclass(frozen=True, slots=True)
class Result:
    """How one seat's race goes, beside what its box shows.

    Attributes:
        turns: how many of its own it has used.
        reason: ``solved``, ``out-of-guesses``, ``resigned`` or ``forfeit``; "" while it runs.
        order: 1 for the seat that ended first, and so on; 0 while it runs.
        wrong: atoms that were wrong at its last guess.
        faults: markers that were wrong at all its guesses together.
        clues: ports that clues have fired; they cost nothing.
        seconds: from its first sight of the box to its last turn, in a timed race.
        hints: how many it has asked for.
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
        hider: the seat that hides its atoms; ``None`` = the server.
        guesses_left: of the seat that solves it.
        marks: for each port what it shows: ``#``, ``%``, a letter or ``""``.
        atoms: the cells that hold one; ``None`` = not hidden yet.
        markers: the cells that carry a marker.
        sealed: the cells that the solver called surely empty (private).
        locked: the cells with a marker that stays until it is unlocked (private).
        detours: how many were found, which gives the next one's letter.
        fired: the port that the solver fired last.
        order: the ports into which rays went, one after the other, those of clues, too.
        result: what became of a race.
        guessed: the markers of the wrong guesses, in order; everybody who sees markers saw them.
        id: the game ID of a box that the server hides, as it was given or drawn; else ``""``.
        circled: of a box that the server hides, the ports of the ray that proved the newest guess
            wrong, until the next move.
    """

    hider: Seat | None
    guesses_left: int
    marks: tuple[str, ...]
    atoms: frozenset[int] | None = field(default=None, repr=False)
    markers: frozenset[int] = frozenset()
    sealed: frozenset[int] = field(default=frozenset(), repr=False)
    locked: frozenset[int] = field(default=frozenset(), repr=False)
    detours: int = 0
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
        turns: how many turns were used; each hiding uses one.
        outcome: how it ended, or ``None``.
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
    """A board on which nothing is hidden yet, and each seat hides for the next one; or a race.

    Args:
        atoms, game_id: of the box that all seats of a race solve.
    """
    ports = len(options.board.ports)
    if options.race:
        box = Box(None, options.guesses, ("",) * ports, atoms, id=game_id)
        return State(options, (box,) * seats)
    boxes = (Box(Seat((seat - 1) % seats), options.guesses, ("",) * ports) for seat in range(seats))
    return State(options, tuple(boxes))


def hiding(state: State) -> frozenset[Seat]:
    """The seats that still have to hide atoms."""
    if state.turns >= len(state.boxes):  # the hidings are the first turns
        return frozenset()
    return frozenset(
        [box.hider for box in state.boxes if box.atoms is None and box.hider is not None]
    )


@dataclass(frozen=True, slots=True)
class Change:
    """What one element did to the aids.

    Attributes:
        kind: ``marked``, ``unmarked``, ``marker-there``, ``marker-absent``,
            ``sealed``, ``opened``, ``locked``, ``unlocked``, ``lock-there`` or ``lock-absent``.
        also: cells that changed the other way: seals that a new marker opened,
            or markers that a new seal took off.
    """

    kind: str
    also: tuple[int, ...] = ()


_MARKED, _UNMARKED = Change("marked"), Change("unmarked")
_MARKER_THERE, _MARKER_ABSENT = Change("marker-there"), Change("marker-absent")
_LOCKED, _UNLOCKED = Change("locked"), Change("unlocked")
_LOCK_THERE, _LOCK_ABSENT = Change("lock-there"), Change("lock-absent")


class Markers:
    """Markers, seals and locks while a move is applied to them, element by element.

    A lock keeps a cell as it is: a marker becomes a locked marker, and a cell without one is
    sealed.

    Attributes:
        markers: cells with a marker.
        sealed: cells with a seal; no cell has both.
        locked: cells with a locked marker.
    """

    def __init__(
        self, markers: Iterable[int], sealed: Iterable[int], locked: Iterable[int]
    ) -> None:
        self.markers = set(markers)
        self.sealed = set(sealed)
        self.locked = set(locked)

    def is_kept_from(self, element: Element) -> bool:
        """Whether a lock forbids this element: it would move locked markers and nothing else."""
        return element.kind in {Kind.UNMARK, Kind.SEAL} and self.locked.issuperset(element.cells)

    def use(self, element: Element) -> Change | None:
        """Apply a marker, seal or lock; other elements change nothing and give ``None``."""
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
            (kind, names of cells) for each change; neighbours of one kind are together.
        """
        told: list[tuple[str, str]] = []
        for element in elements:
            change = self.use(element)
            if change is None:
                continue
            told.append((change.kind, element.area))
            other = "marker-opens" if change.kind == "marked" else "seal-unmarks"
            told.extend((other, board.name(cell)) for cell in change.also)
        return [
            (kind, tuple(name for _, name in group))
            for kind, group in groupby(told, key=lambda pair: pair[0])
        ]

    def _mark(self, cell: int) -> Change:
        if cell in self.markers:
            return _MARKER_THERE
        self.markers.add(cell)
        if cell not in self.sealed:
            return _MARKED
        self.sealed.remove(cell)
        return Change("marked", (cell,))

    def _unmark(self, cell: int) -> Change:
        if cell not in self.markers:
            return _MARKER_ABSENT
        self.markers.remove(cell)
        return _UNMARKED

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
            return _LOCK_THERE
        self.locked |= area & self.markers
        self.sealed |= area - self.markers
        return _LOCKED

    def _unlock(self, area: set[int]) -> Change:
        if area.isdisjoint(self.locked | self.sealed):
            return _LOCK_ABSENT
        self.locked -= area
        self.sealed -= area
        return _UNLOCKED
