"""What one seat, or a spectator, may know of a Blackbox board: an allow-list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import compress
from math import gcd
from operator import not_
from typing import Any, Generic, NamedTuple, TypeVar

from pbmserv.engine.types import Outcome, Seat
from pbmserv.games.blackbox.display import Spots, Told, port_spots, spot_row, tell, texts_of
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.options import MOST_GUESSES, Options
from pbmserv.games.blackbox.racing import Score, ScoreLine, score, score_lines
from pbmserv.games.blackbox.rays import HIT
from pbmserv.games.blackbox.rules import differing_ports, to_act
from pbmserv.games.blackbox.state import HIT_MARK, REFLECTION_MARK, Box, State, hiding

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
        value = self._work(instance)
        object.__setattr__(instance, self._name, value)
        return value


class Row(NamedTuple):
    """A row and its two ends; each cell is two characters, as the board shows it."""

    left: str
    left_mark: str
    cells: tuple[str, ...]
    right: str
    right_mark: str


class Drawn(NamedTuple):
    """A box as text: what its ports above and below show, left to right, and the rows between."""

    board: Geometry
    top_marks: tuple[str, ...]
    rows: tuple[Row, ...]
    bottom_marks: tuple[str, ...]


_AS_ROW = partial(tuple.__new__, Row)
"""A row of what it has, as `Row` makes it, in a third of the time."""


@dataclass(frozen=True)
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
        locked: the cells with a locked marker if the reader solves this box, else none.
        atoms: the cells with an atom if the reader may know, else ``None``.
        opened: the board is over, so right and wrong may be told apart.
        fired: the port that its solver fired last, if any.
        order: the ports into which rays went, one after the other, if the reader solves this box.
        path: cells on the way of a test ray, where one is drawn.
        guessed: the markers of its solver's wrong guesses.
        endless: its solver may guess as often as it takes.
        circled: ports at which the markers are proved wrong: by the newest wrong guess, and in an
            opened race all that the markers contradict or that would have told.
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
    locked: frozenset[int] = field(default=frozenset(), repr=False)
    fired: int | None = None
    order: tuple[int, ...] = ()
    path: frozenset[int] = frozenset()
    guessed: tuple[frozenset[int], ...] = ()
    endless: bool = False
    circled: frozenset[int] = frozenset()

    @lazy
    def drawn(self) -> Drawn:
        """What is drawn, as text."""
        board, marks = self.board, self.marks
        if self.circled:
            marks = tuple(
                f"{mark or ' '}!" if port in self.circled else mark
                for port, mark in enumerate(marks)
            )
        width, height = board.width, board.height
        below, left = width + height, 2 * width + height
        texts = texts_of(
            board, self.sealed, self.locked, self.path, self.atoms, self.markers, self.opened
        )
        columns = board.left, marks[left:], texts, board.right, marks[width:below]
        rows = tuple(map(_AS_ROW, zip(*columns, strict=True)))
        return Drawn(board, marks[:width], rows, marks[below:left])

    @lazy
    def told(self) -> Told:
        """What is drawn, as facts."""
        cells = [row.cells for row in self.drawn.rows]
        return tell(self.board, self.marks, cells, self.circled)

    @lazy
    def spots(self) -> Spots:
        """What is drawn, place by place, each with the name that moves call it."""
        board, ports = self.board, port_spots(self.board, self.marks, self.circled)
        width, left = board.width, 2 * board.width + board.height
        rows = [
            spot_row(board, y, ports[left + y], row.cells, ports[width + y])
            for y, row in enumerate(self.drawn.rows)
        ]
        return Spots(ports[:width], tuple(rows), ports[width + board.height : left])

    @lazy
    def results(self) -> tuple[tuple[int, int], ...]:
        """(port, where the ray came out), as `rays.trace`; a detour at its first port."""
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


@dataclass(frozen=True)
class Examples:
    """What a reader could write now; made only from what the reader sees.

    Attributes:
        placement: as many cells as atoms have to be hidden.
        probe: a port without a mark; where none is left, the guess.
        mark: a marker on a cell without one; where all have one, the removal.
        unmark: the removal of a marker.
        seal: a sealed cell, preferably one without a marker.
        guess: a guess, with the markers that it needs put on or taken off first.
    """

    placement: str
    probe: str
    mark: str
    unmark: str
    seal: str
    guess: str


@cache
def _spread(board: Geometry) -> Sequence[int]:
    """All cells in an order that jumps about, so that examples look like play."""
    count = len(board.cells)
    step = max(1, count * 5 // 13)
    while gcd(step, count) > 1:
        step += 1
    start = board.width + 1  # B2
    return [(start + step * n) % count for n in range(count)]


@dataclass(frozen=True)
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
        so_far: the reader's own score up to now; ``None`` where no points are counted.
        own: the box that the reader solves; ``None`` for a spectator.
        hides_in: the box that the reader hides atoms in, if there is one.
        has_hidden: the reader has no atoms left to hide.
        may_act: the reader may use a turn now.
        may_mark: the reader may set markers and seals now.
        shown: the boxes in the order to show them: the reader's own first, in a race only that one.
    """

    seat: Seat | None
    options: Options
    phase: str
    boxes: tuple[BoxView, ...]
    to_act: tuple[Seat, ...]
    outcome: Outcome | None
    scores: tuple[ScoreLine, ...] = ()
    so_far: Score | None = None

    own: BoxView | None = field(init=False, repr=False, compare=False)
    hides_in: BoxView | None = field(init=False, repr=False, compare=False)
    has_hidden: bool = field(init=False, repr=False, compare=False)
    may_act: bool = field(init=False, repr=False, compare=False)
    may_mark: bool = field(init=False, repr=False, compare=False)
    shown: tuple[BoxView, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        seat = self.seat
        own = None if seat is None else self.boxes[seat]
        shown = self.boxes[seat:] + self.boxes[:seat] if seat else self.boxes
        if self.options.race and self.phase != "over":
            shown = () if own is None else (own,)
        hides_in = [box for box in self.boxes if seat is not None and box.hider == seat]
        has_hidden = not hides_in or hides_in[0].filled
        may_mark = own is not None and has_hidden and self.outcome is None
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "hides_in", hides_in[0] if hides_in else None)
        object.__setattr__(self, "has_hidden", has_hidden)
        object.__setattr__(self, "may_act", seat in self.to_act)
        object.__setattr__(self, "may_mark", may_mark)
        object.__setattr__(self, "shown", shown)

    @lazy
    def unused_ports(self) -> tuple[str, ...]:
        """The labels of the ports of the reader's own box that show no mark yet, in port order."""
        own = self.own
        return tuple(compress(own.board.ports, map(not_, own.marks))) if own else ()

    @lazy
    def examples(self) -> Examples:
        """Texts that work in this position, for advice."""
        board, least = self.options.board, self.options.least
        names, cells = board.names, _spread(board)
        markers = self.own.markers if self.own else frozenset[int]()
        locked = self.own.locked if self.own else frozenset[int]()
        free = [cell for cell in cells if cell not in markers]

        unlock = {cell: f"unlock {names[cell]}," if cell in locked else "" for cell in markers}
        movable = sorted(markers, key=lambda cell: (cell in locked, cell))
        removals = [f"{unlock[cell]}/{names[cell]}" for cell in movable]
        unmark = removals[0] if removals else "/" + names[cells[0]]
        missing = [f"+{names[cell]}," for cell in free[: max(0, least - len(markers))]]
        extra = max(0, len(markers) - self.options.most)
        surplus = [f"{removal}," for removal in removals[:extra]]
        guess = "".join([*missing, *surplus, "?"])
        return Examples(
            placement=",".join([names[cell] for cell in cells[:least]]),
            probe=self.unused_ports[0] if self.unused_ports else guess,
            mark="+" + names[free[0]] if free else unmark,
            unmark=unmark,
            seal="!" + names[(free or cells)[0]],
            guess=guess,
        )


