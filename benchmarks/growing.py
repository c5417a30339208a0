"""Trees that look one step further than `kernels.grow`, compiled by numba.

At each node some ports are tried in earnest: those after which a greedy player pays least. Each is
followed by a player who makes such trials herself (`rolled_price`); the best of them is taken. Only
whole numbers are compared, as there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from pbmserv.games.blackbox.bots.kernels import (
    LEAF,
    exact_price,
    greedy_price,
    part,
    price,
    room_for,
)

_MOST = 1 << 40


@njit
def after_each(board, how, order, low, high, desk, costs):
    """What a greedy player pays after each port, in *costs*; `_MOST`: it tells nothing."""
    room, work, trials = desk
    results, trial = board[0], trials[0]
    ports = results.shape[1]
    starts = np.empty(ports + 2, dtype=np.int64)
    for port in range(ports):
        trial[low:high] = order[low:high]
        part(results, trial, low, high, port, work[0], starts)
        if starts[results[trial[low], port] + 1] == high:
            costs[port] = _MOST
            continue
        cost = np.int64(0)
        for out in range(ports + 1):
            cost += (starts[out + 1] - starts[out]) * price(how[0], out, port)
            if starts[out + 1] > starts[out] + 1:
                cost += greedy_price(board, how, trial, starts[out], starts[out + 1], room, work)
        costs[port] = cost


@njit
def rolled_price(board, how, order, low, high, desk):
    """What a player pays who always takes the port after which a greedy one pays least, summed
    over the layouts ``order[low:high]``, which it reorders."""
    room, work, _trials = desk
    results, classes, _surprise = board
    ports = results.shape[1]
    if high - low < 2:
        return np.int64(0)
    if high - low < how[2]:
        return exact_price(results, classes, order, low, high, how[0], room)[0]
    costs = np.empty(ports, dtype=np.int64)
    after_each(board, how, order, low, high, desk, costs)
    port = np.argmin(costs)
    if costs[port] >= _MOST:
        return np.int64(0)
    starts = np.empty(ports + 2, dtype=np.int64)
    part(results, order, low, high, port, work[0], starts)
    paid = np.int64(0)
    for out in range(ports + 1):
        members = starts[out + 1] - starts[out]
        paid += members * price(how[0], out, port)
        if members > 1:
            paid += rolled_price(board, how, order, starts[out], starts[out + 1], desk)
    return paid


@njit
def best_trial(board, how, order, low, high, desk, tried):
    """The best of the *tried* ports after which a greedy player pays least; -1: none tells."""
    _room, work, trials = desk
    results, trial = board[0], trials[1]
    ports = results.shape[1]
    costs = np.empty(ports, dtype=np.int64)
    after_each(board, how, order, low, high, desk, costs)
    ranked = np.argsort(costs, kind="mergesort")
    starts = np.empty(ports + 2, dtype=np.int64)
    best, least = -1, np.int64(0)
    for port in ranked[:tried]:
        if costs[port] >= _MOST:
            break
        trial[low:high] = order[low:high]
        part(results, trial, low, high, port, work[0], starts)
        cost = np.int64(0)
        for out in range(ports + 1):
            members = starts[out + 1] - starts[out]
            cost += members * price(how[0], out, port)
            if members > 1:
                cost += rolled_price(board, how, trial, starts[out], starts[out + 1], desk)
            if best >= 0 and cost >= least:
                break
        if best < 0 or cost < least:
            best, least = port, cost
    return best


@njit(nogil=True)
def grow(board: Any, how: Any, tried: int) -> Any:
    """As `kernels.grow`; *tried*: how many ports are tried in earnest at each node."""
    results, classes, _surprise = board
    goal, _aim, exact = how
    total, ports = results.shape
    order = np.arange(total)
    work = np.empty(total, dtype=np.int64), np.empty((total + 1, 3), dtype=np.int64)
    room = room_for(ports)
    desk = room, work, np.empty((2, total), dtype=np.int64)
    starts = np.empty(ports + 2, dtype=np.int64)
    spans = np.empty((2 * total + 1, 2), dtype=np.int64)
    asked = np.empty(2 * total + 1, dtype=np.uint8)
    branches = np.zeros(2 * total + 1, dtype=np.uint8)
    came = np.zeros(2 * total + 1, dtype=np.uint8)
    node_of = np.zeros(total, dtype=np.int64)
    spans[0, 0], spans[0, 1] = 0, total
    node, known = 0, 1
    while node < known:
        low, high = spans[node, 0], spans[node, 1]
        port = -1
        if 1 < high - low < exact:
            port = exact_price(results, classes, order, low, high, goal, room)[1]
        elif high - low > 1:
            port = best_trial(board, how, order, low, high, desk, tried)
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
