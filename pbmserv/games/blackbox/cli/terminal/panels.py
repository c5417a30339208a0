"""What stands beside the board and opens above it: facts, news, a question, the page of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, ScrollableContainer, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from pbmserv.engine.types import Note
from pbmserv.games.blackbox.cli.terminal.board import Board, Pointing
from pbmserv.games.blackbox.geometry import HIT, Geometry
from pbmserv.games.blackbox.options import MOST_GUESSES
from pbmserv.games.blackbox.practice import Practice, Scoring
from pbmserv.games.blackbox.racing import PER_WRONG, TIMED_FAULT
from pbmserv.games.blackbox.views import BoxView


def arranged(board: Board, facts: Static, news: Static, keys: str) -> ComposeResult:
    """Arrange a screen: the board on the left, facts and news on the right, keys below."""
    with Horizontal():
        with ScrollableContainer(id="field", can_focus=False):
            yield board
        with Vertical(id="side"):
            yield facts
            yield news
    yield Static(keys, id="keys", markup=False)


def facts(practice: Practice, seconds: int) -> str:
    """The state of the game in a few lines."""
    options, box = practice.options, practice.view.boxes[0]
    lines = [
        f"{options.width}x{options.height}, {_atoms(options.atoms)}",
        "",
        f"Markers  {_markers(len(box.markers), options.least, options.most)}",
        f"Guesses  {_guesses(box.guesses_left)}",
        f"Ports    {sum(map(bool, box.marks))} of {len(box.marks)} show a mark",
        f"Time     {seconds // 60}:{seconds % 60:02}",
    ]
    if practice.scoring is not Scoring.PRACTICE:
        again = f", try {practice.tries}" if practice.tries > 1 else ""
        lines.append(f"Score    {practice.score(seconds).total} ({practice.scoring}{again})")
        if not practice.over:
            lines.append(f"Wrong    {_price(practice.scoring)}")
    return "\n".join(lines)


def _price(scoring: Scoring) -> str:
    """Say how many points a wrong guess costs."""
    if scoring is Scoring.TIMED:
        return f"each marker costs {TIMED_FAULT}"
    return f"each atom costs {PER_WRONG}"


def test_ray(box: BoxView, port: int, found: int) -> str:
    """Compare a ray among the player's markers with the result of the fired ray.

    Args:
        found: the port at which the ray among the markers comes out, or `HIT`.
    """
    label, ports = box.board.ports[port], box.board.ports
    fired = box.result(port)
    marked = "#" if found == HIT else "%" if found == port else ports[found]
    present = {"#": "is absorbed", "%": "comes back"}
    past = {"#": "it was absorbed", "%": "it came back"}
    does = present.get(marked, f"comes out at {marked}")
    claim = f"Through your markers a ray into {label} {does}"
    if marked == fired:
        return f"{claim}, as it did."
    return f"{claim}, but {past.get(fired, f'it came out at {fired}')}."


def pointed_out(board: Geometry, notes: Sequence[Note]) -> Pointing:
    """Return the ports that the notes of a check call wrong."""
    wrong = {str(note.values["port"]) for note in notes if note.kind == "check-wrong"}
    return Pointing(wrong=frozenset(board.ports.index(label) for label in wrong))


def _atoms(count: str) -> str:
    if "-" in count:
        return f"{count.replace('-', ' to ')} atoms"
    return f"{count} atom{'' if count == '1' else 's'}"


def _markers(have: int, least: int, most: int) -> str:
    if have < least:
        return f"{have}, {least - have} missing"
    return f"{have}, {have - most} too many" if have > most else f"{have}, ready to guess"


def _guesses(left: int) -> str:
    return "as many as you like" if left > MOST_GUESSES // 2 else f"{left} left"


KEYS = """\
arrows  mouse   move around the board
Enter   click   on a port: fire a ray, or show both ends of a fired one
                on a cell: put a marker on it, or take it off
Space   right   on a cell: lock it, or unlock it (drag: many): a marker
        click   stays, and a cell without one is sealed as surely empty
                on a port: lock its row or column; on a fired one: send a
                test ray through your markers, and see its way
l               lock the cell, row or column here, also at a fired port
m               type a move as in a mail: 4,+c7,!b2-d4
g               guess: are the markers right?
c  t            check: which results do your markers explain? A tip (hint)
u  r            undo, redo (also Ctrl+Z or Ctrl+_, and Ctrl+R)
R  n            begin again on this box; a new box (also Ctrl+N)
,  .            look at your moves one by one, back and on; End for now
v               give up and see where the atoms are
s  o            save this game in a file; open one
i  y            show the ID of this box; copy the board as text
h  q            this page; quit

#  hit          a a  in at one port,   ?  marker  ?! locked  @  atom
%  reflection        out at the other  :  seal     x  wrong marker
[#] end of a ray   !#! your markers contradict it   *  test ray"""


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
