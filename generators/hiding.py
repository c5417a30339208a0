"""`python -m generators.hiding [--write]`: likelihoods with which the house hides 4 atoms on 7x7.

The opponent is a solver who knows the likelihoods. In each round a new solver learns them, and a
layout becomes likelier the more probes it has cost all solvers so far (fictitious play with a price
for being predictable). It needs numba (the extra `house`). Without --write it
compares the result with the file.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numba import njit

from generators.trees import note
from pbmserv.games.blackbox.bots import hiding, kernels, trees
from pbmserv.games.blackbox.bots.kernels import part, sums_over_orientations
from pbmserv.games.blackbox.bots.trees import orientations
from pbmserv.games.blackbox.options import Options

OPTIONS = Options(7, 7, 4, 4)
ROUNDS = 24
SHARPNESS = 2.2
"""Nats by which a layout is likelier for each further probe that it costs."""

LEVELS = 10
"""Steps of a nat in which likelihoods are stored."""

FOLDER = Path(trees.__file__).parent / trees.FOLDER


def main() -> int:
    """Make the likelihoods, then write or compare the file."""
    parser = argparse.ArgumentParser(prog="python -m generators.hiding", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the file")
    arguments = parser.parse_args()
    begun = process_time()
    content = made()
    file = FOLDER / f"{hiding.HIDING}.xz"
    if arguments.write:
        file.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
        note(hiding.HIDING, content)
    print(f"{hiding.HIDING}: {len(content):,} bytes ({process_time() - begun:.0f} s)")
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


def probes_of(results: Any, classes: Any, likely: Any) -> Any:
    """Return the probes that each layout costs a greedy solver who knows the likelihoods."""
    probes = np.zeros(len(results), dtype=np.int64)
    _play(results, classes, likely, np.arange(len(results)), probes)
    return probes


@njit
def _port(results, classes, likely, order, low, high):
    """Return the port with the most bits, -1 if no port tells the layouts apart."""
    ports = results.shape[1]
    differs = False
    for at in range(low, high):
        differs |= classes[order[at]] != classes[order[low]]
    if not differs:
        return -1
    bits = np.full(ports, -1.0)
    for port in range(ports):
        parts = np.zeros(ports + 1)
        for at in range(low, high):
            parts[results[order[at], port]] += likely[order[at]] + 1e-300
        if (parts > 0).sum() > 1:
            bits[port] = 0
            for share in parts:
                if share > 0:
                    bits[port] -= share * np.log(share)
    return bits.argmax() if bits.max() >= 0 else -1


@njit
def _play(results, classes, likely, order, asked):
    """Play greedily and store the probes of each layout in *asked*."""
    aside, starts = np.empty_like(order), np.empty(results.shape[1] + 2, dtype=np.int64)
    waiting = [(0, len(order), 0)]
    while waiting:
        low, high, probes = waiting.pop()
        port = _port(results, classes, likely, order, low, high)
        if port < 0:
            asked[order[low:high]] = probes
            continue
        part(results, order, low, high, port, aside, starts)
        for out in range(results.shape[1] + 1):
            if starts[out + 1] > starts[out]:
                waiting.append((starts[out], starts[out + 1], probes + 1))


if __name__ == "__main__":
    sys.exit(main())
