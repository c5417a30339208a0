"""Finds layouts that explain results by loops that numba compiles (the extra ``house``).

`search` searches all cases. `scatter` and `take_in` are for boards with too many cases; see
`candidates`. Only integers are compared, so that all machines find the same layouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numba import config, njit

from pbmserv.games.blackbox.bots.search import ATOM, EMPTY, UNKNOWN, Case, Cases, Result
from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.rays import HIT, field_of, walk

ASKS = HIT - 1
"""Replaces a result that depends on an unknown square."""

Crowd: TypeAlias = tuple[Any, Any, Any]
"""Three arrays: the squares of each layout (0 for no further atom), the number of its atoms, and
the number of contradicted results. The arrays are never changed."""


_compiled = njit(cache=bool(config.CACHE_DIR), nogil=True)  # cached if a folder is writable
_inner = njit(nogil=True)  # for functions that only these call, which are cached with them
_trace = _inner(walk)


def compile_all() -> None:
    """Compile all loops, or read them from the cache."""
    board = geometry(3, 3)
    search(board, [(0, HIT)], 1, 1, 1, 1)
    spectra(board, [frozenset({0})])
    take_in(board, [(0, HIT)], scatter(board, (1, 1), 1, 1), 1, 1, 1)


@cache
def _field(board: Geometry) -> Any:
    """Return the arrays of a board.

    These are exits, doors and squares as in `rays.Field`, and the cell of each square, -1 for none.
    """
    field = field_of(board)
    cells = [-1] * len(field.empty)
    for cell, square in enumerate(field.squares):
        cells[square] = cell
    parts = (field.exits, field.doors, field.squares, cells)
    return tuple(np.array(part, dtype=np.int64) for part in parts)


def search(
    board: Geometry, results: Iterable[Result], least: int, most: int, rays: int, room: int
) -> Cases:
    """Search as `search.search` does, and stop at more than *room* cases."""
    # Fire detours also from their other ends, where other cells are unknown.
    outs = dict(results)
    outs |= {out: port for port, out in outs.items() if out >= 0}
    rows, cases, complete = _divide(_field(board), *_arrays(outs.items()), least, most, rays, room)
    rows = rows[: cases * complete]
    parts = [[np.flatnonzero(row == value).tolist() for value in (ATOM, UNKNOWN)] for row in rows]
    return Cases([Case(tuple(atoms), tuple(open_)) for atoms, open_ in parts], complete)


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
    lots, arrays = np.array([seed], dtype=np.uint64), _arrays(results)
    taken: Crowd = _take_in(_field(board), *arrays, *crowd, moves, rounds, lots)
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
    results = np.full((layouts.shape[0], doors.shape[0]), ASKS, dtype=np.int16)
    filled = np.zeros(exits.shape[0], dtype=np.uint8)
    for row in range(layouts.shape[0]):
        filled[:] = 0
        for cell in layouts[row]:
            if cell >= 0:
                filled[squares[cell]] = 1
        for port, door in enumerate(doors):
            if results[row, port] == ASKS:
                out = _trace(filled, exits, door[0], door[1], door[2], port)
                results[row, port] = out
                if out >= 0:
                    results[row, out] = port
    return results


@_inner
def _trace_on(filled, exits, place, ahead, left, full, seen):
    """Trace a ray from a place on its way.

    If *full*, unknown squares are empty, since all atoms are placed. Squares into which the ray
    looks get 1 in *seen*. Return the result or `ASKS`, the place of the ray, its step ahead, its
    step to the left, and the square at which it stops.
    """
    unknown = UNKNOWN + 1 if full else UNKNOWN
    while True:
        front = place + ahead
        seen[front] = 1
        if filled[front] == ATOM:
            return HIT, place, ahead, left, front
        if filled[front] == unknown:
            return ASKS, place, ahead, left, front
        seen[front + left] = seen[front - left] = 1
        on_left, on_right = filled[front + left], filled[front - left]
        if exits[place] >= 0 and (on_left == ATOM or on_right == ATOM):
            return exits[place], place, ahead, left, front
        if on_left == unknown:
            return ASKS, place, ahead, left, front + left
        if on_right == unknown:
            return ASKS, place, ahead, left, front - left
        if on_left == ATOM:
            if on_right == ATOM:
                ahead, left = -ahead, -left
            else:
                ahead, left = -left, ahead
        elif on_right == ATOM:
            ahead, left = left, -ahead
        elif exits[front] < 0:
            place = front
        else:
            return exits[front], place, ahead, left, front


@_compiled
def _divide(field, ports, outs, least, most, budget, room):
    """Search for `search`. Return a row with the values of all cells for each case, the number of
    cases, and whether they are complete."""
    exits, doors, squares, _ = field
    cells, rays = squares.shape[0], ports.shape[0]
    filled = np.zeros(exits.shape[0], dtype=np.uint8)
    for square in squares:
        filled[square] = UNKNOWN
    # For each decision so far the state of all rays: place, ahead, left, square of the stop.
    stand = np.zeros((cells + 2, rays, 4), dtype=np.int32)
    for ray in range(rays):
        for part in range(3):
            stand[0, ray, part] = doors[ports[ray], part]
    stops = np.zeros(exits.shape[0], dtype=np.int32)
    chosen = np.empty(cells + 2, dtype=np.int64)
    other = np.zeros(cells + 2, dtype=np.uint8)
    rows = np.empty((room, cells), dtype=np.uint8)
    seen = np.zeros(exits.shape[0], dtype=np.uint8)
    cases, placed, unknown, level, fresh = 0, 0, cells, 0, 0
    while True:
        full, fits, best = placed == most, True, -1
        for square in range(stops.shape[0]):
            stops[square] = 0
        for ray in range(rays):
            square = stand[level, ray, 3]
            if square >= 0 and (full or square == fresh):
                budget -= 1
                now = stand[level, ray]
                out, place, ahead, left, square = _trace_on(
                    filled, exits, now[0], now[1], now[2], full, seen
                )
                if out != ASKS and out != outs[ray]:
                    fits = False
                    break
                square = square if out == ASKS else -1
                now[0], now[1], now[2], now[3] = place, ahead, left, square
            if square >= 0:
                stops[square] += 1
                if best < 0 or stops[square] > stops[best]:
                    best = square
        if fits and best < 0 and placed + unknown >= least:
            if cases == room:
                return rows, cases, False
            for cell in range(cells):
                content = filled[squares[cell]]
                rows[cases, cell] = EMPTY if full and content == UNKNOWN else content
            cases += 1
        if fits and best >= 0:
            if budget < 1:
                return rows, cases, False
            chosen[level] = best
            unknown -= 1
            other[level] = placed + unknown >= least
            filled[best] = EMPTY if other[level] else ATOM
            placed += filled[best] == ATOM
        else:  # back to the last decision with an alternative
            level -= 1
            while level >= 0 and not other[level]:
                placed -= filled[chosen[level]] == ATOM
                filled[chosen[level]] = UNKNOWN
                unknown += 1
                level -= 1
            if level < 0:
                return rows, cases, True
            other[level] = 0
            filled[chosen[level]] = ATOM
            placed += 1
        fresh = chosen[level]
        for ray in range(rays):
            for part in range(4):
                stand[level + 1, ray, part] = stand[level, ray, part]
        level += 1


@_inner
def _lot(lots):
    """Return the next 64 random bits (splitmix64, Steele, Lea and Flood 2014)."""
    lots[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = lots[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@_inner
def _below(lots, end):
    return np.int64(((_lot(lots) >> np.uint64(32)) * np.uint64(end)) >> np.uint64(32))


@_inner
def _look(field, port, filled, seen):
    """Return the result of a ray. *seen* gets 1 for each square into which it looks, else 0."""
    door = field[1][port]
    for square in range(seen.shape[0]):
        seen[square] = 0
    return _trace_on(filled, field[0], door[0], door[1], door[2], True, seen)[0]


@_inner
def _helpful(field, port, out, seen, filled, lots, other):
    """Return a square where an atom may correct a ray with the result *out*, 0 for none.

    The ray looks into the square and, for a detour, so does the ray from the other end.
    """
    squares = field[2]
    both = out != HIT and out != port
    if both:
        _look(field, out, filled, other)
    at = _below(lots, squares.shape[0])
    for _ in range(squares.shape[0]):
        square = squares[at]
        if seen[square] and not filled[square] and (not both or other[square]):
            return square
        at = at + 1 if at + 1 < squares.shape[0] else 0
    return 0


@_inner
def _wander(field, ports, outs, filled, atoms, count, moves, lots):
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
        which, kind = _below(lots, count), _below(lots, 16)
        old = atoms[which]
        if kind < 8 and bad:
            ray = _below(lots, number)
            while not wrong[ray]:
                ray = ray + 1 if ray + 1 < number else 0
            new = _helpful(field, ports[ray], outs[ray], seen[ray], filled, lots, other)
        elif kind < 12:
            new = squares[_below(lots, squares.shape[0])]
        else:
            new = old + doors[0, 1] * (_below(lots, 3) - 1) + _below(lots, 3) - 1
        if cells[new] < 0 or filled[new]:
            continue
        filled[old], filled[new] = 0, 1
        allowed, chance = bad, _lot(lots)
        while chance & np.uint64(15) == 0 and allowed < number:
            allowed += 1
            chance = chance >> np.uint64(4) | np.uint64(1) << np.uint64(60)
        now, many = bad, 0
        for ray in range(number):
            if seen[ray, old] | seen[ray, new]:
                touched[many] = ray
                many += 1
                now -= wrong[ray]
        at = 0
        while now <= allowed and at < many:
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
        for at in range(many):
            ray = touched[at]
            wrong[ray] = after[ray]
            _look(field, ports[ray], filled, seen[ray])
    for at in range(count):
        filled[atoms[at]] = 0
        if bad and fitted:
            atoms[at] = kept[at]
    return 0 if fitted else bad


@_compiled
def _scatter(field, least, most, people, lots):
    """Make the arrays of `scatter`."""
    cells = field[2].shape[0]
    order, every = field[2].copy(), np.zeros((people, most), dtype=np.int64)
    counts = np.empty(people, dtype=np.int64)
    for layout in range(people):
        counts[layout] = least + _below(lots, most - least + 1)
        for at in range(counts[layout]):
            other = at + _below(lots, cells - at)
            square = order[other]
            order[other], order[at] = order[at], square
            every[layout, at] = square
    return every, counts, np.zeros(people, dtype=np.int64)


@_compiled
def _take_in(field, ports, outs, every, counts, bad, moves, rounds, lots):
    """Make the arrays of `take_in`."""
    exits, doors, people = field[0], field[1], every.shape[0]
    filled = np.zeros(exits.shape[0], dtype=np.uint8)
    before, bad = bad, np.empty(people, dtype=np.int64)
    port, last = ports[-1], outs[-1]
    for layout in range(people):
        for at in range(counts[layout]):
            filled[every[layout, at]] = 1
        out = _trace(filled, exits, doors[port, 0], doors[port, 1], doors[port, 2], port)
        bad[layout] = before[layout] + (out != last)
        for at in range(counts[layout]):
            filled[every[layout, at]] = 0
    for _ in range(rounds):
        every, counts, bad = _survivors(every, counts, bad, lots)
        good = 0
        for layout in range(people):
            bad[layout] = _wander(
                field, ports, outs, filled, every[layout], counts[layout], moves, lots
            )
            good += bad[layout] == 0
        if 4 * good >= people:
            break
    return every, counts, bad


@_inner
def _survivors(every, counts, bad, lots):
    """Draw as many layouts with replacement.

    The probability of a layout is divided by 32 for each further contradicted result.
    """
    people, fewest = every.shape[0], bad.min()
    ends, end = np.empty(people, dtype=np.int64), np.int64(0)
    for layout in range(people):
        end += np.int64(1) << max(np.int64(0), 30 - 5 * (bad[layout] - fewest))
        ends[layout] = end
    drawn, rest = np.empty(every.shape, dtype=np.int64), np.empty((2, people), dtype=np.int64)
    many, wrong = rest[0], rest[1]
    at, lot = 0, _below(lots, end // people + 1)
    for layout in range(people):
        while at < people - 1 and ends[at] <= lot:
            at += 1
        for atom in range(every.shape[1]):
            drawn[layout, atom] = every[at, atom]
        many[layout], wrong[layout] = counts[at], bad[at]
        lot += end // people
    return drawn, many, wrong
