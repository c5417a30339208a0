"""What opens above the board: a question with one line to answer, and the page of keys."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

KEYS = """\
arrows  mouse   go about the board
Enter   click   on a port: fire a ray, or show both ends of a fired one
                on a cell: put a marker on it, or take it off
Space   right   on a cell: seal it as surely empty, or open it (drag: many)
        click   on a port: seal its row or column; on a fired one: send a
                test ray through your markers, and see its way
m               type a move as in a mail: 4,+c7,!b2-d4
g               guess: are the markers right?
c               check: which results do your markers explain?
u  r            undo, redo
R  n            begin again on this box; a new box
v               give up and see where the atoms are
s  o            save this game in a file; open one
i  y            show the ID of this box; copy the board as text
h  q            this page; quit

#  hit          a a  in at one port,   ?  marker   @  atom
%  reflection        out at the other  :  seal     x  wrong marker
[#] end of a ray   !#! contradicted by your markers   *  test ray"""


class Question(ModalScreen[str | None]):
    """A line to be typed; Escape leaves without one."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "Leave")]
    CSS = """
    Question { align: center middle; }
    Question Vertical { width: 70; height: auto; border: round $primary; padding: 0 1; }
    """

    def __init__(self, question: str, offered: str) -> None:
        super().__init__()
        self._question = question
        self._offered = offered

    def compose(self) -> ComposeResult:
        """The question above the line."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._offered, select_on_focus=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The answer."""
        self.dismiss(event.value.strip() or None)

    def action_leave(self) -> None:
        """No answer."""
        self.dismiss(None)


class Keys(ModalScreen[None]):
    """The page of keys; any key closes it."""

    CSS = """
    Keys { align: center middle; }
    Keys Static { width: auto; height: auto; border: round $primary; padding: 0 1; }
    """

    _closed = False

    def compose(self) -> ComposeResult:
        """The page."""
        yield Static(KEYS, markup=False)

    def on_key(self) -> None:
        """Close it."""
        self._close()

    def on_click(self) -> None:
        """Close it."""
        self._close()

    def _close(self) -> None:
        if not self._closed:  # a second key may come before the page is gone
            self._closed = True
            self.dismiss(None)
