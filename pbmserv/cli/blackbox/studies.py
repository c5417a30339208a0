"""``pbmserv blackbox study``: statistics of all layouts of a board.

With numba (the extra ``house``), 7x7 with 4 atoms takes a minute and a half. Without numba, plain
Python computes the statistics that do not take too long, and the others are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb, log2
from operator import itemgetter
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, TypeAlias

from pbmserv.cli.blackbox.arguments import Params
from pbmserv.cli.blackbox.refusals import Unusable, politely
from pbmserv.cli.output import say
from pbmserv.extras import why_missing

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from pbmserv.games.blackbox.options import Options

MOST = 10_000_000
"""The most layouts of a board to study; 8x8 with 5 atoms has 7,624,512."""

MOST_ROLLOUTS = 1_000_000
"""The most layouts for which every port is tried; 8x8 with 4 atoms takes five minutes."""

MOST_PLAIN = 250_000
"""The most layouts for plain Python; 7x7 with 4 atoms takes a minute."""

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

Line: TypeAlias = tuple[str, str]
Spectrum = bytes
"""Results of all ports, clockwise; each is the index of the exit plus one, or 0 for a hit."""


def study(params: Params = "7x7/4") -> None:
    """Look at all layouts of a board, and print what a solver can expect.

    It counts layouts, those that rays cannot tell apart, and what probes tell; how
    many probes and points a greedy player needs, one who tries every port, and
    players who leave much to chance; when to guess, and which boxes are the
    hardest.

    Example: pbmserv blackbox study 5x5/3
    """
    with politely("study"):
        from pbmserv.games.blackbox.game_ids import read_parameters
        from pbmserv.games.blackbox.options import Options

        kind = read_parameters(params)
        if kind.least != kind.most or not kind.least:
            raise Unusable("name one number of atoms. Example: 7x7/4")
        layouts = comb(kind.width * kind.height, kind.least)
        if layouts > MOST:
            raise Unusable(f"{params} has {layouts:,} layouts; {MOST:,} are the most.")
        missing = why_missing("numba")
        quick = not missing
        if missing and layouts > MOST_PLAIN:
            raise Unusable(f"{layouts:,} layouts are too many for plain Python: {missing}")
        options = Options.of(kind)
        with _steps(9 if quick else 3) as steps:
            lines = list((_compiled if quick else _plain)(options, steps))
        for name, value in lines:
            say(f"{name:<60} {value}")
        if missing:
            say(f"The rest is left out: {missing}")


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a study, shown as a progress bar on stderr."""

    bar: Progress
    task: TaskID

    def begin(self, name: str) -> None:
        """End the previous step, and begin one."""
        self.bar.update(self.task, description=name, advance=1)


