"""The picture of a box: shapes, and facts for its description in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pbmserv.engine.types import Drawing, Seat, Shape, Value
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import path
from pbmserv.games.blackbox.views import BoxView, View

CELL = 40.0
"""Width and height of a cell and of a port in a drawing."""
ATOM, STUB, MARKER = 11.0, 10.0, 15.0
"""The radius of an atom, the length of a reflected ray at its port, and the radius of a marker."""
APART = (0.0, 5.0, -5.0, 9.0, -9.0)
"""Distances of rays from the middle of cells, so that two on the same path are both visible."""


def drawing(view: View, seat: Seat, end: View | None) -> Drawing | None:
    """Draw the box of a seat with its results, and with its atoms and rays if the board is over.

    Seals are private and never drawn.

    Args:
        view: the view of the reader.
        seat: the seat that solves the box.
        end: a view after the end of the board, if all may be shown; else `None`.
    """
    box = view.boxes[seat]
    if view.options.race and view.phase != "over" and view.seat != seat:
        return None
    board = box.board
    atoms = box.atoms if end is None else end.boxes[seat].atoms
    facts: dict[str, Value] = {
        "rays": len(box.results),
        "markers": board.names_of(box.markers),
        "atoms": board.names_of(atoms or ()),
        "marks": tuple(f"{board.ports[port]} {box.result(port)}" for port, _ in box.results),
    }
    width, height = (board.width + 2) * CELL, (board.height + 2) * CELL
    return Drawing(seat, width, height, _shapes(box, atoms), facts)


def _shapes(box: BoxView, atoms: frozenset[int] | None) -> tuple[Shape, ...]:
    """Return the shapes of a box, from the lowest to the topmost.

    Args:
        atoms: cells with an atom, to be drawn with all rays; `None` if they are not known.
    """
    board = box.board
    field = Shape("box", "field", (CELL, CELL, board.width * CELL, board.height * CELL))
    shapes = [field, *_ports(board, box.marks)]
    for cell in sorted(box.markers):
        role = ("right" if cell in (atoms or ()) else "hit") if box.opened else "mark"
        shapes += _marker(board, cell, role)
    shapes += _rules(board)
    if atoms is not None:
        shapes += _rays(box, atoms)
        shapes += [Shape("dot", "atom", (*_middle_of(board, cell), ATOM)) for cell in sorted(atoms)]
    return tuple(shapes)


def _ports(board: Geometry, marks: Sequence[str]) -> Iterator[Shape]:
    """Yield the ports with their names, in coloured boxes if they have marks."""
    for port, mark in enumerate(marks):
        x, y = _middle(board.port_places[port])
        role, name = _role(mark), board.ports[port]
        if mark:
            yield Shape("box", role, (x - CELL / 2 + 3, y - CELL / 2 + 3, CELL - 6, CELL - 6))
            yield Shape("word", role, (x, y - 6), mark)
            yield Shape("name", role, (x, y + 10), name)
        else:
            yield Shape("word", role, (x, y), name)


def _marker(board: Geometry, cell: int, role: str) -> list[Shape]:
    x, y = _middle_of(board, cell)
    around = x - CELL / 2 + 2, y - CELL / 2 + 2, CELL - 4, CELL - 4
    return [Shape("box", role, around), Shape("diamond", role, (x, y, MARKER))]


def _rules(board: Geometry) -> Iterator[Shape]:
    """Yield the lines between the cells."""
    right, bottom = CELL + board.width * CELL, CELL + board.height * CELL
    for n in range(1, board.width):
        yield Shape("line", "rule", (CELL + n * CELL, CELL, CELL + n * CELL, bottom))
    for n in range(1, board.height):
        yield Shape("line", "rule", (CELL, CELL + n * CELL, right, CELL + n * CELL))


def _rays(box: BoxView, atoms: frozenset[int]) -> Iterator[Shape]:
    """Yield the paths of the rays, the newest on top."""
    newest = box.fired
    for n, (port, out) in sorted(enumerate(box.results), key=lambda ray: newest in ray[1]):
        points = _points(box.board, atoms, port, out, APART[n % len(APART)])
        yield Shape("line", _role(box.marks[port]), points, is_new=newest in {port, out})


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
