"""`python -m benchmarks.study [BOARD]`: statistics of all layouts of a board, such as 7x7/4.

It counts layouts, and those that rays cannot tell apart. It says how many bits a first probe gives;
how many probes and points a greedy player needs, one who tries every port, and players who leave
much to chance; when to guess; and which boxes are the hardest. It needs numba (the extra `house`);
7x7 with 4 atoms takes a minute and a half.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, combinations, pairwise
from math import comb, log2
from statistics import mean, stdev
from typing import Any, TypeAlias

import numpy as np
from numba import njit

from generators import kernels
from pbmserv.games.blackbox.bots.orientations import orientations
from pbmserv.games.blackbox.game_ids import read_parameters
from pbmserv.games.blackbox.options import Options

Line: TypeAlias = tuple[str, str]
"""The name of a number, and its value."""

MOST = 10_000_000
"""The most layouts of a board to study; 8x8 with 5 atoms has 7,624,512."""

MOST_ROLLOUTS = 1_000_000
"""The most layouts for which every port is tried; 8x8 with 4 atoms takes five minutes."""

RANDOM_TREES = 40
HARDEST = 5
GAMES = 600
"""Random games for each way to choose a port."""

BEST_OF = (2, 3, 5)
"""Numbers of random ports of which the best is chosen."""

SOFTNESS = (0.3, 1.0)
"""Bits by which a port must be better to be drawn e times as often."""

GUESSING = ((1, 1, 1), (6, 3, 1), (10, 4, 1))
"""Layouts left at which a player guesses with three, two and one guesses left."""


def main() -> int:
    """Print the study of a board."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    parser.add_argument("board", nargs="?", default="7x7/4", help="such as 5x5/3 (7x7/4)")
    board = parser.parse_args().board
    kind = read_parameters(board)
    if kind.least != kind.most or not kind.least:
        parser.error("name one number of atoms, as in 7x7/4")
    if (layouts := comb(kind.width * kind.height, kind.least)) > MOST:
        parser.error(f"{board} has {layouts:,} layouts; {MOST:,} are the most")
    for name, value in study_lines(Options.of(kind)):
        print(f"{name:<60} {value}", flush=True)
    return 0


def study_lines(options: Options) -> Iterator[Line]:
    """Yield all lines of a study."""
    by_port = kernels.results_of(options.width, options.height, options.least)
    results = _clockwise(options, by_port)
    board = results, kernels.classes_of(results), kernels.surprises(len(results))
    total = len(results)
    sizes = Counter(Counter(board[1].tolist()).values())
    yield from _layouts_and_classes(total, sizes)
    counts = [Counter(by_port[:, port].tolist()) for port in _top_ports(options)]
    yield from _first_probe(options, counts)
    greedy = kernels.grow(board, (kernels.PROBES, kernels.BITS, 0), kernels.greedily)
    thrifty = kernels.grow(board, (kernels.PROBES, kernels.THRIFT, 0), kernels.greedily)
    probes = kernels.paid(*greedy, kernels.PROBES)
    points = kernels.paid(*greedy, kernels.POINTS).mean()
    yield "greedy by bits: probes until one class is left", f"{probes.mean():.3f}"
    yield "greedy by bits: points", f"{points:.3f}"
    thrifty_points = kernels.paid(*thrifty, kernels.POINTS).mean()
    yield "greedy by bits for each point: points", f"{thrifty_points:.3f}"
    if total <= MOST_ROLLOUTS:
        yield from _every_port_tried(board)
    yield from _random_ports(board)
    yield from _choices(results, board[1])
    yield from _guesses(greedy)
    yield from _hardest(options, probes)