@contextmanager
def _steps(total: int) -> Iterator[Steps]:
    """Show a progress bar, and remove it at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<36}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    disabled = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=disabled) as bar:
        yield Steps(bar, bar.add_task("", total=total, completed=-1))


# -- with numba ----------------------------------------------------------------------------


def _compiled(options: Options, steps: Steps) -> Iterator[Line]:
    """Yield all lines, computed with numba."""
    steps.begin("compiling")
    import numpy as np

    from pbmserv.games.blackbox.bots import kernels

    steps.begin("rays into all ports")
    by_port = kernels.results_of(options.width, options.height, options.least)
    results = _clockwise(options, by_port)
    board = results, kernels.classes_of(results), kernels.surprises(len(results))
    total = len(results)
    sizes = Counter(Counter(board[1].tolist()).values())
    yield from _layouts_and_classes(total, sizes)
    yield from _first_probe(options, [Counter(by_port[:, port].tolist()) for port in _top(options)])
    steps.begin("greedy play")
    greedy = kernels.grow(board, (kernels.PROBES, kernels.BITS, 0), kernels.greedily)
    thrifty = kernels.grow(board, (kernels.PROBES, kernels.THRIFT, 0), kernels.greedily)
    probes = kernels.paid(*greedy, kernels.PROBES)
    points = kernels.paid(*greedy, kernels.POINTS).mean()
    yield from _greedy(probes.mean(), points, kernels.paid(*thrifty, kernels.POINTS).mean())
    for goal, aim, name in (
        (kernels.PROBES, kernels.BITS, "probes"),
        (kernels.POINTS, kernels.THRIFT, "points"),
    ):
        if total <= MOST_ROLLOUTS:
            steps.begin(f"every port tried, for {name}")
            tree = kernels.grow(board, (goal, aim, kernels.EXACT), kernels.by_rollouts)
            yield (
                f"every port tried, perfect below {kernels.EXACT} layouts: {name}",
                f"{kernels.paid(*tree, goal).mean():.4f}",
            )
    steps.begin("random ports")
    for classes, name in ((board[1], "class"), (np.arange(total), "layout")):
        each = board[0], classes, board[2]
        means = [kernels.random_price(each, seed) / total for seed in range(RANDOM_TREES)]
        error = stdev(means) / RANDOM_TREES**0.5
        until = f"a random port that is not known, until one {name} is left"
        yield until, f"{mean(means):.2f} +- {error:.2f}"
    steps.begin("ways to choose a port")
    yield from _choices(results, board[1])
    steps.begin("when to guess")
    yield from _guesses(greedy)
    steps.begin("the hardest boxes")
    yield from _hardest(options, probes)


def _clockwise(options: Options, results: Any) -> Any:
    """Return results with the ports in clockwise order.

    A greedy player takes the first of equally good ports, and papers count clockwise.
    """
    import numpy as np

    order = np.array(options.board.clockwise)
    place: Any = np.zeros(len(order) + 1, dtype=np.uint8)
    place[order + 1] = np.arange(1, len(order) + 1)
    return np.ascontiguousarray(place[results[:, order]])


def sums_over_orientations(options: Options, probes: Any) -> Any:
    """Return the total cost of all orientations of each layout, in `itertools.combinations` order.

    Args:
        options: the board.
        probes: the cost of each layout, a numpy array.
    """
    import numpy as np

    from pbmserv.games.blackbox.bots.trees import orientations

    layouts = np.array(list(combinations(options.board.cells, options.least)))
    base: Any = len(options.board.cells) ** np.arange(options.least - 1, -1, -1, dtype=np.int64)
    numbers = layouts @ base
    total: Any = np.zeros(len(layouts), dtype=np.int64)
    for turned in orientations(options.board):
        cells = np.sort(np.array(turned)[layouts], axis=1)
        total += probes[np.searchsorted(numbers, cells @ base)]
    return total


def _choices(results: Any, classes: Any) -> Iterator[Line]:
    """Yield the probes of players who choose among the informative ports by chance."""
    import numpy as np
    from numba import njit

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
    import numpy as np

    ports = np.flatnonzero(bits > 0)
    if soft:
        weights = np.exp((bits[ports] - bits.max()) / soft)
        return int(rng.choice(ports, p=weights / weights.sum()))
    drawn = rng.permutation(ports)[:among]
    return int(drawn[bits[drawn].argmax()])


def _guesses(tree: Any) -> Iterator[Line]:
    """Yield the turn in which a greedy player with three guesses wins; each turn has a probe."""
    from pbmserv.games.blackbox.bots.trees import winning_turns

    _, branches, _, node_of = tree
    for limits in GUESSING:
        turns = list(winning_turns(branches.tolist(), node_of.tolist(), limits))
        lost = 100 * (1 - len(turns) / len(node_of))
        shown = ", ".join(map(str, limits))
        yield f"guessing at {shown} layouts: winning turn", f"{mean(turns):.2f}, {lost:.2f} % lost"


def _hardest(options: Options, probes: Any) -> Iterator[Line]:
    """Yield the effect of atoms at the border, and the boxes that cost a greedy player most."""
    import numpy as np

    from pbmserv.games.blackbox.bots.trees import orientations

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
    sums = sums_over_orientations(options, probes)
    hardest = [layouts[index] for index in np.flatnonzero(sums == sums.max())]
    # Of the orientations of a box, name the first.
    first = {min(tuple(sorted(turn[cell] for cell in box)) for turn in turns) for box in hardest}
    boxes = "; ".join(" ".join(map(board.name, box)) for box in sorted(first)[:HARDEST])
    yield (
        "the hardest boxes, and probes on average of all orientations",
        (f"{sums.max() / len(turns):.2f}: {boxes}"),
    )


# -- without numba -------------------------------------------------------------------------


def _plain(options: Options, steps: Steps) -> Iterator[Line]:
    """Yield the lines that plain Python can compute."""
    steps.begin("rays into all ports")
    spectra = all_spectra(options)
    yield from _layouts_and_classes(len(spectra), Counter(Counter(spectra).values()))
    order = options.board.clockwise
    counts = [
        Counter(spectrum[order.index(port)] for spectrum in spectra) for port in _top(options)
    ]
    yield from _first_probe(options, counts)
    steps.begin("greedy play by bits")
    probes, points = greedy_means(spectra, lambda bits, _: bits)
    steps.begin("greedy play by bits per point")
    _, thrifty = greedy_means(spectra, lambda bits, cost: bits / cost)
    yield from _greedy(probes, points, thrifty)


def all_spectra(options: Options) -> list[Spectrum]:
    """Return the spectra of all layouts."""
    from pbmserv.games.blackbox.rays import HIT, trace_all

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


# -- lines of both -------------------------------------------------------------------------


def _top(options: Options) -> range:
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
    names = ", ".join(options.board.ports[port] for port in _top(options))
    yield f"bits of a first probe into {names}", " ".join(f"{value:.3f}" for value in bits)


def _greedy(probes: float, points: float, thrifty: float) -> Iterator[Line]:
    yield "greedy by bits: probes until one class is left", f"{probes:.3f}"
    yield "greedy by bits: points", f"{points:.3f}"
    yield "greedy by bits for each point: points", f"{thrifty:.3f}"
