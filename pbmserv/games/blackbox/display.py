"""What a drawn box shows: place by place, and as facts for those who hear a board."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pbmserv.games.blackbox.geometry import Geometry

RESULTS = {"#": "hit", "%": "reflection"}

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

EMPTY = "  "
"""A cell on which nothing is drawn."""


class Spot(NamedTuple):
    """A port or a cell.

    Attributes:
        kind: of a port ``hit``, ``reflection``, ``detour`` or ``unused``; of a cell ``empty`` or
            one of `KINDS`.
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
            blank if texts.count(EMPTY) == width else _spots_in(blank, texts),
            ports[width + y],
        )
        for y, (blank, texts) in enumerate(zip(empty, cells, strict=True))
    ]
    return Spots(tuple(ports[:width]), tuple(rows), tuple(ports[width + height : left]))


@lru_cache(maxsize=64)
def _blank(board: Geometry) -> tuple[tuple[Spot, ...], tuple[tuple[Spot, ...], ...]]:
    """The ports, and each row's cells, of a box on which nothing has happened: most of any box."""
    width, height = board.width, board.height
    ports = tuple(Spot("unused", label, "", "") for label in board.ports)
    names = board.names
    cells = tuple(
        tuple(Spot("empty", names[y * width + x], "", "") for x in range(width))
        for y in range(height)
    )
    return ports, cells


def _spots_in(empty: tuple[Spot, ...], texts: Sequence[str]) -> tuple[Spot, ...]:
    return tuple(
        [
            spot if text == EMPTY else Spot(KINDS[text], spot.name, text.strip(), "")
            for spot, text in zip(empty, texts, strict=True)
        ]
    )


def _port(unused: Spot, mark: str, ends: Sequence[str]) -> Spot:
    label = unused.name
    if mark in RESULTS:
        return Spot(RESULTS[mark], label, mark, "")
    return Spot("detour", label, mark, "".join([end for end in ends if end != label]))


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
