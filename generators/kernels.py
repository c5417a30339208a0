"""Loops over all layouts of a board, compiled by numba (the extra ``house``).

Only integers are compared, so that all machines get the same trees, bit for bit. Import this module
only if numba is installed. numba compiles assignments of slices slowly, and compiles a function
again for each literal number in a call. Therefore the code uses loops and `np.int64`.

These arguments of many functions are tuples, since numba compiles no classes of ours:

- ``board``: the results, classes and surprises of all layouts; see `results_of`, `classes_of` and
  `surprises`
- ``how``: the cost to minimise (`PROBES` or `POINTS`), the aim of a greedy player (`BITS` or
  `THRIFT`), and the number of layouts below which it plays perfectly
- ``order``, ``low``, ``high``: the numbers of all layouts in some order, and the part of them that
  is looked at
- ``desk``: working memory; see `_desk`
"""

from __future__ import annotations

from itertools import combinations
from math import comb, log2
from typing import Any

import numpy as np
from numba import njit

from pbmserv.games.blackbox.bots.orientations import orientations
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import field_of, walk

BITS, THRIFT = 0, 1
"""The aim of a greedy player: bits, or bits for each point of a probe's expected cost."""

PROBES, POINTS = 0, 1
"""The cost that a tree minimises."""

EXACT = 10
"""Fewer layouts than these are distinguished in the best way, by an exhaustive search."""

LEAF = 255
"""Replaces a port if no port gives further information."""

MEMORY = 1 << 22
"""The number of sets of layouts whose cost is stored."""

_SCALE, _MOST = 1 << 24, 1 << 40
_SIZE = np.array([(mask).bit_count() for mask in range(1 << EXACT)])
_LOWEST = np.array([(mask & -mask).bit_length() - 1 for mask in range(1 << EXACT)])
_trace = njit(walk)


def results_of(width: int, height: int, atoms: int) -> Any:
    """Return the results of all ports, in a row for each layout.

    Layouts are in the order of `itertools.combinations`. A result is the exit port plus one, or 0
    for a hit.
    """
    field = field_of(geometry(width, height))
    parts = [np.array(values, np.int64) for values in (field.doors, field.exits, field.squares)]
    return _results(*parts, atoms, comb(width * height, atoms))


@njit
def _results(doors, exits, squares, atoms, total):
    ports, cells = doors.shape[0], squares.shape[0]
    results = np.zeros((total, ports), dtype=np.uint8)
    filled = np.zeros(exits.shape[0], dtype=np.uint8)
    layout = np.arange(atoms)
    for row in range(total):
        filled[:] = 0
        filled[squares[layout]] = 1
        for port in range(ports):
            if results[row, port]:
                continue  # the other end of a detour
            out = _trace(filled, exits, doors[port, 0], doors[port, 1], doors[port, 2], port)
            results[row, port] = out + 1
            if out >= 0:
                results[row, out] = port + 1
        last = atoms - 1
        while last >= 0 and layout[last] == cells - atoms + last:
            last -= 1
        if last >= 0:
            layout[last] += 1
            for at in range(last + 1, atoms):
                layout[at] = layout[at - 1] + 1
    return results


def classes_of(results: Any) -> Any:
    """Return a number for each layout, the same for layouts with the same results."""
    return np.unique(results.view(f"V{results.shape[1]}").ravel(), return_inverse=True)[1]


def surprises(layouts: int) -> Any:
    """Return ``n log2 n`` for n up to *layouts*, scaled to integers."""
    return np.array([0, 0, *(round(n * log2(n) * _SCALE) for n in range(2, layouts + 1))])


@njit
def worths(board, how, order, low, high, desk):
    """Return the value of each port to a greedy player, 0 if it gives no information."""
    results, _classes, surprise = board
    counts = desk[2]  # all zero before and after
    ports, size = results.shape[1], high - low
    worth = np.full(ports, float(surprise[size]))  # integers, if the aim is BITS
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
    """Return the first of a greedy player's best ports, -1 if no port gives information."""
    worth = worths(board, how, order, low, high, desk)
    return np.argmax(worth) if worth[np.argmax(worth)] > 0 else -1


