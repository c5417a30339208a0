"""The loops that look at all layouts of a board, compiled by numba (the extra ``solver``).

Only numbers that are whole are compared, so every machine gets the same trees, bit for bit. Import
it where numba is known to be there.
"""

from __future__ import annotations

from math import comb, log2
from typing import Any

import numpy as np
from numba import njit

from pbmserv.games.blackbox.geometry import field_of, geometry, walk

BITS, THRIFT, ANY = 0, 1, 2
"""What a player looks for: bits, bits for each point that a probe is expected to cost, or nothing:
any port whose result is not known yet, by lot."""

PROBES, POINTS = 0, 1
"""What a tree is to need few of."""

EXACT = 10
"""Below so many layouts the best way to tell them apart is searched through."""

LEAF = 255
"""In place of a port: nothing is left to tell."""

_SCALE = 1 << 24
_MOST = 1 << 40
_SIZE = np.array([(these).bit_count() for these in range(1 << EXACT)])
_LOWEST = np.array([(these & -these).bit_length() - 1 for these in range(1 << EXACT)])


def results_of(width: int, height: int, atoms: int) -> Any:
    """Where rays into all ports come out, in a row for each layout; layouts in the order of
    `itertools.combinations`, results as the port's number plus one, 0 = hit."""
    field = field_of(geometry(width, height))
    doors = np.array(field.doors, dtype=np.int64)
    exits = np.array(field.exits, dtype=np.int64)
    squares = np.array(field.squares, dtype=np.int64)
    return _results(doors, exits, squares, atoms, comb(width * height, atoms))


@njit
def _results(doors, exits, squares, atoms, total):
    ports, cells = doors.shape[0], squares.shape[0]
    found = np.zeros((total, ports), dtype=np.uint8)
    filled = np.zeros(exits.shape[0], dtype=np.uint8)
    layout = np.arange(atoms)
    for row in range(total):
        filled[:] = 0
        for atom in layout:
            filled[squares[atom]] = 1
        for port in range(ports):
            if found[row, port]:
                continue  # the other end of a detour
            out = _trace(filled, exits, doors[port, 0], doors[port, 1], doors[port, 2], port)
            found[row, port] = out + 1
            if out >= 0:
                found[row, out] = port + 1
        last = atoms - 1
        while last >= 0 and layout[last] == cells - atoms + last:
            last -= 1
        if last >= 0:
            layout[last] += 1
            for following in range(last + 1, atoms):
                layout[following] = layout[following - 1] + 1
    return found


_trace = njit(walk)


def classes_of(results: Any) -> Any:
    """A number for each layout: the same where rays into all ports show the same."""
    rows = results.view(f"V{results.shape[1]}").ravel()
    return np.unique(rows, return_inverse=True)[1]


def surprises(layouts: int) -> Any:
    """``n log2 n`` for n up to *layouts*, in whole numbers."""
    return np.array([0, 0, *(round(n * log2(n) * _SCALE) for n in range(2, layouts + 1))])


@njit
def best_port(results, order, low, high, counts, surprise, aim):
    """The greedy player's port, the first of equals; -1: none tells anything. ``counts`` is all
    zero before and after."""
    ports = results.shape[1]
    size = high - low
    told = np.full(ports, surprise[size], dtype=np.int64)
    single = np.zeros(ports, dtype=np.int64)
    for at in range(low, high):
        row = results[order[at]]
        for port in range(ports):
            so_far = counts[port, row[port]]
            counts[port, row[port]] = so_far + 1
            told[port] -= surprise[so_far + 1] - surprise[so_far]
    if aim == 1:
        for port in range(ports):
            single[port] = counts[port, 0] + counts[port, port + 1]
    counts[:, :] = 0
    best, most, worth = -1, np.int64(0), 0.0
    for port in range(ports):
        if told[port] > 0:
            value = told[port] / (2 * size - single[port]) if aim == 1 else 0.0
            if best < 0 or (told[port] > most if aim == 0 else value > worth):
                best, most, worth = port, told[port], value
    return best


@njit
def part(results, order, low, high, port, aside, starts):
    """Order the layouts by their result at a port; ``starts`` gets where each result begins."""
    ports = results.shape[1]
    starts[:] = 0
    for at in range(low, high):
        starts[results[order[at], port] + 1] += 1
    starts[0] = low
    for out in range(1, ports + 2):
        starts[out] += starts[out - 1]
    aside[low:high] = order[low:high]
    nexts = starts.copy()
    for at in range(low, high):
        out = results[aside[at], port]
        order[nexts[out]] = aside[at]
        nexts[out] += 1


