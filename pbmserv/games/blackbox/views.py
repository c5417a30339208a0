"""What one seat, or a spectator, may know of a Blackbox board: an allow-list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cache, partial
from itertools import compress
from math import gcd
from operator import attrgetter, not_
from typing import Any, Generic, NamedTuple, TypeVar

from pbmserv.engine.types import Outcome, Seat, value
from pbmserv.games.blackbox.display import Spots, Told, spots_of, tell, texts_of
from pbmserv.games.blackbox.geometry import HIT, Geometry
from pbmserv.games.blackbox.options import MOST_GUESSES, Options
from pbmserv.games.blackbox.racing import ScoreLine, score_lines
from pbmserv.games.blackbox.state import HIT_MARK, REFLECTION_MARK, Box, State, hiding, to_act

FIRED = "its result"
"""Stands in an expected view where a mark will be that nobody can know yet."""


_Worked = TypeVar("_Worked")


class lazy(Generic[_Worked]):  # noqa: N801 - as `property`
    """As `cached_property`, whose lock takes longer than most of what is worked out here (Python
    3.12 has none any more)."""

    def __init__(self, work: Callable[[Any], _Worked]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    def __get__(self, instance: Any, owner: type) -> _Worked:
        value = instance.__dict__[self._name] = self._work(instance)
        return value


class Row(NamedTuple):
    """A row and its two ends; each cell is two characters, as the board shows it."""

    left: str
    left_mark: str
    cells: tuple[str, ...]
    right: str
    right_mark: str


_CELLS = attrgetter("cells")
_AS_ROW = partial(tuple.__new__, Row)
"""A row of what it has, as `Row` makes it, in a third of the time."""


@value(frozen=True)
class BoxView:
    """A box as one reader may see it.

    Attributes:
        seat: who solves it.
        hider: who hides its atoms; ``None`` = the server.
        board: its size and labels.
        filled: whether atoms are hidden in it.
        guesses_left: of its solver.
        marks: for each port what it shows.
        markers: the cells with a marker.
        sealed: the sealed cells if the reader solves this box, else none.
        atoms: the cells with an atom if the reader may know, else ``None``.
        opened: the board is over, so right and wrong may be told apart.
        fired: the port that its solver fired last, if any.
        order: the ports into which rays went, one after the other, if the reader solves this box.
        path: cells on the way of a test ray, where one is drawn.
        guessed: the markers of its solver's wrong guesses.
    """

    seat: Seat
    hider: Seat | None
    board: Geometry
    filled: bool
    guesses_left: int
    marks: tuple[str, ...]
    markers: frozenset[int]
    sealed: frozenset[int] = field(repr=False)
    atoms: frozenset[int] | None = field(repr=False)
    opened: bool
    fired: int | None = None
    order: tuple[int, ...] = ()
    path: frozenset[int] = frozenset()
    guessed: tuple[frozenset[int], ...] = ()

    @property
    def endless(self) -> bool:
        """Whether its solver may guess as often as it takes."""
        return self.guesses_left > MOST_GUESSES

    @property
    def top_marks(self) -> tuple[str, ...]:
        """What the ports above the columns show, from left to right."""
        return self.marks[: self.board.width]

    @property
    def bottom_marks(self) -> tuple[str, ...]:
        """What the ports below the columns show, from left to right."""
        first = self.board.width + self.board.height
        return self.marks[first : first + self.board.width]

    @lazy
    def rows(self) -> tuple[Row, ...]:
        """The rows from top to bottom."""
        board, marks = self.board, self.marks
        width, height = board.width, board.height
        lefts = marks[2 * width + height :]
        rights = marks[width : width + height]
        texts = texts_of(board, self.sealed, self.path, self.atoms, self.markers, self.opened)
        return tuple(map(_AS_ROW, zip(board.left, lefts, texts, board.right, rights, strict=True)))

    @lazy
    def told(self) -> Told:
        """What is drawn, as facts."""
        return tell(self.board, self.marks, list(map(_CELLS, self.rows)))

    @lazy
    def spots(self) -> Spots:
        """What is drawn, place by place, each with the name that moves call it."""
        return spots_of(self.board, self.marks, list(map(_CELLS, self.rows)))

    @lazy
    def unused_ports(self) -> tuple[str, ...]:
        """The labels of the ports that show no mark, in port order."""
        return tuple(compress(self.board.ports, map(not_, self.marks)))

    @lazy
    def results(self) -> tuple[tuple[int, int], ...]:
        """(port, where the ray came out), as `geometry.trace`; a detour at its first port."""
        shown: dict[str, int] = {}
        found = []
        for port, mark in enumerate(self.marks):
            if mark == HIT_MARK:
                found.append((port, HIT))
            elif mark == REFLECTION_MARK:
                found.append((port, port))
            elif mark in shown:
                found.append((shown[mark], port))
            elif mark.isalpha():
                shown[mark] = port
        return tuple(sorted(found))

    def result(self, port: int) -> str:
        """What a ray into *port* did: ``#``, ``%``, the label where it came out, "" = not known."""
        mark = self.marks[port]
        if not mark.isalpha():
            return mark
        return next(
            self.board.ports[other]
            for other, shown in enumerate(self.marks)
            if shown == mark and other != port
        )


