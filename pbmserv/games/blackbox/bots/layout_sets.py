"""Sets of layouts, each of which is one large integer with a bit for each layout.

A ray is fired into all layouts of a set at once. If they differ in a cell, the set divides, and
parts that meet again are joined. Therefore hundreds of thousands of layouts take a few hundred
steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, compress
from math import comb
from typing import TypeVar

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import HIT, field_of

K = TypeVar("K")


class LayoutSet:
    """Numbered layouts of one board. A subset of them is an integer whose bit n stands for layout
    n.

    Attributes:
        size: the number of layouts.
        everything: the subset with all layouts.
        weights: the weight of a layout by its number of atoms, `None` if all have the same.
        work: approximate processor microseconds of all rays so far.
    """

    def __init__(
        self,
        board: Geometry,
        holding: Sequence[int],
        sizes: Mapping[int, int],
        weights: Mapping[int, int] | None,
        layouts: Callable[[], Iterable[Iterable[int]]],
    ) -> None:
        """Make a set. `all_layouts` and `listed_layouts` call this.

        Args:
            board: the board.
            holding: for each cell the subset with an atom there.
            sizes: for each number of atoms the number of layouts, in the order of the layouts.
            weights: see above.
            layouts: returns the layouts in order.
        """
        self.size = sum(sizes.values())
        self.weights = weights
        self.everything = (1 << self.size) - 1
        self.work = 0
        self._layouts = layouts
        self._field = field_of(board)
        self._held = [0] * len(self._field.empty)
        for square, held in zip(self._field.squares, holding, strict=True):
            self._held[square] = held
        self._blocks: dict[int, int] = {}
        at = 0
        for count, size in sizes.items():
            self._blocks[count] = ((1 << size) - 1) << at
            at += size
        self._step = 2 + self.size // 16_000

    def weight(self, subset: int) -> int:
        """Return the likelihood of a subset, in any unit."""
        if self.weights is None:
            return subset.bit_count()
        return sum(
            (subset & block).bit_count() * self.weights[count]
            for count, block in self._blocks.items()
        )

    def only(self, layout: frozenset[int], subset: int) -> int:
        """Return the part of a subset that is one layout, 0 if it is not in the subset."""
        if self.weights is not None:
            subset &= self._blocks.get(len(layout), 0)
        for cell in layout:
            subset &= self._held[self._field.squares[cell]]
        return subset

    def holding(self, cell: int, subset: int) -> int:
        """Return the part of a subset with an atom at a cell."""
        return subset & self._held[self._field.squares[cell]]

    def listed(self, subset: int) -> Iterator[frozenset[int]]:
        """Return the layouts of a subset in order."""
        return map(frozenset, compress(self._layouts(), map(int, reversed(f"{subset:b}"))))

    def divided(self, port: int, subset: int) -> dict[int, int]:
        """Divide a subset by the result of a ray into *port*; see `rays.trace`."""
        held, exits = self._held, self._field.exits
        place, ahead, left = self._field.doors[port]
        by_result: dict[int, int] = {}
        place += ahead
        _join(by_result, HIT, subset & held[place])
        subset ^= subset & held[place]
        beside = subset & (held[place + left] | held[place - left])
        _join(by_result, port, beside)
        waiting = {(place, ahead, left): subset ^ beside}
        while waiting:
            self.work += self._step
            ray = next(iter(waiting))  # the oldest, so that parts with the same way meet
            subset = waiting.pop(ray)
            place, ahead, left = ray
            front = place + ahead
            hit = subset & held[front]
            _join(by_result, HIT, hit)
            subset ^= hit
            on_left, on_right = subset & held[front + left], subset & held[front - left]
            both = on_left & on_right
            subset ^= on_left | on_right
            _join(waiting, (place, -ahead, -left), both)
            _join(waiting, (place, -left, ahead), on_left ^ both)
            _join(waiting, (place, left, -ahead), on_right ^ both)
            if exits[front] < 0:
                _join(waiting, (front, ahead, left), subset)
            else:
                _join(by_result, exits[front], subset)
        return by_result


def _join(sets: dict[K, int], key: K, subset: int) -> None:
    """Add layouts to the subset with a key."""
    if subset:
        sets[key] = sets.get(key, 0) | subset


def all_layouts(
    board: Geometry, counts: Sequence[int], weights: Mapping[int, int] | None
) -> LayoutSet:
    """Return all layouts with these numbers of atoms; for *weights* see `LayoutSet`."""
    cells = len(board.cells)
    sizes = {count: comb(cells, count) for count in counts}
    memo: dict[tuple[int, int], tuple[int, ...]] = {}
    holding = [0] * cells
    start = 0
    for count, size in sizes.items():
        for cell, held in enumerate(_holding(cells, count, memo)):
            holding[cell] |= held << start
        start += size
    return LayoutSet(
        board,
        holding,
        sizes,
        weights,
        lambda: chain.from_iterable(combinations(board.cells, count) for count in counts),
    )


def _holding(
    cells: int, atoms: int, memo: dict[tuple[int, int], tuple[int, ...]]
) -> tuple[int, ...]:
    """Return for each cell the subset of ``combinations(range(cells), atoms)`` that hold it.

    The combinations with the first cell come first.
    """
    if not 0 < atoms <= cells:
        return (0,) * cells
    if (cells, atoms) not in memo:
        first = comb(cells - 1, atoms - 1)
        others = zip(
            _holding(cells - 1, atoms - 1, memo), _holding(cells - 1, atoms, memo), strict=True
        )
        memo[cells, atoms] = (
            (1 << first) - 1,
            *(with_first | without << first for with_first, without in others),
        )
    return memo[cells, atoms]


def listed_layouts(
    board: Geometry, layouts: Iterable[frozenset[int]], weights: Mapping[int, int] | None
) -> LayoutSet:
    """Return these layouts; for *weights* see `LayoutSet`."""
    ordered = list(layouts)
    if weights is not None:
        ordered.sort(key=len)
    sizes = Counter(map(len, ordered))  # in the order of the layouts
    holding = [bytearray(len(ordered) // 8 + 1) for _ in board.cells]
    for number, layout in enumerate(ordered):
        octet, bit = number >> 3, 1 << (number & 7)
        for cell in layout:
            holding[cell][octet] |= bit
    held = [int.from_bytes(octets, "little") for octets in holding]
    return LayoutSet(board, held, sizes, weights, lambda: ordered)
