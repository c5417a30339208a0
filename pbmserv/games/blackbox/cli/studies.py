"""``pbmserv blackbox study``: what can be known of all layouts of a board, from nothing.

With numba (the extra ``house``) 7x7 with 4 atoms takes a minute and a half. Without, the same
numbers come from plain Python where that can be waited for, and the rest is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from math import comb, log2
from operator import itemgetter
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, TypeAlias

from pbmserv.cli.output import say
from pbmserv.extras import why_missing
from pbmserv.games.blackbox.cli.arguments import Params, Unusable, politely

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from pbmserv.games.blackbox.options import Options

MOST = 10_000_000
"""Layouts that are looked at; 8x8 with 5 atoms has 7,624,512."""

MOST_ROLLOUTS = 1_000_000
"""Layouts up to which every port is tried: 8x8 with 4 atoms takes five minutes."""

MOST_PLAIN = 250_000
"""Layouts that plain Python looks at: 7x7 with 4 atoms takes a minute."""

RANDOM_TREES = 40
HARDEST = 5

GAMES = 600
"""Games by lot for each way to choose a port."""

BEST_OF = (2, 3, 5)
SOFTNESS = (0.3, 1.0)
"""Ports by lot of which the best is taken; or any port, e times likelier for so many bits more."""

GUESSING = ((1, 1, 1), (6, 3, 1), (10, 4, 1))
"""At how many layouts somebody guesses who has three guesses left, two, and one."""

Line: TypeAlias = tuple[str, str]
Spectrum = bytes
"""Where rays into all ports come out, clockwise, each as the port's place plus one, 0 = hit."""


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
        options = Options(kind.width, kind.height, kind.least, kind.most)
        with _steps(9 if quick else 3) as steps:
            lines = list((_compiled if quick else _plain)(options, steps))
        for name, value in lines:
            say(f"{name:<60} {value}")
        if missing:
            say(f"The rest is left out: {missing}")


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a study, as a bar on stderr shows them."""

    bar: Progress
    task: TaskID

    def begin(self, name: str) -> None:
        """A step begins, and the one before it is done."""
        self.bar.update(self.task, description=name, advance=1)


@contextmanager
def _steps(total: int) -> Iterator[Steps]:
    """A bar that is gone in the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<36}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    silent = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        yield Steps(bar, bar.add_task("", total=total, completed=-1))


# -- with numba ----------------------------------------------------------------------------


