"""The bots' levels: where each hides its atoms, which port it fires at, when it guesses.

A probe is worth the bits that its result is expected to tell. `python -m benchmarks.strength` plays
thousands of games of each level and writes how strong it is into `STRENGTH`, where the server reads
it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from math import log, log2
from types import MappingProxyType

from pbmserv.engine.types import Rng
from pbmserv.errors import OptionError
from pbmserv.games.blackbox.bots.candidates import Candidates, candidates
from pbmserv.games.blackbox.bots.difficulty import evasive, is_unique
from pbmserv.games.blackbox.bots.trees import Goal, port_orientations, sound
from pbmserv.games.blackbox.options import Options, anew, drawn
from pbmserv.games.blackbox.rays import HIT, trace_all
from pbmserv.games.blackbox.views import BoxView, View

USUAL = 100
"""Cells of a board up to which so many are looked at; larger ones get any layout."""

TRIED = 12
"""Layouts that the hard bot draws before it takes the one that looks most usual from outside."""

COMPARED = 100
"""Layouts that tell it what is usual."""

UNIQUE = 30_000
"""Rays of a search for another layout with the same results, a tenth of a second."""

REMEMBERED = 70
"""Percent of all results that a beginner thinks of in a turn, others each time."""

IMAGINED = 40
"""Layouts of a large board that a beginner thinks of. They are found anew each turn, since others
are forgotten each time."""

CERTAIN = (1, 1, 1)
"""At how many candidates a player guesses who has one guess left, two, or more: only when sure."""

BOLD = (1, 3, 6)
"""`CERTAIN` for a player who does not wait for certainty, which costs half a turn on 7x7 with 4
atoms. With the last guess even two candidates are too many."""

BOLDEST = (1, 4, 10)
"""`CERTAIN` for a player who is 0.07 turns quicker than `BOLD` and loses one game in a thousand."""

HASTY = (4, 12, 30)
"""`CERTAIN` for a beginner."""

MEASURED = Options()
"""The board on which the levels' strength was measured; `options.rated` lets no other be rated."""

STRENGTH = "strength.json"
"""What `benchmarks.strength` has measured, beside this module."""


def anywhere(options: Options, rng: Rng) -> frozenset[int]:
    """Any layout, each number of atoms and each place as likely as any other."""
    return frozenset(drawn(options, rng))


def unobtrusive(options: Options, rng: Rng) -> frozenset[int]:
    """A layout that is hard to find, also for who knows how it is drawn: any layout may come.

    On boards of which nobody knows how hard layouts are it is one of a few, whose results surprise
    least, so that each probe tells little; where equal results count as right, and that can be
    seen, one that rays tell from all others.
    """
    known = evasive(options, rng)
    if known is not None:
        return known
    board = options.board
    if len(board.cells) > USUAL:
        return anywhere(options, rng)
    usual = [Counter[int]() for _ in board.ports]
    for _ in range(COMPARED):
        for seen, out in zip(usual, trace_all(board, anywhere(options, rng)), strict=True):
            seen[out] += 1

    def surprise(layout: frozenset[int]) -> float:
        results = trace_all(board, layout)
        return -sum(log(seen[out] + 1) for seen, out in zip(usual, results, strict=True))

    tried = sorted((anywhere(options, rng) for _ in range(TRIED)), key=surprise)
    unique = (one for one in tried if is_unique(options, one, UNIQUE) is not False)
    return next(unique, tried[0]) if options.fair else tried[0]


@dataclass(frozen=True, slots=True)
class Port:
    """A port that can tell something.

    Attributes:
        bits: what its result tells on average.
        points: what the probe costs on average where results cost points.
    """

    number: int
    bits: float
    points: float