@value(frozen=True)
class Examples:
    """What a reader could write now; made only from what the reader sees.

    Attributes:
        options: the rules of the board.
        may_act: whether a turn may be used now.
        has_hidden: whether the reader's own atoms are hidden.
        markers: on the reader's own box.
        unused_ports: labels of the ports of that box without a mark.
    """

    options: Options
    may_act: bool
    has_hidden: bool
    markers: frozenset[int]
    unused_ports: tuple[str, ...]

    @property
    def placement(self) -> str:
        """As many cells as atoms have to be hidden."""
        board = self.options.board
        return ",".join([board.names[cell] for cell in _spread(board)[: self.options.least]])

    @property
    def probe(self) -> str:
        """A port without a mark; where none is left, the guess."""
        return self.unused_ports[0] if self.unused_ports else self.guess

    @property
    def mark(self) -> str:
        """A marker on a cell without one; where all have one, the removal."""
        free = self._free
        return "+" + self.options.board.names[free[0]] if free else self.unmark

    @property
    def unmark(self) -> str:
        """The removal of a marker."""
        board = self.options.board
        return "/" + board.names[min(self.markers, default=_spread(board)[0])]

    @property
    def seal(self) -> str:
        """A sealed cell, preferably one without a marker."""
        board = self.options.board
        return "!" + board.names[(self._free or _spread(board))[0]]

    @property
    def guess(self) -> str:
        """A guess, with the markers that it needs put on or taken off first."""
        names = self.options.board.names
        missing = self.options.least - len(self.markers)
        if missing > 0:
            return "".join([f"+{names[cell]}," for cell in self._free[:missing]]) + "?"
        extra = max(0, len(self.markers) - self.options.most)
        return "".join([f"/{names[cell]}," for cell in sorted(self.markers)[:extra]]) + "?"

    @lazy
    def _free(self) -> list[int]:
        """The cells without a marker."""
        return [cell for cell in _spread(self.options.board) if cell not in self.markers]


