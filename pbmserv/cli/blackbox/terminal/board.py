"""The board on the screen, which is drawn with signs and colours and takes keys and mouse.

Each colour repeats the meaning of a sign: ``#``, ``%`` and letters on ports, ``?`` for a marker,
``?!`` for a locked one, ``@`` for an atom, ``x`` for a wrong marker, ``:`` for a seal, ``*`` for
the way of a test ray, brackets around a highlighted port and ``!`` around one that contradicts the
markers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from pbmserv.cli.blackbox.terminal.squares import Square, cell_at, exists, moved, port_at
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import HIT_MARK, REFLECTION_MARK
from pbmserv.games.blackbox.views import BoxView

WIDE, NARROW = 3, 2
MOST_WIDE = 13
"""The widest board whose squares are three characters wide; others have two."""

SIDE = 4
"""Characters of a label beside the board, including a blank."""

_LABEL = Style(color="#a8a8a8", bgcolor="#121212")
_OUTSIDE = Style(color="#a8a8a8", bgcolor="#121212")
_EVEN, _ODD, _MARKED = "#26303a", "#2d3945", "#4f6478"
_PORT = Style(color="#6c7680", bgcolor="#1a1f24")
_HIT = Style(color="#ffffff", bgcolor="#b34700", bold=True)
_REFLECTION = Style(color="#101010", bgcolor="#f0e442", bold=True)
_DETOUR = Style(color="#101010", bgcolor="#7cc4ee", bold=True)
_MARKER = "#ffffff"
_ATOM = "#ffb000"
_SEAL = "#7a8a99"
_PATH = "#7cc4ee"


@dataclass(frozen=True, slots=True)
class Highlight:
    """Highlights on the board besides the cursor.

    Attributes:
        ports: the ends of a ray.
        cells: the way of a test ray.
        wrong: ports whose marks contradict the markers.
    """

    ports: frozenset[int] = frozenset()
    cells: frozenset[int] = frozenset()
    wrong: frozenset[int] = frozenset()


class Board(Widget, can_focus=True):
    """A drawn box with a cursor."""

    # Bound here, since the scrolling container would take these keys before the application.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(0,-1)", show=False),
        Binding("down", "go(0,1)", show=False),
        Binding("left", "go(-1,0)", show=False),
        Binding("right", "go(1,0)", show=False),
        Binding("enter", "choose(False)", show=False),
        Binding("space", "choose(True)", show=False),
    ]

    class Chosen(Message):
        """A choice of a square; *second* if made with the second mouse button or key."""

        def __init__(self, square: Square, second: bool) -> None:
            super().__init__()
            self.square = square
            self.second = second

    class Dragged(Message):
        """A drag of the mouse over a cell with the second button down."""

        def __init__(self, square: Square) -> None:
            super().__init__()
            self.square = square

    def __init__(self, box: BoxView) -> None:
        super().__init__(id="board")
        self._box = box
        self._highlight = Highlight()
        self._drag: Square | None = None
        self.cursor: Square = (0, -1)
        self._set_size()

    def show(self, box: BoxView, highlight: Highlight) -> None:
        """Show a box with highlights."""
        resized = (box.board.width, box.board.height) != (self._across, self._down)
        self._box, self._highlight = box, highlight
        if resized:
            self.cursor = (0, -1)
            self._set_size()
        self.refresh()

    def action_go(self, across: int, down: int) -> None:
        """Move the cursor, and keep it and the labels around it visible."""
        self.cursor = moved(self._board, self.cursor, across, down)
        x, y = self.centre_of(self.cursor)
        spot = Region(x - SIDE - self._square, y - 2, 2 * (SIDE + self._square), 5)
        if isinstance(self.parent, Widget):
            self.parent.scroll_to_region(spot, animate=False)
        self.refresh()

    def action_choose(self, second: bool) -> None:
        """Choose the square at the cursor."""
        self.post_message(self.Chosen(self.cursor, second))

    def square_at(self, x: int, y: int) -> Square | None:
        """Return the square at a point of the widget, `None` for none."""
        square = ((x - SIDE) // self._square - 1, y - 2)
        board = self._board
        return square if exists(board, square) else None

    def centre_of(self, square: Square) -> tuple[int, int]:
        """Return the centre of a square in the widget."""
        return SIDE + (square[0] + 1) * self._square + self._square // 2, square[1] + 2

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Choose a square. The first button fires or marks, others lock or fire a test ray."""
        square = self.square_at(event.x, event.y)
        if square is None:
            return
        self.cursor = square
        second = event.button != 1
        if second:
            self._drag = square
            self.capture_mouse()
        self.post_message(self.Chosen(square, second))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Report the cells over which the mouse is dragged."""
        square = self.square_at(event.x, event.y)
        if self._drag is None or square is None or square == self._drag:
            return
        self._drag = square
        if cell_at(self._board, square) is not None:
            self.cursor = square
            self.post_message(self.Dragged(square))

    def on_mouse_up(self, _: events.MouseUp) -> None:
        self._drag = None
        self.release_mouse()

    def render_line(self, y: int) -> Strip:
        """Draw a line: labels, ports, or a row of cells between its ports."""
        row = y - 2
        if row in (-2, self._down + 1):
            return Strip(self._labels(row))
        segments = [self._side(row, left=True)]
        segments += [self._square_segment((column, row)) for column in range(-1, self._across + 1)]
        segments.append(self._side(row, left=False))
        return Strip(segments)

    @property
    def _board(self) -> Geometry:
        return self._box.board

    def _set_size(self) -> None:
        self._across, self._down = self._board.width, self._board.height
        self._square = WIDE if self._across <= MOST_WIDE else NARROW
        self.styles.width = 2 * SIDE + (self._across + 2) * self._square
        self.styles.height = self._down + 4

    def _labels(self, row: int) -> Iterator[Segment]:
        labels = self._board.top if row < 0 else self._board.bottom
        yield Segment(" " * (SIDE + self._square), _OUTSIDE)
        for label in labels:
            yield Segment(label.center(self._square), _LABEL)
        yield Segment(" " * (SIDE + self._square), _OUTSIDE)

    def _side(self, row: int, *, left: bool) -> Segment:
        labels = self._board.left if left else self._board.right
        label = labels[row] if 0 <= row < self._down else ""
        text = label.rjust(SIDE - 1) + " " if left else " " + label.ljust(SIDE - 1)
        return Segment(text, _LABEL)

    def _square_segment(self, square: Square) -> Segment:
        port, cell = port_at(self._board, square), cell_at(self._board, square)
        if port is not None:
            text, style = self._port(port)
        elif cell is not None:
            text, style = self._cell(square, cell)
        else:
            return Segment(" " * self._square, _OUTSIDE)
        if square == self.cursor and self.has_focus:
            style += Style(reverse=True, bold=True)
        return Segment(text, style)

    def _port(self, port: int) -> tuple[str, Style]:
        mark = self._box.marks[port]
        styles = {"": _PORT, HIT_MARK: _HIT, REFLECTION_MARK: _REFLECTION}
        style = styles.get(mark, _DETOUR)
        text = mark or "\u00b7"
        if port in self._highlight.wrong or port in self._box.circled:
            return self._around("!", text, "!"), style + Style(underline=True)
        if port in self._highlight.ports:
            return self._around("[", text, "]"), style + Style(underline=True)
        return text.center(self._square), style

    def _cell(self, square: Square, cell: int) -> tuple[str, Style]:
        ground = _EVEN if sum(square) % 2 == 0 else _ODD
        shown = self._box.drawn.rows[square[1]].cells[square[0]].strip()
        if cell in self._highlight.cells and shown in ("", "."):
            shown = "*"
        colour = {"@": _ATOM, ".": _SEAL, "*": _PATH}.get(shown, _MARKER)
        if shown.startswith("?"):
            ground = _MARKED
        text = (":" if shown == "." else shown).center(self._square)
        return text, Style(color=colour, bgcolor=ground, bold=shown != ".")

    def _around(self, left: str, text: str, right: str) -> str:
        return left + text + right if self._square == WIDE else text + right


def held_cells(box: BoxView) -> frozenset[int]:
    """Return the cells that are locked or sealed."""
    return box.locked | box.sealed