@njit
def price(goal, out, port):
    """What a result costs: a probe, or a point for a hit or reflection and two for a detour."""
    return 2 if goal == 1 and out not in (0, port + 1) else 1


@njit
def exact_price(results, classes, order, low, high, goal, room):
    """The least that telling fewer than `EXACT` layouts apart costs, summed over all of them.

    Returns:
        that, and the first port; -1: none is needed.
    """
    together, single, kin, memo, choice, _least = room
    size, ports = high - low, results.shape[1]
    for at in range(size):
        kin[at] = 0
        for other in range(size):
            if classes[order[low + other]] == classes[order[low + at]]:
                kin[at] |= 1 << other
    for port in range(ports):
        single[port] = 0
        for at in range(size):
            out = results[order[low + at], port]
            group = 0
            for other in range(size):
                if results[order[low + other], port] == out:
                    group |= 1 << other
            together[port, at] = group
            if price(goal, out, port) == 1:
                single[port] |= 1 << at
    memo[: 1 << size] = -1
    everybody = (1 << size) - 1
    cost = _search(everybody, 0, goal, room)
    return cost, choice[everybody]


@njit
def _search(these, level, goal, room):
    """As `exact_price`, for the layouts of a bit mask."""
    together, single, kin, memo, choice, least = room
    if memo[these] >= 0:
        return memo[these]
    choice[these] = -1
    if these & ~kin[_LOWEST[these]] == 0:
        memo[these] = 0
        return 0
    # The price of each port by itself, and at least one more for every layout not told apart yet.
    ports, size = single.shape[0], _SIZE[these]
    row = least[level]
    for port in range(ports):
        cost = size if goal == 0 else 2 * size - _SIZE[these & single[port]]
        rest, settled = these, True
        while rest:
            at = _LOWEST[rest]
            group = together[port, at] & these
            rest &= ~group
            if group & ~kin[at]:
                settled = False
                cost = _MOST if group == these else cost + max(memo[group], _SIZE[group])
        row[port] = cost
        if settled and cost == size:
            memo[these], choice[these] = cost, port
            return cost
    best, best_port_ = _MOST, -1
    while True:
        port = np.argmin(row)
        if row[port] >= best:
            break
        row[port] = _MOST
        cost = size if goal == 0 else 2 * size - _SIZE[these & single[port]]
        rest = these
        while rest and cost < best:
            at = _LOWEST[rest]
            group = together[port, at] & these
            rest &= ~group
            if group & ~kin[at]:
                cost += _search(group, level + 1, goal, room)
        if cost < best:
            best, best_port_ = cost, port
    memo[these], choice[these] = best, best_port_
    return best


@njit
def room_for(ports):
    """What `exact_price` works in."""
    return (
        np.empty((ports, EXACT), dtype=np.int64),
        np.empty(ports, dtype=np.int64),
        np.empty(EXACT, dtype=np.int64),
        np.empty(1 << EXACT, dtype=np.int64),
        np.empty(1 << EXACT, dtype=np.int64),
        np.empty((EXACT, ports), dtype=np.int64),
    )


@njit
def _by_lot(classes, order, low, high, fired, ports):
    """A port that is not fired yet; -1: there is none, or but one class."""
    if fired == (1 << ports) - 1 or (classes[order[low:high]] == classes[order[low]]).all():
        return -1
    while True:
        port = np.random.randint(ports)
        if not fired >> port & 1:
            return port


@njit
def greedy_price(board, how, order, low, high, room, work):
    """What a greedy player pays, summed over the layouts ``order[low:high]``, which it reorders;
    below *exact* layouts it plays perfectly."""
    results, classes, surprise = board
    goal, aim, exact = how
    aside, spans = work
    counts = np.zeros((results.shape[1], results.shape[1] + 1), dtype=np.int32)
    starts = np.empty(results.shape[1] + 2, dtype=np.int64)
    paid = np.int64(0)
    spans[0] = low, high, 0
    waiting = 1
    while waiting:
        waiting -= 1
        low, high, fired = spans[waiting]
        if high - low < exact:
            paid += exact_price(results, classes, order, low, high, goal, room)[0]
            continue
        if aim == 2:
            port = _by_lot(classes, order, low, high, fired, results.shape[1])
        else:
            port = best_port(results, order, low, high, counts, surprise, aim)
        if port < 0:
            continue
        fired |= 1 << port
        part(results, order, low, high, port, aside, starts)
        for out in range(results.shape[1] + 1):
            members = starts[out + 1] - starts[out]
            paid += members * price(goal, out, port)
            if members > 1:
                known = fired | 1 << (out - 1) if out else fired
                spans[waiting] = starts[out], starts[out + 1], known
                waiting += 1
    return paid


