"""A box as a list of facts, for those who hear a board instead of seeing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pbmserv.games.blackbox.geometry import Geometry

KINDS = {
    "? ": "marker",
    "?@": "marked-atom",
    "?x": "wrong-marker",
    " @": "atom",
    ". ": "sealed",
    "* ": "way",
    ".*": "sealed-way",
}
"""What a cell's two characters on the drawn board say."""


class ToldSide(NamedTuple):
    """The ports of a side that show a mark, in the order of their labels.

    `side` is ``top``, ``right``, ``bottom`` or ``left``; `ports` are (label, mark).
    """

    side: str
    ports: tuple[tuple[str, str], ...]


class ToldRay(NamedTuple):
    """A ray that came out elsewhere: its letter and the ports at both ends, if both are known."""

    mark: str
    ports: tuple[str, ...]


class ToldRow(NamedTuple):
    """The cells of a row that are not empty, by what they show: (kind, cell names)."""

    row: str
    cells: tuple[tuple[str, tuple[str, ...]], ...]


class Told(NamedTuple):
    """All that a drawn box shows, and nothing of what is empty."""

    sides: tuple[ToldSide, ...]
    rays: tuple[ToldRay, ...]
    rows: tuple[ToldRow, ...]


def tell(board: Geometry, marks: Sequence[str], cells: Sequence[Sequence[str]]) -> Told:
    """The facts of a box.

    Args:
        marks: for each port what it shows.
        cells: for each row each cell's two characters, as the board is drawn.
    """
    shown = dict(zip(board.ports, marks, strict=True))
    sides = []
    for side in ("top", "right", "bottom", "left"):
        ports = tuple((label, shown[label]) for label in getattr(board, side) if shown[label])
        if ports:
            sides.append(ToldSide(side, ports))
    rays: dict[str, list[str]] = {}
    for label, mark in shown.items():
        if mark.isalpha():
            rays.setdefault(mark, []).append(label)
    return Told(
        tuple(sides),
        tuple(
            ToldRay(mark, tuple(rays[mark]))
            for mark in sorted(rays, key=lambda m: (m.isupper(), m))
        ),
        tuple(row for y, texts in enumerate(cells) if (row := _row(board, y, texts)).cells),
    )


def _row(board: Geometry, y: int, texts: Sequence[str]) -> ToldRow:
    found: dict[str, list[str]] = {}
    for x, text in enumerate(texts):
        if text in KINDS:
            found.setdefault(KINDS[text], []).append(board.name(y * board.width + x))
    return ToldRow(board.left[y], tuple((kind, tuple(names)) for kind, names in found.items()))
