"""What several commands are given: boxes by game ID, and what is seen on a box.

Game IDs come as arguments or line by line through a pipe; marks, markers and seals as options.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_letters
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pbmserv.cli.output import complain, harmless
from pbmserv.errors import PlayerError

if TYPE_CHECKING:
    from pbmserv.games.blackbox.game_ids import GameId
    from pbmserv.games.blackbox.geometry import Geometry
    from pbmserv.games.blackbox.options import Options
    from pbmserv.games.blackbox.views import BoxView, View


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
    typer.Argument(metavar="ID...", help="Game IDs; without any, one a line from standard input."),
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


AsGame: TypeAlias = Annotated[
    bool, typer.Option("--game", help="What you name is a game ID or PARAMS, never a file.")
]
AsFile: TypeAlias = Annotated[
    bool, typer.Option("--load", help="What you name is a file, whatever it is called.")
]


def names_a_file(what: str, *, as_game: bool, as_file: bool) -> bool:
    """Whether an argument is a file; without ``--game`` and ``--load`` the disk decides.

    Raises:
        Unusable: both options are there.
    """
    if as_game and as_file:
        raise Unusable("--game and --load contradict each other.")
    if as_game or as_file:
        return as_file
    try:
        return Path(what).is_file()
    except OSError:  # too long for a name: a game ID of many atoms
        return False


def named(text: str) -> Named:
    """The box of a game ID.

    Raises:
        OptionError: see `game_ids.read_id`.
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
            raise Unusable(
                f"line {number}: longer than {LONGEST_LINE} characters, so not a game ID"
            )
        try:
            text = line.decode().rstrip("\r\n")  # blanks at its end may belong to a seed
        except UnicodeDecodeError:
            raise Unusable(f"line {number}: not UTF-8 text") from None
        if text.strip():
            yield number, text


Which: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="ID|PARAMS", help="A game ID, or just a size such as 8x8 for an unknown box."
    ),
]
Marks: TypeAlias = Annotated[
    str,
    typer.Option(
        "--marks", metavar="PORTS", help='Ports that were fired: "A 4 all", or "A:# 4:11".'
    ),
]
Markers: TypeAlias = Annotated[
    str, typer.Option("--markers", metavar="CELLS", help='Cells with a marker: "B2,D4".')
]


@dataclass(frozen=True, slots=True)
class Subject:
    """The box that is shown or checked.

    Attributes:
        board: its size and labels.
        options: its rules, as far as they matter here.
        title: what it is called.
        box: the box itself; ``None`` where only the size is known.
    """

    board: Geometry
    options: Options
    title: str
    box: Named | None

    def view(self, marks: tuple[str, ...], markers: str, seals: str, opened: bool) -> View:
        """The box as its solver would see it.

        Raises:
            Unusable: cells are wrong, or it shall be opened though nobody knows it.
        """
        from pbmserv.engine.types import Seat
        from pbmserv.games.blackbox.views import BoxView, View

        if opened and self.box is None:
            raise Unusable("--solution needs a game ID, not just a size.")
        box = BoxView(
            seat=Seat(0),
            hider=None,
            board=self.board,
            filled=True,
            guesses_left=1,
            marks=marks,
            markers=frozenset(cells_named(self.board, markers)),
            sealed=frozenset(cells_named(self.board, seals)),
            atoms=frozenset(self.box.cells) if opened and self.box else None,
            opened=opened,
        )
        return View(Seat(0), self.options, "playing", (box,), (Seat(0),), None)


def subject(which: str) -> Subject:
    """The box of a game ID, or of a size alone.

    Raises:
        OptionError: see `game_ids.read_id` and `game_ids.read_parameters`.
    """
    from pbmserv.games.blackbox.game_ids import read_parameters
    from pbmserv.games.blackbox.geometry import geometry
    from pbmserv.games.blackbox.options import Options

    box = named(which) if re.search("[:#]", which) else None
    kind = box.game if box else read_parameters(which)
    title = box.game.text if box else which.strip()
    options = Options(kind.width, kind.height, kind.least, kind.most)
    return Subject(geometry(kind.width, kind.height), options, title, box)


def grid(boxes: list[BoxView]) -> str:
    """The drawn boxes, as the letters have them."""
    from pbmserv.views.texts import render_text

    return render_text("games/blackbox/grid.txt.j2", {"boxes": boxes})


