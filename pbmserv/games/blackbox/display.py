"""Displays of a box: its spots in their places, and the marked ones for words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from pbmserv.games.blackbox.geometry import Geometry

RESULTS = {"#": "hit", "%": "reflection"}

KINDS = {
    "? ": "marker",
    "?@": "marked-atom",
    "?x": "wrong-marker",
    "?!": "locked",
    " @": "atom",
    ". ": "sealed",
    "* ": "way",
    ".*": "sealed-way",
}
"""Kinds of cells by their two characters on the text board."""

EMPTY = "  "
"""The characters of an empty cell."""


class Spot(NamedTuple):
    """A port or a cell.

    Attributes:
        kind: of a port ``hit``, ``reflection``, ``detour`` or ``unused``, and where it proves the
            markers wrong ``wrong-hit``, ``wrong-reflection``, ``wrong-detour`` or ``telling``; of
            a cell ``empty`` or one of `KINDS`.
        name: its label, which is also what moves call it.
        shown: the characters drawn there; "" for none.
        more: label of the other end of a detour; "" if it is not known.
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
    """All spots of a box in their places."""

    top: tuple[Spot, ...]
    rows: tuple[SpotRow, ...]
    bottom: tuple[Spot, ...]


def texts_of(
    board: Geometry,
    sealed: frozenset[int],
    locked: frozenset[int],
    path: frozenset[int],
    atoms: frozenset[int] | None,
    markers: frozenset[int],
    opened: bool,
) -> tuple[tuple[str, ...], ...]:
    """Return the characters of each cell, row by row. Markers hide atoms, atoms paths and seals."""
    width, shown = board.width, [EMPTY] * len(board.cells)
    unmarked = "?x" if opened and atoms is not None else "? "
    atoms = atoms or frozenset()
    for cell in sealed:
        shown[cell] = ". "
    for cell in path:
        shown[cell] = ".*" if cell in sealed else "* "
    for cell in atoms:
        shown[cell] = " @"
    for cell in markers:
        shown[cell] = "?@" if cell in atoms else unmarked
    if not opened:
        for cell in locked:
            shown[cell] = "?!"
    return tuple([tuple(shown[at : at + width]) for at in range(0, len(shown), width)])


def port_spots(board: Geometry, marks: Sequence[str], circled: Collection[int]) -> list[Spot]:
    """Return the spots of a box's ports.

    Args:
        board: the box's geometry.
        marks: the mark of each port; "" for none.
        circled: ports that prove the markers wrong.
    """
    spots = []
    for port, (label, mark) in enumerate(zip(board.ports, marks, strict=True)):
        if not mark:
            spots.append(Spot("telling" if port in circled else "unused", label, "", ""))
            continue
        kind = RESULTS.get(mark, "detour")
        more = _other_end(board, marks, port) if kind == "detour" else ""
        spots.append(Spot(f"wrong-{kind}" if port in circled else kind, label, mark, more))
    return spots


def _other_end(board: Geometry, marks: Sequence[str], port: int) -> str:
    """Return the label of the other port with the mark of a detour, "" if it is not known."""
    ends = (end for end, mark in enumerate(marks) if mark == marks[port] and end != port)
    return next((board.ports[end] for end in ends), "")


@lru_cache(maxsize=2_048)  # a turn changes a row or two of a box, and each letter draws all rows
def spot_row(board: Geometry, y: int, left: Spot, texts: tuple[str, ...], right: Spot) -> SpotRow:
    """Return a row of a box from the ports at its ends and the characters of its cells."""
    names = board.names[y * board.width : (y + 1) * board.width]
    cells = [
        Spot(KINDS.get(text, "empty"), name, text.strip(), "")
        for name, text in zip(names, texts, strict=True)
    ]
    return SpotRow(left, tuple(cells), right)


class MarkedSide(NamedTuple):
    """The marked ports of a side (``top``, ``right``, ``bottom`` or ``left``) as (label, mark)."""

    side: str
    ports: tuple[tuple[str, str], ...]


class MarkedRay(NamedTuple):
    """A detour: its letter, and the ports at both ends as far as they are known."""

    mark: str
    ports: tuple[str, ...]


class MarkedRow(NamedTuple):
    """The cells of a row that are not empty, as (kind, cell names)."""

    row: str
    cells: tuple[tuple[str, tuple[str, ...]], ...]


class MarkedBox(NamedTuple):
    """The ports and cells of a box that show something, for words.

    Attributes:
        sides: marked ports, by side.
        rays: detours.
        rows: marked, sealed and opened cells, by row.
        circled: labels of the ports that prove the markers wrong.
    """

    sides: tuple[MarkedSide, ...]
    rays: tuple[MarkedRay, ...]
    rows: tuple[MarkedRow, ...]
    circled: tuple[str, ...]


def marked_parts(
    board: Geometry,
    marks: Sequence[str],
    cells: Sequence[Sequence[str]],
    circled: Collection[int],
) -> MarkedBox:
    """Return the ports and cells of a box that show something.

    Args:
        board: the box's geometry.
        marks: the mark of each port; "" for none.
        cells: the two characters of each cell, row by row.
        circled: ports that prove the markers wrong.
    """
    shown = dict(zip(board.ports, marks, strict=True))
    sides = []
    for side in ("top", "right", "bottom", "left"):
        ports = tuple((label, shown[label]) for label in getattr(board, side) if shown[label])
        if ports:
            sides.append(MarkedSide(side, ports))
    rays: dict[str, list[str]] = {}
    for label, mark in shown.items():
        if mark.isalpha():
            rays.setdefault(mark, []).append(label)
    return MarkedBox(
        tuple(sides),
        tuple(
            MarkedRay(mark, tuple(rays[mark]))
            for mark in sorted(rays, key=lambda m: (m.isupper(), m))
        ),
        tuple(row for y, texts in enumerate(cells) if (row := _row(board, y, texts)).cells),
        tuple(board.ports[port] for port in sorted(circled)),
    )


def _row(board: Geometry, y: int, texts: Sequence[str]) -> MarkedRow:
    by_kind: dict[str, list[str]] = {}
    for x, text in enumerate(texts):
        if text in KINDS:
            by_kind.setdefault(KINDS[text], []).append(board.name(y * board.width + x))
    return MarkedRow(board.left[y], tuple((kind, tuple(names)) for kind, names in by_kind.items()))
