"""The solver's own aids on a box: markers, and seals on cells that are surely empty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pbmserv.games.blackbox.notation import Element, Kind


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
