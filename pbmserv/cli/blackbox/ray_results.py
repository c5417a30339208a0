"""``pbmserv blackbox rays``: the results of all rays into boxes, as text or JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pbmserv.cli.blackbox.arguments import box_of_id, cells_named, words_in
from pbmserv.cli.blackbox.refusals import Unusable, at_line, politely
from pbmserv.cli.output import say

if TYPE_CHECKING:
    from pbmserv.games.blackbox.geometry import Geometry


def rays(
    which: Annotated[str | None, typer.Argument(metavar="ID", help="The game ID of a box.")] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Board size, 2x2 to 26x26.")] = "7x7",
    atoms: Annotated[
        str | None, typer.Option(metavar="CELLS", help='Where the atoms are, like "G1 B2".')
    ] = None,
) -> None:
    """Print what a ray into each port does: # hit, % reflection, or its exit.

    With an ID or --atoms it prints one line: top, right, bottom, left ports.
    Without, it reads boxes from standard input, one JSON object a line, such as
    {"w":7,"h":7,"atoms":["G1","B2"]}, and prints one JSON object for each.

    Example: pbmserv blackbox rays --size 8x8 --atoms "D1 G1 B3 F5 D7"
    """
    with politely("rays"):
        if which is not None:
            box = box_of_id(which)
            _print_results(box.board, box.cells)
        elif atoms is not None:
            sides = re.fullmatch(r"([0-9]{1,4})[xX]([0-9]{1,4})", size)
            if not sides:
                raise Unusable(f"--size {size!r} is not a size; write it like 7x7")
            board = _board(int(sides[1]), int(sides[2]))
            _print_results(board, cells_named(board, words_in(atoms)))
        else:
            sys.stdout.writelines(_result_lines(sys.stdin.buffer))


def _print_results(board: Geometry, atoms: Iterable[int]) -> None:
    say(" ".join(map(":".join, zip(board.ports, _results(board, atoms), strict=True))))


def _result_lines(lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        with at_line(number):
            board, atoms = _box_of_json(line)
        results = dict(zip(board.ports, _results(board, atoms), strict=True))
        yield json.dumps(results, separators=(",", ":")) + "\n"


def _box_of_json(line: bytes) -> tuple[Geometry, list[int]]:
    try:
        box: Any = json.loads(line)
    except (ValueError, RecursionError):
        box = None
    if not isinstance(box, dict):
        raise Unusable("not a JSON object")
    width, height, names = box.get("w"), box.get("h"), box.get("atoms")
    if type(width) is not int or type(height) is not int:
        raise Unusable('"w" and "h" must be whole numbers')
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Unusable('"atoms" must be a list of cells like "G1"')
    board = _board(width, height)
    return board, cells_named(board, names)


def _board(width: int, height: int) -> Geometry:
    from pbmserv.games.blackbox.geometry import geometry

    try:
        return geometry(width, height)
    except ValueError as error:
        raise Unusable(f"size {width}x{height}: {error}") from None


def _results(board: Geometry, atoms: Iterable[int]) -> list[str]:
    from pbmserv.games.blackbox.rays import result_text, trace_all

    results = enumerate(trace_all(board, atoms))
    return [result_text(board, port, result) for port, result in results]
