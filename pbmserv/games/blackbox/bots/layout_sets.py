"""Many layouts at once: a set of them is one large number, with a bit for each layout.

A ray is fired into all of them together. Where they differ about a cell the set divides, and where
parts meet again they go on as one: hundreds of thousands of layouts take a few hundred steps.
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
    """Layouts of one board, numbered; a set of them is a number whose bit n is for layout n.

    Attributes:
        size: how many there are.
        everything: the set of all of them.
        weights: how likely a layout of each number of atoms is; ``None`` = all are alike.
        work: what all rays so far have cost, in microseconds of a processor, about.
    """

    def __init__(
        self,
        board: Geometry,
        holding: Sequence[int],
        sizes: Mapping[int, int],
        weights: Mapping[int, int] | None,
        layouts: Callable[[], Iterable[Iterable[int]]],
    ) -> None:
        """Take layouts over: what `all_layouts` and `listed_layouts` make.

        Args:
            board: its size.
            holding: for each cell the layouts that have an atom there.
            sizes: how many layouts in a row have how many atoms, in order.
            weights: see above.
            layouts: gives them in the order of their numbers.
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

    def weight(self, some: int) -> int:
        """How likely it is that the layout is one of these, in a unit of the set's own."""
        if self.weights is None:
            return some.bit_count()
        return sum(
            (some & block).bit_count() * self.weights[count]
            for count, block in self._blocks.items()
        )

    def only(self, layout: frozenset[int], some: int) -> int:
        """Of a set this one layout, if it is there."""
        if self.weights is not None:
            some &= self._blocks.get(len(layout), 0)
        for cell in layout:
            some &= self._held[self._field.squares[cell]]
        return some

    def holding(self, cell: int, some: int) -> int:
        """Of a set those that have an atom at a cell."""
        return some & self._held[self._field.squares[cell]]

    def listed(self, some: int) -> Iterator[frozenset[int]]:
        """The layouts of a set, in their order."""
        return map(frozenset, compress(self._layouts(), map(int, reversed(f"{some:b}"))))

    def divided(self, port: int, some: int) -> dict[int, int]:
        """The layouts by where a ray into *port* comes out, which is as `rays.trace` has it."""
        held, exits = self._held, self._field.exits
        place, ahead, left = self._field.doors[port]
        found: dict[int, int] = {}
        place += ahead
        _join(found, HIT, some & held[place])
        some ^= some & held[place]
        beside = some & (held[place + left] | held[place - left])
        _join(found, port, beside)
        waiting = {(place, ahead, left): some ^ beside}
        while waiting:
            self.work += self._step
            ray = next(iter(waiting))  # the oldest, so that parts which go the same way meet
            some = waiting.pop(ray)
            place, ahead, left = ray
            front = place + ahead
            hit = some & held[front]
            _join(found, HIT, hit)
            some ^= hit
            on_left, on_right = some & held[front + left], some & held[front - left]
            both = on_left & on_right
            some ^= on_left | on_right
            _join(waiting, (place, -ahead, -left), both)
            _join(waiting, (place, -left, ahead), on_left ^ both)
            _join(waiting, (place, left, -ahead), on_right ^ both)
            if exits[front] < 0:
                _join(waiting, (front, ahead, left), some)
            else:
                _join(found, exits[front], some)
        return found


def _join(sets: dict[K, int], key: K, some: int) -> None:
    """Add to one of several sets."""
    if some:
        sets[key] = sets.get(key, 0) | some


def all_layouts(
    board: Geometry, counts: Sequence[int], weights: Mapping[int, int] | None
) -> LayoutSet:
    """Every layout there is of these numbers of atoms; for *weights* see `LayoutSet`."""
    cells = len(board.cells)
    sizes = {count: comb(cells, count) for count in counts}
    known: dict[tuple[int, int], tuple[int, ...]] = {}
    holding = [0] * cells
    start = 0
    for count, size in sizes.items():
        for cell, held in enumerate(_holding(cells, count, known)):
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
    cells: int, atoms: int, known: dict[tuple[int, int], tuple[int, ...]]
) -> tuple[int, ...]:
    """For each cell which of ``combinations(range(cells), atoms)`` hold it, in their order: first
    come those with the first cell."""
    if not 0 < atoms <= cells:
        return (0,) * cells
    if (cells, atoms) not in known:
        first = comb(cells - 1, atoms - 1)
        others = zip(
            _holding(cells - 1, atoms - 1, known), _holding(cells - 1, atoms, known), strict=True
        )
        known[cells, atoms] = ((1 << first) - 1, *(one | more << first for one, more in others))
    return known[cells, atoms]


def listed_layouts(
    board: Geometry, layouts: Iterable[frozenset[int]], weights: Mapping[int, int] | None
) -> LayoutSet:
    """Just these layouts; for *weights* see `LayoutSet`."""
    every = list(layouts)
    if weights is not None:
        every.sort(key=len)
    sizes = Counter(map(len, every))  # in their order
    holding = [bytearray(len(every) // 8 + 1) for _ in board.cells]
    for number, layout in enumerate(every):
        octet, bit = number >> 3, 1 << (number & 7)
        for cell in layout:
            holding[cell][octet] |= bit
    held = [int.from_bytes(octets, "little") for octets in holding]
    return LayoutSet(board, held, sizes, weights, lambda: every)
