"""``pbmserv blackbox``: the ray tracer at the command line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pbmserv.games.blackbox.geometry import Geometry

app = typer.Typer(no_args_is_help=True, help="Tools for the game Blackbox.")


class _BadBox(Exception):
    """A box that cannot be read; the text says why."""


@app.callback()
def _blackbox() -> None:
    """Tools for the game Blackbox."""


@app.command()
def rays(
    size: Annotated[str, typer.Option(metavar="WxH", help="Board size, 2x2 to 26x26.")] = "7x7",
    atoms: Annotated[
        str | None, typer.Option(metavar="CELLS", help='Where the atoms are, like "G1 B2".')
    ] = None,
) -> None:
    """What a ray into each port does: # hit, % reflection, or the port where it comes out.

    With --atoms, one line for that box, ports in the order top, right, bottom, left. Without,
    boxes are read from standard input, one JSON object a line, such as
    {"w":7,"h":7,"atoms":["G1","B2"]}, and one JSON object of port and result is printed for each.
    """
    try:
        if atoms is None:
            sys.stdout.writelines(_answers(sys.stdin.buffer))
        else:
            found = re.fullmatch(r"([0-9]{1,4})[xX]([0-9]{1,4})", size)
            if not found:
                raise _BadBox(f"--size {size!r} is not like 7x7")
            board = _board(int(found[1]), int(found[2]))
            results = _results(board, _cells(board, atoms.replace(",", " ").split()))
            typer.echo(" ".join(map(":".join, zip(board.ports, results, strict=True))))
    except _BadBox as bad:
        typer.echo(f"pbmserv blackbox rays: {bad}", err=True)
        raise typer.Exit(2) from None


def _answers(lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            box = json.loads(line)
            board, atoms = _box(box)
        except (ValueError, RecursionError):
            raise _BadBox(f"line {number}: not a JSON object") from None
        except _BadBox as bad:
            raise _BadBox(f"line {number}: {bad}") from None
        results = dict(zip(board.ports, _results(board, atoms), strict=True))
        yield json.dumps(results, separators=(",", ":")) + "\n"


def _box(box: Any) -> tuple[Geometry, list[int]]:
    if not isinstance(box, dict):
        raise _BadBox("not a JSON object")
    width, height, names = box.get("w"), box.get("h"), box.get("atoms")
    if type(width) is not int or type(height) is not int:
        raise _BadBox('"w" and "h" must be whole numbers')
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _BadBox('"atoms" must be a list of cells like "G1"')
    board = _board(width, height)
    return board, _cells(board, names)


def _board(width: int, height: int) -> Geometry:
    from pbmserv.games.blackbox.geometry import geometry

    try:
        return geometry(width, height)
    except ValueError as wrong:
        raise _BadBox(f"size {width}x{height}: {wrong}") from None


def _cells(board: Geometry, names: Iterable[str]) -> list[int]:
    cells: list[int] = []
    for name in names:
        cell = board.cell(name)
        if cell is None:
            raise _BadBox(f"{name!r} is no cell of a {board.width}x{board.height} board")
        if cell in cells:
            raise _BadBox(f"{name!r} names a cell twice")
        cells.append(cell)
    return cells


def _results(board: Geometry, atoms: Iterable[int]) -> list[str]:
    from pbmserv.games.blackbox.rays import HIT, trace_all

    return [
        "#" if found == HIT else "%" if found == port else board.ports[found]
        for port, found in enumerate(trace_all(board, atoms))
    ]
