"""Arguments that several commands share: boxes by game ID, kinds of boxes, and files.

Game IDs are arguments or lines of standard input.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pbmserv.cli.blackbox.refusals import Unusable, at_line
from pbmserv.cli.output import complain

if TYPE_CHECKING:
    from pbmserv.games.blackbox.game_ids import GameId
    from pbmserv.games.blackbox.geometry import Geometry

LONGEST_LINE = 10_000
"""Octets of a line of standard input."""
PRESETS = {
    "7x7/4": "the classic box of this server",
    "8x8/4": "a larger box",
    "5x5/3": "small",
    "8x8/5": "as usual in Simon Tatham's program",
    "8x8/3-6": "3 to 6 atoms",
    "10x10/5": "large",
    "10x10/4-10": "large, 4 to 10 atoms",
}


def presets(incomplete: str) -> list[tuple[str, str]]:
    """Return the completions that a shell offers for PARAMS."""
    return [pair for pair in PRESETS.items() if pair[0].startswith(incomplete.lower())]


Ids: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID...", help="Game IDs; without any, one a line from standard input."),
]
Params: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="PARAMS", help="8x8, 8x8/5, 8x8/3-6 or w8h8m3M6.", autocompletion=presets
    ),
]
Which: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="ID|PARAMS", help="A game ID, or just a size such as 8x8 for an unknown box."
    ),
]
AsGame: TypeAlias = Annotated[
    bool, typer.Option("--game", help="What you name is a game ID or PARAMS, never a file.")
]
AsFile: TypeAlias = Annotated[
    bool, typer.Option("--load", help="What you name is a file, whatever it is called.")
]


@dataclass(frozen=True, slots=True)
class BoxOfId:
    """The box of a game ID.

    Attributes:
        game: the ID.
        cells: the cells of its atoms, in the order of the ID.
    """

    game: GameId
    cells: tuple[int, ...] = field(repr=False)

    @property
    def board(self) -> Geometry:
        """The size and labels of the box."""
        return self.game.board

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the cells, such as ``D1``, in the order of the ID."""
        return tuple(map(self.board.name, self.cells))


def names_a_file(argument: str, *, as_game: bool, as_file: bool) -> bool:
    """Return whether an argument is a file. Without ``--game`` and ``--load``, look for the file.

    Raises:
        Unusable: both options are given.
    """
    if as_game and as_file:
        raise Unusable("--game and --load contradict each other.")
    if as_game or as_file:
        return as_file
    try:
        return Path(argument).is_file()
    except OSError:  # too long for a name: a game ID of many atoms
        return False


def is_game_id(argument: str) -> bool:
    """Return whether an argument is a game ID, which contains ``:`` or ``#``."""
    return ":" in argument or "#" in argument


def words_in(text: str) -> list[str]:
    """Return the words of a list such as ``B2,D4`` or ``A:# 4:11``."""
    return [word for word in re.split(r"[\s,;]+", text) if word]


def cells_named(board: Geometry, names: Iterable[str]) -> list[int]:
    """Return the cells with names such as ``B2`` or ``4d``, in their order.

    Raises:
        Unusable: a name is not that of a cell, or a cell is repeated.
    """
    cells: list[int] = []
    for name in names:
        cell = board.cell(name)
        if cell is None:
            raise Unusable(f'"{name[:40]}" is not a cell of a {board.width}x{board.height} board.')
        if cell in cells:
            raise Unusable(f'"{name}" names a cell twice.')
        cells.append(cell)
    return cells


def box_of_id(text: str) -> BoxOfId:
    """Return the box of a game ID.

    Raises:
        OptionError: see `game_ids.read_id`.
    """
    from pbmserv.games.blackbox.game_ids import cells_of, read_id

    game = read_id(text)
    return BoxOfId(game, cells_of(game))


def every_box(ids: Sequence[str] | None) -> Iterator[BoxOfId]:
    """Yield the boxes of the IDs on the command line or, without any, on standard input.

    Raises:
        OptionError: an ID on the command line is wrong.
        Unusable: an ID on standard input is wrong; the text has the number of its line.
    """
    if ids and list(ids) != ["-"]:
        yield from map(box_of_id, ids)
        return
    for number, line in lines():
        with at_line(number):
            box = box_of_id(line)
        yield box


def lines() -> Iterator[tuple[int, str]]:
    """Yield the lines of standard input that are not blank, with their numbers.

    Raises:
        Unusable: a line is not UTF-8 text, or longer than `LONGEST_LINE`.
    """
    if sys.stdin is None or sys.stdin.closed:
        return
    if sys.stdin.isatty():
        complain("Reading from the terminal, one a line; Ctrl-D ends it.")
    yield from _decoded_lines(iter(lambda: sys.stdin.buffer.readline(LONGEST_LINE), b""))


def _decoded_lines(raw: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(raw, 1):
        with at_line(number):
            text = _decoded(line)
        if text.strip():
            yield number, text


def _decoded(line: bytes) -> str:
    if len(line) == LONGEST_LINE:
        raise Unusable(f"longer than {LONGEST_LINE} characters, so not a game ID")
    try:
        return line.decode().rstrip("\r\n")  # blanks at the end may belong to a seed
    except UnicodeDecodeError:
        raise Unusable("not UTF-8 text") from None
