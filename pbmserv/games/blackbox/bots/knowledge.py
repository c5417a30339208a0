"""The layouts that fit the results so far, and the information that each port would give.

If all fitting layouts can be examined, everything is exact. On larger boards a sample represents
them. The work is limited without a clock (`Effort`), so that results do not depend on the machine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, log2
from random import Random

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots.candidates import (
    LARGE,
    VAST,
    consistent,
    effort_on,
    entropy,
    likelihoods_of,
)
from pbmserv.games.blackbox.bots.layout_sets import LayoutSet, all_layouts, listed_layouts
from pbmserv.games.blackbox.bots.loops import loops_for
from pbmserv.games.blackbox.bots.search import Result
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import trace, trace_all

EXACT = 700_000
"""The most layouts of a board that are all examined; 8x8 with 4 atoms has 635,376."""

LISTED = 20_000
"""The most fitting layouts of a larger board that are all examined for a report."""

DRAWN = 20_000
"""The size of the sample before the first probe on 10x10; larger boards have smaller ones."""

SAMPLED, SAMPLED_VAST = 400, 100
"""The size of later samples, usually and on a vast board.

Those of bots and hints are larger, but a report needs a sample for each probe.
"""

COMPARED = 100_000
"""The most layouts that are compared for the best port. Of larger sets, every nth is compared."""

SKIMMED = 1_000
"""`COMPARED` for samples."""

TELLING = 20
"""The fewest layouts of a sample from which the bits of ports are computed.

One is enough if it comes from crowds, since no others fit then.
"""

SEARCH, COMPILED_SEARCH = 100_000, 20_000
"""Approximate microseconds of a search for layouts, by plain Python and by compiled loops."""

COMPILED_CROWDS = 70
"""Approximate microseconds of crowds for each cell of the board."""

ALMOST_ALL = 40
"""If crowds hold fewer different layouts, these are almost all that fit."""

ALLOWED = 1_000_000
"""Approximate processor microseconds that comparing ports may take for a usual box."""


@dataclass(slots=True)
class Effort:
    """The remaining work in processor microseconds, as counted by `LayoutSet.work`."""

    left: int = ALLOWED


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
            limits = self.options.least, self.options.most
            return dict(enumerate(_first_bits(board.width, board.height, *limits)))
        layouts, fitting = self._compared()
        if loops is not None:
            spectra = loops.spectra(board, list(layouts.listed(fitting)))
            effort.left -= len(spectra) * len(self.unused) // 5
            counts = {port: Counter(shown[port] for shown in spectra) for port in self.unused}
            return {port: entropy(count) for port, count in counts.items()}
        work_before = layouts.work
        bits = {port: _bits(layouts, port, fitting) for port in self.unused}
        effort.left -= layouts.work - work_before
        return bits

    def _compared(self) -> tuple[LayoutSet, int]:
        """Return the fitting layouts of a set of layouts, or every nth of them if they are many."""
        most, count = COMPARED if self.complete else SKIMMED, self.fitting.bit_count()
        if count <= most:
            return self.layouts, self.fitting
        listed = list(self.layouts.listed(self.fitting))[:: count // most + 1]
        layouts = listed_layouts(self.options.board, listed, self.layouts.weights)
        return layouts, layouts.everything

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
        complete = self.complete and fitting > 0  # agreeing crowds may have missed the layout
        after = replace(
            self,
            fitting=fitting,
            complete=complete,
            total=fitting.bit_count() if complete else None,
            results=(*self.results, (port, out)),
            unused=self.unused - {port, out},
        )
        if after.unused == self.unused:  # the port has a mark already
            return self
        return after.compacted() if complete else after.searched(effort, LISTED, SAMPLED)

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

    def searched(self, effort: Effort, listed: int, wanted: int) -> Knowledge:
        """Return the knowledge with layouts that are searched anew, all of them if possible.

        Without remaining work, return it unchanged. The layouts come from `candidates`, as for the
        house. A sample is not quite fair, since some layouts are found more easily than others.

        Args:
            effort: the remaining work.
            listed: the most layouts that are all examined.
            wanted: the size of a sample, unless the board is vast.
        """
        options, cells = self.options, len(self.options.board.cells)
        if effort.left <= 0:
            return self
        has_loops = loops_for(options) is not None
        effort.left -= COMPILED_SEARCH + COMPILED_CROWDS * cells if has_loops else SEARCH
        wanted = wanted if cells <= VAST else SAMPLED_VAST
        rng = Rng(b"a sample", len(self.results))
        fitting = consistent(options, self.results, listed, wanted, effort_on(cells), rng)
        weights = _weights(options) if fitting.complete else None
        layouts = listed_layouts(options.board, fitting.layouts, weights)
        knowledge = replace(
            self,
            layouts=layouts,
            fitting=layouts.everything,
            complete=fitting.complete,
            total=fitting.total,
            wrong=(),
        )
        for markers in self.wrong:
            knowledge = knowledge.after_guess(markers)
        return knowledge


def effort_for(options: Options) -> Effort:
    """Return the effort for one box, about four seconds on the largest board."""
    return Effort(ALLOWED * max(1, len(options.board.cells) // LARGE))


def _weights(options: Options) -> dict[int, int] | None:
    """Return the weight of a layout by its number of atoms, `None` if there is only one number."""
    return None if options.least == options.most else likelihoods_of(options)


def examines_all(options: Options) -> bool:
    """Return whether all layouts of a board are examined."""
    return _layout_count(options) <= EXACT


def _layout_count(options: Options) -> int:
    counts = range(options.least, options.most + 1)
    return sum(comb(len(options.board.cells), count) for count in counts)


def beginning(options: Options) -> Knowledge:
    """Return the knowledge before the first probe."""
    board, counts = options.board, range(options.least, options.most + 1)
    total, complete = _layout_count(options), examines_all(options)
    if complete:
        layouts = all_layouts(board, counts, _weights(options))
    else:
        rng = Random(0)  # noqa: S311 - a sample, not a secret
        size = DRAWN * 100 // max(100, len(board.cells))
        drawn = {frozenset(rng.sample(board.cells, rng.choice(counts))) for _ in range(size)}
        layouts = listed_layouts(board, drawn, None)
    unused = frozenset(range(len(board.ports)))
    return Knowledge(options, layouts, layouts.everything, complete, total, (), unused)


def _bits(layouts: LayoutSet, port: int, fitting: int) -> float:
    """Return the expected information of a ray into a port."""
    parts = layouts.divided(port, fitting)
    return entropy({out: layouts.weight(part) for out, part in parts.items()})


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
