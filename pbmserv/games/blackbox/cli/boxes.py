"""Boxes as these commands get them: by game ID, as an argument or line by line through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pbmserv.cli.output import complain
from pbmserv.errors import PlayerError
from pbmserv.games.blackbox.cli.ending import Unusable, sentence

if TYPE_CHECKING:
    from pbmserv.games.blackbox.game_ids import GameId
    from pbmserv.games.blackbox.geometry import Geometry

LONGEST_LINE = 10_000
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
    """What a shell offers for PARAMS."""
    return [pair for pair in PRESETS.items() if pair[0].startswith(incomplete.lower())]


Ids: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID...", help="Game IDs; none = one a line on standard input."),
]
Params: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="PARAMS", help="8x8, 8x8/5, 8x8/3-6 or w8h8m3M6.", autocompletion=presets
    ),
]


@dataclass(frozen=True, slots=True)
class Named:
    """A box that was asked for.

    Attributes:
        game: its ID.
        board: its size and labels.
        cells: where its atoms are, in the order of the ID.
    """

    game: GameId
    board: Geometry
    cells: tuple[int, ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The cells' names in the order of the ID, such as ``D1``."""
        return tuple(map(self.board.name, self.cells))


def named(text: str) -> Named:
    """The box of a game ID.

    Raises:
        OptionError: see `gameids.read_id`.
    """
    from pbmserv.games.blackbox.game_ids import cells_of, read_id
    from pbmserv.games.blackbox.geometry import geometry

    game = read_id(text)
    return Named(game, geometry(game.width, game.height), cells_of(game))


def every_box(ids: Sequence[str] | None) -> Iterator[Named]:
    """The boxes of the IDs on the command line, else of those on standard input.

    Raises:
        OptionError | Unusable: at the first that is wrong, with the number of its line.
    """
    if ids and list(ids) != ["-"]:
        yield from map(named, ids)
        return
    for number, line in lines():
        try:
            yield named(line)
        except PlayerError as error:
            raise Unusable(f"line {number}: {sentence(error)}") from None


def lines() -> Iterator[tuple[int, str]]:
    """The lines of standard input that are not blank, with their numbers.

    Raises:
        Unusable: a line is no text, or endless.
    """
    if sys.stdin is None or sys.stdin.closed:
        return
    if sys.stdin.isatty():
        complain("Reading from the terminal, one a line; Ctrl-D ends it.")
    yield from _texts(iter(lambda: sys.stdin.buffer.readline(LONGEST_LINE), b""))


def _texts(raw: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(raw, 1):
        if len(line) == LONGEST_LINE:
            raise Unusable(f"line {number}: more than {LONGEST_LINE} characters, so no game ID")
        try:
            text = line.decode().strip()
        except UnicodeDecodeError:
            raise Unusable(f"line {number}: not a text in UTF-8") from None
        if text:
            yield number, text
