"""The layouts that fit the results so far, and the information that each port would give.

If all fitting layouts can be examined, everything is exact. On larger boards a sample represents
them. The work is limited without a clock (`Effort`), so that results do not depend on the machine.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain
from math import comb, log2
from random import Random

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots.candidates import (
    LARGE,
    VAST,
    samples_of,
    search_compiled,
)
from pbmserv.games.blackbox.bots.layout_sets import LayoutSet, all_layouts, listed_layouts
from pbmserv.games.blackbox.bots.loops import loops_for
from pbmserv.games.blackbox.bots.search import Case, Result, likelihoods, search, wander
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import trace, trace_all

EXACT = 700_000
"""The most layouts of a board that are all examined; 8x8 with 4 atoms has 635,376."""

LISTED = 20_000
"""The most fitting layouts of a larger board that are all examined."""

DRAWN = 20_000
"""The size of a sample."""

FEWEST = 400
"""With fewer fitting layouts left in the sample, others are drawn."""

SCARCE = 150
"""With fewer left on a board that is too large for a search, atoms wander to find others."""

FOUND = 600
"""Layouts that wandering atoms have to find."""

WANDERED = 100_000
"""Rays that may be fired among wandering atoms, which take a tenth of a second."""

COMPARED = 100_000
"""The most layouts that are compared for the best port. Of larger sets, every nth is compared."""

SKIMMED = 4_000
"""`COMPARED` for samples."""

TELLING = 20
"""The fewest layouts of a sample from which the bits of ports are computed."""

RAYS = 60_000
"""Rays that a search for the layouts may fire."""

COMPILED_SEARCH = 20_000
"""Approximate microseconds of a compiled search; on the largest boards it takes a tenth."""

CROWDED, CROWDED_VAST = 400, 100
"""Layouts in crowds, usually and on a vast board.

