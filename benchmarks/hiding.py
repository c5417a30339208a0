"""`python -m benchmarks.hiding [--write]`: likelihoods with which the house hides 4 atoms on 7x7.

The opponent is a solver who knows the likelihoods. In each round a new solver learns them, and a
layout becomes likelier the more probes it has cost all solvers so far (fictitious play with a price
for being predictable). The result costs such a solver more than seven and a half probes, and no
layout is likelier than one in a thousand. It needs numba (the extra `house`). Without --write it
compares the result with the file.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numba import njit

from benchmarks.trees import note
from pbmserv.cli.blackbox.studies import sums_over_orientations
from pbmserv.games.blackbox.bots import difficulty, kernels, trees
from pbmserv.games.blackbox.bots.trees import orientations
from pbmserv.games.blackbox.options import Options

OPTIONS = Options(7, 7, 4, 4)
ROUNDS = 24
SHARPNESS = 2.2
"""Nats by which a layout is likelier for each further probe that it costs."""

LEVELS = 10
"""Steps of a nat in which likelihoods are stored."""

TRIED = 8
"""Number of ports with the most bits that a solver tries before it takes the best."""

FOLDER = Path(trees.__file__).parent / trees.FOLDER
SURE = (1.0, 0.95)
"""Certainty at which the best solver stops; 1 if nothing else is possible."""


def main() -> int:
    """Make the likelihoods, then write or compare the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hiding", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the file")
    arguments = parser.parse_args()
    begun = process_time()
    content = made()
    file = FOLDER / f"{difficulty.HIDING}.xz"
    if arguments.write:
        file.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
        note(difficulty.HIDING, content)
    print(f"{difficulty.HIDING}: {len(content):,} bytes ({process_time() - begun:.0f} s)")
    for line in measured():
        print(line, flush=True)
    return int(lzma.decompress(file.read_bytes()) != content)


def made() -> bytes:
    """Return the likelihood of each layout in steps, one for all of its orientations."""
    results = kernels.results_of(OPTIONS.width, OPTIONS.height, OPTIONS.least)
    classes = kernels.classes_of(results)
    ways = len(orientations(OPTIONS.board))
    costs: Any = np.zeros(len(results))
    likely: Any = np.full(len(results), 1 / len(results))
    for played in range(ROUNDS):
        probes = probes_of(results, classes, likely)
        costs += (sums_over_orientations(OPTIONS, probes) / ways - costs) / (played + 1)
        likely = np.exp(SHARPNESS * (costs - costs.max()))
        likely /= likely.sum()
    steps = np.round(LEVELS * SHARPNESS * (costs - costs.min())).astype(np.uint8)
    layouts = list(combinations(OPTIONS.board.cells, OPTIONS.least))
    firsts = np.flatnonzero(first_of_all(layouts))
    sizes = np.bincount(classes)
    about = {"classes": len(firsts), "levels": LEVELS}
    gaps = np.diff(firsts, prepend=0).astype("<u2")
    unique = np.packbits(sizes[classes[firsts]] == 1)
    return (
        json.dumps(about).encode()
        + b"\n"
        + gaps.tobytes()
        + steps[firsts].tobytes()
        + bytes(unique)
    )


def first_of_all(layouts: list[tuple[int, ...]]) -> Any:
    """Return for each layout whether it is the first of its orientations."""
    cells = np.array(layouts)
    base: Any = len(OPTIONS.board.cells) ** np.arange(OPTIONS.least - 1, -1, -1, dtype=np.int64)
    numbers = cells @ base
    is_first: Any = np.ones(len(layouts), dtype=bool)
    for turned in orientations(OPTIONS.board):
        is_first &= np.sort(np.array(turned)[cells], axis=1) @ base >= numbers
    return is_first


def measured() -> Iterator[str]:
    """Return the exact mean probes of solvers who know the likelihoods, over all layouts."""
    results = kernels.results_of(OPTIONS.width, OPTIONS.height, OPTIONS.least)
    classes = kernels.classes_of(results)
    layouts = list(combinations(OPTIONS.board.cells, OPTIONS.least))
    place = {layout: at for at, layout in enumerate(layouts)}
    solution = trees.tree(OPTIONS.width, OPTIONS.height, OPTIONS.least, trees.Goal.PROBES)
    assert solution is not None
    naive = np.array([solution.probes(layout) for layout in layouts])
    for name, fair in (("any layout", False), ("with -fair, where it is unique", True)):
        likely: Any = np.zeros(len(results))
        for layout, share in difficulty.likelihoods(OPTIONS, fair=fair):
            likely[place[layout]] = share
        likely /= likely.sum()
        greedy = float(likely @ probes_of(results, classes, likely))
        best = [price(results, classes, likely, TRIED, sure) for sure in SURE]
        bits = -float((likely[likely > 0] * np.log2(likely[likely > 0])).sum())
        yield (
            f"{name}: {likely @ naive:.3f} probes for who does not know how it hides; for who does:"
            f" {greedy:.3f} greedy, {best[0]:.3f} with {TRIED} ports tried,"
            f" {best[1]:.3f} until {SURE[1]:.0%} sure;"
            f" {bits:.2f} bits, no layout likelier than 1 in {1 / likely.max():.0f}"
        )


