"""Finds the layouts that fit some results without listing all layouts.

A ray depends on only a few cells. A search fires the known rays into a box with unknown cells. Each
time a ray looks at an unknown cell, the search tries both: an empty cell and an atom. The result is
a list of cases. A case fixes some cells and leaves all others open, and no layout belongs to two
cases.

A search that fires too many rays ends early. Its cases are not a fair sample, but good enough to
play.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress
from math import comb

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import HIT, field_of

EMPTY, ATOM, UNKNOWN = 0, 1, 2

Result = tuple[int, int]
"""A port and the result of its ray; see `rays.trace`."""

Search = Callable[..., tuple[Sequence[Iterable[int]], bool, int]]
"""A function like `search_squares`."""

_WHERE_ATOM = bytes.maketrans(bytes((EMPTY, ATOM, UNKNOWN)), b"\0\1\0")
_WHERE_UNKNOWN = bytes.maketrans(bytes((EMPTY, ATOM, UNKNOWN)), b"\0\0\1")


@dataclass(frozen=True, slots=True)
class Case:
    """Layouts that agree on the cells at which rays looked.

    Attributes:
        atoms: the cells that surely have an atom.
        open: the unknown cells, any of which may have the further atoms.
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


def search(
    board: Geometry,
    results: Sequence[Result],
    least: int,
    most: int,
    rays: int,
    most_cases: int = sys.maxsize,
    search_with: Search | None = None,
) -> Cases:
    """Find the cases in which *least* to *most* atoms explain the results.

    Args:
        board: the board.
        results: the results.
        least, most: the range of the number of atoms.
        rays: the most rays to fire.
        most_cases: if there are more, the search ends, and none is returned.
        search_with: `sampler.search_squares`, if that is to search and not `search_squares`.
    """
    limits = least, most, rays, most_cases
    run = search_with or search_squares
    states, complete, _ = run(*_question(board, results, {}), *limits)
    if len(states) > most_cases:
        states = ()
    return Cases([_case_of(board, bytes(state)) for state in states], complete)


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
    question = _question(board, results, fixed)
    states, complete, left = search_squares(*question, least, most, rays, 0)
    return True if states else False if complete else None, rays - left


def _question(
    board: Geometry, results: Sequence[Result], fixed: Mapping[int, int]
) -> tuple[
    bytearray,
    Sequence[int],
    Sequence[tuple[int, int, int]],
    Sequence[int],
    list[int],
    list[int],
]:
    """Return the arguments of `search_squares` up to *waiting*."""
    field = field_of(board)
    squares = bytearray(field.empty)
    for cell, square in enumerate(field.squares):
        squares[square] = fixed.get(cell, UNKNOWN)
    outs = dict(results)
    # Fire detours also from their other ends, where other cells are unknown.
    outs |= {out: port for port, out in results if out != HIT}
    doors = [field.doors[port] for port in outs]
    return squares, field.exits, doors, list(outs.values()), [0] * len(outs), [0] * len(squares)


def _case_of(board: Geometry, state: bytes) -> Case:
    """Return the case of a state of all squares."""
    cells = field_of(board).cells
    atoms = compress(cells, state.translate(_WHERE_ATOM))
    return Case(tuple(atoms), tuple(compress(cells, state.translate(_WHERE_UNKNOWN))))