Crowds of the house are larger, but a report needs a crowd for each probe.
"""

COMPILED_CROWDS = 70
"""Approximate microseconds of crowds for each cell of the board."""

ALMOST_ALL = 40
"""If crowds hold fewer different layouts, these are almost all that fit."""

TRACED = 1_000
"""Layouts of a sample for which compiled loops fire all rays."""

RAY = 2
"""Approximate microseconds of such a ray."""

ALLOWED = 1_000_000
"""Approximate processor microseconds that comparing ports may take for a usual box."""


@dataclass(slots=True)
class Effort:
    """The remaining work.

    Attributes:
        left: processor microseconds, as counted by `LayoutSet.work`.
        next_search: the number of results that the next search for layouts needs. After an
            incomplete search, it is not worthwhile to repeat it with only a few more.
    """

    left: int = ALLOWED
    next_search: int = 0


@dataclass(frozen=True)
class Knowledge:
    """The knowledge of a solver at one point of a game.

    Attributes:
        options: the rules.
        layouts: layouts of the board.
        fitting: the set of those that fit the results.
        complete: whether `fitting` has all fitting layouts. Otherwise it is a sample.
        total: the number of fitting layouts, `None` if unknown.
        results: the results of ports.
        unused: the ports without a mark.
        wrong: the wrong guesses.
    """

    options: Options
    layouts: LayoutSet
    fitting: int
    complete: bool
    total: int | None
    results: tuple[Result, ...]
    unused: frozenset[int]
    wrong: tuple[frozenset[int], ...] = ()

    def ports(self, effort: Effort) -> dict[int, float]:
        """Return the bits of each unused port, empty without remaining work or fitting layouts."""
        board, loops = self.options.board, None if self.complete else loops_for(self.options)
        least = TELLING if loops is None else 1  # if crowds hold few layouts, no others fit
        if effort.left <= 0 or (not self.complete and self.fitting.bit_count() < least):
            return {}
        if self.complete and not self.results and not self.wrong:
            return dict(
                enumerate(
                    _first_bits(board.width, board.height, self.options.least, self.options.most)
                )
            )
        layouts, fitting = self.layouts, self.fitting
        if loops is not None:
            listed = list(layouts.listed(fitting))
            spectra = loops.spectra(board, listed[:: len(listed) // TRACED + 1])
            effort.left -= len(spectra) * len(self.unused) // 5
            counts = {port: Counter(shown[port] for shown in spectra) for port in self.unused}
            return {port: _entropy(count) for port, count in counts.items()}
        most = COMPARED if self.complete else SKIMMED
        if fitting.bit_count() > most:
            step = fitting.bit_count() // most + 1
            layouts = listed_layouts(board, list(layouts.listed(fitting))[::step], layouts.weights)
            fitting = layouts.everything
        work_before = layouts.work
        bits = {port: _bits(layouts, port, fitting) for port in self.unused}
        effort.left -= layouts.work - work_before
        return bits

    @property
    def is_sampled(self) -> bool:
        """Whether `ports` examines only some of the layouts."""
        return not self.complete or (self.fitting.bit_count() > COMPARED and bool(self.results))

    def estimated_total(self, estimate: float) -> float:
        """Return an estimated number of fitting layouts.

        It is at least the number of layouts in the sample. If crowds hold only a few, these are
        almost all.

        Args:
            estimate: the number according to the bits of the results so far.
        """
        sampled = self.fitting.bit_count()
        has_crowds = not self.complete and loops_for(self.options) is not None
        if has_crowds and 0 < sampled < ALMOST_ALL:
            return sampled
        return max(estimate, sampled)

    def is_decided(self, bits: dict[int, float]) -> bool:
        """Return whether no further probe gives information; *bits* is the result of `ports`."""
        if not self.complete:
            return False
        return self.total == 1 or not self.unused or (bool(bits) and not any(bits.values()))

    def after_ray(self, port: int, out: int, effort: Effort) -> Knowledge:
        """Return the knowledge after a ray into *port* with the result *out*."""
        fitting = self.layouts.divided(port, self.fitting).get(out, 0) if self.fitting else 0
        after = replace(
            self,
            fitting=fitting,
            total=fitting.bit_count() if self.complete else None,
            results=(*self.results, (port, out)),
            unused=self.unused - {port, out},
        )
        if after.unused == self.unused:  # the port has a mark already
            return self
        return after.compacted() if self.complete else after.after_search(effort)

    def after_guess(self, markers: frozenset[int]) -> Knowledge:
        """Return the knowledge after a wrong guess."""
        after = replace(self, wrong=(*self.wrong, markers))
        left = self.fitting ^ self.ruled_out_by(markers)
        return replace(after, fitting=left, total=left.bit_count() if self.complete else None)

    def ruled_out_by(self, markers: frozenset[int]) -> int:
        """Return the set of fitting layouts that a wrong guess rules out.

        If equal results count as right, these are all layouts with the same results.
        """
        if not self.options.fair:
            return self.layouts.only(markers, self.fitting)
        guessed = trace_all(self.options.board, markers)
        if any(guessed[port] != out for port, out in self.results):
            return 0
        same = self.fitting
        for port in self.unused:
            same = self.layouts.divided(port, same).get(guessed[port], 0) if same else 0
        return same

    def compacted(self) -> Knowledge:
        """Return the same knowledge with the fitting layouts alone if these are far fewer."""
        count = self.fitting.bit_count()
        if self.layouts.size < 64 or count > self.layouts.size // 4:
            return self
        listed = self.layouts.listed(self.fitting)
        layouts = listed_layouts(self.options.board, listed, self.layouts.weights)
        return replace(self, layouts=layouts, fitting=layouts.everything)

    def after_search(self, effort: Effort) -> Knowledge:
        """Return the knowledge with the fitting layouts that a search finds.

        If the search is not complete, wandering atoms find some layouts.
        """
        options = self.options
        if effort.left <= 0 or len(self.results) < effort.next_search:
            return self.resampled(effort)
        loops = loops_for(options)
        if loops is None:
            result = search(options.board, self.results, options.least, options.most, RAYS)
            effort.left -= RAY * (len(result.cases) * 4 if result.complete else RAYS)
        else:
            result = search_compiled(loops, options, self.results)
            effort.left -= (
                COMPILED_SEARCH if len(options.board.cells) <= LARGE else COMPILED_SEARCH // 10
            )
        if not result.complete:
            is_cheap = loops is not None
            effort.next_search = 0 if is_cheap else len(self.results) * 3 // 2 + 1
            return self.resampled(effort)
        counts = range(options.least, options.most + 1)
        ways = [sum(map(case.ways, counts)) for case in result.cases]
        total = sum(ways)
        if total <= LISTED:
            every = (layout for case in result.cases for layout in case.layouts(counts))
            layouts = listed_layouts(options.board, every, _weights(options))
            knowledge = replace(
                self, layouts=layouts, fitting=layouts.everything, complete=True, wrong=()
            )
            for markers in self.wrong:
                knowledge = knowledge.after_guess(markers)
            return replace(knowledge, total=knowledge.fitting.bit_count())
        knowledge = self if self.wrong else replace(self, total=total)
        if self.fitting.bit_count() >= FEWEST:
            return knowledge
        layouts = listed_layouts(options.board, _sample(result.cases, counts, options), None)
        return replace(knowledge, layouts=layouts, fitting=layouts.everything)

    def resampled(self, effort: Effort) -> Knowledge:
        """Return the knowledge with further layouts if only a few of the sample fit.

        They come from crowds, as for the house. Without compiled loops, atoms wander from the
        layouts of the sample. Neither sample is quite fair, since some layouts are found more
        easily than others.
        """
        if effort.left <= 0 or self.fitting.bit_count() >= SCARCE:
            return self
        options = self.options
        counts = range(options.least, options.most + 1)
        left = list(self.layouts.listed(self.fitting))
        loops = loops_for(options)
        if loops is None:
            rng = Rng(b"the coach", len(self.results))
            sampled = wander(options.board, self.results, counts, FOUND, WANDERED, rng, left)
        else:
            wanted = CROWDED if len(options.board.cells) <= VAST else CROWDED_VAST
            samples = samples_of(loops, options, self.results, wanted)
            sampled = list(dict.fromkeys(chain.from_iterable((*samples, left))))
        cells = len(options.board.cells)
        effort.left -= WANDERED if loops is None else COMPILED_CROWDS * cells
        layouts = listed_layouts(options.board, sampled, None)
        knowledge = replace(self, layouts=layouts, fitting=layouts.everything)
        for markers in self.wrong:
            fitting = knowledge.fitting ^ knowledge.ruled_out_by(markers)
            knowledge = replace(knowledge, fitting=fitting)
        return knowledge


def effort_for(options: Options) -> Effort:
    """Return the effort for one box, about four seconds on the largest board."""
    return Effort(ALLOWED * max(1, len(options.board.cells) // LARGE))


def _weights(options: Options) -> dict[int, int] | None:
    """Return the weight of a layout by its number of atoms, `None` if there is only one number."""
    if options.least == options.most:
        return None
    return likelihoods(len(options.board.cells), range(options.least, options.most + 1))


def beginning(options: Options) -> Knowledge:
    """Return the knowledge before the first probe."""
    board, counts = options.board, range(options.least, options.most + 1)
    total = sum(comb(len(board.cells), count) for count in counts)
    complete = total <= EXACT
    if complete:
        layouts = all_layouts(board, counts, _weights(options))
    else:
        rng = Random(0)  # noqa: S311 - a sample, not a secret
        drawn = {
            frozenset(rng.sample(board.cells, rng.choice(counts))) for _ in range(_draws(options))
        }
        layouts = listed_layouts(board, drawn, None)
    unused = frozenset(range(len(board.ports)))
    return Knowledge(options, layouts, layouts.everything, complete, total, (), unused)


def _draws(options: Options) -> int:
    """Return the number of layouts to draw, fewer on larger boards."""
    return max(FEWEST, DRAWN * 100 // max(100, len(options.board.cells)))


def _sample(cases: Sequence[Case], counts: Sequence[int], options: Options) -> set[frozenset[int]]:
    """Draw different layouts of these cases by their likelihoods."""
    rng = Random(0)  # noqa: S311 - a sample, not a secret
    weights = _weights(options) or {options.least: 1}
    shares = [(case, count) for case in cases for count in counts if case.ways(count)]
    ends = list(accumulate(case.ways(count) * weights[count] for case, count in shares))
    drawn = set()
    for _ in range(_draws(options)):
        case, count = shares[bisect(ends, rng.randrange(ends[-1]))]
        drawn.add(frozenset((*case.atoms, *rng.sample(case.open, count - len(case.atoms)))))
    return drawn


def _bits(layouts: LayoutSet, port: int, fitting: int) -> float:
    """Return the expected information of a ray into a port."""
    parts = layouts.divided(port, fitting)
    return _entropy({out: layouts.weight(part) for out, part in parts.items()})


def _entropy(shares: Mapping[int, int]) -> float:
    """Return the entropy of a result with these shares, in bits."""
    total = sum(shares.values())
    bits = -sum(share / total * log2(share / total) for share in shares.values())
    return bits if len(shares) > 1 else 0.0


@lru_cache(maxsize=32)
def _first_bits(width: int, height: int, least: int, most: int) -> tuple[float, ...]:
    """Return the bits of each port before the first probe. Mirrored ports have the same."""
    board = geometry(width, height)
    options = Options(width, height, least, most)
    layouts = all_layouts(board, range(least, most + 1), _weights(options))
    bits_by_place: dict[tuple[bool, int], float] = {}
    bits = []
    for port, (column, row) in enumerate(board.port_places):
        upright = row in (0, height + 1)
        at, end = (column, width) if upright else (row, height)
        key = (upright or width == height, min(at, end + 1 - at))
        if key not in bits_by_place:
            bits_by_place[key] = _bits(layouts, port, layouts.everything)
        bits.append(bits_by_place[key])
    return tuple(bits)


def information_of(before: Knowledge, after: Knowledge, port: int, out: int) -> float | None:
    """Return the information of a result in bits, `None` if it is unknown."""
    is_exact = before.total and after.total
    if is_exact and before.options.least == before.options.most:
        return log2(before.total or 1) - log2(after.total or 1)
    if not before.fitting:
        return None
    same = before.layouts.divided(port, before.fitting).get(out, 0)
    share = before.layouts.weight(same) / before.layouts.weight(before.fitting)
    if not share and not after.fitting:
        return None
    # A result that no layout of the sample has counts as half a layout.
    return -log2(share or 0.5 / before.fitting.bit_count()) + 0.0


def best_line(knowledge: Knowledge, atoms: frozenset[int], effort: Effort) -> list[Result] | None:
    """Return the best ports with their results until no further port gives information.

    Return `None` if the effort is not enough.
    """
    board = knowledge.options.board
    line: list[Result] = []
    while True:
        bits = knowledge.ports(effort)
        if knowledge.is_decided(bits):
            return line
        if not bits:
            return None
        port = min(bits, key=lambda port: (-round(bits[port], 9), port))
        out = trace(board, atoms, port)
        line.append((port, out))
        knowledge = knowledge.after_ray(port, out, effort)
