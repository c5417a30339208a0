"""Finds layouts that explain results by loops that numba compiles (the extra ``house``).

`search_squares` serves `search.search`. `scatter` and `take_in` are for boards with too many cases;
see `candidates`. Only integers are compared, so that all machines find the same layouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numba import config, njit
from numba.extending import register_jitable

from pbmserv.games.blackbox.bots import search
from pbmserv.games.blackbox.bots.search import Result
from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.rays import HIT, field_of, walk

_NOT_FIRED = HIT - 1

Crowd: TypeAlias = tuple[Any, Any, Any]
"""Three arrays: the squares of each layout (0 for no further atom), the number of its atoms, and
the number of contradicted results. The arrays are never changed."""


_compiled = njit(cache=bool(config.CACHE_DIR), nogil=True)  # cached if a folder is writable
_inner = njit(nogil=True)  # for functions that only these call, which are cached with them
_trace = _inner(walk)
for _step in (search.move_on, search.follow, search.next_square, search.move_back):
    register_jitable(_step)
_search_squares = _compiled(search.search_squares)


def compile_all() -> None:
    """Compile all loops, or read them from the cache."""
    board = geometry(3, 3)
    search.search(board, [(0, HIT)], 1, 1, 1, 1, search_squares)
    spectra(board, [frozenset({0})])
    take_in(board, [(0, HIT)], scatter(board, (1, 1), 1, 1), 1, 1, 1)


@cache
def _field(board: Geometry) -> Any:
    """Return the arrays of a board.

    These are exits, doors, squares and cells as in `rays.Field`.
    """
    field = field_of(board)
    parts = (field.exits, field.doors, field.squares, field.cells)
    return tuple(np.array(part, dtype=np.int64) for part in parts)


def search_squares(
    squares: bytearray,
    exits: Sequence[int],
    doors: Sequence[tuple[int, int, int]],
    outs: Sequence[int],
    stops: list[int],
    waiting: list[int],
    *limits: int,
) -> Any:
    """Search as `search.search_squares` does, but many times faster."""
    square_array = np.frombuffer(squares, dtype=np.uint8)
    door_array = np.array(doors, dtype=np.int64).reshape(-1, 3)
    exits, outs, stops, waiting = (
        np.array(values, dtype=np.int64) for values in (exits, outs, stops, waiting)
    )
    return _search_squares(square_array, exits, door_array, outs, stops, waiting, *limits)


def scatter(board: Geometry, limits: tuple[int, int], size: int, seed: int) -> Crowd:
    """Return random layouts. Each number of atoms is equally likely."""
    crowd: Crowd = _scatter(_field(board), *limits, size, np.array([seed], dtype=np.uint64))
    return crowd


def take_in(
    board: Geometry, results: Sequence[Result], crowd: Crowd, moves: int, rounds: int, seed: int
) -> Crowd:
    """Return a crowd after the last result. It has taken in all results before.

    Args:
        board: the board.
        results: all results.
        crowd: the crowd before the last result.
        moves: the number of moves of the atoms of each layout in a round.
        rounds: the most rounds while few layouts explain all results.
        seed: of the random numbers.
    """
    generator, arrays = np.array([seed], dtype=np.uint64), _arrays(results)
    taken: Crowd = _take_in(_field(board), *arrays, *crowd, moves, rounds, generator)
    return taken


def spectra(board: Geometry, layouts: Sequence[frozenset[int]]) -> list[list[int]]:
    """Return the results of all ports for each layout."""
    rows: Any = np.full((len(layouts), max(map(len, layouts), default=0)), -1, dtype=np.int16)
    for row, layout in zip(rows, layouts, strict=True):
        row[: len(layout)] = list(layout)
    return list(_spectra(_field(board), rows).tolist())


def _arrays(results: Iterable[Result]) -> Any:
    pairs = np.array([*results], dtype=np.int64).reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


@_compiled
def _spectra(field, layouts):
    """Compute `spectra` for rows of cells."""
    exits, doors, squares, _ = field
    results = np.full((layouts.shape[0], doors.shape[0]), _NOT_FIRED, dtype=np.int16)
    filled = np.zeros(exits.shape[0], dtype=np.uint8)
    for row in range(layouts.shape[0]):
        filled[:] = 0
        for cell in layouts[row]:
            if cell >= 0:
                filled[squares[cell]] = 1
        for port, door in enumerate(doors):
            if results[row, port] == _NOT_FIRED:
                out = _trace(filled, exits, door[0], door[1], door[2], port)
                results[row, port] = out
                if out >= 0:
                    results[row, out] = port
    return results


@_inner
def _next_bits(generator):
    """Return the next 64 random bits (splitmix64, Steele, Lea and Flood 2014)."""
    generator[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = generator[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@_inner
def _below(generator, end):
    return np.int64(((_next_bits(generator) >> np.uint64(32)) * np.uint64(end)) >> np.uint64(32))


@_inner
def _look(field, port, filled, seen):
    """Return the result of a ray. *seen* gets 1 for each square into which it looks, else 0."""
    exits, door = field[0], field[1][port]
    for square in range(seen.shape[0]):
        seen[square] = 0
    place, ahead, left = door[0], door[1], door[2]
    while True:
        front = place + ahead
        seen[front] = 1
        if filled[front]:
            return HIT
        seen[front + left] = seen[front - left] = 1
        on_left, on_right = filled[front + left], filled[front - left]
        if exits[place] >= 0 and (on_left or on_right):
            return exits[place]
        if on_left:
            ahead, left = (-ahead, -left) if on_right else (-left, ahead)
        elif on_right:
            ahead, left = left, -ahead
        elif exits[front] < 0:
            place = front
        else:
            return exits[front]


@_inner
def _helpful(field, port, out, seen, filled, generator, other):
    """Return a square where an atom may correct a ray with the result *out*, 0 for none.

    The ray looks into the square and, for a detour, so does the ray from the other end.
    """
    squares = field[2]
    both = out != HIT and out != port
    if both:
        _look(field, out, filled, other)
    at = _below(generator, squares.shape[0])
    for _ in range(squares.shape[0]):
        square = squares[at]
        if seen[square] and not filled[square] and (not both or other[square]):
            return square
        at = at + 1 if at + 1 < squares.shape[0] else 0
    return 0


@_inner
def _wander(field, ports, outs, filled, atoms, count, moves, generator):
    """Move atoms one at a time, and return the number of contradicted results at the end.

    A move is accepted with the probability 1/16 for each further contradicted result. If no result
    was contradicted on the way, the last such layout counts as the end. *filled* is empty before
    and after.
    """
    exits, doors, squares, cells = field
    number, bad, fitted = ports.shape[0], 0, False
    kept = np.empty(count, dtype=np.int64)
    seen = np.empty((number, exits.shape[0]), dtype=np.uint8)
    marks = np.empty((3, number), dtype=np.int64)
    wrong, after, touched = marks[0], marks[1], marks[2]
    other = np.empty(exits.shape[0], dtype=np.uint8)
    for at in range(count):
        filled[atoms[at]] = 1
    for ray in range(number):
        wrong[ray] = _look(field, ports[ray], filled, seen[ray]) != outs[ray]
        bad += wrong[ray]
    for _ in range(moves if count else 0):
        which, kind = _below(generator, count), _below(generator, 16)
        old = atoms[which]
        if kind < 8 and bad:
            ray = _below(generator, number)
            while not wrong[ray]:
                ray = ray + 1 if ray + 1 < number else 0
            new = _helpful(field, ports[ray], outs[ray], seen[ray], filled, generator, other)
        elif kind < 12:
            new = squares[_below(generator, squares.shape[0])]
        else:
            new = old + doors[0, 1] * (_below(generator, 3) - 1) + _below(generator, 3) - 1
        if cells[new] < 0 or filled[new]:
            continue
        filled[old], filled[new] = 0, 1
        allowed, chance = bad, _next_bits(generator)
        while chance & np.uint64(15) == 0 and allowed < number:
            allowed += 1
            chance = chance >> np.uint64(4) | np.uint64(1) << np.uint64(60)
        now, touched_count = bad, 0
        for ray in range(number):
            if seen[ray, old] | seen[ray, new]:
                touched[touched_count] = ray
                touched_count += 1
                now -= wrong[ray]
        at = 0
        while now <= allowed and at < touched_count:
            ray = touched[at]
            door = doors[ports[ray]]
            out = _trace(filled, exits, door[0], door[1], door[2], ports[ray])
            after[ray] = out != outs[ray]
            now += after[ray]
            at += 1
        if now > allowed:
            filled[old], filled[new] = 1, 0
            continue
        if now and not bad:
            fitted = True
            for at in range(count):
                kept[at] = atoms[at]
        atoms[which], bad = new, now
        for at in range(touched_count):
            ray = touched[at]
            wrong[ray] = after[ray]
            _look(field, ports[ray], filled, seen[ray])
    for at in range(count):
        filled[atoms[at]] = 0
        if bad and fitted:
            atoms[at] = kept[at]
    return 0 if fitted else bad


@_compiled
def _scatter(field, least, most, size, generator):
    """Make the arrays of `scatter`."""
    cells = field[2].shape[0]
    order, layouts = field[2].copy(), np.zeros((size, most), dtype=np.int64)
    counts = np.empty(size, dtype=np.int64)
    for layout in range(size):
        counts[layout] = least + _below(generator, most - least + 1)
        for at in range(counts[layout]):
            other = at + _below(generator, cells - at)
            square = order[other]
            order[other], order[at] = order[at], square
            layouts[layout, at] = square
    return layouts, counts, np.zeros(size, dtype=np.int64)


@_compiled
def _take_in(field, ports, outs, layouts, counts, bad, moves, rounds, generator):
    """Make the arrays of `take_in`."""
    exits, doors, size = field[0], field[1], layouts.shape[0]
    filled = np.zeros(exits.shape[0], dtype=np.uint8)
    before, bad = bad, np.empty(size, dtype=np.int64)
    port, last = ports[-1], outs[-1]
    for layout in range(size):
        for at in range(counts[layout]):
            filled[layouts[layout, at]] = 1
        out = _trace(filled, exits, doors[port, 0], doors[port, 1], doors[port, 2], port)
        bad[layout] = before[layout] + (out != last)
        for at in range(counts[layout]):
            filled[layouts[layout, at]] = 0
    for _ in range(rounds):
        layouts, counts, bad = _survivors(layouts, counts, bad, generator)
        good = 0
        for layout in range(size):
            bad[layout] = _wander(
                field, ports, outs, filled, layouts[layout], counts[layout], moves, generator
            )
            good += bad[layout] == 0
        if 4 * good >= size:
            break
    return layouts, counts, bad


@_inner
def _survivors(layouts, counts, bad, generator):
    """Draw as many layouts with replacement.

    The probability of a layout is divided by 32 for each further contradicted result.
    """
    size, fewest = layouts.shape[0], bad.min()
    ends, end = np.empty(size, dtype=np.int64), np.int64(0)
    for layout in range(size):
        end += np.int64(1) << max(np.int64(0), 30 - 5 * (bad[layout] - fewest))
        ends[layout] = end
    drawn = np.empty(layouts.shape, dtype=np.int64)
    drawn_counts, drawn_bad = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    at, lot = 0, _below(generator, end // size + 1)
    for layout in range(size):
        while at < size - 1 and ends[at] <= lot:
            at += 1
        for atom in range(layouts.shape[1]):
            drawn[layout, atom] = layouts[at, atom]
        drawn_counts[layout], drawn_bad[layout] = counts[at], bad[at]
        lot += end // size
    return drawn, drawn_counts, drawn_bad
