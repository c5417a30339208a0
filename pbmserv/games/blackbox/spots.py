"""What is to be seen at each port and cell of a box, with the names that moves call them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.telling import KINDS

RESULTS = {"#": "hit", "%": "reflection"}


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
    ends: dict[str, list[str]] = {}
    for label, mark in zip(board.ports, marks, strict=True):
        ends.setdefault(mark, []).append(label)
    sides = ("top",) * board.width + ("right",) * board.height
    sides += ("bottom",) * board.width + ("left",) * board.height
    ports = [
        _port(side, label, mark, ends[mark])
        for side, label, mark in zip(sides, board.ports, marks, strict=True)
    ]
    right, bottom = board.width, board.width + board.height
    left = bottom + board.width
    names = board.names
    return Spots(
        tuple(ports[:right]),
        tuple(
            SpotRow(
                ports[left + y],
                tuple(
                    Spot(KINDS.get(text, "empty"), names[y * board.width + x], text.strip(), "")
                    for x, text in enumerate(texts)
                ),
                ports[right + y],
            )
            for y, texts in enumerate(cells)
        ),
        tuple(ports[bottom:left]),
    )


def _port(side: str, label: str, mark: str, ends: Sequence[str]) -> Spot:
    if not mark:
        return Spot(f"unused-{side}", label, "", "")
    if mark in RESULTS:
        return Spot(RESULTS[mark], label, mark, "")
    return Spot("detour", label, mark, "".join(end for end in ends if end != label))