@njit(nogil=True)
def random_price(board, seed):
    """How many probes all layouts cost a player who fires at any port not known yet."""
    np.random.seed(seed)
    total, ports = board[0].shape
    work = np.empty(total, dtype=np.int64), np.empty((total + 1, 3), dtype=np.int64)
    return greedy_price(board, (0, 2, 0), np.arange(total), 0, total, room_for(ports), work)


@njit(nogil=True)
def grow(board, how, rollouts):
    """A tree that tells all layouts apart, its nodes in the order of their levels.

    Args:
        board: results, classes and surprises of all layouts.
        how: what is to be little, what a greedy player looks for, and below how many layouts it
            plays perfectly (0: never).
        rollouts: take the port after which a greedy player pays least, not the greedy one's.

    Returns:
        ports (`LEAF`: nothing is left to tell), how many children, the result that leads to each
        node; and for each layout its node.
    """
    results, classes, surprise = board
    goal, aim, exact = how
    total, ports = results.shape
    order = np.arange(total)
    work = np.empty(total, dtype=np.int64), np.empty((total + 1, 3), dtype=np.int64)
    trial = np.empty(total, dtype=np.int64)
    counts = np.zeros((ports, ports + 1), dtype=np.int32)
    starts = np.empty(ports + 2, dtype=np.int64)
    room = room_for(ports)
    spans = np.empty((2 * total + 1, 2), dtype=np.int64)
    asked = np.empty(2 * total + 1, dtype=np.uint8)
    branches = np.zeros(2 * total + 1, dtype=np.uint8)
    came = np.zeros(2 * total + 1, dtype=np.uint8)
    node_of = np.zeros(total, dtype=np.int64)
    spans[0, 0], spans[0, 1] = 0, total
    node, known = 0, 1
    while node < known:
        low, high = spans[node, 0], spans[node, 1]
        size = high - low
        port = -1
        if size > 1 and size < exact:
            port = exact_price(results, classes, order, low, high, goal, room)[1]
        elif size > 1:
            port = best_port(results, order, low, high, counts, surprise, aim)
            if port >= 0 and rollouts:
                port = _best_rollout(board, how, order, low, high, room, work, trial, port)
        if port < 0:
            asked[node] = LEAF
            node_of[order[low:high]] = node
        else:
            asked[node] = port
            part(results, order, low, high, port, work[0], starts)
            for out in range(ports + 1):
                if starts[out + 1] > starts[out]:
                    spans[known, 0], spans[known, 1] = starts[out], starts[out + 1]
                    came[known] = out
                    branches[node] += 1
                    known += 1
        node += 1
    return asked[:known], branches[:known], came[:known], node_of


@njit
def _best_rollout(board, how, order, low, high, room, work, trial, greedy):
    """The port after which a greedy player pays least; the greedy player's own among equals."""
    results = board[0]
    ports = results.shape[1]
    starts = np.empty(ports + 2, dtype=np.int64)
    best, least = -1, np.int64(0)
    for number in range(-1, ports):
        port = greedy if number < 0 else number
        if number == greedy:
            continue
        trial[low:high] = order[low:high]
        part(results, trial, low, high, port, work[0], starts)
        if starts[results[trial[low], port] + 1] == high:
            continue  # all show the same
        cost = np.int64(0)
        for out in range(ports + 1):
            cost += (starts[out + 1] - starts[out]) * price(how[0], out, port)
            if starts[out + 1] > starts[out] + 1:
                cost += greedy_price(board, how, trial, starts[out], starts[out + 1], room, work)
            if best >= 0 and cost >= least:
                break
        if best < 0 or cost < least:
            best, least = port, cost
    return best


@njit
def paid(asked, branches, came, node_of, goal):
    """What a tree costs for each layout."""
    costs = np.zeros(asked.shape[0], dtype=np.int64)
    child = 1
    for node in range(asked.shape[0]):
        for _ in range(branches[node]):
            costs[child] = costs[node] + price(goal, came[child], asked[node])
            child += 1
    return costs[node_of]