def probes_of(results: Any, classes: Any, likely: Any) -> Any:
    """Return the probes that each layout costs a greedy solver who knows the likelihoods."""
    probes = np.zeros(len(results), dtype=np.int64)
    _play(
        results, classes, likely, np.bincount(classes, likely), 2.0, np.arange(len(results)), probes
    )
    return probes


def price(results: Any, classes: Any, likely: Any, tried: int, sure: float) -> float:
    """Return the mean probes of a solver who tries ports by greedy play until it is *sure*."""
    shares = np.bincount(classes, likely)
    limit = 2.0 if sure >= 1 else sure
    return float(_best(results, classes, likely, shares, limit, tried))


@njit
def _ports(results, classes, likely, shares, limit, order, low, high, most):
    """Return the ports with the most bits and the layouts' likelihood; no port means stop."""
    ports = results.shape[1]
    total, top, differs = 0.0, 0.0, False
    for at in range(low, high):
        one = order[at]
        total += likely[one]
        top = max(top, shares[classes[one]])
        differs |= classes[one] != classes[order[low]]
    best_ports = np.empty(most, dtype=np.int64)
    if not differs or (total > 0 and top >= limit * total):
        return best_ports[:0], total
    bits = np.full(ports, -1.0)
    for port in range(ports):
        parts = np.zeros(ports + 1)
        for at in range(low, high):
            parts[results[order[at], port]] += likely[order[at]] + 1e-300
        if (parts > 0).sum() > 1:
            bits[port] = 0
            for part in parts:
                if part > 0:
                    bits[port] -= part * np.log(part)
    count = 0
    while count < most and bits.max() >= 0:
        best_ports[count] = bits.argmax()
        bits[best_ports[count]] = -1
        count += 1
    return best_ports[:count], total


@njit
def _split(results, order, low, high, port, aside, starts):
    counts = np.zeros(results.shape[1] + 2, dtype=np.int64)
    for at in range(low, high):
        counts[results[order[at], port] + 1] += 1
    starts[:] = low + np.cumsum(counts)
    place = starts.copy()
    for at in range(low, high):
        out = results[order[at], port]
        aside[place[out]] = order[at]
        place[out] += 1
    order[low:high] = aside[low:high]


@njit
def _play(results, classes, likely, shares, limit, order, asked):
    """Play greedily and store the probes of each layout in *asked*."""
    aside, starts = np.empty_like(order), np.empty(results.shape[1] + 2, dtype=np.int64)
    waiting = [(0, len(order), 0)]
    while waiting:
        low, high, probes = waiting.pop()
        ports, _ = _ports(results, classes, likely, shares, limit, order, low, high, 1)
        if not len(ports):
            asked[order[low:high]] = probes
            continue
        _split(results, order, low, high, ports[0], aside, starts)
        for out in range(results.shape[1] + 1):
            if starts[out + 1] > starts[out]:
                waiting.append((starts[out], starts[out + 1], probes + 1))


@njit
def _greedily(results, classes, likely, shares, limit, order, begin, end, aside):
    """Return the cost of greedy play from a node on."""
    starts = np.empty(results.shape[1] + 2, dtype=np.int64)
    cost = 0.0
    waiting = [(begin, end)]
    while waiting:
        low, high = waiting.pop()
        ports, total = _ports(results, classes, likely, shares, limit, order, low, high, 1)
        if not len(ports):
            continue
        cost += total
        _split(results, order, low, high, ports[0], aside, starts)
        for out in range(results.shape[1] + 1):
            if starts[out + 1] - starts[out] > 1:
                waiting.append((starts[out], starts[out + 1]))
    return cost


@njit
def _best(results, classes, likely, shares, limit, tried):
    """Return the cost of a solver who takes the port after which greedy play costs least."""
    order = np.arange(len(results))
    aside, starts = np.empty_like(order), np.empty(results.shape[1] + 2, dtype=np.int64)
    cost = 0.0
    waiting = [(0, len(order))]
    while waiting:
        low, high = waiting.pop()
        ports, total = _ports(results, classes, likely, shares, limit, order, low, high, tried)
        if not len(ports):
            continue
        cost += total
        best, least = ports[0], np.inf
        for port in ports if len(ports) > 1 else ports[:0]:
            _split(results, order, low, high, port, aside, starts)
            parts, paid = starts.copy(), 0.0
            for out in range(results.shape[1] + 1):
                if parts[out + 1] - parts[out] > 1:
                    paid += _greedily(
                        results,
                        classes,
                        likely,
                        shares,
                        limit,
                        order,
                        parts[out],
                        parts[out + 1],
                        aside,
                    )
            if paid < least:
                best, least = port, paid
        _split(results, order, low, high, best, aside, starts)
        for out in range(results.shape[1] + 1):
            if starts[out + 1] - starts[out] > 1:
                waiting.append((starts[out], starts[out + 1]))
    return cost


if __name__ == "__main__":
    sys.exit(main())