def search_squares(
    squares: bytearray,
    exits: Sequence[int],
    doors: Sequence[tuple[int, int, int]],
    outs: Sequence[int],
    stops: list[int],
    waiting: list[int],
    least: int,
    most: int,
    budget: int,
    most_cases: int,
) -> tuple[Sequence[Iterable[int]], bool, int]:
    """Search the tree of decisions about unknown squares, empty ones first.

    A ray stops at the first unknown square into which it looks. The square at which most rays wait
    is decided next, and only these rays move on. numba compiles this function and the next four
    for `sampler`, so all arguments are plain values.

    Args:
        squares: the state of each square: `EMPTY`, `ATOM` or `UNKNOWN`.
        exits: see `rays.Field`.
        doors: where each ray enters; see `rays.Field`.
        outs: the result of each ray.
        stops: zeros, for the square at which each ray waits for a decision, -1 for none.
        waiting: zeros, for the number of rays that wait at each square.
        least, most: the range of the number of atoms.
        budget: the rays that may be fired.
        most_cases: the search ends if there are more cases.

    Returns:
        The state of all squares in each case, whether these are all cases, and the rest of the
        budget.
    """
    rays = [(door[0], door[1], door[2]) for door in doors]  # place, step ahead, step to the left
    waiting[0] = len(rays)  # at first all wait at square 0, which is outside the box
    # Former states of rays, with their numbers in front; the first one only tells numba the type.
    earlier = [(0, 0, 0, 0, 0)]
    # The decided squares, whether they may still have an atom, and the former length of `earlier`.
    decisions: list[tuple[int, bool, int]] = []
    cases: list[bytearray] = []
    placed = unknown = newest = 0
    for state in squares:
        placed += state == ATOM
        unknown += state == UNKNOWN
    if placed > most or placed + unknown < least:
        return cases, True, budget
    while True:
        budget += len(earlier)
        fits = move_on(squares, exits, outs, rays, stops, waiting, earlier, newest, placed == most)
        budget -= len(earlier)
        square = next_square(stops, waiting) if fits else -1
        if fits and square < 0:
            cases.append(squares.copy())
            if len(cases) > most_cases:
                return cases, False, budget
        if square >= 0:
            if budget < 1:
                return cases, False, budget
            unknown -= 1
            may_be_empty = placed + unknown >= least
            squares[square] = EMPTY if may_be_empty else ATOM
            placed += not may_be_empty
            decisions.append((square, may_be_empty, len(earlier)))
            newest = square
            continue
        while decisions and not decisions[-1][1]:
            squares[decisions.pop()[0]] = UNKNOWN
            placed -= 1
            unknown += 1
        if not decisions:
            return cases, True, budget
        newest, _, length = decisions.pop()
        move_back(rays, stops, waiting, earlier, length)
        squares[newest] = ATOM
        placed += 1
        decisions.append((newest, False, length))


def move_on(
    squares: bytearray,
    exits: Sequence[int],
    outs: Sequence[int],
    rays: list[tuple[int, int, int]],
    stops: list[int],
    waiting: list[int],
    earlier: list[tuple[int, int, int, int, int]],
    newest: int,
    full: bool,
) -> bool:
    """Move the rays that wait at the newest square, or all if no further atom is possible.

    Return whether their results are right.
    """
    unknown = -1 if full else UNKNOWN
    for n, stop in enumerate(stops):
        if stop < 0 or (stop != newest and not full):
            continue
        place, ahead, left = rays[n]
        earlier.append((n, place, ahead, left, stop))
        waiting[stop] -= 1
        out, place, ahead, left, square = follow(squares, exits, place, ahead, left, unknown)
        rays[n], stops[n] = (place, ahead, left), square
        if square >= 0:
            waiting[square] += 1
        elif out != outs[n]:
            return False
    return True


def follow(
    squares: bytearray, exits: Sequence[int], place: int, ahead: int, left: int, unknown: int
) -> tuple[int, int, int, int, int]:
    """Follow a ray from a place on its way to its end, or until it looks at an unknown square.

    Args:
        squares, exits: see `search_squares`.
        place, ahead, left: the place of the ray, its step ahead, and the step to its left.
        unknown: the state of unknown squares, -1 if all these are empty.

    Returns:
        The result of the ray, its place and steps, and the unknown square that it looks at. There
        is a result if the last one is -1.
    """
    while True:
        front = place + ahead
        if squares[front] == ATOM:
            return HIT, place, ahead, left, -1
        if squares[front] == unknown:
            return HIT, place, ahead, left, front
        on_left, on_right = squares[front + left], squares[front - left]
        if exits[place] >= 0 and ATOM in (on_left, on_right):
            return exits[place], place, ahead, left, -1
        if on_left == unknown:
            return HIT, place, ahead, left, front + left
        if on_right == unknown:
            return HIT, place, ahead, left, front - left
        if on_left == ATOM:
            ahead, left = (-ahead, -left) if on_right == ATOM else (-left, ahead)
        elif on_right == ATOM:
            ahead, left = left, -ahead
        elif exits[front] < 0:
            place = front
        else:
            return exits[front], place, ahead, left, -1


def next_square(stops: Sequence[int], waiting: Sequence[int]) -> int:
    """Return the square at which most rays wait, -1 if none does."""
    best = -1
    for stop in stops:
        if stop >= 0 and (best < 0 or waiting[stop] > waiting[best]):
            best = stop
    return best


def move_back(
    rays: list[tuple[int, int, int]],
    stops: list[int],
    waiting: list[int],
    earlier: list[tuple[int, int, int, int, int]],
    length: int,
) -> None:
    """Give rays back their earlier states until there are *length* of these."""
    while len(earlier) > length:
        n, place, ahead, left, stop = earlier.pop()
        if stops[n] >= 0:
            waiting[stops[n]] -= 1
        waiting[stop] += 1
        rays[n], stops[n] = (place, ahead, left), stop
