"""Views: what one seat, or a spectator, may know of a Blackbox board. They are allow-lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import compress
from math import gcd
from operator import not_
from typing import NamedTuple

from pbmserv.engine.types import Outcome, Seat
from pbmserv.games.blackbox.contradictions import differing_ports
from pbmserv.games.blackbox.display import (
    MarkedBox,
    Spots,
    marked_parts,
    port_spots,
    spot_row,
    texts_of,
)
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.options import MOST_GUESSES, Options
from pbmserv.games.blackbox.racing import Score, ScoreLine, allows_hints, score, score_lines
from pbmserv.games.blackbox.rays import HIT, HIT_MARK, REFLECTION_MARK
from pbmserv.games.blackbox.rules import to_act
from pbmserv.games.blackbox.state import Box, State, hiding

FIRED = "its result"
"""Placeholder in a previewed view for the mark of a ray whose result is not known yet."""


class Row(NamedTuple):
    """A row of cells and the ports at its ends, as text; a cell has two characters."""

    left: str
    left_mark: str
    cells: tuple[str, ...]
    right: str
    right_mark: str


class Drawn(NamedTuple):
    """A box as text: the marks of the ports above, the rows, and the marks of the ports below."""

    board: Geometry
    top_marks: tuple[str, ...]
    rows: tuple[Row, ...]
    bottom_marks: tuple[str, ...]


@dataclass(frozen=True)
class BoxView:
    """A box as one reader may see it.

    Attributes:
        seat: the seat that solves it.
        hider: the seat that hides its atoms; `None` for the server.
        board: its size and labels.
        filled: whether atoms are hidden in it.
        guesses_left: guesses that its solver has left.
        marks: the mark of each port; "" for none.
        markers: cells with a marker.
        sealed: sealed cells; empty unless the reader solves this box.
        locked: cells with a locked marker; empty unless the reader solves this box.
        atoms: cells with an atom; `None` unless the reader may know them.
        opened: whether the board is over, so that markers are shown as right or wrong.
        fired: the port that its solver fired last; `None` before the first ray.
        order: ports in the order in which they were fired; empty unless the reader solves this box.
        path: cells on the path of a ray that the reader asked to draw.
        guessed: the markers of its solver's wrong guesses.
        endless: whether its solver may guess without a limit.
        circled: ports that prove the markers wrong: that of the newest wrong guess, and in a race
            that is over all ports whose results differ.
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

    @cached_property
    def drawn(self) -> Drawn:
        """The box as text."""
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
        rows = tuple(map(Row._make, zip(*columns, strict=True)))
        return Drawn(board, marks[:width], rows, marks[below:left])

    @cached_property
    def marked(self) -> MarkedBox:
        """The ports and cells that show something, for words."""
        cells = [row.cells for row in self.drawn.rows]
        return marked_parts(self.board, self.marks, cells, self.circled)

    @cached_property
    def spots(self) -> Spots:
        """The ports and cells in their places, each with its name in moves."""
        board, ports = self.board, port_spots(self.board, self.marks, self.circled)
        width, left = board.width, 2 * board.width + board.height
        rows = [
            spot_row(board, y, ports[left + y], row.cells, ports[width + y])
            for y, row in enumerate(self.drawn.rows)
        ]
        return Spots(tuple(ports[:width]), tuple(rows), tuple(ports[width + board.height : left]))

    @cached_property
    def results(self) -> tuple[tuple[int, int], ...]:
        """Rays as (port, exit) of `rays.trace`; a detour has its first port once."""
        first_ports: dict[str, int] = {}
        rays = []
        for port, mark in enumerate(self.marks):
            if mark == HIT_MARK:
                rays.append((port, HIT))
            elif mark == REFLECTION_MARK:
                rays.append((port, port))
            elif mark in first_ports:
                rays.append((first_ports[mark], port))
            elif mark.isalpha():
                first_ports[mark] = port
        return tuple(sorted(rays))

    def result(self, port: int) -> str:
        """Return the result of a ray into *port*: ``#``, ``%``, the label of its exit, or ""."""
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
    """Moves that the reader could write now, made from the view alone.

    Attributes:
        placement: as many cells as atoms have to be hidden.
        probe: a port without a mark; the guess if no such port is left.
        mark: a marker on a cell without one; the removal if all cells have one.
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
    """Return all cells in a scattered order, so that examples look like real moves."""
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
        seat: the reader's seat; `None` for a spectator.
        options: the rules of this board.
        phase: ``hiding``, ``playing``, ``done`` (in a race that others still play) or ``over``.
        boxes: all boxes, by the seat that solves them.
        to_act: seats that may use a turn now, in order.
        outcome: how the board ended; `None` while it runs.
        scores: results and points by seat; empty before the end.
        so_far: the reader's score up to now; `None` if no points are counted.
    """

    seat: Seat | None
    options: Options
    phase: str
    boxes: tuple[BoxView, ...]
    to_act: tuple[Seat, ...]
    outcome: Outcome | None
    scores: tuple[ScoreLine, ...] = ()
    so_far: Score | None = None

    @cached_property
    def own(self) -> BoxView | None:
        """The box that the reader solves; `None` for a spectator."""
        return None if self.seat is None else self.boxes[self.seat]

    @cached_property
    def hides_in(self) -> BoxView | None:
        """The box in which the reader hides atoms; `None` if there is none."""
        if self.seat is None:
            return None
        return next((box for box in self.boxes if box.hider == self.seat), None)

    @cached_property
    def has_hidden(self) -> bool:
        """Whether the reader has no atoms left to hide."""
        return self.hides_in is None or self.hides_in.filled

    @cached_property
    def may_act(self) -> bool:
        """Whether the reader may use a turn now."""
        return self.seat in self.to_act

    @cached_property
    def may_mark(self) -> bool:
        """Whether the reader may set markers and seals now."""
        return self.own is not None and self.has_hidden and self.outcome is None

    @cached_property
    def may_ask(self) -> bool:
        """Whether the reader may ask for a hint now."""
        is_playing = self.phase == "playing" and self.own is not None
        return is_playing and allows_hints(self.options, len(self.boxes))

    @cached_property
    def shown(self) -> tuple[BoxView, ...]:
        """The boxes in the order to show them, the reader's own first.

        A race that runs shows only the reader's own.
        """
        if self.options.race and self.phase != "over":
            return () if self.own is None else (self.own,)
        first = self.seat or 0
        return self.boxes[first:] + self.boxes[:first]

    def with_box(self, box: BoxView) -> View:
        """Return the view with another box in place of the one of the same solver."""
        boxes = tuple(box if other.seat == box.seat else other for other in self.boxes)
        return replace(self, boxes=boxes)

    @cached_property
    def unused_ports(self) -> tuple[str, ...]:
        """Labels of the unmarked ports of the reader's own box, in port order."""
        own = self.own
        return tuple(compress(own.board.ports, map(not_, own.marks))) if own else ()

    @cached_property
    def examples(self) -> Examples:
        """Moves that are legal in this position."""
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
    """The part of a view that decides which moves a seat may make."""

    options: Options
    phase: str
    own: Box | None
    has_hidden: bool


def standing_of(state: State, seat: Seat | None) -> Standing:
    """Return the standing of a seat. A replay needs one for each ply, and no whole view."""
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
    """Return what a seat may know; `None` for a spectator."""
    options, over = state.options, state.outcome is not None
    phase = standing_of(state, seat).phase
    boxes = []
    for solver, full_box in enumerate(state.boxes):
        is_own = solver == seat
        is_visible = is_own or over or not options.race
        box = full_box if is_visible else _untouched(options, full_box)
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
    """Return the ports that prove a box's markers wrong, as far as its readers may know.

    No port of an untouched box, such as one of the archive, is circled.
    """
    if state.outcome is None or not state.options.race or box.atoms is None:
        return box.circled
    if not box.markers and not any(box.marks):
        return frozenset()
    return frozenset(differing_ports(state.options.board, box.atoms, box.markers))


def _untouched(options: Options, box: Box) -> Box:
    """Return another player's box in a race as it was at the start."""
    return Box(box.hider, options.guesses, ("",) * len(box.marks), box.atoms)