def _top_ports(options: Options) -> range:
    """Return the ports at the top up to the middle; the others are mirror images."""
    return range((options.width + 1) // 2)


def _layouts_and_classes(total: int, sizes: Counter[int]) -> Iterator[Line]:
    """Yield the numbers of layouts and classes.

    Args:
        total: the number of layouts.
        sizes: the number of classes of each size.
    """
    yield "layouts", f"{total:,}"
    yield "classes with the same result at every port", f"{sizes.total():,}"
    shared = {size: count for size, count in sorted(sizes.items()) if size > 1}
    layouts = sum(size * count for size, count in shared.items())
    sets = ", ".join(f"{count:,} of {size}" for size, count in shared.items())
    yield "layouts that are not unique", f"{layouts:,} ({sets})" if shared else "0"


def _first_probe(options: Options, counts: Sequence[Counter[int]]) -> Iterator[Line]:
    total = counts[0].total()
    bits = [-sum(n / total * log2(n / total) for n in count.values()) for count in counts]
    names = ", ".join(options.board.ports[port] for port in _top_ports(options))
    yield f"bits of a first probe into {names}", " ".join(f"{value:.3f}" for value in bits)


def _every_port_tried(board: Any) -> Iterator[Line]:
    """Yield the probes and points of a player who plays each port to the end before choosing."""
    for goal, aim, name in (
        (kernels.PROBES, kernels.BITS, "probes"),
        (kernels.POINTS, kernels.THRIFT, "points"),
    ):
        tree = kernels.grow(board, (goal, aim, kernels.EXACT), kernels.by_rollouts)
        cost = kernels.paid(*tree, goal).mean()
        yield f"every port tried, perfect below {kernels.EXACT} layouts: {name}", f"{cost:.4f}"


def _random_ports(board: Any) -> Iterator[Line]:
    """Yield the probes of a player who fires any port whose result is not known."""
    results, classes_of_layouts, surprises = board
    total = len(results)
    for classes, name in ((classes_of_layouts, "class"), (np.arange(total), "layout")):
        distinct = results, classes, surprises
        means = [kernels.random_price(distinct, seed) / total for seed in range(RANDOM_TREES)]
        error = stdev(means) / RANDOM_TREES**0.5
        until = f"a random port that is not known, until one {name} is left"
        yield until, f"{mean(means):.2f} +- {error:.2f}"


def _clockwise(options: Options, results: Any) -> Any:
    """Return results with the ports in clockwise order.

    A greedy player takes the first of equally good ports, and papers count clockwise.
    """
    order = np.array(options.board.clockwise)
    place: Any = np.zeros(len(order) + 1, dtype=np.uint8)
    place[order + 1] = np.arange(1, len(order) + 1)
    return np.ascontiguousarray(place[results[:, order]])


def _choices(results: Any, classes: Any) -> Iterator[Line]:
    """Yield the probes of players who choose among the informative ports by chance."""
    ports, add_bits = results.shape[1], njit(_add_bits)

    def bits_of(layouts: Any) -> Any:
        bits = np.zeros(ports)
        add_bits(results, layouts, np.zeros((ports, ports + 1)), bits)
        return bits

    ways = [("an informative port by lot", 1, 0.0)]
    ways += [(f"the best of {n} informative ports by lot", n, 0.0) for n in BEST_OF]
    ways += [(f"an informative port, softly by {soft} bit", 0, soft) for soft in SOFTNESS]
    after_first: dict[tuple[int, int], Any] = {}
    first_bits = bits_of(np.arange(len(results)))

    def probes_until_known(layout: int, choose: Callable[[Any], int]) -> int:
        """Return the number of probes after which all possible layouts are of one class."""
        port = choose(first_bits)
        first = port, results[layout, port]
        if first not in after_first:
            after_first[first] = np.flatnonzero(results[:, port] == first[1])
        possible, count = after_first[first], 1
        while (classes[possible] != classes[possible[0]]).any():
            port = choose(bits_of(possible))
            possible = possible[results[possible, port] == results[layout, port]]
            count += 1
        return count

    for name, among, soft in ways:
        rng = np.random.default_rng(1)
        choose = partial(_choose_port, among=among, soft=soft, rng=rng)
        probes = [
            probes_until_known(layout, choose) for layout in rng.integers(len(results), size=GAMES)
        ]
        yield f"{name}: probes", f"{mean(probes):.2f} +- {stdev(probes) / GAMES**0.5:.2f}"


def _add_bits(results: Any, layouts: Any, shares: Any, bits: Any) -> None:
    """Add to *bits* the information that each port gives about some layouts.

    Args:
        results: the results of all layouts.
        layouts: the indices of the possible layouts.
        shares: zeros, for the share of the layouts with each result of each port.
        bits: zeros, one for each port.
    """
    for layout in layouts:
        for port in range(len(bits)):
            shares[port, results[layout, port]] += 1 / len(layouts)
    for port in range(len(bits)):
        for share in shares[port]:
            if share > 0:
                bits[port] -= share * log2(share)


def _choose_port(bits: Any, among: int, soft: float, rng: Any) -> int:
    """Choose a port softly, or the best among some random ports."""
    ports = np.flatnonzero(bits > 0)
    if soft:
        weights = np.exp((bits[ports] - bits.max()) / soft)
        return int(rng.choice(ports, p=weights / weights.sum()))
    drawn = rng.permutation(ports)[:among]
    return int(drawn[bits[drawn].argmax()])


def _guesses(tree: Any) -> Iterator[Line]:
    """Yield the turn in which a greedy player with three guesses wins; each turn has a probe."""
    _, branches, _, node_of = tree
    for limits in GUESSING:
        turns = list(_winning_turns(branches.tolist(), node_of.tolist(), limits))
        lost = 100 * (1 - len(turns) / len(node_of))
        shown = ", ".join(map(str, limits))
        yield f"guessing at {shown} layouts: winning turn", f"{mean(turns):.2f}, {lost:.2f} % lost"


def _winning_turns(
    branches: Sequence[int], node_of: Sequence[int], limits: Sequence[int]
) -> Iterator[int]:
    """Yield the turns in which a player wins who follows a tree, one for each layout that is won.

    Each turn fires the tree's port. If few layouts are left, the player also guesses one of them,
    if possible one that rays cannot distinguish from others, since such layouts need guesses
    anyway.

    Args:
        branches: the number of children of each node, in the order of levels.
        node_of: the leaf of each layout.
        limits: for each guess in order, the most layouts at which it is made.
    """
    firsts = list(accumulate(branches, initial=1))
    children = [range(*pair) for pair in pairwise(firsts)]
    layouts_at: list[list[int]] = [[] for _ in branches]
    for layout, node in enumerate(node_of):
        layouts_at[node].append(layout)
    alike = list(map(len, layouts_at))
    for node in range(len(branches) - 1, -1, -1):  # large sets are not needed
        if all(0 < len(layouts_at[child]) <= limits[0] for child in children[node]):
            layouts_at[node] += [layout for child in children[node] for layout in layouts_at[child]]
    todo = [(0, 1, limits, frozenset[int]())]
    while todo:
        node, turn, guesses, wrong = todo.pop()
        left = [layout for layout in layouts_at[node] if layout not in wrong]
        if not children[node]:  # no port gives further information
            yield from (turn + guess for guess in range(min(len(left), len(guesses))))
            continue
        if 0 < len(left) <= guesses[0]:
            yield turn
            guess = max(left, key=lambda layout: alike[node_of[layout]])
            guesses, wrong = guesses[1:], wrong | {guess}
        if guesses:
            todo += [(child, turn + 1, guesses, wrong) for child in children[node]]


def _hardest(options: Options, probes: Any) -> Iterator[Line]:
    """Yield the effect of atoms at the border, and the boxes that cost a greedy player most."""
    board, atoms = options.board, options.least
    inside = frozenset(board.area(board.width + 1, len(board.cells) - board.width - 2))
    layouts = list(combinations(board.cells, atoms))
    borders = np.array([sum(cell not in inside for cell in layout) for layout in layouts])
    shown = " ".join(
        f"{probes[borders == count].mean():.2f}" if (borders == count).any() else "-"
        for count in range(atoms + 1)
    )
    yield f"greedy by bits: probes with 0 to {atoms} atoms at the border", shown
    turns = orientations(board)
    sums = kernels.sums_over_orientations(options, probes)
    hardest = [layouts[index] for index in np.flatnonzero(sums == sums.max())]
    # Of the orientations of a box, name the first.
    first = {min(tuple(sorted(turn[cell] for cell in box)) for turn in turns) for box in hardest}
    boxes = "; ".join(" ".join(map(board.name, box)) for box in sorted(first)[:HARDEST])
    average = f"{sums.max() / len(turns):.2f}"
    yield "the hardest boxes, and probes on average of all orientations", f"{average}: {boxes}"


if __name__ == "__main__":
    sys.exit(main())
