"""Arguments that several commands share: boxes by game ID, and the marks and markers on a box.

Game IDs are arguments or lines of standard input. Marks, markers and seals are options.
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


@dataclass(frozen=True, slots=True)
class BoxOfId:
    """The box of a game ID.

    Attributes:
        game: the ID.
        board: its size and labels.
        cells: the cells of its atoms, in the order of the ID.
    """

    game: GameId
    board: Geometry
    cells: tuple[int, ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the cells, such as ``D1``, in the order of the ID."""
        return tuple(map(self.board.name, self.cells))


AsGame: TypeAlias = Annotated[
    bool, typer.Option("--game", help="What you name is a game ID or PARAMS, never a file.")
]
AsFile: TypeAlias = Annotated[
    bool, typer.Option("--load", help="What you name is a file, whatever it is called.")
]


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


def box_of_id(text: str) -> BoxOfId:
    """Return the box of a game ID.

    Raises:
        OptionError: see `game_ids.read_id`.
    """
    from pbmserv.games.blackbox.game_ids import cells_of, read_id
    from pbmserv.games.blackbox.geometry import geometry

    game = read_id(text)
    return BoxOfId(game, geometry(game.width, game.height), cells_of(game))


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
        try:
            yield box_of_id(line)
        except PlayerError as error:
            raise Unusable(f"line {number}: {sentence(error)}") from None


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
        if len(line) == LONGEST_LINE:
            raise Unusable(
                f"line {number}: longer than {LONGEST_LINE} characters, so not a game ID"
            )
        try:
            text = line.decode().rstrip("\r\n")  # blanks at the end may belong to a seed
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
    """The box to show or check.

    Attributes:
        board: its size and labels.
        options: its size and number of atoms; the other rules do not matter here.
        title: the heading above the drawing.
        box: the box with its atoms, `None` if only the size is known.
    """

    board: Geometry
    options: Options
    title: str
    box: BoxOfId | None

    def view(self, marks: tuple[str, ...], markers: str, seals: str, opened: bool) -> View:
        """Return the box as its solver would see it.

        Raises:
            Unusable: a cell is wrong, or the atoms to show are unknown.
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
    """Return the box of a game ID or of a size.

    Raises:
        OptionError: see `game_ids.read_id` and `game_ids.read_parameters`.
    """
    from pbmserv.games.blackbox.game_ids import read_parameters
    from pbmserv.games.blackbox.geometry import geometry
    from pbmserv.games.blackbox.options import Options

    box = box_of_id(which) if re.search("[:#]", which) else None
    kind = box.game if box else read_parameters(which)
    title = box.game.text if box else which.strip()
    options = Options(kind.width, kind.height, kind.least, kind.most)
    return Subject(geometry(kind.width, kind.height), options, title, box)


def grid(boxes: list[BoxView]) -> str:
    """Return drawings of boxes as in letters."""
    from pbmserv.views.texts import render_text

    return render_text("games/blackbox/grid.txt.j2", {"boxes": boxes})


def cells_named(board: Geometry, text: str) -> list[int]:
    """Return the cells of a list such as ``B2,D4`` or ``b2 4d``, in its order.

    Raises:
        Unusable: a word is not a cell, or a cell is repeated.
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


def marks_of(subject: Subject, text: str) -> tuple[str, ...]:
    """Return the mark of each port after ports were fired in the order of a list.

    Raises:
        Unusable: a port or a result is wrong, or the result of an unknown box is missing.
    """
    board = subject.board
    firing = _Firing(subject)
    for word in _words(text):
        if word.lower() == "all":
            for port in range(len(board.ports)):
                firing.fire(word, port, None)
            continue
        label, _, result = word.replace("=", ":").upper().partition(":")
        port = _port(board, word, label)
        firing.fire(word, port, _result(board, word, port, result) if result else None)
    return tuple(firing.marks)


class _Firing:
    """The marks of a box while ports are fired."""

    def __init__(self, subject: Subject) -> None:
        from pbmserv.games.blackbox.rays import trace_all

        self.marks = [""] * len(subject.board.ports)
        self._exits: dict[int, int] = {}
        self._letters = iter(ascii_letters)
        self._results = trace_all(subject.board, subject.box.cells) if subject.box else None

    def fire(self, word: str, port: int, written: int | None) -> None:
        """Fire a port.

        Args:
            word: the word of the list, for refusals.
            port: the port.
            written: the result that the user wrote behind the port, `None` for none.
        """
        from pbmserv.games.blackbox.rays import HIT

        result = written if self._results is None else self._results[port]
        if result is None:
            raise Unusable(f'write what port "{word}" shows behind it, such as {word}:#')
        if written not in (None, result):
            raise Unusable(f'"{word}" is wrong: in this box that port shows something else.')
        ends = [(port, result)] if result == HIT else [(port, result), (result, port)]
        for entry, exit_ in ends:
            if self._exits.setdefault(entry, exit_) != exit_:
                raise Unusable(f'"{word}" contradicts a port before it.')
        if self.marks[port]:
            return
        mark = "#" if result == HIT else "%" if result == port else next(self._letters)
        self.marks[port] = mark
        if result != HIT:
            self.marks[result] = mark


def _port(board: Geometry, word: str, label: str) -> int:
    port = board.port(label)
    if port is None:
        size, name = f"{board.width}x{board.height}", label[:10] or "in it"
        raise Unusable(f'"{word[:40]}": there is no port {name} on a {size} board.')
    return port


def _result(board: Geometry, word: str, port: int, result: str) -> int:
    from pbmserv.games.blackbox.rays import HIT

    if result == "#":
        return HIT
    return port if result == "%" else _port(board, word, result)


def _words(text: str) -> Iterator[str]:
    return (word for word in re.split(r"[\s,;]+", text) if word)


WRONG = 2
STOPPED = 130
READER_LEFT = 141


class Unusable(Exception):
    """Input that cannot be used; the text is the line to print."""


@contextmanager
def politely(command: str) -> Iterator[None]:
    """Turn errors into one line on stderr and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except PlayerError as error:
        raise _exit_with(command, sentence(error)) from None
    except Unusable as error:
        raise _exit_with(command, str(error)) from None
    except BrokenPipeError:
        # Discard the rest of the buffer, or Python complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(READER_LEFT) from None
    except KeyboardInterrupt:
        raise typer.Exit(STOPPED) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(harmless(f"pbmserv blackbox {command}: {place}{error.strerror or error}"))
        raise typer.Exit(1) from None


def sentence(error: PlayerError) -> str:
    """Return the sentence of a refusal with its example."""
    from pbmserv.views.texts import refusal_sentence

    example = error.refusal.example
    return refusal_sentence(error.refusal) + (f" Example: {example}" if example else "")


def _exit_with(command: str, reason: str) -> typer.Exit:
    complain(harmless(f"pbmserv blackbox {command}: {reason}".replace("\n", " ")))
    return typer.Exit(WRONG)