class Standing(NamedTuple):
    """What decides which moves a seat may make: `View` says the same to its reader."""

    options: Options
    phase: str
    own: Box | None
    has_hidden: bool


def standing_of(state: State, seat: Seat | None) -> Standing:
    """How a seat stands; to make its view takes four times as long."""
    own = None if seat is None else state.boxes[seat]
    is_hiding = state.turns < len(state.boxes) and not state.options.race
    phase = "hiding" if is_hiding else "playing"
    if state.outcome is not None:
        phase = "over"
    elif own is not None and own.result.reason:
        phase = "done"
    has_hidden = not is_hiding or seat not in hiding(state)
    return Standing(state.options, phase, own, has_hidden)


def view_of(state: State, seat: Seat | None) -> View:
    """What this seat may know; ``None`` = a spectator."""
    options, over = state.options, state.outcome is not None
    phase = standing_of(state, seat).phase
    boxes = []
    for solver, kept in enumerate(state.boxes):
        is_own = solver == seat
        box = kept if is_own or over or not options.race else _untouched(options, kept)
        knows_atoms = over or (seat is not None and seat == box.hider)
        boxes.append(
            BoxView(
                seat=Seat(solver),
                hider=box.hider,
                board=options.board,
                filled=box.atoms is not None,
                guesses_left=box.guesses_left,
                marks=box.marks,
                markers=box.markers,
                sealed=box.sealed if is_own else frozenset(),
                locked=box.locked if is_own else frozenset(),
                atoms=box.atoms if knows_atoms else None,
                opened=over,
                fired=box.fired,
                order=box.order if is_own else (),
                guessed=box.guessed,
                endless=box.guesses_left > MOST_GUESSES,
                circled=_circled(state, box),
            )
        )

    scores = score_lines(state) if over else ()
    acting = tuple(sorted(to_act(state)))
    counts = options.race and not options.practice and options.scoring != "first"
    so_far = score(options, state.boxes[seat]) if counts and seat is not None and not over else None
    return View(seat, options, phase, tuple(boxes), acting, state.outcome, scores, so_far)


def _circled(state: State, box: Box) -> frozenset[int]:
    """The ports of a box that prove its markers wrong, as far as its readers may know.

    On a box that nobody has tried, such as those of the archive, nothing is circled.
    """
    if state.outcome is None or not state.options.race or box.atoms is None:
        return box.circled
    if not box.markers and not any(box.marks):
        return frozenset()
    return frozenset(differing_ports(state.options.board, box.atoms, box.markers))


def _untouched(options: Options, box: Box) -> Box:
    """Another one's box in a race: as it was at the beginning, for it is the reader's own, too."""
    return Box(box.hider, options.guesses, ("",) * len(box.marks), box.atoms)
