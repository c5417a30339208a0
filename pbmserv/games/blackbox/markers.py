"""The solver's own aids on a box: markers, and seals on cells that are surely empty."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.notation.moves import Element, Kind


@dataclass(frozen=True, slots=True)
class Change:
    """What one element did to the aids.

    Attributes:
        kind: ``marked``, ``unmarked``, ``marker-there``, ``marker-absent``,
            ``sealed`` or ``opened``.
        also: cells that changed the other way: seals that a new marker opened,
            or markers that a new seal took off.
    """

    kind: str
    also: tuple[int, ...] = ()


class Markers:
    """Markers and seals while a move is applied to them, element by element.

    Attributes:
        markers: cells with a marker.
        sealed: cells with a seal; no cell has both.
    """

    def __init__(self, markers: Iterable[int], sealed: Iterable[int]) -> None:
        self.markers = set(markers)
        self.sealed = set(sealed)

    def use(self, element: Element) -> Change | None:
        """Apply a marker or a seal; other elements change nothing and give ``None``."""
        if element.kind == Kind.MARK:
            return self._mark(element.cells[0])
        if element.kind == Kind.UNMARK:
            return self._unmark(element.cells[0])
        if element.kind == Kind.SEAL:
            return self._seal(set(element.cells))
        return None

    def use_all(
        self, elements: Sequence[Element], board: Geometry
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Apply all markers and seals; (kind, names of cells), neighbours of one kind together."""
        told: list[tuple[str, str]] = []
        for element in elements:
            change = self.use(element)
            if change is None:
                continue
            told.append((change.kind, element.text[1:]))
            other = "marker-opens" if change.kind == "marked" else "seal-unmarks"
            told.extend((other, board.name(cell)) for cell in change.also)
        return [
            (kind, tuple(name for _, name in group))
            for kind, group in groupby(told, key=lambda pair: pair[0])
        ]

    def _mark(self, cell: int) -> Change:
        if cell in self.markers:
            return Change("marker-there")
        self.markers.add(cell)
        opened = self.sealed & {cell}
        self.sealed -= opened
        return Change("marked", tuple(opened))

    def _unmark(self, cell: int) -> Change:
        if cell not in self.markers:
            return Change("marker-absent")
        self.markers.remove(cell)
        return Change("unmarked")

    def _seal(self, area: set[int]) -> Change:
        if area <= self.sealed:
            self.sealed -= area
            return Change("opened")
        removed = self.markers & area
        self.markers -= removed
        self.sealed |= area
        return Change("sealed", tuple(sorted(removed)))
