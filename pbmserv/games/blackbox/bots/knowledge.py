"""What the results so far leave of all layouts, and how much each port would tell.

Where all that fit can be looked at, everything here is exact. On larger boards a sample stands for
them. The work has an end, which no clock decides (`Effort`).
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, combinations
from math import comb, log2
from random import Random

from pbmserv.engine.types import Rng
from pbmserv.games.blackbox.bots.candidates import (
    LARGE,
    VAST,
    loops_for,
    samples_of,
    searched,
)
from pbmserv.games.blackbox.bots.layout_sets import LayoutSet, all_layouts, listed_layouts
from pbmserv.games.blackbox.bots.search import Case, Result, search, wander
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import trace, trace_all

EXACT = 700_000
"""Layouts of a board that are all looked at: 8x8 with 4 atoms has 635,376."""

LISTED = 20_000
"""Layouts of a larger board that are all looked at, once there are no more."""

DRAWN = 20_000
"""How many stand for all of them before."""

FEWEST = 400
"""When so few of those are left, others are drawn."""

SCARCE = 150
"""When so few are left on a board too large for a search, atoms wander to find others."""

FOUND = 600
"""So many are enough then."""

WANDERED = 100_000
"""What they may fire on their way, a tenth of a second."""

COMPARED = 100_000
"""Of a larger set every second layout, or third, … tells which port is best."""

SKIMMED = 4_000
"""`COMPARED` for sets that are only a sample."""

TELLING = 20
"""Fewer tell nothing about ports."""

RAYS = 60_000
"""What a search for the layouts may fire."""

COMPILED_SEARCH = 20_000
"""Microseconds of what compiled loops do instead, about; a tenth of it on the largest."""

CROWDED, CROWDED_VAST = 400, 100
"""Layouts that crowds are to hold, the second on a vast board; fewer than the house's, since a
report has a crowd for each probe."""

COMPILED_CROWDS = 70
"""Microseconds that these take for each cell of the board, about."""

SEEN = 40
"""Fewer different ones in crowds are all there are, about."""

TRACED = 1_000
"""Of so many layouts in a sample compiled loops fire all rays one by one."""

RAY = 2
"""Microseconds of such a ray, about."""

ALLOWED = 1_000_000
"""Microseconds of a processor, about, that all comparing of ports may take for one usual box."""


@dataclass(slots=True)
class Effort:
    """Work that may still be done.

    Attributes:
        left: microseconds of a processor, as `LayoutSet.work` counts.
        next_search: how many results the next search for layouts must have; one that came to no
            end is not tried again with hardly more.
    """

    left: int = ALLOWED
    next_search: int = 0


@dataclass(frozen=True)
class Known:
    """What somebody knows at one point of a game.

    Attributes:
        layouts, some: those that fit; all of them if *complete*, else a sample.
        total: how many fit; ``None`` = not known.
        results, unused: of the ports.
        wrong: what was guessed.
    """

    options: Options
    layouts: LayoutSet
    some: int
    complete: bool
    total: int | None
    results: tuple[Result, ...]
    unused: frozenset[int]
    wrong: tuple[frozenset[int], ...] = ()

    def ports(self, effort: Effort) -> dict[int, float]:
        """The bits of each unused port; nothing when the work is done, or nothing is known."""
        board, loops = self.options.board, None if self.complete else loops_for(self.options)
        least = TELLING if loops is None else 1  # crowds that hold few have found no others
        if effort.left <= 0 or (not self.complete and self.some.bit_count() < least):
            return {}
        if self.complete and not self.results and not self.wrong:
            return dict(enumerate(_first(board.width, board.height, *_range(self.options))))
        layouts, some = self.layouts, self.some
        if loops is not None:
            listed = list(layouts.listed(some))
            shown = loops.spectra(board, listed[:: len(listed) // TRACED + 1])
            effort.left -= len(shown) * len(self.unused) // 5
            return {port: _spread(Counter(one[port] for one in shown)) for port in self.unused}
        most = COMPARED if self.complete else SKIMMED
        if some.bit_count() > most:
            step = some.bit_count() // most + 1
            layouts = listed_layouts(board, list(layouts.listed(some))[::step], layouts.weights)
            some = layouts.everything
        before = layouts.work
        found = {port: _bits(layouts, port, some) for port in self.unused}
        effort.left -= layouts.work - before
        return found

    @property
    def is_sampled(self) -> bool:
        """Whether `ports` looks at some layouts only."""
        return not self.complete or (self.some.bit_count() > COMPARED and bool(self.results))

    def reckoned(self, about: float) -> float:
        """How many layouts fit, if the bits so far leave *about* so many: no fewer than were found,
        and these where crowds would have come by others."""
        found = self.some.bit_count()
        few = found < SEEN and not self.complete and loops_for(self.options) is not None
        return found if few and found else max(about, found)

    def is_decided(self, bits: dict[int, float]) -> bool:
        """Whether no further probe can tell anything; *bits* is what `ports` has said."""
        if not self.complete:
            return False
        return self.total == 1 or not self.unused or (bool(bits) and not any(bits.values()))

    def fired(self, port: int, out: int, effort: Effort) -> Known:
        """Return the knowledge after a ray."""
        some = self.layouts.divided(port, self.some).get(out, 0) if self.some else 0
        after = replace(
            self,
            some=some,
            total=some.bit_count() if self.complete else None,
            results=(*self.results, (port, out)),
            unused=self.unused - {port, out},
        )
        if after.unused == self.unused:  # a port that shows its mark already
            return self
        return after.compacted() if self.complete else after.searched(effort)

    def guessed(self, markers: frozenset[int]) -> Known:
        """Return the knowledge after a wrong guess."""
        after = replace(self, wrong=(*self.wrong, markers))
        same = self.same(markers)
        left = self.some ^ same
        return replace(after, some=left, total=left.bit_count() if self.complete else None)

    def same(self, markers: frozenset[int]) -> int:
        """Those that a wrong guess rules out: itself; where equal results would have been right,
        all that show the same ones."""
        if not self.options.fair:
            return self.layouts.only(markers, self.some)
        shown = trace_all(self.options.board, markers)
        if any(shown[port] != out for port, out in self.results):
            return 0
        same = self.some
        for port in self.unused:
            same = self.layouts.divided(port, same).get(shown[port], 0) if same else 0
        return same

    def compacted(self) -> Known:
        """Return this knowledge with only the layouts that are left, if these are far fewer."""
        count = self.some.bit_count()
        if self.layouts.size < 64 or count > self.layouts.size // 4:
            return self
        listed = self.layouts.listed(self.some)
        layouts = listed_layouts(self.options.board, listed, self.layouts.weights)
        return replace(self, layouts=layouts, some=layouts.everything)

    def searched(self, effort: Effort) -> Known:
        """With layouts that a search finds, if it comes to an end; else with those that wandering
        atoms come by."""
        options = self.options
        if effort.left <= 0 or len(self.results) < effort.next_search:
            return self.wandered(effort)
        loops = loops_for(options)
        if loops is None:
            found = search(options.board, self.results, options.least, options.most, RAYS)
            effort.left -= RAY * (len(found.cases) * 4 if found.complete else RAYS)
        else:
            found = searched(loops, options, self.results)
            effort.left -= (
                COMPILED_SEARCH if len(options.board.cells) <= LARGE else COMPILED_SEARCH // 10
            )
        if not found.complete:
            again = loops is not None  # it costs little
            effort.next_search = 0 if again else len(self.results) * 3 // 2 + 1
            return self.wandered(effort)
        counts = range(options.least, options.most + 1)
        ways = [sum(_ways(case, count) for count in counts) for case in found.cases]
        total = sum(ways)
        if total <= LISTED:
            every = (one for case in found.cases for one in _expanded(case, counts))
            layouts = listed_layouts(options.board, every, _weights(options))
            known = replace(self, layouts=layouts, some=layouts.everything, complete=True, wrong=())
            for markers in self.wrong:
                known = known.guessed(markers)
            return replace(known, total=known.some.bit_count())
        known = self if self.wrong else replace(self, total=total)
        if self.some.bit_count() >= FEWEST:
            return known
        layouts = listed_layouts(options.board, _sample(found.cases, counts, options), None)
        return replace(known, layouts=layouts, some=layouts.everything)

    def wandered(self, effort: Effort) -> Known:
        """With others if those that are left are few: from crowds, as the house finds them; where
        their loops are missing, layouts that atoms come by which wander from those that are left.
        Neither is quite a fair sample: some layouts are easier to come by than others."""
        if effort.left <= 0 or self.some.bit_count() >= SCARCE:
            return self
        options = self.options
        counts = range(options.least, options.most + 1)
        left = list(self.layouts.listed(self.some))
        loops = loops_for(options)
        if loops is None:
            lots = Rng(b"the coach", len(self.results))
            found = wander(options.board, self.results, counts, FOUND, WANDERED, lots, left)
        else:
            wanted = CROWDED if len(options.board.cells) <= VAST else CROWDED_VAST
            samples = samples_of(loops, options, self.results, wanted)
            found = list(dict.fromkeys(one for sample in (*samples, left) for one in sample))
        cells = len(options.board.cells)
        effort.left -= WANDERED if loops is None else COMPILED_CROWDS * cells
        layouts = listed_layouts(options.board, found, None)
        known = replace(self, layouts=layouts, some=layouts.everything)
        for markers in self.wrong:
            known = replace(known, some=known.some ^ known.same(markers))
        return known


def effort_for(options: Options) -> Effort:
    """For one box: four seconds on the largest, about, where there is most to fire."""
    return Effort(ALLOWED * max(1, len(options.board.cells) // LARGE))


def _range(options: Options) -> tuple[int, int]:
    return options.least, options.most


def _weights(options: Options) -> dict[int, int] | None:
    """How likely a layout of each number of atoms is: each number is as likely as any other."""
    if options.least == options.most:
        return None
    cells = len(options.board.cells)
    sizes = {count: comb(cells, count) for count in range(options.least, options.most + 1)}
    unit = max(sizes.values()) << 20
    return {count: unit // size for count, size in sizes.items()}


def beginning(options: Options) -> Known:
    """What is known before the first probe."""
    board, counts = options.board, range(options.least, options.most + 1)
    total = sum(comb(len(board.cells), count) for count in counts)
    complete = total <= EXACT
    if complete:
        layouts = all_layouts(board, counts, _weights(options))
    else:
        lots = Random(0)  # noqa: S311 - a sample, no secret
        drawn = {
            frozenset(lots.sample(board.cells, lots.choice(counts))) for _ in range(_draws(options))
        }
        layouts = listed_layouts(board, drawn, None)
    unused = frozenset(range(len(board.ports)))
    return Known(options, layouts, layouts.everything, complete, total, (), unused)


def _draws(options: Options) -> int:
    """Fewer where each costs more."""
    return max(FEWEST, DRAWN * 100 // max(100, len(options.board.cells)))


def _ways(case: Case, count: int) -> int:
    further = count - len(case.atoms)
    return comb(len(case.open), further) if further >= 0 else 0


def _expanded(case: Case, counts: Sequence[int]) -> Iterator[frozenset[int]]:
    for count in counts:
        if count >= len(case.atoms):
            for more in combinations(case.open, count - len(case.atoms)):
                yield frozenset((*case.atoms, *more))


def _sample(cases: Sequence[Case], counts: Sequence[int], options: Options) -> set[frozenset[int]]:
    """Different layouts of these cases, drawn as likely as each of them is."""
    lots = Random(0)  # noqa: S311 - a sample, no secret
    weights = _weights(options) or {options.least: 1}
    shares = [(case, count) for case in cases for count in counts if _ways(case, count)]
    ends = list(accumulate(_ways(case, count) * weights[count] for case, count in shares))
    drawn = set()
    for _ in range(_draws(options)):
        case, count = shares[bisect(ends, lots.randrange(ends[-1]))]
        drawn.add(frozenset((*case.atoms, *lots.sample(case.open, count - len(case.atoms)))))
    return drawn


def _bits(layouts: LayoutSet, port: int, some: int) -> float:
    """The bits that a ray into a port is expected to tell."""
    parts = layouts.divided(port, some)
    return _spread({out: layouts.weight(part) for out, part in parts.items()})


def _spread(shares: Mapping[int, int]) -> float:
    """The bits of a result that comes out in these shares."""
    total = sum(shares.values())
    told = -sum(share / total * log2(share / total) for share in shares.values())
    return told if len(shares) > 1 else 0.0


@lru_cache(maxsize=32)
def _first(width: int, height: int, least: int, most: int) -> tuple[float, ...]:
    """The bits of each port on a board of which nothing is known; mirrored ports are alike."""
    board = geometry(width, height)
    options = Options(width, height, least, most)
    layouts = all_layouts(board, range(least, most + 1), _weights(options))
    known: dict[tuple[bool, int], float] = {}
    found = []
    for port, (column, row) in enumerate(board.port_places):
        upright = row in (0, height + 1)
        at, end = (column, width) if upright else (row, height)
        key = (upright or width == height, min(at, end + 1 - at))
        if key not in known:
            known[key] = _bits(layouts, port, layouts.everything)
        found.append(known[key])
    return tuple(found)


def gained(before: Known, after: Known, port: int, out: int) -> float | None:
    """The bits that a result told."""
    exact = before.total and after.total
    if exact and before.options.least == before.options.most:
        return log2(before.total or 1) - log2(after.total or 1)
    if before.some:
        told = before.layouts.divided(port, before.some).get(out, 0)
        share = before.layouts.weight(told) / before.layouts.weight(before.some)
        # What none of a sample shows counts as half a layout, if any was found in the end.
        return -log2(share or 0.5 / before.some.bit_count()) + 0.0 if share or after.some else None
    return None


def best_line(known: Known, atoms: frozenset[int], effort: Effort) -> list[Result] | None:
    """The ports that tell most, one after the other, until no further one can tell anything, each
    with its result; ``None``: the work is done before."""
    board = known.options.board
    found: list[Result] = []
    while True:
        bits = known.ports(effort)
        if known.is_decided(bits):
            return found
        if not bits:
            return None
        port = min(bits, key=lambda port: (-round(bits[port], 9), port))
        out = trace(board, atoms, port)
        found.append((port, out))
        known = known.fired(port, out, effort)
