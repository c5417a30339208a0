"""Finds the layouts that fit some results without listing all layouts.

A ray depends on only a few cells. A search fires the known rays into a box with unknown cells. Each
time a ray looks at an unknown cell, the search tries both: an empty cell and an atom. The result is
a list of cases. A case fixes some cells and leaves all others open, and no layout belongs to two
cases.

If a board is too large for the search, atoms wander. They move one at a time, and a move that
explains fewer results is accepted rarely (the Metropolis rule). Layouts that fit on the way are
kept. They are not a fair sample, but good enough to play.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, log

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import HIT, Field, field_of, trace_in

EMPTY, ATOM, UNKNOWN = 0, 1, 2

WARMTH = 0.3
"""The temperature of wandering atoms, in results: 1 in 28 moves is accepted that explains one
less."""

STUCK = 600
"""Moves without a new layout after which wandering begins elsewhere."""

_FINE = 1 << 16

Result = tuple[int, int]
"""A port and the result of its ray; see `rays.trace`."""

_Ray = tuple[int, int, int]
"""A port, its result, and the unknown square at which the ray stopped last.

While that square is unknown, the ray stops there again. 0, which is outside the box, means that the
ray must be fired.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Layouts that agree on the cells at which rays looked.

    Attributes:
        atoms: the cells that surely have an atom.
        open: the unknown cells. Each of them may have a further atom.
    """

    atoms: tuple[int, ...]
    open: tuple[int, ...]

    def ways(self, count: int) -> int:
        """Return the number of layouts with *count* atoms."""
        further = count - len(self.atoms)
        return comb(len(self.open), further) if further >= 0 else 0

    def layouts(self, counts: Iterable[int]) -> Iterator[frozenset[int]]:
        """Yield the layouts with one of these numbers of atoms."""
        for count in counts:
            if count >= len(self.atoms):
                for further in combinations(self.open, count - len(self.atoms)):
                    yield frozenset((*self.atoms, *further))


@dataclass(slots=True)
class Cases:
    """The result of a search; `complete` if it has all cases."""

    cases: list[Case]
    complete: bool


def likelihoods(cells: int, counts: Iterable[int]) -> dict[int, int]:
    """Return the likelihood of a layout by its number of atoms, in any unit.

    Each number of atoms is equally likely.
    """
    sizes = {count: comb(cells, count) for count in counts}
    if len(sizes) == 1:
        return dict.fromkeys(sizes, 1)
    unit = max(sizes.values()) << 20
    return {count: unit // size for count, size in sizes.items()}


def search(board: Geometry, results: Sequence[Result], least: int, most: int, rays: int) -> Cases:
    """Find the cases in which *least* to *most* atoms explain the results.

    Args:
        board: the board.
        results: the results.
        least, most: the range of the number of atoms.
        rays: the most rays to fire.
    """
    return _Search(board, results, least, most, rays).run()


def is_possible(
    board: Geometry,
    results: Sequence[Result],
    least: int,
    most: int,
    rays: int,
    fixed: Mapping[int, int],
) -> tuple[bool | None, int]:
    """Return whether any layout with some fixed cells explains the results, and the rays fired.

    The answer is `None` if *rays* are not enough to find out.

    Args:
        board, results, least, most, rays: see `search`.
        fixed: `EMPTY` or `ATOM` for each fixed cell.
    """
    tree = _Search(board, results, least, most, rays)
    tree.stops_at_first = True
    for cell, value in fixed.items():
        tree.squares[tree.grid.squares[cell]] = value
    tree.placed = sum(value == ATOM for value in fixed.values())
    tree.unknown -= len(fixed)
    if not tree.placed <= most or tree.placed + tree.unknown < least:
        return False, 0
    result = tree.run()
    return True if result.cases else False if result.complete else None, rays - tree.budget


@dataclass(frozen=True, slots=True)
class _Choice:
    """A decision about a square, and the state of the search before it.

    Attributes:
        square: the square.
        rays: the rays that were not explained.
        placed: the number of atoms.
        unknown: the number of unknown cells after the decision.
        other: whether an atom must still be tried.
    """

    square: int
    rays: list[_Ray]
    placed: int
    unknown: int
    other: bool


@dataclass(slots=True)
class _Search:
    """A search through the tree of decisions about squares.

    Attributes:
        board, results, least, most: see `search`.
        budget: the rays that may still be fired.
        squares: the state of each square.
        cases: those that explain all results.
        trail: the decisions that led to the present state.
        placed, unknown: the numbers of atoms, and of undecided cells.
        stops_at_first: ends the search with the first case.
    """

    board: Geometry
    results: Sequence[Result]
    least: int
    most: int
    budget: int
    grid: Field = field(init=False)
    squares: bytearray = field(init=False)
    cases: list[Case] = field(default_factory=list)
    trail: list[_Choice] = field(default_factory=list)
    placed: int = 0
    unknown: int = 0
    stops_at_first: bool = False

    def __post_init__(self) -> None:
        self.grid = field_of(self.board)
        self.squares = bytearray(self.grid.empty)
        for square in self.grid.squares:
            self.squares[square] = UNKNOWN
        self.unknown = len(self.grid.squares)

    def run(self) -> Cases:
        """Search the tree, empty cells first, without recursion since it may be deep."""
        both = [(out, port) for port, out in self.results if out not in (HIT, port)]
        # Fire detours also from their other ends, where other cells are unknown.
        rays: list[_Ray] | None = [(port, out, 0) for port, out in (*self.results, *both)]
        while rays is not None:
            left, square = self._explain(rays)
            if self.stops_at_first and self.cases:
                break
            if square is None or not self._decide(square, left):
                rays = self._backtrack()
            elif self.budget < 1:
                return Cases(self.cases, complete=False)
            else:
                rays = left
        return Cases(self.cases, complete=True)

    def _explain(self, rays: list[_Ray]) -> tuple[list[_Ray], int | None]:
        """Fire the rays as far as squares are known.

        Returns:
            The rays that are not explained yet, and the unknown square at which most of them stop.
            The square is `None` if a result is contradicted, or all are explained. In the latter
            case, the case is kept.
        """
        grid, squares = self.grid, self.squares
        left: list[_Ray] = []
        stops: dict[int, int] = {}
        for ray in rays:
            self.budget -= 1  # also for rays that need not be fired, to limit the size of the tree
            port, result, stopped = ray
            if squares[stopped] != UNKNOWN:
                out = fire(grid, squares, port)
                if out >= HIT:
                    if out != result:
                        return left, None
                    continue
                stopped = square_of(out)
                door, ahead, side = grid.doors[port]
                # At the door, an atom on the other side reflects the ray before it looks there.
                is_beside = abs(stopped - door - ahead) == abs(side)
                left.append((port, result, 0 if is_beside else stopped))
            else:
                left.append(ray)
            stops[stopped] = stops.get(stopped, 0) + 1
        if not left:
            self._keep()
            return left, None
        return left, max(stops, key=stops.__getitem__)

    def _decide(self, square: int, left: list[_Ray]) -> bool:
        """Decide about a square, empty first. Return `False` if neither is possible."""
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

    def _backtrack(self) -> list[_Ray] | None:
        """Return to the last decision with an alternative, and take it.

        Returns:
            The rays that were not explained there, `None` if the search is complete.
        """
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
        """Add the present state to the cases."""
        cells = self.grid.squares
        state = [self.squares[square] for square in cells]
        self.cases.append(
            Case(
                tuple(cell for cell, value in enumerate(state) if value == ATOM),
                tuple(cell for cell, value in enumerate(state) if value == UNKNOWN),
            )
        )


def square_of(out: int) -> int:
    """Return the unknown square at which a ray stopped, from the result of `fire`."""
    return HIT - 1 - out


def fire(field: Field, squares: bytearray, port: int) -> int:
    """Fire a ray into a box with unknown squares.

    Returns:
        The result of `rays.trace`, or a number below `HIT` if the ray stops at an unknown square;
        see `square_of`.
    """
    place, ahead, left = field.doors[port]
    exits = field.exits
    place += ahead
    result = _at_door(squares, place, left, port)
    if result is not None:
        return result
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
    """Return the result of `fire` for a ray at its port, `None` if it enters."""
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
    start_layouts: Sequence[frozenset[int]] = (),
) -> list[frozenset[int]]:
    """Return up to *wanted* different layouts that explain all results.

    Args:
        board: the board.
        results: the results.
        counts: the possible numbers of atoms; each start draws one.
        wanted: the most layouts to find.
        rays: the approximate number of rays to fire.
        rng: random numbers.
        start_layouts: fitting layouts, at which wandering begins; they are part of the result.
    """
    layouts: dict[frozenset[int], None] = dict.fromkeys(start_layouts)
    starts = iter(start_layouts)
    while rays > 0 and len(layouts) < wanted:
        atoms = next(starts, None) or rng.sample(board.cells, rng.choice(counts))
        wandering = _Layout(board, results, list(atoms))
        moves_without_find = 0
        while wandering.fired < rays and moves_without_find < STUCK and len(layouts) < wanted:
            moves_without_find += 1
            if wandering.try_move(rng) and not wandering.wrong:
                layout = frozenset(wandering.atoms)
                if layout not in layouts:
                    layouts[layout] = None
                    moves_without_find = 0
        rays -= wandering.fired
    return list(layouts)


@dataclass(slots=True)
class _Layout:
    """Wandering atoms.

    Attributes:
        wrong: the number of results that they do not explain.
        fired: the number of rays so far.
    """

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
        """Move an atom to a neighbouring cell or anywhere. Return whether the move was accepted."""
        self.fired += 1  # also for rejected moves, so that wandering ends in any box
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
        """Count the results that are not explained, and stop above *most*."""
        wrong = 0
        for port, out in self.results:
            self.fired += 1
            if trace_in(self.grid, self.squares, port) != out:
                wrong += 1
                if wrong > most:
                    break
        return wrong
