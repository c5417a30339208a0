"""Every layout of atoms that fits some results, found without listing the layouts.

A ray depends on few cells. So a search fires the known rays into a box of which nothing is known,
and only where a ray looks at an unknown cell it divides: empty, or an atom. What is left are cases
that fix some cells and leave all others open; no layout belongs to two of them.

Where a board is too large for that, atoms wander: they are moved one at a time, and a move that
explains fewer results is made, too, but seldom (the Metropolis rule). Whatever fits on the way is
kept. That is no fair sample, but one to play by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from pbmserv.engine.types import Rng
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import HIT, Field, field_of, trace_in

EMPTY, ATOM, UNKNOWN = 0, 1, 2

WARMTH = 0.3
"""How readily a move that makes things worse is made, in results (0.3: one in 28)."""

STUCK = 600
"""Moves without anything new after which it begins elsewhere."""

_FINE = 1 << 16

Result = tuple[int, int]
"""A port, and where a ray into it came out, as `rays.trace` gives it."""

_Ray = tuple[int, int, int]
"""A result, and the unknown square at which its ray stopped when it was fired last: as long as
that is unknown, it stops there again. 0, which is outside the box: it has to be fired."""


@dataclass(frozen=True, slots=True)
class Case:
    """Layouts that agree on the cells which rays have looked at.

    Attributes:
        atoms: the cells known to hold one.
        open: the cells that nothing is known of: any of them may hold further atoms.
    """

    atoms: tuple[int, ...]
    open: tuple[int, ...]


@dataclass(slots=True)
class Found:
    """What a search has found; *complete*: these are all cases there are."""

    cases: list[Case]
    complete: bool


def search(board: Geometry, results: Sequence[Result], least: int, most: int, rays: int) -> Found:
    """The cases in which *least* to *most* atoms explain the results.

    Args:
        rays: how many it may fire before it gives up.
    """
    return _Search(board, results, least, most, rays).run()


def possible(
    board: Geometry,
    results: Sequence[Result],
    least: int,
    most: int,
    rays: int,
    fixed: Mapping[int, int],
) -> bool | None:
    """Whether any layout explains the results in which some cells are as *fixed* says, `EMPTY` or
    `ATOM`; ``None``: *rays* were too few to tell."""
    one = _Search(board, results, least, most, rays)
    one.just_one = True
    for cell, value in fixed.items():
        one.squares[one.grid.squares[cell]] = value
    one.placed = sum(value == ATOM for value in fixed.values())
    one.unknown -= len(fixed)
    if not one.placed <= most or one.placed + one.unknown < least:
        return False
    found = one.run()
    return True if found.cases else False if found.complete else None


@dataclass(frozen=True, slots=True)
class _Choice:
    """A cell that was chosen to be empty or an atom, and what was left to be explained then."""

    square: int
    rays: list[_Ray]
    placed: int
    unknown: int
    other: bool  # whether an atom is still to be tried there


@dataclass(slots=True)
class _Search:
    board: Geometry
    results: Sequence[Result]
    least: int
    most: int
    budget: int
    grid: Field = field(init=False)
    squares: bytearray = field(init=False)
    found: list[Case] = field(default_factory=list)
    trail: list[_Choice] = field(default_factory=list)
    placed: int = 0
    unknown: int = 0
    just_one: bool = False

    def __post_init__(self) -> None:
        self.grid = field_of(self.board)
        self.squares = bytearray(self.grid.empty)
        for square in self.grid.squares:
            self.squares[square] = UNKNOWN
        self.unknown = len(self.grid.squares)

    def run(self) -> Found:
        """Go through the tree, empty cells first, without recursion: it may be deep."""
        both = [(out, port) for port, out in self.results if out not in (HIT, port)]
        # A detour is fired from its other end, too: there it divides elsewhere.
        rays: list[_Ray] | None = [(port, out, 0) for port, out in (*self.results, *both)]
        while rays is not None:
            left, square = self._explain(rays)
            if self.just_one and self.found:
                break
            if square is None or not self._choose(square, left):
                rays = self._back()
            elif self.budget < 1:
                return Found(self.found, complete=False)
            else:
                rays = left
        return Found(self.found, complete=True)

    def _explain(self, rays: list[_Ray]) -> tuple[list[_Ray], int | None]:
        """The rays that are not explained yet and the square most of them ask for; ``None`` where
        this case is done: it contradicts a result, or it explains them all and is kept."""
        grid, squares = self.grid, self.squares
        left: list[_Ray] = []
        asked: dict[int, int] = {}
        for ray in rays:
            self.budget -= 1  # also for one that need not be fired again: the tree is as large
            port, result, stopped = ray
            if squares[stopped] != UNKNOWN:
                out = fire(grid, squares, port)
                if out >= HIT:
                    if out != result:
                        return left, None
                    continue
                stopped = asks(out)
                door, ahead, side = grid.doors[port]
                # Beside its door an atom on the other side turns the ray back before that.
                is_beside = abs(stopped - door - ahead) == abs(side)
                left.append((port, result, 0 if is_beside else stopped))
            else:
                left.append(ray)
            asked[stopped] = asked.get(stopped, 0) + 1
        if not left:
            self._keep()
            return left, None
        return left, max(asked, key=asked.__getitem__)

    def _choose(self, square: int, left: list[_Ray]) -> bool:
        """Decide about a square, empty first; False = neither is possible."""
        unknown = self.unknown - 1
        if self.placed + unknown >= self.least:
            can_be_atom = self.placed < self.most
            self.trail.append(_Choice(square, left, self.placed, unknown, can_be_atom))
            self.squares[square] = EMPTY
        elif self.placed < self.most:
            self.trail.append(_Choice(square, left, self.placed, unknown, other=False))
            self.squares[square] = ATOM
            self.placed += 1
        else:
            return False
        self.unknown = unknown
        return True

    def _back(self) -> list[_Ray] | None:
        """To the last choice that leaves another; the rays from there, ``None`` = all is done."""
        while self.trail:
            last = self.trail.pop()
            if last.other:
                self.squares[last.square] = ATOM
                self.placed, self.unknown = last.placed + 1, last.unknown
                done = _Choice(last.square, last.rays, last.placed, last.unknown, other=False)
                self.trail.append(done)
                return last.rays
            self.squares[last.square] = UNKNOWN
            self.placed, self.unknown = last.placed, last.unknown + 1
        return None

    def _keep(self) -> None:
        cells = self.grid.squares
        state = [self.squares[square] for square in cells]
        self.found.append(
            Case(
                tuple(cell for cell, value in enumerate(state) if value == ATOM),
                tuple(cell for cell, value in enumerate(state) if value == UNKNOWN),
            )
        )


def asks(out: int) -> int:
    """The square that a ray has to know, from what `fire` says."""
    return HIT - 1 - out


def fire(field: Field, squares: bytearray, port: int) -> int:
    """A ray into a box of which not all is known.

    Returns:
        As `rays.trace`; a number below `HIT` where it depends on an unknown square (`asks`).
    """
    place, ahead, left = field.doors[port]
    exits = field.exits
    place += ahead
    at_door = _at_door(squares, place, left, port)
    if at_door is not None:
        return at_door
    while True:
        front = place + ahead
        if squares[front]:
            return HIT if squares[front] == ATOM else HIT - 1 - front
        on_left, on_right = squares[front + left], squares[front - left]
        if on_left == UNKNOWN:
            return HIT - 1 - (front + left)
        if on_right == UNKNOWN:
            return HIT - 1 - (front - left)
        if on_left:
            ahead, left = (-ahead, -left) if on_right else (-left, ahead)
        elif on_right:
            ahead, left = left, -ahead
        elif exits[front] < 0:
            place = front
        else:
            return exits[front]


def _at_door(squares: bytearray, front: int, left: int, port: int) -> int | None:
    """As `fire`, for a ray that stands on its port; ``None`` = it goes in."""
    if squares[front]:
        return HIT if squares[front] == ATOM else HIT - 1 - front
    on_left, on_right = squares[front + left], squares[front - left]
    if ATOM in (on_left, on_right):
        return port
    if on_left:
        return HIT - 1 - (front + left)
    return HIT - 1 - (front - left) if on_right else None


def wander(
    board: Geometry,
    results: Sequence[Result],
    counts: Sequence[int],
    wanted: int,
    rays: int,
    rng: Rng,
    known: Sequence[frozenset[int]] = (),
) -> list[frozenset[int]]:
    """Up to *wanted* different layouts that explain all results.

    Args:
        counts: how many atoms there may be; each beginning draws one of them.
        rays: how many may be fired, about.
        known: such layouts; they come back, and each is where a search begins.
    """
    found: dict[frozenset[int], None] = dict.fromkeys(known)
    begin = iter(known)
    while rays > 0 and len(found) < wanted:
        atoms = next(begin, None) or rng.sample(board.cells, rng.choice(counts))
        one = _Layout(board, results, list(atoms))
        quiet = 0
        while one.fired < rays and quiet < STUCK and len(found) < wanted:
            quiet += 1
            if one.try_move(rng) and not one.wrong:
                layout = frozenset(one.atoms)
                if layout not in found:
                    found[layout] = None
                    quiet = 0
        rays -= one.fired
    return list(found)


@dataclass(slots=True)
class _Layout:
    """Atoms on their way; *wrong*: how many results they do not explain; *fired*: rays so far."""

    board: Geometry
    results: Sequence[Result]
    atoms: list[int]
    grid: Field = field(init=False)
    squares: bytearray = field(init=False)
    taken: set[int] = field(init=False)
    wrong: int = field(init=False)
    fired: int = 0

    def __post_init__(self) -> None:
        self.grid = field_of(self.board)
        self.squares = self.grid.filled(self.atoms)
        self.taken = set(self.atoms)
        self.wrong = self._count(len(self.results))

    def try_move(self, rng: Rng) -> bool:
        """Move some atom to a neighbouring cell, or anywhere; whether it was let stand."""
        self.fired += 1  # so that a box in which nothing can move comes to an end, too
        cells, width = len(self.board.cells), self.board.width
        which = rng.below(len(self.atoms))
        before = self.atoms[which]
        if rng.below(2):
            near = (1, -1, width, -width, width + 1, width - 1, 1 - width, -1 - width)
            after = before + rng.choice(near)
        else:
            after = rng.below(cells)
        if not 0 <= after < cells or after in self.taken:
            return False
        old, new = self.grid.squares[before], self.grid.squares[after]
        self.squares[old], self.squares[new] = 0, 1
        most = self.wrong - WARMTH * log((rng.below(_FINE) + 1) / _FINE)
        wrong = self._count(most)
        if wrong > most:
            self.squares[old], self.squares[new] = 1, 0
            return False
        self.taken.remove(before)
        self.taken.add(after)
        self.atoms[which] = after
        self.wrong = wrong
        return True

    def _count(self, most: float) -> int:
        """How many results are not explained; it stops counting above *most*."""
        wrong = 0
        for port, out in self.results:
            self.fired += 1
            if trace_in(self.grid, self.squares, port) != out:
                wrong += 1
                if wrong > most:
                    break
        return wrong