@cache
def _spread(board: Geometry) -> Sequence[int]:
    """All cells in an order that jumps about, so that examples look like play."""
    count = len(board.cells)
    step = max(1, count * 5 // 13)
    while gcd(step, count) > 1:
        step += 1
    start = board.width + 1  # B2
    return [(start + step * n) % count for n in range(count)]


@value(frozen=True)
class View:
    """A board as one reader may see it.

    Attributes:
        seat: the reader; ``None`` = a spectator.
        options: the rules of this board.
        phase: ``hiding``, ``playing``, ``done`` (in a race that others still run) or ``over``.
        boxes: all boxes the reader may see, by the seat that solves them.
        to_act: the seats that may use a turn now, in order.
        outcome: how it ended, or ``None``.
        scores: what each one's rays did and what it cost; nothing before the end.
    """

    seat: Seat | None
    options: Options
    phase: str
    boxes: tuple[BoxView, ...]
    to_act: tuple[Seat, ...]
    outcome: Outcome | None
    scores: tuple[ScoreLine, ...] = ()

    @lazy
    def shown(self) -> tuple[BoxView, ...]:
        """The boxes in the order to show them: the reader's own first, in a race only that one."""
        if self.options.race and self.phase != "over":
            return self.boxes[self.seat : self.seat + 1] if self.seat is not None else ()
        first = self.seat or 0
        return self.boxes[first:] + self.boxes[:first]

    @lazy
    def own(self) -> BoxView | None:
        """The box that the reader solves."""
        return None if self.seat is None else self.boxes[self.seat]

    @lazy
    def hides_in(self) -> BoxView | None:
        """The box that the reader hides atoms in; ``None`` for a spectator."""
        if self.seat is not None:
            for box in self.boxes:
                if box.hider == self.seat:
                    return box
        return None

    @lazy
    def has_hidden(self) -> bool:
        """Whether the reader has no atoms left to hide."""
        box = self.hides_in
        return box is None or box.filled

    @lazy
    def may_act(self) -> bool:
        """Whether the reader may use a turn now."""
        return self.seat in self.to_act

    @property
    def may_mark(self) -> bool:
        """Whether the reader may set markers and seals now."""
        return self.own is not None and self.has_hidden and self.outcome is None

    @lazy
    def unused_ports(self) -> tuple[str, ...]:
        """The ports of the reader's own box that show no mark yet."""
        return self.own.unused_ports if self.own else ()

    @lazy
    def guesses_left(self) -> int:
        """The reader's own guesses; 0 for a spectator."""
        return self.own.guesses_left if self.own else 0

    @property
    def endless(self) -> bool:
        """Whether the reader may guess as often as it takes."""
        return self.own is not None and self.own.endless

    @lazy
    def marker_count(self) -> int:
        """How many markers stand on the reader's own box."""
        return len(self.own.markers) if self.own else 0

    @lazy
    def atoms_wanted(self) -> str:
        """How many atoms a box holds, as players read it: ``4`` or ``3-5``."""
        return self.options.atoms

    @lazy
    def width(self) -> int:
        """Cells across."""
        return self.options.width

    @lazy
    def examples(self) -> Examples:
        """Texts that work in this position, for advice."""
        own = self.own
        return Examples(
            self.options,
            may_act=self.may_act,
            has_hidden=self.has_hidden,
            markers=own.markers if own else frozenset(),
            unused_ports=self.unused_ports,
        )


_newest: list[tuple[State, Seat | None, View]] = []
"""The view that was made last: a move is read through it, and judged through the same."""


def view_of(state: State, seat: Seat | None) -> View:
    """What this seat may know; ``None`` = a spectator."""
    for of, reader, view in _newest:
        if of is state and reader == seat:
            return view
    made = _view(state, seat)
    _newest[:] = [(state, seat, made)]
    return made


def _view(state: State, seat: Seat | None) -> View:
    over = state.outcome is not None
    phase = "over" if over else "hiding" if hiding(state) else "playing"
    if seat is not None and not over and state.boxes[seat].result.reason:
        phase = "done"
    private = state.options.race and not over
    boxes = [
        _box_view(
            state.options.board,
            Seat(solver),
            _untouched(state, box) if private and solver != seat else box,
            seat,
            over,
        )
        for solver, box in enumerate(state.boxes)
    ]
    return View(
        seat,
        state.options,
        phase,
        tuple(boxes),
        tuple(sorted(to_act(state))),
        state.outcome,
        score_lines(state),
    )


def _untouched(state: State, box: Box) -> Box:
    """Another one's box in a race: as it was at the beginning, for it is the reader's own, too."""
    return Box(box.hider, state.options.guesses, ("",) * len(box.marks), box.atoms)


def _box_view(board: Geometry, solver: Seat, box: Box, reader: Seat | None, over: bool) -> BoxView:
    knows_atoms = over or (reader is not None and reader == box.hider)
    return BoxView(
        seat=solver,
        hider=box.hider,
        board=board,
        filled=box.atoms is not None,
        guesses_left=box.guesses_left,
        marks=box.marks,
        markers=box.markers,
        sealed=box.sealed if reader == solver else frozenset(),
        atoms=box.atoms if knows_atoms else None,
        opened=over,
        fired=box.fired,
        order=box.order if reader == solver else (),
        guessed=box.guessed,
    )
