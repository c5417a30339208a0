"""The loops that look at all layouts of a board, compiled by numba (the extra ``house``).

Only whole numbers are compared, so every machine gets the same trees, bit for bit. Import it where
numba is known to be there. It takes long over slices that are set from others, and compiles anew
for each number that stands as such in a call: hence loops and `np.int64`.
"""

from __future__ import annotations

from math import comb, log2
from typing import Any

import numpy as np
from numba import njit

from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.rays import field_of, walk

BITS, THRIFT = 0, 1
"""What a player looks for: bits, or bits for each point that a probe is expected to cost."""

PROBES, POINTS = 0, 1
"""What a tree is to need few of."""

EXACT = 10
"""Below so many layouts the best way to tell them apart is searched through."""

LEAF = 255
"""In place of a port: nothing is left to tell."""

MEMORY = 1 << 22
"""Of how many sets of layouts the cost is remembered."""

_SCALE, _MOST = 1 << 24, 1 << 40
_SIZE = np.array([(these).bit_count() for these in range(1 << EXACT)])
_LOWEST = np.array([(these & -these).bit_length() - 1 for these in range(1 << EXACT)])
_trace = njit(walk)


def results_of(width: int, height: int, atoms: int) -> Any:
    """Where rays into all ports come out, in a row for each layout; layouts in the order of
    `itertools.combinations`, results as the port's number plus one, 0 = hit."""
    field = field_of(geometry(width, height))
    parts = [np.array(one, np.int64) for one in (field.doors, field.exits, field.squares)]
    return _results(*parts, atoms, comb(width * height, atoms))


@njit
def _results(doors, exits, squares, atoms, total):
    ports, cells = doors.shape[0], squares.shape[0]
    found = np.zeros((total, ports), dtype=np.uint8)
    filled = np.zeros(exits.shape[0], dtype=np.uint8)
    layout = np.arange(atoms)
    for row in range(total):
        filled[:] = 0
        filled[squares[layout]] = 1
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
            for at in range(last + 1, atoms):
                layout[at] = layout[at - 1] + 1
    return found


def classes_of(results: Any) -> Any:
    """A number for each layout: the same where rays into all ports show the same."""
    return np.unique(results.view(f"V{results.shape[1]}").ravel(), return_inverse=True)[1]


def surprises(layouts: int) -> Any:
    """``n log2 n`` for n up to *layouts*, in whole numbers."""
    return np.array([0, 0, *(round(n * log2(n) * _SCALE) for n in range(2, layouts + 1))])


@njit
def worths(board, how, order, low, high, desk):
    """What each port is worth to a greedy player; 0: it tells nothing."""
    results, _classes, surprise = board
    counts = desk[2]  # all zero before and after
    ports, size = results.shape[1], high - low
    worth = np.full(ports, float(surprise[size]))  # whole numbers, if BITS are what counts
    for at in range(low, high):
        row = results[order[at]]
        for port in range(ports):
            counts[port, row[port]] += 1
    for port in range(ports):
        for out in range(ports + 1):
            worth[port] -= surprise[counts[port, out]]
        if how[1] == THRIFT:
            worth[port] /= 2 * size - counts[port, 0] - counts[port, port + 1]
    counts[:, :] = 0
    return worth