def cells_named(board: Geometry, text: str) -> list[int]:
    """The cells of a list such as ``B2,D4`` or ``b2 4d``, in its order.

    Raises:
        Unusable: a name is no cell, or names one again.
    """
    cells: list[int] = []
    for name in _words(text):
        cell = board.cell(name)
        if cell is None:
            raise Unusable(f'"{name[:40]}" is not a cell of a {board.width}x{board.height} board.')
        if cell in cells:
            raise Unusable(f'"{name}" names a cell twice.')
        cells.append(cell)
    return cells


def marks_seen(about: Subject, text: str) -> tuple[str, ...]:
    """What each port shows after these were fired, in the order in which they are named.

    Raises:
        Unusable: a port or a result is wrong, or a result is missing that nobody can know.
    """
    board = about.board
    seen = _Seen(about)
    for word in _words(text):
        if word.lower() == "all":
            for port in range(len(board.ports)):
                seen.fire(word, port, None)
            continue
        label, _, result = word.replace("=", ":").upper().partition(":")
        port = _port(board, word, label)
        seen.fire(word, port, _result(board, word, port, result) if result else None)
    return tuple(seen.marks)


class _Seen:
    """The marks of a box while ports are fired."""

    def __init__(self, about: Subject) -> None:
        from pbmserv.games.blackbox.geometry import trace_all

        self.marks = [""] * len(about.board.ports)
        self._found: dict[int, int] = {}
        self._letters = iter(ascii_letters)
        self._ports = about.board.ports
        self._real = trace_all(about.board, about.box.cells) if about.box else None

    def fire(self, word: str, port: int, told: int | None) -> None:
        """Fire one port; *told* is the result as it was written behind it, if any."""
        from pbmserv.games.blackbox.geometry import HIT

        found = told if self._real is None else self._real[port]
        if found is None:
            raise Unusable(f'write what port "{word}" shows behind it, such as {word}:#')
        if told not in (None, found):
            raise Unusable(f'"{word}" is wrong: in this box that port shows something else.')
        for one, other in ((port, found), (found, port) if found != HIT else (port, found)):
            if self._found.setdefault(one, other) != other:
                raise Unusable(f'"{word}" contradicts a port before it.')
        if self.marks[port]:
            return
        mark = "#" if found == HIT else "%" if found == port else next(self._letters)
        self.marks[port] = mark
        if found != HIT:
            self.marks[found] = mark


def _port(board: Geometry, word: str, label: str) -> int:
    port = board.port(label)
    if port is None:
        size, named = f"{board.width}x{board.height}", label[:10] or "in it"
        raise Unusable(f'"{word[:40]}": there is no port {named} on a {size} board.')
    return port


def _result(board: Geometry, word: str, port: int, result: str) -> int:
    from pbmserv.games.blackbox.geometry import HIT

    if result == "#":
        return HIT
    return port if result == "%" else _port(board, word, result)


def _words(text: str) -> Iterator[str]:
    return (word for word in re.split(r"[\s,;]+", text) if word)


WRONG = 2
STOPPED = 130
READER_LEFT = 141


class Unusable(Exception):
    """Input that cannot be used; the text is the line that is said about it."""


@contextmanager
def politely(command: str) -> Iterator[None]:
    """Say what was wrong in one line on stderr, and leave with the right exit code."""
    try:
        yield
        sys.stdout.flush()
    except PlayerError as error:
        raise _over(command, sentence(error)) from None
    except Unusable as error:
        raise _over(command, str(error)) from None
    except BrokenPipeError:
        # What is still in the buffer must go nowhere, or Python complains when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(READER_LEFT) from None
    except KeyboardInterrupt:
        raise typer.Exit(STOPPED) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(harmless(f"pbmserv blackbox {command}: {place}{error.strerror or error}"))
        raise typer.Exit(1) from None


def sentence(error: PlayerError) -> str:
    """The sentence of a refusal, and its example."""
    from pbmserv.views.texts import refusal_sentence

    example = error.refusal.example
    return refusal_sentence(error.refusal) + (f" Example: {example}" if example else "")


def _over(command: str, reason: str) -> typer.Exit:
    complain(harmless(f"pbmserv blackbox {command}: {reason}".replace("\n", " ")))
    return typer.Exit(WRONG)