def informative(found: Candidates, unused: Sequence[int]) -> list[Port]:
    """The unused ports at which the candidates differ, in port order."""
    total = sum(found.weights)
    ports = []
    for port in unused:
        shares: dict[int, int] = {}
        for spectrum, weight in zip(found.spectra, found.weights, strict=True):
            out = spectrum[port]
            shares[out] = shares.get(out, 0) + weight
        if len(shares) > 1:
            bits = -sum(share / total * log2(share / total) for share in shares.values())
            single = sum(share for out, share in shares.items() if out in (HIT, port))
            ports.append(Port(port, bits, 2 - single / total))
    return ports


def classes(found: Candidates) -> int:
    """How many different sets of results the candidates would show at all ports."""
    return len({tuple(spectrum) for spectrum in found.spectra})


def likeliest(found: Candidates, rng: Rng, *, fair: bool) -> frozenset[int]:
    """The layout to guess; with *fair* one of the set of results that most of them show."""
    shares: dict[object, int] = {}
    keys = [tuple(s) if fair else i for i, s in enumerate(found.spectra)]
    for key, weight in zip(keys, found.weights, strict=True):
        shares[key] = shares.get(key, 0) + weight
    most = max(shares.values())
    best = [layout for layout, key in zip(found.layouts, keys, strict=True) if shares[key] == most]
    return rng.choice(best)


@dataclass(frozen=True, slots=True)
class Level:
    """A way to play.

    Attributes:
        ports: of how many ports, drawn by lot, it takes the best; 0 = of all.
        few: at how many candidates it guesses with one guess left, with two, with more.
        hide: where it puts its atoms.
        beginner: forgets results, fires where nothing can be learnt, and guesses too early.
        by_tree: fires where a stored tree says, if its board has one.
    """

    ports: int
    few: tuple[int, int, int]
    hide: Callable[[Options, Rng], frozenset[int]]
    beginner: bool = False
    by_tree: bool = False

    @property
    def _is_thrifty(self) -> bool:
        """Whether it looks at all ports, at what they cost, and wastes no turn."""
        return not self.ports

    def agree(self, options: Options) -> None:
        """Refuse what would be no game against a player who answers at once.

        Raises:
            OptionError: time, or who is first, decides this race.
        """
        if options.scoring == "timed":
            raise OptionError("blackbox.house-timed", part="-scoring=timed", example="-race")
        if options.scoring == "first":
            raise OptionError("blackbox.house-first", part="-scoring=first", example="-race")

    def choose(self, view: View, rng: Rng) -> str:
        """A move for the reader of *view*, who may use a turn."""
        # A race's options tell its box to those who replay it; a player is not shown them.
        seen = replace(view, options=anew(view.options))
        if not seen.has_hidden:
            return _named(seen, self.hide(seen.options, rng))
        return self._solve(seen, rng)

    def _solve(self, view: View, rng: Rng) -> str:
        own = view.own
        assert own is not None
        unused = [port for port, mark in enumerate(own.marks) if not mark]
        if self.beginner:
            found = candidates(_half_forgotten(view, rng), rng, IMAGINED)
        else:
            found = candidates(view, rng)
        ports = informative(found, unused) if found.layouts else []
        if self._is_time(view, found, ports, unused):
            return self._guess(view, found, ports, rng)
        if self.beginner or not ports:
            return own.board.ports[rng.choice(unused)]
        return own.board.ports[self._best(view, ports, rng)]

    def _is_time(
        self, view: View, found: Candidates, ports: Sequence[Port], unused: Sequence[int]
    ) -> bool:
        """Whether to guess now: nothing can be learnt, or few enough layouts are left."""
        if not unused:
            return True
        if not (found.complete and found.layouts):
            return False  # there may be others that were not found
        if not ports:
            return True
        fair = view.options.fair
        left = classes(found) if fair else len(found.layouts)
        assert view.own is not None
        return left <= self.few[min(view.own.guesses_left, 3) - 1]

    def _guess(self, view: View, found: Candidates, ports: Sequence[Port], rng: Rng) -> str:
        """The markers that are wrong come off, those that are missing go on; then the guess.

        In a game of two a probe costs nothing beside it, and tells more if the guess is wrong.
        """
        own = view.own
        assert own is not None
        layout = (
            likeliest(found, rng, fair=view.options.fair)
            if found.layouts
            else anywhere(view.options, rng)
        )
        name = own.board.name
        probe = self._is_thrifty and ports and not view.options.race
        words = [own.board.ports[self._best(view, ports, rng)]] if probe else []
        words += [f"/{name(cell)}" for cell in sorted(own.markers - layout)]
        words += [f"+{name(cell)}" for cell in sorted(layout - own.markers)]
        return ",".join((*words, "?"))

    def _best(self, view: View, ports: Sequence[Port], rng: Rng) -> int:
        known = _by_tree(view, rng) if self.by_tree else None
        if known is not None and any(port.number == known for port in ports):
            return known
        among = rng.sample(ports, self.ports) if 0 < self.ports < len(ports) else ports
        if view.options.race and self._is_thrifty:  # there a probe costs its points
            return max(among, key=lambda port: port.bits / port.points).number
        return max(among, key=lambda port: port.bits).number


