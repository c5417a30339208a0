"""What is to be seen at each port and cell of a box, with the names that moves call them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.telling import KINDS

RESULTS = {"#": "hit", "%": "reflection"}

EMPTY = "  "
"""A cell on which nothing is drawn."""


class Spot(NamedTuple):
    """A port or a cell.

    Attributes:
        kind: of a port ``hit``, ``reflection``, ``detour``, or ``unused-`` and its side; of a
            cell ``empty`` or one of `telling.KINDS`.
        name: its label, which is also what moves call it.
        shown: what is drawn there, "" for nothing.
        more: where the ray of a detour came out, if that is known.
    """

    kind: str
    name: str
    shown: str
    more: str


class SpotRow(NamedTuple):
    """A row: the ports at its ends and the cells between them."""

    left: Spot
    cells: tuple[Spot, ...]
    right: Spot


class Spots(NamedTuple):
    """All spots of a box as they lie on it."""

    top: tuple[Spot, ...]
    rows: tuple[SpotRow, ...]
    bottom: tuple[Spot, ...]


def spots_of(board: Geometry, marks: Sequence[str], cells: Sequence[Sequence[str]]) -> Spots:
    """The spots of a box.

    Args:
        marks: for each port what it shows.
        cells: for each row each cell's two characters, as the board is drawn.
    """
    unused, empty = _blank(board)
    ends: dict[str, list[str]] = {}
    for label, mark in zip(board.ports, marks, strict=True):
        if mark:
            ends.setdefault(mark, []).append(label)
    ports = [
        _port(spot, mark, ends[mark]) if mark else spot
        for spot, mark in zip(unused, marks, strict=True)
    ]
    width, height = board.width, board.height
    left = 2 * width + height
    rows = [
        SpotRow(
            ports[left + y],
            tuple(
                [
                    spot if text == EMPTY else Spot(KINDS[text], spot.name, text.strip(), "")
                    for spot, text in zip(empty[y], texts, strict=True)
                ]
            ),
            ports[width + y],
        )
        for y, texts in enumerate(cells)
    ]
    return Spots(tuple(ports[:width]), tuple(rows), tuple(ports[width + height : left]))


@lru_cache(maxsize=64)
def _blank(board: Geometry) -> tuple[tuple[Spot, ...], tuple[tuple[Spot, ...], ...]]:
    """The ports, and each row's cells, of a box on which nothing has happened: most of any box."""
    width, height = board.width, board.height
    sides = ("top",) * width + ("right",) * height + ("bottom",) * width + ("left",) * height
    ports = tuple(
        Spot(f"unused-{side}", label, "", "")
        for side, label in zip(sides, board.ports, strict=True)
    )
    names = board.names
    cells = tuple(
        tuple(Spot("empty", names[y * width + x], "", "") for x in range(width))
        for y in range(height)
    )
    return ports, cells


def _port(unused: Spot, mark: str, ends: Sequence[str]) -> Spot:
    label = unused.name
    if mark in RESULTS:
        return Spot(RESULTS[mark], label, mark, "")
    return Spot("detour", label, mark, "".join(end for end in ends if end != label))
