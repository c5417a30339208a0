"""Displays of a box: its spots in their places, facts for words, and shapes for a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from pbmserv.engine.types import Shape
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import path

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


@lru_cache(maxsize=1_024)  # in most turns only ports change
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


@lru_cache(maxsize=256)  # markers and seals are set far more often than ports are marked
def port_spots(
    board: Geometry, marks: tuple[str, ...], circled: frozenset[int]
) -> tuple[Spot, ...]:
    """Return the spots of a box's ports.

    Args:
        board: the box's geometry.
        marks: the mark of each port; "" for none.
        circled: ports that prove the markers wrong.
    """
    unused, _ = _blank(board)
    ends: dict[str, list[str]] = {}
    used = [port for port, mark in enumerate(marks) if mark]
    for port in used:
        ends.setdefault(marks[port], []).append(board.ports[port])
    ports = list(unused)
    for port in used:
        label, mark = board.ports[port], marks[port]
        kind = RESULTS.get(mark, "detour")
        more = "".join([end for end in ends[mark] if end != label]) if kind == "detour" else ""
        ports[port] = Spot(f"wrong-{kind}" if port in circled else kind, label, mark, more)
    for port in circled.difference(used):
        ports[port] = Spot("telling", board.ports[port], "", "")
    return tuple(ports)


# A turn changes a row or two of a box, and each letter draws all rows.
@lru_cache(maxsize=2_048)
def spot_row(board: Geometry, y: int, left: Spot, texts: tuple[str, ...], right: Spot) -> SpotRow:
    """Return a row of a box from the ports at its ends and the characters of its cells."""
    return SpotRow(left, _spots_in(_blank(board)[1][y], texts), right)


@lru_cache(maxsize=64)
def _blank(board: Geometry) -> tuple[tuple[Spot, ...], tuple[tuple[Spot, ...], ...]]:
    """Return the port spots and the cell spots, row by row, of an untouched box."""
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


class BoxFacts(NamedTuple):
    """The facts of a box, without empty cells and ports.

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


def box_facts(
    board: Geometry,
    marks: Sequence[str],
    cells: Sequence[Sequence[str]],
    circled: Iterable[int] = (),
) -> BoxFacts:
    """Return the facts of a box.

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
    return BoxFacts(
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


CELL = 40.0
"""Width and height of a cell and of a port in a drawing."""
ATOM, STUB, MARKER = 11.0, 10.0, 15.0
"""The radius of an atom, the length of a reflected ray at its port, and the radius of a marker."""
APART = (0.0, 5.0, -5.0, 9.0, -9.0)
"""Distances of rays from the middle of cells, so that two on the same path are both visible."""


def shapes_of(
    board: Geometry,
    marks: Sequence[str],
    markers: Iterable[int],
    atoms: frozenset[int] | None,
    rays: Sequence[tuple[int, int]],
    newest: int | None,
    *,
    opened: bool,
) -> tuple[Shape, ...]:
    """Return the shapes of a box.

    Args:
        board: the box's geometry.
        marks: the mark of each port; "" for none.
        markers: cells with a marker.
        atoms: cells with an atom; ``None`` if they are not known.
        rays: (port, exit) of all rays; they are drawn if the atoms are known.
        newest: the port that was fired last; ``None`` before the first ray.
        opened: whether the board is over, so that markers are shown as right or wrong.
    """
    width, height = board.width * CELL, board.height * CELL
    shapes = [Shape("box", "field", (CELL, CELL, width, height))]
    for port, mark in enumerate(marks):
        x, y = _middle(board.port_places[port])
        if mark:
            shapes.append(
                Shape("box", _role(mark), (x - CELL / 2 + 3, y - CELL / 2 + 3, CELL - 6, CELL - 6))
            )
            shapes.append(Shape("word", _role(mark), (x, y - 6), mark))
            shapes.append(Shape("name", _role(mark), (x, y + 10), board.ports[port]))
        else:
            shapes.append(Shape("word", _role(mark), (x, y), board.ports[port]))
    for cell in sorted(markers):
        x, y = _middle_of(board, cell)
        role = ("right" if cell in (atoms or ()) else "hit") if opened else "mark"
        at = x - CELL / 2 + 2, y - CELL / 2 + 2, CELL - 4, CELL - 4
        shapes += [Shape("box", role, at), Shape("diamond", role, (x, y, MARKER))]
    for n in range(1, board.width):
        shapes.append(
            Shape("line", "rule", (CELL + n * CELL, CELL, CELL + n * CELL, CELL + height))
        )
    for n in range(1, board.height):
        shapes.append(Shape("line", "rule", (CELL, CELL + n * CELL, CELL + width, CELL + n * CELL)))
    if atoms is not None:
        drawn = sorted(enumerate(rays), key=lambda ray: newest in ray[1])  # the newest on top
        for n, (port, out) in drawn:
            points = _points(board, atoms, port, out, APART[n % len(APART)])
            is_new = newest in {port, out}
            shapes.append(Shape("line", _role(marks[port]), points, is_new=is_new))
        for cell in sorted(atoms):
            shapes.append(Shape("dot", "atom", (*_middle_of(board, cell), ATOM)))
    return tuple(shapes)


def _points(
    board: Geometry, atoms: frozenset[int], port: int, out: int, aside: float
) -> tuple[float, ...]:
    """Return the points of a ray's line, *aside* from the middle of its cells."""
    cells, absorbed = path(board, atoms, port)
    inside = [_middle_of(board, cell) for cell in cells]
    x, y = _edge(board, port)
    if absorbed is not None:
        to_x, to_y = _middle_of(board, absorbed)
        from_x, from_y = inside[-1] if inside else (x, y)
        room = 1 - (ATOM + 1) / max(abs(to_x - from_x), abs(to_y - from_y))
        end = from_x + (to_x - from_x) * room, from_y + (to_y - from_y) * room
    elif inside:
        end = _edge(board, out)
    else:  # turned back on its port
        to_x, to_y = _middle(board.port_places[port])
        end = x + (x - to_x) * STUB / (CELL / 2), y + (y - to_y) * STUB / (CELL / 2)
    return tuple(round(n + aside, 1) for point in ((x, y), *inside, end) for n in point)


def _role(mark: str) -> str:
    """Return the role of a port's mark, which has a colour."""
    return {"": "label", "#": "hit", "%": "turned"}.get(mark, "passed")


def _middle(place: tuple[int, int]) -> tuple[float, float]:
    return (place[0] + 0.5) * CELL, (place[1] + 0.5) * CELL


def _middle_of(board: Geometry, cell: int) -> tuple[float, float]:
    row, column = divmod(cell, board.width)
    return _middle((column + 1, row + 1))


def _edge(board: Geometry, port: int) -> tuple[float, float]:
    """Return the point where the ray of a port enters the box."""
    x, y = _middle(board.port_places[port])
    inside_x = min(max(x, CELL), CELL + board.width * CELL)
    return inside_x, min(max(y, CELL), CELL + board.height * CELL)
