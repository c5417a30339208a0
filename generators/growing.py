"""Trees that look further than `kernels.by_rollouts`, compiled by numba.

At each node the ports after which a greedy player pays least are tried once more. Each is
followed by a player who makes such trials at every node and remembers the result for each set of
layouts. Only integers are compared, as in `kernels.by_rollouts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numba import njit

from generators.kernels import (
    at_least,
    best_few,
    greedy_price,
    number_of,
    part,
)

Row: TypeAlias = Sequence[tuple[int, int]]
"""Pairs (n, ports): below 2**n layouts that many ports are tried; from there on one."""

_BITS = 32


def plan(own: Row, trials: Row) -> Any:
    """Return tables of how many ports are tried, at nodes of the tree and in trials.

    The index is the number of bits of the number of layouts.
    """
    rows = [[next((few for most, few in row if bits <= most), 1) for bits in range(_BITS)]
            for row in (own, trials)]  # fmt: skip
    return np.array(rows)


@njit
def best_trial(board, how, order, low, high, desk, plan):
    """Return the best of the tried ports; -1 if none distinguishes any layouts."""
    tried = best_few(board, how, order, low, high, desk, _width(plan[0], high - low), 0)
    return _cheapest(board, how, order, low, high, desk, plan, tried)[1]


@njit
def _width(row, size):
    bits = 0
    while size >> bits:
        bits += 1
    return row[bits]


@njit
def _cheapest(board, how, order, low, high, desk, plan, tried):
    """Return the cost of the best of the *tried* ports, and the port; if none, of a trial."""
    results, _classes, _surprise = board
    ports, size, desk_size = results.shape[1], high - low, desk[3]
    number, place, trial = np.uint64(0), np.int64(0), not len(tried)
    if trial:
        if size < how[2]:
            return greedy_price(board, how, order, low, high, desk), np.int64(-1)
        number, place = number_of(order, low, high, desk_size)
        number ^= np.uint64(1)  # a greedy player has another price for this set
        if desk_size[1][place] == number:
            return np.int64(desk_size[2][place]), np.int64(-1)
        few = _width(plan[1], size)
        tried = best_few(board, how, order, low, high, desk, few, 0)
    elif len(tried) == 1:
        return np.int64(0), tried[0]
    before = order[low:high].copy()
    starts = np.empty(ports + 2, dtype=np.int64)
    best, least = np.int64(-1), np.int64(0)
    for port in tried:
        if port < 0:
            break
        order[low:high] = before
        part(results, order, low, high, port, desk[1], starts)
        cost = at_least(how, port, starts, desk)
        for out in range(ports + 1):
            if best >= 0 and cost >= least:
                break
            members = starts[out + 1] - starts[out]
            cost -= members if members > desk[4] else 0
            if members > 1:
                cost += _cheapest(
                    board, how, order, starts[out], starts[out + 1], desk, plan, tried[:0]
                )[0]
        if best < 0 or cost < least:
            best, least = port, cost
    order[low:high] = before
    if trial:
        desk_size[1][place], desk_size[2][place] = number, least
    return least, best
