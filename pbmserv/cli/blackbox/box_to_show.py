"""The box to show or check, with its marks and markers from the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pbmserv.cli.blackbox.arguments import BoxOfId, box_of_id, cells_named, is_game_id, words_in
from pbmserv.cli.blackbox.refusals import Unusable

if TYPE_CHECKING:
    from pbmserv.games.blackbox.geometry import Geometry
    from pbmserv.games.blackbox.options import Options
    from pbmserv.games.blackbox.views import BoxView, View

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
class BoxToShow:
    """The box to show or check.

    Attributes:
        options: its size and number of atoms; the other rules do not matter here.
        title: the heading above the drawing.
        box: the box with its atoms, `None` if only the size is known.
    """

    options: Options
    title: str
    box: BoxOfId | None

    @property
    def board(self) -> Geometry:
        """The size and labels of the box."""
        return self.options.board

    def view(self, marks: tuple[str, ...], markers: str, seals: str, *, opened: bool) -> View:
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
            markers=frozenset(cells_named(self.board, words_in(markers))),
            sealed=frozenset(cells_named(self.board, words_in(seals))),
            atoms=frozenset(self.box.cells) if opened and self.box else None,
            opened=opened,
        )
        return View(Seat(0), self.options, "playing", (box,), (Seat(0),), None)


def box_to_show(which: str) -> BoxToShow:
    """Return the box of a game ID or of a size.

    Raises:
        OptionError: see `game_ids.read_id` and `game_ids.read_parameters`.
    """
    from pbmserv.games.blackbox.game_ids import read_parameters
    from pbmserv.games.blackbox.options import Options

    box = box_of_id(which) if is_game_id(which) else None
    kind = box.game if box else read_parameters(which)
    title = box.game.text if box else which.strip()
    return BoxToShow(Options.of(kind), title, box)


def grid(boxes: list[BoxView]) -> str:
    """Return drawings of boxes as in letters."""
    from pbmserv.views.texts import render_text

    return render_text("games/blackbox/grid.txt.j2", {"boxes": boxes})


def marks_of(shown: BoxToShow, text: str) -> tuple[str, ...]:
    """Return the mark of each port after ports were fired in the order of a list.

    Raises:
        Unusable: a port or a result is wrong, or the box is unknown and a result is missing.
    """
    board = shown.board
    firing = _Firing(shown)
    for word in words_in(text):
        if word.lower() == "all":
            if shown.box is None:
                raise Unusable("--marks all needs a game ID, not just a size.")
            for port in range(len(board.ports)):
                firing.fire(word, port, None)
            continue
        label, _, result = word.replace("=", ":").upper().partition(":")
        port = _port(board, word, label)
        firing.fire(word, port, _result(board, word, port, result) if result else None)
    return tuple(firing.marks)


class _Firing:
    """The marks of a box while ports are fired."""

    def __init__(self, shown: BoxToShow) -> None:
        from pbmserv.games.blackbox.rays import trace_all

        self.marks = [""] * len(shown.board.ports)
        self._exits: dict[int, int] = {}
        self._results = trace_all(shown.board, shown.box.cells) if shown.box else None

    def fire(self, word: str, port: int, written: int | None) -> None:
        """Fire a port.

        Args:
            word: the word of the list, for refusals.
            port: the port.
            written: the result that the user wrote behind the port, `None` for none.
        """
        from pbmserv.games.blackbox.rays import HIT, mark_ports

        result = written if self._results is None else self._results[port]
        if result is None:
            raise Unusable(f'write what port "{word}" shows behind it, such as {word}:#')
        if written not in (None, result):
            raise Unusable(f'"{word}" is wrong: in this box that port shows something else.')
        ends = [(port, result)] if result == HIT else [(port, result), (result, port)]
        for entry, exit_ in ends:
            if self._exits.setdefault(entry, exit_) != exit_:
                raise Unusable(f'"{word}" contradicts a port before it.')
        if not self.marks[port]:
            mark_ports(self.marks, port, result)


def _port(board: Geometry, word: str, label: str) -> int:
    port = board.port(label)
    if port is None:
        size, name = f"{board.width}x{board.height}", label[:10] or "in it"
        raise Unusable(f'"{word[:40]}": there is no port {name} on a {size} board.')
    return port


def _result(board: Geometry, word: str, port: int, result: str) -> int:
    from pbmserv.games.blackbox.rays import HIT, HIT_MARK, REFLECTION_MARK

    if result == HIT_MARK:
        return HIT
    return port if result == REFLECTION_MARK else _port(board, word, result)
