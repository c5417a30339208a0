"""``pbmserv blackbox rays``: the ray tracer at the command line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pbmserv.cli.output import say
from pbmserv.games.blackbox.cli.boxes import named
from pbmserv.games.blackbox.cli.ending import Unusable, politely

if TYPE_CHECKING:
    from pbmserv.games.blackbox.geometry import Geometry


def rays(
    which: Annotated[str | None, typer.Argument(metavar="ID", help="The game ID of a box.")] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Board size, 2x2 to 26x26.")] = "7x7",
    atoms: Annotated[
        str | None, typer.Option(metavar="CELLS", help='Where the atoms are, like "G1 B2".')
    ] = None,
) -> None:
    """What a ray into each port does: # hit, % reflection, or the port where it comes out.

    With an ID or --atoms, one line for that box, ports in the order top, right, bottom, left.
    Without, boxes are read from standard input, one JSON object a line, such as
    {"w":7,"h":7,"atoms":["G1","B2"]}, and one JSON object of port and result is printed for each.

    Example: pbmserv blackbox rays --size 8x8 --atoms "D1 G1 B3 F5 D7"
    """
    with politely("rays"):
        if which is not None:
            box = named(which)
            _say(box.board, box.cells)
        elif atoms is not None:
            found = re.fullmatch(r"([0-9]{1,4})[xX]([0-9]{1,4})", size)
            if not found:
                raise Unusable(f"--size {size!r} is not like 7x7")
            board = _board(int(found[1]), int(found[2]))
            _say(board, _cells(board, atoms.replace(",", " ").split()))
        else:
            sys.stdout.writelines(_answers(sys.stdin.buffer))


def _say(board: Geometry, atoms: Iterable[int]) -> None:
    say(" ".join(map(":".join, zip(board.ports, _results(board, atoms), strict=True))))


def _answers(lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            box = json.loads(line)
            board, atoms = _box(box)
        except (ValueError, RecursionError):
            raise Unusable(f"line {number}: not a JSON object") from None
        except Unusable as bad:
            raise Unusable(f"line {number}: {bad}") from None
        results = dict(zip(board.ports, _results(board, atoms), strict=True))
        yield json.dumps(results, separators=(",", ":")) + "\n"


def _box(box: Any) -> tuple[Geometry, list[int]]:
    if not isinstance(box, dict):
        raise Unusable("not a JSON object")
    width, height, names = box.get("w"), box.get("h"), box.get("atoms")
    if type(width) is not int or type(height) is not int:
        raise Unusable('"w" and "h" must be whole numbers')
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Unusable('"atoms" must be a list of cells like "G1"')
    board = _board(width, height)
    return board, _cells(board, names)


def _board(width: int, height: int) -> Geometry:
    from pbmserv.games.blackbox.geometry import geometry

    try:
        return geometry(width, height)
    except ValueError as wrong:
        raise Unusable(f"size {width}x{height}: {wrong}") from None


def _cells(board: Geometry, names: Iterable[str]) -> list[int]:
    cells: list[int] = []
    for name in names:
        cell = board.cell(name)
        if cell is None:
            raise Unusable(f"{name!r} is no cell of a {board.width}x{board.height} board")
        if cell in cells:
            raise Unusable(f"{name!r} names a cell twice")
        cells.append(cell)
    return cells


def _results(board: Geometry, atoms: Iterable[int]) -> list[str]:
    from pbmserv.games.blackbox.rays import HIT, trace_all

    return [
        "#" if found == HIT else "%" if found == port else board.ports[found]
        for port, found in enumerate(trace_all(board, atoms))
    ]