@njit
def part(results, order, low, high, port, aside, starts):
    """Sort the layouts by their result at a port. *starts* gets the start of each result."""
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
    """Return the cost of a result.

    It is one probe, or one point for a hit or reflection and two for a detour.
    """
    return 2 if goal == 1 and out not in (0, port + 1) else 1


@njit
def exact_price(results, classes, order, low, high, goal, room):
    """Return the least cost of distinguishing fewer than `EXACT` layouts, and the first port.

    The cost is the sum for all layouts. The port is -1 if no probe is needed.
    """
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
def _search(layouts, level, goal, room):
    """Compute `exact_price` for the layouts of a bit mask."""
    together, single, kin, memo, choice, least = room
    if memo[layouts] >= 0:
        return memo[layouts]
    choice[layouts] = -1
    if layouts & ~kin[_LOWEST[layouts]] == 0:
        memo[layouts] = 0
        return 0
    # A lower bound for each port: its probe, and one more for each layout not distinguished by it.
    ports, size = single.shape[0], _SIZE[layouts]
    row = least[level]
    for port in range(ports):
        cost = size if goal == 0 else 2 * size - _SIZE[layouts & single[port]]
        rest, settled = layouts, True
        while rest:
            at = _LOWEST[rest]
            group = together[port, at] & layouts
            rest &= ~group
            if group & ~kin[at]:
                settled = False
                cost = _MOST if group == layouts else cost + max(memo[group], _SIZE[group])
        row[port] = cost
        if settled and cost == size:
            memo[layouts], choice[layouts] = cost, port
            return cost
    best, best_port = _MOST, -1
    while True:
        port = np.argmin(row)
        if row[port] >= best:
            break
        row[port] = _MOST
        cost = size if goal == 0 else 2 * size - _SIZE[layouts & single[port]]
        rest = layouts
        while rest and cost < best:
            at = _LOWEST[rest]
            group = together[port, at] & layouts
            rest &= ~group
            if group & ~kin[at]:
                cost += _search(group, level + 1, goal, room)
        if cost < best:
            best, best_port = cost, port
    memo[layouts], choice[layouts] = best, best_port
    return best