def _half_forgotten(view: View, rng: Rng) -> View:
    """The view without some of the results and wrong guesses in it, drawn by lot."""
    own = view.own
    assert own is not None
    assert view.seat is not None

    def comes_to_mind() -> bool:
        return rng.below(100) < REMEMBERED

    marks = [""] * len(own.marks)
    for port, out in own.results:
        if comes_to_mind():
            marks[port] = own.marks[port]
            marks[max(port, out)] = own.marks[port]  # a detour's other end
    guessed = tuple(one for one in own.guessed if comes_to_mind())
    boxes: list[BoxView] = list(view.boxes)
    boxes[view.seat] = replace(own, marks=tuple(marks), guessed=guessed)
    return replace(view, boxes=tuple(boxes))


def _by_tree(view: View, rng: Rng) -> int | None:
    """The port that a stored tree asks for next; ``None`` where there is none, or nothing to ask.

    Each game is played by the tree turned in one of the ways that fit the board, so that no layout
    is always the hardest. Which way it was is told by what was asked so far.
    """
    own, options = view.own, view.options
    assert own is not None
    goal = Goal.POINTS if options.race and options.scoring == "classic" else Goal.PROBES
    board = options.board
    if options.least != options.most:
        return None
    known = sound(board.width, board.height, options.least, goal)
    known = known or sound(board.width, board.height, options.least, Goal.PROBES)
    if known is None:
        return None
    results = own.results
    ways = port_orientations(board)
    if not results:
        return rng.choice(ways).index(known.ports[0])
    turned = [[(way[port], way[out] if out >= 0 else out) for port, out in results] for way in ways]
    best = max(range(len(ways)), key=lambda number: known.asked(turned[number]))
    port = known.port(turned[best])
    return ways[best].index(port) if isinstance(port, int) else None


def _named(view: View, layout: frozenset[int]) -> str:
    return ",".join(map(view.options.board.name, sorted(layout)))


def measured() -> Mapping[str, Mapping[str, float]]:
    """What was measured of each level, by userid, as `GameInfo.strength` has it."""
    text = files("pbmserv.games.blackbox.bots").joinpath(STRENGTH).read_text("utf-8")
    levels: Mapping[str, Mapping[str, float]] = json.loads(text)["levels"]
    return levels


LEVELS: Mapping[str, Level] = MappingProxyType(
    {
        "house-beginner": Level(ports=1, few=HASTY, hide=anywhere, beginner=True),
        "house-easy": Level(ports=1, few=CERTAIN, hide=anywhere),
        "house": Level(ports=3, few=CERTAIN, hide=anywhere),
        "house-hard": Level(ports=0, few=BOLD, hide=unobtrusive),
        "house-best": Level(ports=0, few=BOLDEST, hide=unobtrusive, by_tree=True),
    }
)
"""The weakest first."""
