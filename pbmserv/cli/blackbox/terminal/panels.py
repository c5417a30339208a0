"""The panels beside the board, and the screens above it: a question and the page of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, ScrollableContainer, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from pbmserv.cli.blackbox.terminal.board import Board, Highlight
from pbmserv.engine.types import Note
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.options import MOST_GUESSES, Options, Scoring
from pbmserv.games.blackbox.practice import Practice
from pbmserv.games.blackbox.racing import PER_WRONG, TIMED_FAULT
from pbmserv.games.blackbox.rays import HIT_MARK, REFLECTION_MARK, result_text
from pbmserv.games.blackbox.views import BoxView
from pbmserv.plurals import counted


def screen_layout(board: Board, facts: Static, messages: Static, keys: str) -> ComposeResult:
    """Lay out a screen: the board on the left, facts and messages on the right, keys below."""
    with Horizontal():
        with ScrollableContainer(id="field", can_focus=False):
            yield board
        with Vertical(id="side"):
            yield facts
            yield messages
    yield Static(keys, id="keys", markup=False)


def facts(practice: Practice, seconds: int) -> str:
    """Return the state of the game in a few lines."""
    options, box = practice.options, practice.view.boxes[0]
    lines = [
        f"{options.width}x{options.height}, {_atoms(options.atoms)}",
        "",
        f"Markers  {_markers(len(box.markers), options)}",
        f"Guesses  {_guesses(box.guesses_left)}",
        f"Ports    {sum(map(bool, box.marks))} of {len(box.marks)} show a mark",
        f"Time     {seconds // 60}:{seconds % 60:02}",
    ]
    if practice.scoring is not Scoring.PRACTICE:
        attempt = f", try {practice.tries}" if practice.tries > 1 else ""
        lines.append(f"Score    {practice.score(seconds).total} ({practice.scoring}{attempt})")
        if not practice.over:
            lines.append(f"Wrong    {_price(practice.scoring)}")
    return "\n".join(lines)


def _price(scoring: Scoring) -> str:
    """Return the price of a wrong guess."""
    if scoring is Scoring.TIMED:
        return f"each marker costs {TIMED_FAULT}"
    return f"each atom costs {PER_WRONG}"


def describe_test_ray(box: BoxView, port: int, exit_port: int) -> str:
    """Compare a test ray among the player's markers with the result of the fired ray.

    Args:
        box: the box.
        port: the port of both rays.
        exit_port: the exit of the test ray, or `rays.HIT`.
    """
    label = box.board.ports[port]
    fired = box.result(port)
    tested = result_text(box.board, port, exit_port)
    present = {HIT_MARK: "is absorbed", REFLECTION_MARK: "comes back"}
    past = {HIT_MARK: "it was absorbed", REFLECTION_MARK: "it came back"}
    does = present.get(tested, f"comes out at {tested}")
    claim = f"Through your markers a ray into {label} {does}"
    if tested == fired:
        return f"{claim}, as it did."
    return f"{claim}, but {past.get(fired, f'it came out at {fired}')}."


def wrong_ports(board: Geometry, notes: Sequence[Note]) -> Highlight:
    """Return a highlight of the ports that a check found wrong."""
    wrong = {str(note.values["port"]) for note in notes if note.kind == "check-wrong"}
    return Highlight(wrong=frozenset(board.ports.index(label) for label in wrong))


def _atoms(count: str) -> str:
    if "-" in count:
        return f"{count.replace('-', ' to ')} atoms"
    return counted(int(count), "atom")


def _markers(count: int, options: Options) -> str:
    missing = options.missing_atoms(count)
    if missing > 0:
        return f"{count}, {missing} missing"
    return f"{count}, {-missing} too many" if missing < 0 else f"{count}, ready to guess"


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
    """A prompt for a line of text. Escape closes it without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "Leave")]
    CSS = """
    Question { align: center middle; }
    Question Vertical { width: 70; height: auto; border: round $primary; padding: 0 1; }
    """

    def __init__(self, question: str, default: str) -> None:
        super().__init__()
        self._question = question
        self._default = default

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._default, select_on_focus=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)

    def action_leave(self) -> None:
        self.dismiss(None)


class Keys(ModalScreen[None]):
    """The page of keys; any key closes it."""

    CSS = """
    Keys { align: center middle; }
    Keys Static { width: auto; height: auto; border: round $primary; padding: 0 1; }
    """

    _closed = False

    def compose(self) -> ComposeResult:
        yield Static(KEYS, markup=False)

    def on_key(self) -> None:
        self._close()

    def on_click(self) -> None:
        self._close()

    def _close(self) -> None:
        if not self._closed:  # a second key may arrive before the page is closed
            self._closed = True
            self.dismiss(None)