def _compiled(options: Options, steps: Steps) -> Iterator[Line]:
    """All lines."""
    steps.begin("compiling")
    import numpy as np

    from pbmserv.games.blackbox.bots import kernels

    steps.begin("rays into all ports")
    found = kernels.results_of(options.width, options.height, options.least)
    results = _clockwise(options, found)
    board = results, kernels.classes_of(results), kernels.surprises(len(results))
    total = len(results)
    sizes = Counter(Counter(board[1].tolist()).values())
    yield from _told_apart(total, sizes)
    yield from _first_probe(options, [Counter(found[:, port].tolist()) for port in _top(options)])
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
            grown = kernels.grow(board, (goal, aim, kernels.EXACT), kernels.by_rollouts)
            yield (
                f"every port tried, perfect below {kernels.EXACT} layouts: {name}",
                f"{kernels.paid(*grown, goal).mean():.4f}",
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
    """The ports in another order: of ports that tell as much a greedy player takes the first, and
    spec and papers count clockwise."""
    import numpy as np

    order = np.array(options.board.clockwise)
    place: Any = np.zeros(len(order) + 1, dtype=np.uint8)
    place[order + 1] = np.arange(1, len(order) + 1)
    return np.ascontiguousarray(place[results[:, order]])


def sums_over_orientations(options: Options, probes: Any) -> Any:
    """For each layout, in the order of `itertools.combinations`: what all its orientations cost.

    Args:
        probes: what each layout costs, a numpy array.
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
    """Probes of players who choose among the ports that tell anything."""
    import numpy as np
    from numba import njit

    ports, tell = results.shape[1], njit(_tell)

    def bits_of(some: Any) -> Any:
        told = np.zeros(ports)
        tell(results, some, np.zeros((ports, ports + 1)), told)
        return told

    ways = [("an informative port by lot", 1, 0.0)]
    ways += [(f"the best of {n} informative ports by lot", n, 0.0) for n in BEST_OF]
    ways += [(f"an informative port, softly by {soft} bit", 0, soft) for soft in SOFTNESS]
    firsts: dict[tuple[int, int], Any] = {}
    bits = bits_of(np.arange(len(results)))
    for name, among, soft in ways:
        lots = np.random.default_rng(1)
        probes = []
        for layout in lots.integers(len(results), size=GAMES):
            some: Any = None
            count = 0
            while some is None or (classes[some] != classes[some[0]]).any():
                told = bits if some is None else bits_of(some)
                port = _chosen(told, among, soft, lots)
                out = results[layout, port]
                if some is None:
                    if (port, out) not in firsts:
                        firsts[port, out] = np.flatnonzero(results[:, port] == out)
                    some = firsts[port, out]
                else:
                    some = some[results[some, port] == out]
                count += 1
            probes.append(count)
        yield f"{name}: probes", f"{mean(probes):.2f} +- {stdev(probes) / GAMES**0.5:.2f}"


def _tell(results: Any, some: Any, shares: Any, told: Any) -> None:
    """What each port tells on average of some layouts is added to *told*, zeros as *shares* are."""
    for at in some:
        for port in range(len(told)):
            shares[port, results[at, port]] += 1 / len(some)
    for port in range(len(told)):
        for share in shares[port]:
            if share > 0:
                told[port] -= share * log2(share)


def _chosen(told: Any, among: int, soft: float, lots: Any) -> int:
    import numpy as np

    ports = np.flatnonzero(told > 0)
    if soft:
        weights = np.exp((told[ports] - told.max()) / soft)
        return int(lots.choice(ports, p=weights / weights.sum()))
    drawn = lots.permutation(ports)[:among]
    return int(drawn[told[drawn].argmax()])


def _guesses(grown: Any) -> Iterator[Line]:
    """When a greedy player wins who may guess three times, beside the probe of a turn."""
    from pbmserv.games.blackbox.bots.trees import winning_turns

    _, branches, _, node_of = grown
    for limits in GUESSING:
        turns = list(winning_turns(branches.tolist(), node_of.tolist(), limits))
        lost = 100 * (1 - len(turns) / len(node_of))
        shown = ", ".join(map(str, limits))
        yield f"guessing at {shown} layouts: winning turn", f"{mean(turns):.2f}, {lost:.2f} % lost"


def _hardest(options: Options, probes: Any) -> Iterator[Line]:
    """What atoms at the border change, and the boxes that cost a greedy player most."""
    import numpy as np

    from pbmserv.games.blackbox.bots.trees import orientations

    board, atoms = options.board, options.least
    inside = frozenset(board.area(board.width + 1, len(board.cells) - board.width - 2))
    layouts = list(combinations(board.cells, atoms))
    borders = np.array([sum(cell not in inside for cell in one) for one in layouts])
    shown = " ".join(
        f"{probes[borders == count].mean():.2f}" if (borders == count).any() else "-"
        for count in range(atoms + 1)
    )
    yield f"greedy by bits: probes with 0 to {atoms} atoms at the border", shown
    ways = orientations(board)
    sums = sums_over_orientations(options, probes)
    most = [layouts[at] for at in np.flatnonzero(sums == sums.max())]
    first = {min(tuple(sorted(way[cell] for cell in one)) for way in ways) for one in most}
    boxes = "; ".join(" ".join(map(board.name, one)) for one in sorted(first)[:HARDEST])
    yield (
        "the hardest boxes, and probes on average of all orientations",
        (f"{sums.max() / len(ways):.2f}: {boxes}"),
    )


# -- without -------------------------------------------------------------------------------


def _plain(options: Options, steps: Steps) -> Iterator[Line]:
    """The lines that plain Python can give."""
    steps.begin("rays into all ports")
    found = spectra(options)
    yield from _told_apart(len(found), Counter(Counter(found).values()))
    order = options.board.clockwise
    firsts = [Counter(one[order.index(port)] for one in found) for port in _top(options)]
    yield from _first_probe(options, firsts)
    steps.begin("greedy play by bits")
    probes, points = walked(found, lambda told, _: told)
    steps.begin("greedy play by bits per point")
    _, thrifty = walked(found, lambda told, cost: told / cost)
    yield from _greedy(probes, points, thrifty)


def spectra(options: Options) -> list[Spectrum]:
    """Those of all layouts."""
    from pbmserv.games.blackbox.geometry import HIT, trace_all

    board = options.board
    place = {port: at + 1 for at, port in enumerate(board.clockwise)} | {HIT: 0}
    found = []
    for layout in combinations(board.cells, options.least):
        results = trace_all(board, layout)
        found.append(bytes(place[results[port]] for port in board.clockwise))
    return found


def walked(
    found: Sequence[Spectrum], worth: Callable[[float, float], float]
) -> tuple[float, float]:
    """Mean probes and points of a player who always fires where *worth* (bits, points) is most."""
    probes = points = 0
    for size, cost in _tree(list(found), worth):
        probes += size
        points += cost
    return probes / len(found), points / len(found)


def _tree(
    found: list[Spectrum], worth: Callable[[float, float], float]
) -> Iterator[tuple[int, int]]:
    """For each probe in the tree: how many layouts come by, and the points all these pay."""
    ports = range(len(found[0]))
    todo = [found]
    while todo:
        group = todo.pop()
        best, best_port, best_cost = 0.0, -1, 0
        for port in ports:
            shares = Counter(map(itemgetter(port), group))
            if len(shares) == 1:
                continue
            told = log2(len(group)) - sum(n * log2(n) for n in shares.values()) / len(group)
            cost = 2 * len(group) - shares[0] - shares[port + 1]
            value = worth(told, cost / len(group))
            if value > best + 1e-12:
                best, best_port, best_cost = value, port, cost
        if best_port < 0:
            continue
        yield len(group), best_cost
        parts: dict[int, list[Spectrum]] = {}
        for one in group:
            parts.setdefault(one[best_port], []).append(one)
        todo += [part for part in parts.values() if len(part) > 1]


# -- lines of both -------------------------------------------------------------------------


def _top(options: Options) -> range:
    """The ports at the top, as far as the middle."""
    return range((options.width + 1) // 2)


def _told_apart(total: int, sizes: Counter[int]) -> Iterator[Line]:
    """*sizes*: how many classes have so many layouts."""
    yield "layouts", f"{total:,}"
    yield "classes with the same result at every port", f"{sizes.total():,}"
    shared = {size: count for size, count in sorted(sizes.items()) if size > 1}
    layouts = sum(size * count for size, count in shared.items())
    sets = ", ".join(f"{count:,} of {size}" for size, count in shared.items())
    yield "layouts that are not unique", f"{layouts:,} ({sets})" if shared else "0"


def _first_probe(options: Options, counts: Sequence[Counter[int]]) -> Iterator[Line]:
    total = counts[0].total()
    bits = [-sum(n / total * log2(n / total) for n in one.values()) for one in counts]
    names = ", ".join(options.board.ports[port] for port in _top(options))
    yield f"bits of a first probe into {names}", " ".join(f"{one:.3f}" for one in bits)


def _greedy(probes: float, points: float, thrifty: float) -> Iterator[Line]:
    yield "greedy by bits: probes until one class is left", f"{probes:.3f}"
    yield "greedy by bits: points", f"{points:.3f}"
    yield "greedy by bits for each point: points", f"{thrifty:.3f}"