@njit
def _desk(classes, ports, memory):
    """Return the working memory of all loops.

    It consists of memory for `exact_price`, `part` and `worths`, the costs of sets of layouts by
    their numbers, and the size of the largest class. The number of a set is the sum of the numbers
    (splitmix64) of its layouts.
    """
    seen = np.empty((ports, EXACT), np.int64), np.empty(ports, np.int64), np.empty(EXACT, np.int64)
    memo, choice = np.empty(1 << EXACT, np.int64), np.empty(1 << EXACT, np.int64)
    room = (*seen, memo, choice, np.empty((EXACT, ports), np.int64))
    numbers = np.arange(1, len(classes) + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ numbers >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    numbers ^= numbers >> np.uint64(31)
    costs = numbers, np.zeros(memory, np.uint64), np.zeros(memory, np.int32)
    aside, counts = np.empty(len(classes), np.int64), np.zeros((ports, ports + 1), np.int32)
    alike = np.bincount(classes)
    return room, aside, counts, costs, alike[np.argmax(alike)]


@njit
def number_of(order, low, high, costs):
    """Return the number of a set, and its place in the store of costs.

    A later set with the same place replaces it.
    """
    number = np.uint64(0)
    for at in range(low, high):
        number += costs[0][order[at]]
    return number, np.int64(number & np.uint64(len(costs[1]) - 1))


@njit
def greedy_price(board, how, order, low, high, desk):
    """Return the total cost of a greedy player for the layouts ``order[low:high]``, which it
    reorders.

    With fewer than *exact* layouts, the player plays perfectly.
    """
    results, classes, _surprise = board
    goal, _aim, exact = how
    room, aside, _counts, costs, _alike = desk
    ports, size = results.shape[1], high - low
    if size < 2:
        return np.int64(0)
    number, place = number_of(order, low, high, costs)
    if costs[1][place] == number:
        return np.int64(costs[2][place])
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
    costs[1][place], costs[2][place] = number, cost
    return cost


@njit(nogil=True)
def random_price(board, seed):
    """Return the total probes of a player who fires at random unmarked ports."""
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
                marked = fired | 1 << port | (1 << out) // 2  # the other end of a detour
                waiting.append((starts[out], starts[out + 1], marked))
    return cost


@njit
def at_least(how, port, starts, desk):
    """Return the least cost of a probe and the following ones.

    A further probe is needed for each layout in a set that is larger than any class.
    """
    cost = np.int64(0)
    for out in range(len(starts) - 1):
        members = starts[out + 1] - starts[out]
        cost += members * (price(how[0], out, port) + (members > desk[4]))
    return cost


@njit
def best_few(board, how, order, low, high, desk, few, first):
    """Return the ports after which a greedy player pays least, the best first.

    Among equal ones, *first* comes first, then the lowest number. -1 means that no further port
    gives information.
    """
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
            continue  # already tried, or all results are the same
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
    """Return the port after which a greedy player pays least, -1 if no port gives information.

    Among equal ports, it is the one of the greedy player.
    """
    port = greedily(board, how, order, low, high, desk, None)
    return best_few(board, how, order, low, high, desk, 1, port)[0] if port >= 0 else -1


@njit(nogil=True)
def grow(board, how, choose, plan=None):
    """Grow a tree that distinguishes all layouts, with nodes in the order of their levels.

    Args:
        board, how: see above.
        choose: `greedily`, `by_rollouts` or another function that chooses a port if play is not
            perfect.
        plan: a further argument of *choose*.

    Returns:
        The port (or `LEAF`), the number of children, and the result that leads to it, for each
        node; and the node of each layout.
    """
    results, classes, _surprise = board
    total, ports = results.shape
    order = np.arange(total)
    desk = _desk(classes, ports, np.int64(MEMORY))
    starts = np.empty(ports + 2, dtype=np.int64)
    spans = np.empty((2 * total + 1, 2), dtype=np.int64)
    nodes = np.zeros((3, 2 * total + 1), dtype=np.uint8)
    node_ports, branches, came = nodes[0], nodes[1], nodes[2]
    node_of = np.zeros(total, dtype=np.int64)
    spans[0, 0], spans[0, 1] = 0, total
    node, node_count = 0, 1
    while node < node_count:
        low, high = spans[node, 0], spans[node, 1]
        port = -1
        if 1 < high - low < how[2]:
            port = exact_price(results, classes, order, low, high, how[0], desk[0])[1]
        elif high - low > 1:
            port = choose(board, how, order, low, high, desk, plan)
        if port < 0:
            node_ports[node] = LEAF
            node_of[order[low:high]] = node
        else:
            node_ports[node] = port
            part(results, order, low, high, port, desk[1], starts)
            for out in range(ports + 1):
                if starts[out + 1] > starts[out]:
                    spans[node_count, 0], spans[node_count, 1] = starts[out], starts[out + 1]
                    came[node_count] = out
                    branches[node] += 1
                    node_count += 1
        node += 1
    return node_ports[:node_count], branches[:node_count], came[:node_count], node_of


@njit
def paid(node_ports, branches, came, node_of, goal):
    """Return the cost of a tree for each layout."""
    costs = np.zeros(node_ports.shape[0], dtype=np.int64)
    child = 1
    for node in range(node_ports.shape[0]):
        for _ in range(branches[node]):
            costs[child] = costs[node] + price(goal, came[child], node_ports[node])
            child += 1
    return costs[node_of]


def sums_over_orientations(options: Options, probes: Any) -> Any:
    """Return the total cost of all orientations of each layout, in `itertools.combinations` order.

    Args:
        options: the board.
        probes: the cost of each layout, a numpy array.
    """
    layouts = np.array(list(combinations(options.board.cells, options.least)))
    base: Any = len(options.board.cells) ** np.arange(options.least - 1, -1, -1, dtype=np.int64)
    numbers = layouts @ base
    total: Any = np.zeros(len(layouts), dtype=np.int64)
    for turned in orientations(options.board):
        cells = np.sort(np.array(turned)[layouts], axis=1)
        total += probes[np.searchsorted(numbers, cells @ base)]
    return total