@njit
def greedily(board, how, order, low, high, desk, _plan):
    """The greedy player's port, the first of equals; -1: none tells anything."""
    worth = worths(board, how, order, low, high, desk)
    return np.argmax(worth) if worth[np.argmax(worth)] > 0 else -1


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
    nexts = starts.copy()
    for at in range(low, high):
        aside[at] = order[at]
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
    """The least that telling fewer than `EXACT` layouts apart costs, summed over all of them, and
    the first port; -1: none is needed."""
    together, single, kin, memo, choice, _least = room
    size, ports = high - low, results.shape[1]
    kin[:], single[:] = 0, 0
    for at in range(size):
        for other in range(size):
            if classes[order[low + other]] == classes[order[low + at]]:
                kin[at] |= 1 << other
    for port in range(ports):
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
    return _search(everybody, np.int64(0), goal, room), choice[everybody]


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
def _desk(classes, ports, memory):
    """What all work is done on: room for `exact_price`; for `part`; for `worths`; what sets of
    layouts cost, by numbers (splitmix64) whose sum is a set's; and how many layouts are alike."""
    seen = np.empty((ports, EXACT), np.int64), np.empty(ports, np.int64), np.empty(EXACT, np.int64)
    memo, choice = np.empty(1 << EXACT, np.int64), np.empty(1 << EXACT, np.int64)
    room = (*seen, memo, choice, np.empty((EXACT, ports), np.int64))
    numbers = np.arange(1, len(classes) + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ numbers >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    numbers ^= numbers >> np.uint64(31)
    known = numbers, np.zeros(memory, np.uint64), np.zeros(memory, np.int32)
    aside, counts = np.empty(len(classes), np.int64), np.zeros((ports, ports + 1), np.int32)
    alike = np.bincount(classes)
    return room, aside, counts, known, alike[np.argmax(alike)]


@njit
def number_of(order, low, high, known):
    """A set's number, and its place among those whose cost is known, which the last one takes."""
    number = np.uint64(0)
    for at in range(low, high):
        number += known[0][order[at]]
    return number, np.int64(number & np.uint64(len(known[1]) - 1))


@njit
def greedy_price(board, how, order, low, high, desk):
    """What a greedy player pays, summed over the layouts ``order[low:high]``, which it reorders;
    below *exact* layouts it plays perfectly."""
    results, classes, _surprise = board
    goal, _aim, exact = how
    room, aside, _counts, known, _alike = desk
    ports, size = results.shape[1], high - low
    if size < 2:
        return np.int64(0)
    number, place = number_of(order, low, high, known)
    if known[1][place] == number:
        return np.int64(known[2][place])
    cost, port = np.int64(0), -1
    if size < exact:
        cost += exact_price(results, classes, order, low, high, goal, room)[0]
    else:
        port = greedily(board, how, order, low, high, desk, None)
    if port >= 0:
        starts = np.empty(ports + 2, dtype=np.int64)
        part(results, order, low, high, port, aside, starts)
        for out in range(ports, -1, -1):
            cost += (starts[out + 1] - starts[out]) * price(goal, out, port)
            cost += greedy_price(board, how, order, starts[out], starts[out + 1], desk)
    known[1][place], known[2][place] = number, cost
    return cost


@njit(nogil=True)
def random_price(board, seed):
    """How many probes all layouts cost a player who fires at any port not known yet."""
    np.random.seed(seed)
    results, classes, _surprise = board
    total, ports = results.shape
    order, starts = np.arange(total), np.empty(ports + 2, np.int64)
    aside, cost, waiting = order.copy(), 0, [(0, total, 0)]
    while waiting:
        low, high, fired = waiting.pop()
        differs = False
        for at in range(low + 1, high):
            differs |= classes[order[at]] != classes[order[low]]
        if not differs or fired == (1 << ports) - 1:
            continue
        port = np.random.randint(ports)
        while fired >> port & 1:
            port = np.random.randint(ports)
        cost += high - low
        part(results, order, low, high, port, aside, starts)
        for out in range(ports + 1):
            if starts[out + 1] - starts[out] > 1:
                told = fired | 1 << port | (1 << out) // 2  # a detour's other end
                waiting.append((starts[out], starts[out + 1], told))
    return cost


@njit
def at_least(how, port, starts, desk):
    """What a probe costs, and what comes after it at least: a probe for each layout that is among
    more than can be alike."""
    cost = np.int64(0)
    for out in range(len(starts) - 1):
        members = starts[out + 1] - starts[out]
        cost += members * (price(how[0], out, port) + (members > desk[4]))
    return cost


@njit
def best_few(board, how, order, low, high, desk, few, first):
    """The ports after which a greedy player pays least, the best of them before others; among
    equals *first*, then the one with the lowest number. -1: no more tell anything."""
    results, ports = board[0], board[0].shape[1]
    before = order[low:high].copy()
    starts = np.empty(ports + 2, dtype=np.int64)
    best, least = np.full(few, -1), np.full(few, _MOST)
    for number in range(-1, ports):
        port = first if number < 0 else number
        for at in range(low, high):
            order[at] = before[at - low]
        part(results, order, low, high, port, desk[1], starts)
        if number == first or starts[results[order[low], port] + 1] == high:
            continue  # it had its turn, or all show the same
        cost = at_least(how, port, starts, desk)
        for out in range(ports + 1):
            if cost >= least[-1]:
                break
            members = starts[out + 1] - starts[out]
            cost -= members if members > desk[4] else 0
            cost += greedy_price(board, how, order, starts[out], starts[out + 1], desk)
        if cost < least[-1]:
            rank = few - 1
            while rank and least[rank - 1] > cost:
                best[rank], least[rank] = best[rank - 1], least[rank - 1]
                rank -= 1
            best[rank], least[rank] = port, cost
    for at in range(low, high):
        order[at] = before[at - low]
    return best


@njit
def by_rollouts(board, how, order, low, high, desk, _plan):
    """The port after which a greedy player pays least, her own among equals; -1: none tells."""
    port = greedily(board, how, order, low, high, desk, None)
    return best_few(board, how, order, low, high, desk, 1, port)[0] if port >= 0 else -1


@njit(nogil=True)
def grow(board, how, choose, plan=None):
    """A tree that tells all layouts apart, its nodes in the order of their levels.

    Args:
        board: results, classes and surprises of all layouts.
        how: what is to be little, what a greedy player looks for, and below how many layouts it
            plays perfectly (0: never).
        choose: `greedily`, `by_rollouts` or another: tells a port where play is not perfect yet.
        plan: what *choose* is told besides.

    Returns:
        ports (`LEAF`: nothing is left to tell), how many children, the result that leads to each
        node; and for each layout its node.
    """
    results, classes, _surprise = board
    total, ports = results.shape
    order = np.arange(total)
    desk = _desk(classes, ports, np.int64(MEMORY))
    starts = np.empty(ports + 2, dtype=np.int64)
    spans = np.empty((2 * total + 1, 2), dtype=np.int64)
    nodes = np.zeros((3, 2 * total + 1), dtype=np.uint8)
    asked, branches, came = nodes[0], nodes[1], nodes[2]
    node_of = np.zeros(total, dtype=np.int64)
    spans[0, 0], spans[0, 1] = 0, total
    node, known = 0, 1
    while node < known:
        low, high = spans[node, 0], spans[node, 1]
        port = -1
        if 1 < high - low < how[2]:
            port = exact_price(results, classes, order, low, high, how[0], desk[0])[1]
        elif high - low > 1:
            port = choose(board, how, order, low, high, desk, plan)
        if port < 0:
            asked[node] = LEAF
            node_of[order[low:high]] = node
        else:
            asked[node] = port
            part(results, order, low, high, port, desk[1], starts)
            for out in range(ports + 1):
                if starts[out + 1] > starts[out]:
                    spans[known, 0], spans[known, 1] = starts[out], starts[out + 1]
                    came[known] = out
                    branches[node] += 1
                    known += 1
        node += 1
    return asked[:known], branches[:known], came[:known], node_of


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
