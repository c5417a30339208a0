"""The levels of bots: how they hide atoms, choose ports and decide to guess.

The value of a probe is the expected information of its result. `python -m benchmarks.strength`
plays thousands of games of each level and writes its strength into `STRENGTH`, which the server
reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from types import MappingProxyType

from pbmserv.engine.rng import Rng
from pbmserv.errors import OptionError
from pbmserv.games.blackbox.bots.candidates import Candidates, candidates, entropy
from pbmserv.games.blackbox.bots.hiding import hard_layout, random_layout
from pbmserv.games.blackbox.bots.orientations import port_orientations
from pbmserv.games.blackbox.bots.trees import Goal, usable_tree
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import HIT
from pbmserv.games.blackbox.views import BoxView, View

IMAGINED = 40
"""Layouts of a large board that a forgetful player considers. They are searched in each turn, since
the forgotten results differ."""

FIRST_RESULTS = 4
"""Results that an impatient player waits for before the first guess."""

CERTAIN = (1, 1, 1)
"""The most candidates at which a player guesses with one, two or more guesses left: only if
sure."""

BOLD = (1, 3, 6)
"""`CERTAIN` for a player who does not wait for certainty, which would cost half a turn on 7x7 with
4 atoms. With the last guess, even two candidates are too many."""

BOLDEST = (1, 4, 10)
"""`CERTAIN` for a player who is 0.07 turns faster than `BOLD` and loses one game in a thousand."""

HASTY = (4, 12, 30)
"""`CERTAIN` for a forgetful player."""

STRENGTH = "strength.json"
"""The file beside this module with the measurements of `benchmarks.strength`."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port that can give information.

    Attributes:
        number: the port.
        bits: the expected information.
        points: the expected cost of the probe if results cost points.
    """

    number: int
    bits: float
    points: float


def informative(fitting: Candidates, unused: Sequence[int]) -> list[Port]:
    """Return the unused ports at which the candidates differ, in port order."""
    total = sum(fitting.weights)
    ports = []
    for port in unused:
        shares: dict[int, int] = {}
        for spectrum, weight in zip(fitting.spectra, fitting.weights, strict=True):
            out = spectrum[port]
            shares[out] = shares.get(out, 0) + weight
        if len(shares) > 1:
            single = sum(share for out, share in shares.items() if out in (HIT, port))
            ports.append(Port(port, entropy(shares), 2 - single / total))
    return ports


def count_classes(fitting: Candidates) -> int:
    """Count the candidates that rays can distinguish."""
    return len({tuple(spectrum) for spectrum in fitting.spectra})


def likeliest(fitting: Candidates, rng: Rng, *, fair: bool) -> frozenset[int]:
    """Return the layout to guess.

    If equal results count as right (*fair*), it is a layout with the likeliest results.
    """
    shares: dict[object, int] = {}
    keys = [tuple(spectrum) if fair else number for number, spectrum in enumerate(fitting.spectra)]
    for key, weight in zip(keys, fitting.weights, strict=True):
        shares[key] = shares.get(key, 0) + weight
    most = max(shares.values())
    best = [
        layout for layout, key in zip(fitting.layouts, keys, strict=True) if shares[key] == most
    ]
    return rng.choice(best)


@dataclass(frozen=True, slots=True)
class Level:
    """A level of play.

    Attributes:
        tried_ports: the number of random ports of which it takes the best, 0 for all ports.
        most_candidates: the most candidates at which it guesses with one, two or more guesses left.
        hide: returns the layout that it hides.
        remembers: percentage of all results that it remembers in a turn, different ones each time.
            A forgetful player fires at random, too.
        impatience: percentage of turns in which it guesses although it is not sure.
        is_reckless: it does so with the last guess, too.
        by_tree: it follows a stored tree if its board has one.
    """

    tried_ports: int
    most_candidates: tuple[int, int, int]
    hide: Callable[[Options, Rng], frozenset[int]]
    remembers: int = 100
    impatience: int = 0
    is_reckless: bool = False
    by_tree: bool = False

    @property
    def _is_thrifty(self) -> bool:
        """Whether it examines all ports and their costs, and wastes no turn."""
        return not self.tried_ports

    @property
    def _is_forgetful(self) -> bool:
        return self.remembers < 100

    def agree(self, options: Options) -> None:
        """Check that a race is fair against a player who answers at once.

        Raises:
            OptionError: the race depends on time or on the order of solvers.
        """
        if options.scoring == "timed":
            raise OptionError("blackbox.house-timed", part="-scoring=timed", example="-race")
        if options.scoring == "first":
            raise OptionError("blackbox.house-first", part="-scoring=first", example="-race")

    def choose(self, view: View, rng: Rng) -> str:
        """Return a move for the reader of *view*, who may use a turn."""
        if not view.has_hidden:
            return _cell_names(view, self.hide(view.options, rng))
        return self._solve(view, rng)

    def _solve(self, view: View, rng: Rng) -> str:
        own = view.own
        assert own is not None
        unused = [port for port, mark in enumerate(own.marks) if not mark]
        if self._is_forgetful:
            fitting = candidates(_half_forgotten(view, self.remembers, rng), rng, IMAGINED)
        else:
            fitting = candidates(view, rng)
        ports = informative(fitting, unused) if fitting.layouts else []
        if self._is_time_to_guess(view, fitting, ports, unused) or self._is_impatient(
            view, fitting, rng
        ):
            return self._guess(view, fitting, ports, rng)
        if self._is_forgetful or not ports:
            return own.board.ports[rng.choice(unused)]
        return own.board.ports[self._best_port(view, ports, rng)]

    def _is_time_to_guess(
        self, view: View, fitting: Candidates, ports: Sequence[Port], unused: Sequence[int]
    ) -> bool:
        """Return whether to guess now: nothing can be learned, or few enough layouts are left."""
        if not unused:
            return True
        if not (fitting.complete and fitting.layouts):
            return False  # other layouts may fit
        if not ports:
            return True
        fair = view.options.fair
        left = count_classes(fitting) if fair else len(fitting.layouts)
        assert view.own is not None
        return left <= self.most_candidates[min(view.own.guesses_left, 3) - 1]

    def _is_impatient(self, view: View, fitting: Candidates, rng: Rng) -> bool:
        """Return whether to guess one of many layouts that fit what it remembers."""
        own = view.own
        assert own is not None
        is_careful = own.guesses_left == 1 and not self.is_reckless
        if not self.impatience or is_careful or not fitting.layouts:
            return False
        return len(own.results) >= FIRST_RESULTS and rng.below(100) < self.impatience

    def _guess(self, view: View, fitting: Candidates, ports: Sequence[Port], rng: Rng) -> str:
        """Return a move that corrects the markers and guesses.

        In a game of two it also has a probe, which is free there and helps if the guess is wrong.
        """
        own = view.own
        assert own is not None
        layout = (
            likeliest(fitting, rng, fair=view.options.fair)
            if fitting.layouts
            else random_layout(view.options, rng)
        )
        name = own.board.name
        probe = self._is_thrifty and ports and not view.options.race
        words = [own.board.ports[self._best_port(view, ports, rng)]] if probe else []
        words += [f"/{name(cell)}" for cell in sorted(own.markers - layout)]
        words += [f"+{name(cell)}" for cell in sorted(layout - own.markers)]
        return ",".join((*words, "?"))

    def _best_port(self, view: View, ports: Sequence[Port], rng: Rng) -> int:
        tree_port = _tree_port(view, rng) if self.by_tree else None
        if tree_port is not None and any(port.number == tree_port for port in ports):
            return tree_port
        among = rng.sample(ports, self.tried_ports) if 0 < self.tried_ports < len(ports) else ports
        if view.options.race and self._is_thrifty:  # probes cost points in a race
            return max(among, key=lambda port: port.bits / port.points).number
        return max(among, key=lambda port: port.bits).number


def _half_forgotten(view: View, remembers: int, rng: Rng) -> View:
    """Return the view with this percentage of the results and wrong guesses, chosen at random."""
    own = view.own
    assert own is not None
    assert view.seat is not None

    def is_remembered() -> bool:
        return rng.below(100) < remembers

    marks = [""] * len(own.marks)
    for port, out in own.results:
        if is_remembered():
            marks[port] = own.marks[port]
            marks[max(port, out)] = own.marks[port]  # the other end of a detour
    guessed = tuple(guess for guess in own.guessed if is_remembered())
    boxes: list[BoxView] = list(view.boxes)
    boxes[view.seat] = replace(own, marks=tuple(marks), guessed=guessed)
    return replace(view, boxes=tuple(boxes))


def _tree_port(view: View, rng: Rng) -> int | None:
    """Return the next port of a stored tree, `None` if there is no tree or no further port.

    Each game uses the tree in a random orientation, so that no layout is always the hardest. The
    ports fired so far show which orientation it is.
    """
    own, options = view.own, view.options
    assert own is not None
    goal = Goal.POINTS if options.race and options.scoring == "classic" else Goal.PROBES
    board = options.board
    if options.least != options.most:
        return None
    tree = usable_tree(board.width, board.height, options.least, goal)
    tree = tree or usable_tree(board.width, board.height, options.least, Goal.PROBES)
    if tree is None:
        return None
    results = own.results
    turns = port_orientations(board)
    if not results:
        return rng.choice(turns).index(tree.ports[0])
    turned = [
        [(turn[port], turn[out] if out >= 0 else out) for port, out in results] for turn in turns
    ]
    best = max(range(len(turns)), key=lambda number: tree.ports_used(turned[number]))
    port = tree.port(turned[best])
    return turns[best].index(port) if isinstance(port, int) else None


def _cell_names(view: View, layout: frozenset[int]) -> str:
    return ",".join(map(view.options.board.name, sorted(layout)))


def measured() -> Mapping[str, Mapping[str, float]]:
    """Return the measurements of each level by userid; see `GameInfo.strength`."""
    text = files("pbmserv.games.blackbox.bots").joinpath(STRENGTH).read_text("utf-8")
    levels: Mapping[str, Mapping[str, float]] = json.loads(text)["levels"]
    return levels


LEVELS: Mapping[str, Level] = MappingProxyType(
    {
        "house-beginner": Level(
            tried_ports=1,
            most_candidates=HASTY,
            hide=random_layout,
            remembers=35,
            impatience=17,
            is_reckless=True,
        ),
        "house-casual": Level(
            tried_ports=1, most_candidates=HASTY, hide=random_layout, remembers=70
        ),
        "house-easy": Level(tried_ports=1, most_candidates=CERTAIN, hide=random_layout),
        "house": Level(tried_ports=3, most_candidates=CERTAIN, hide=random_layout),
        "house-hard": Level(tried_ports=0, most_candidates=BOLD, hide=hard_layout),
        "house-best": Level(tried_ports=0, most_candidates=BOLDEST, hide=hard_layout, by_tree=True),
    }
)
"""Levels by userid, the weakest first."""
