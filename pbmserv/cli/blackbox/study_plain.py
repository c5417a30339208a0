"""The lines of a study that plain Python can compute, for machines without numba."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import log2
from operator import itemgetter

from pbmserv.cli.blackbox.study_lines import (
    Line,
    Steps,
    first_probe,
    greedy_play,
    layouts_and_classes,
    top_ports,
)
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import HIT, trace_all

Spectrum = bytes
"""Results of all ports, clockwise; each is the index of the exit plus one, or 0 for a hit."""


def plain_lines(options: Options, steps: Steps) -> Iterator[Line]:
    """Yield the lines that plain Python can compute."""
    steps.begin("rays into all ports")
    spectra = all_spectra(options)
    yield from layouts_and_classes(len(spectra), Counter(Counter(spectra).values()))
    order = options.board.clockwise
    counts = [
        Counter(spectrum[order.index(port)] for spectrum in spectra) for port in top_ports(options)
    ]
    yield from first_probe(options, counts)
    steps.begin("greedy play by bits")
    probes, points = greedy_means(spectra, lambda bits, _: bits)
    steps.begin("greedy play by bits per point")
    _, thrifty = greedy_means(spectra, lambda bits, cost: bits / cost)
    yield from greedy_play(probes, points, thrifty)


def all_spectra(options: Options) -> list[Spectrum]:
    """Return the spectra of all layouts."""
    board = options.board
    place = {port: at + 1 for at, port in enumerate(board.clockwise)} | {HIT: 0}
    spectra = []
    for layout in combinations(board.cells, options.least):
        results = trace_all(board, layout)
        spectra.append(bytes(place[results[port]] for port in board.clockwise))
    return spectra


def greedy_means(
    spectra: Sequence[Spectrum], value: Callable[[float, float], float]
) -> tuple[float, float]:
    """Return mean probes and points of a player who fires where *value* is highest.

    Args:
        spectra: the results of all layouts.
        value: the value of a probe, of its bits and its mean points.
    """
    probes = points = 0
    for size, cost in _greedy_tree(list(spectra), value):
        probes += size
        points += cost
    return probes / len(spectra), points / len(spectra)


def _greedy_tree(
    spectra: list[Spectrum], value: Callable[[float, float], float]
) -> Iterator[tuple[int, int]]:
    """Yield the number of layouts at each probe of the tree, and the points that they pay there."""
    ports = range(len(spectra[0]))
    todo = [spectra]
    while todo:
        group = todo.pop()
        best_value, best_port, best_cost = 0.0, -1, 0
        for port in ports:
            shares = Counter(map(itemgetter(port), group))
            if len(shares) == 1:
                continue
            bits = log2(len(group)) - sum(n * log2(n) for n in shares.values()) / len(group)
            cost = 2 * len(group) - shares[0] - shares[port + 1]
            port_value = value(bits, cost / len(group))
            if port_value > best_value + 1e-12:
                best_value, best_port, best_cost = port_value, port, cost
        if best_port < 0:
            continue
        yield len(group), best_cost
        parts: dict[int, list[Spectrum]] = {}
        for spectrum in group:
            parts.setdefault(spectrum[best_port], []).append(spectrum)
        todo += [part for part in parts.values() if len(part) > 1]
