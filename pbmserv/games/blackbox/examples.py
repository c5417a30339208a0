"""Moves that work in a position, to show beside advice and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import gcd

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.moves import Kind
from pbmserv.games.blackbox.options import Options


@dataclass(frozen=True)
class Examples:
    """What a reader could write now; made only from what the reader sees.

    Attributes:
        options: the rules of the board.
        may_act: whether a turn may be used now.
        has_hidden: whether the reader's own atoms are hidden.
        markers: on the reader's own box.
        unused_ports: labels of the ports of that box without a mark.
    """

    options: Options
    may_act: bool
    has_hidden: bool
    markers: frozenset[int]
    unused_ports: tuple[str, ...]

    @property
    def placement(self) -> str:
        """As many cells as atoms have to be hidden."""
        board = self.options.board
        return ",".join([board.names[cell] for cell in _spread(board)[: self.options.least]])

    @property
    def probe(self) -> str:
        """A port without a mark; where none is left, the guess."""
        return self.unused_ports[0] if self.unused_ports else self.guess

    @property
    def mark(self) -> str:
        """A marker on a cell without one; where all have one, the removal."""
        free = self._free
        return "+" + self.options.board.names[free[0]] if free else self.unmark

    @property
    def unmark(self) -> str:
        """The removal of a marker."""
        board = self.options.board
        return "/" + board.names[min(self.markers, default=_spread(board)[0])]

    @property
    def seal(self) -> str:
        """A sealed cell, preferably one without a marker."""
        board = self.options.board
        return "!" + board.names[(self._free or _spread(board))[0]]

    @property
    def guess(self) -> str:
        """A guess, with the markers that it needs put on or taken off first."""
        names = self.options.board.names
        missing = self.options.least - len(self.markers)
        if missing > 0:
            return "".join([f"+{names[cell]}," for cell in self._free[:missing]]) + "?"
        extra = max(0, len(self.markers) - self.options.most)
        return "".join([f"/{names[cell]}," for cell in sorted(self.markers)[:extra]]) + "?"

    def for_kind(self, kind: str) -> str:
        """What to show where an element of this `Kind` was wrong."""
        if not self.has_hidden:
            return self.placement
        if kind == Kind.UNMARK:
            return self.unmark
        if kind == Kind.SEAL:
            return self.seal
        if kind == Kind.MARK or not self.may_act:
            return self.mark
        return self.guess if kind == Kind.GUESS else self.probe

    @cached_property
    def _free(self) -> list[int]:
        """The cells without a marker."""
        return [cell for cell in _spread(self.options.board) if cell not in self.markers]


@cache
def _spread(board: Geometry) -> Sequence[int]:
    """All cells in an order that jumps about, so that examples look like play."""
    count = len(board.cells)
    step = max(1, count * 5 // 13)
    while gcd(step, count) > 1:
        step += 1
    start = board.width + 1  # B2
    return [(start + step * n) % count for n in range(count)]
