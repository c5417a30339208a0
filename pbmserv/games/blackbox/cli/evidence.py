"""What is seen on a box, as it is written on a command line: marks, markers, seals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_letters
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pbmserv.games.blackbox.cli.boxes import Named, named
from pbmserv.games.blackbox.cli.ending import Unusable

if TYPE_CHECKING:
    from pbmserv.games.blackbox.geometry import Geometry
    from pbmserv.games.blackbox.options import Options
    from pbmserv.games.blackbox.views import BoxView, View

Which: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="ID|PARAMS", help="A game ID, or only a size such as 8x8 for a box nobody knows."
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
            raise Unusable("--solution needs a game ID, not only a size.")
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
        OptionError: see `gameids.read_id` and `gameids.read_parameters`.
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
    from pbmserv.letters.scene import page

    return page("games/blackbox/grid.txt.j2", {"boxes": boxes})


def cells_named(board: Geometry, text: str) -> list[int]:
    """The cells of a list such as ``B2,D4`` or ``b2 4d``, in its order.

    Raises:
        Unusable: a name is no cell, or names one again.
    """
    cells: list[int] = []
    for name in _words(text):
        cell = board.cell(name)
        if cell is None:
            raise Unusable(f'"{name[:40]}" is no cell of a {board.width}x{board.height} board.')
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
        from pbmserv.games.blackbox.rays import trace_all

        self.marks = [""] * len(about.board.ports)
        self._found: dict[int, int] = {}
        self._letters = iter(ascii_letters)
        self._ports = about.board.ports
        self._real = trace_all(about.board, about.box.cells) if about.box else None

    def fire(self, word: str, port: int, told: int | None) -> None:
        """Fire one port; *told* is the result as it was written behind it, if any."""
        from pbmserv.games.blackbox.rays import HIT

        found = told if self._real is None else self._real[port]
        if found is None:
            raise Unusable(f'what port "{word}" did is not known; write it behind it: {word}:#')
        if told not in (None, found):
            raise Unusable(f'"{word}" is not what this box does there.')
        for one, other in ((port, found), (found, port) if found != HIT else (port, found)):
            if self._found.setdefault(one, other) != other:
                raise Unusable(f'"{word}" contradicts what was said before it.')
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
    from pbmserv.games.blackbox.rays import HIT

    if result == "#":
        return HIT
    return port if result == "%" else _port(board, word, result)


def _words(text: str) -> Iterator[str]:
    return (word for word in re.split(r"[\s,;]+", text) if word)
