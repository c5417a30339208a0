"""The full-screen game, which turns keys and mouse clicks into moves of a `Practice`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from pbmserv.cli.blackbox.box_to_show import grid
from pbmserv.cli.blackbox.game_files import Unreadable, Unwritable, read_game, write_game
from pbmserv.cli.blackbox.refusals import sentence
from pbmserv.cli.blackbox.terminal.board import Board, Highlight, held_cells
from pbmserv.cli.blackbox.terminal.hiding import Hiding
from pbmserv.cli.blackbox.terminal.panels import (
    Keys,
    Question,
    describe_test_ray,
    facts,
    screen_layout,
    wrong_ports,
)
from pbmserv.cli.blackbox.terminal.squares import Square, area_of, cell_at, port_at
from pbmserv.engine.record import HINT
from pbmserv.engine.types import Note
from pbmserv.errors import PlayerError
from pbmserv.games.blackbox.bots.hints import hint
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.marker_checks import check_markers
from pbmserv.games.blackbox.options import Scoring
from pbmserv.games.blackbox.practice import PLAYER, Practice
from pbmserv.games.blackbox.rays import cells_passed, trace
from pbmserv.plurals import counted
from pbmserv.views.texts import note_sentences, render_text

USUAL_FILE = "blackbox.txt"
SHORT = "Enter fire/mark  Space lock  g guess  c check  t tip  u undo  h keys  q quit"


@dataclass(frozen=True, slots=True)
class Start:
    """A game to play or to continue.

    Attributes:
        practice: the game.
        seconds: the seconds for which it was played before.
        file: the file that it comes from, or in which to save it.
    """

    practice: Practice
    seconds: int = 0
    file: str = USUAL_FILE


class Terminal(App[None]):
    """The application, which plays one box after the other until the player quits.

    Args:
        start: the first game; with *by_hand*, only its kind is used.
        another_game: returns a new game of the same kind.
        clock: returns seconds since any fixed moment.
        by_hand: whether a second person hides the atoms of each box.
    """

    TITLE = "Blackbox"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #field { width: 1fr; height: 1fr; background: #121212; align: center middle; }
    #field { scrollbar-size: 1 1; }
    #side { width: 32; height: 1fr; padding: 0 1; background: #1a1f24; color: #e8e8e8; }
    #facts { height: auto; margin-bottom: 1; }
    #messages { height: 1fr; color: #b8d8f0; }
    #keys { height: 1; background: #2d3945; color: #ffffff; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "type", show=False),
        Binding("l", "lock", show=False),
        Binding("g,question_mark", "guess", show=False),
        Binding("c", "check", show=False),
        Binding("t", "hint", show=False),
        Binding("u,ctrl+z,ctrl+underscore", "change('undo')", show=False),
        Binding("r,ctrl+r,ctrl+y", "change('redo')", show=False),
        Binding("R", "restart", show=False),
        Binding("comma", "step(-1)", show=False),
        Binding("full_stop", "step(1)", show=False),
        Binding("end,escape", "present", show=False),
        Binding("n,ctrl+n", "new", show=False),
        Binding("v", "solve", show=False),
        Binding("s,ctrl+s", "save", show=False),
        Binding("o,ctrl+o", "open", show=False),
        Binding("i", "identify", show=False),
        Binding("y", "copy", show=False),
        Binding("h,f1", "keys", show=False),
        Binding("q,ctrl+q", "leave", show=False),
    ]

    def __init__(
        self,
        start: Start,
        another_game: Callable[[Practice], Practice],
        clock: Callable[[], float] = time.monotonic,
        *,
        by_hand: bool,
    ) -> None:
        super().__init__()
        self.practice = start.practice
        self._file = start.file
        self._another_game = another_game
        self._clock = clock
        self._earlier_seconds = start.seconds
        self._begun_at = clock()
        self._saved: Practice | None = start.practice
        self._key_to_confirm = ""
        self._locks = True
        self._by_hand = by_hand
        self._has_begun = not by_hand
        self._step: int | None = None
        self._highlight = Highlight()
        self._messages: list[tuple[str, ...]] = []
        # The timer finds the panels here, since a question above the board hides them from queries.
        self._board = Board(self.practice.view.boxes[0])
        self._facts_panel = Static(id="facts", markup=False)
        self._message_panel = Static(id="messages", markup=False)

    @property
    def seconds(self) -> int:
        """The seconds for which this game was played until now or until its end."""
        running = 0 if self.practice.over else int(self._clock() - self._begun_at)
        return self._earlier_seconds + running

    def compose(self) -> ComposeResult:
        yield from screen_layout(self._board, self._facts_panel, self._message_panel, SHORT)

    def on_mount(self) -> None:
        self._board.focus()
        self.set_interval(1, self._update_facts)
        self._say("Where are the atoms? Fire rays from the ports around the box.")
        self._draw()
        if self._by_hand:
            self.push_screen(Hiding(self.practice), self._begin_hidden_box)

    def on_board_chosen(self, chosen: Board.Chosen) -> None:
        self._choose(chosen.square, second=chosen.second)

    def on_board_dragged(self, dragged: Board.Dragged) -> None:
        """Lock or unlock the cells over which the mouse is dragged."""
        box = self.practice.view.boxes[0]
        cell = cell_at(box.board, dragged.square)
        if cell is not None and (cell in held_cells(box)) != self._locks:
            self._play(f"{'lock' if self._locks else 'unlock'} {box.board.name(cell)}")

    def action_step(self, by: int) -> None:
        """Show the game one move earlier or later."""
        done = self.practice.done
        step = min(max((done if self._step is None else self._step) + by, 0), done)
        if step == done:
            self.action_present()
            return
        self._step, self._highlight = step, Highlight()
        shown = self._shown_practice
        text = f": {shown.texts[step - 1]}" if step else ""
        self._messages = [(f"Move {step} of {done}{text}", *self._sentences(shown.notes))]
        self._draw()

    def action_present(self) -> None:
        """Show the present position."""
        if self._step is None:
            return
        self._step, self._messages = None, []
        self._say("This is your game as it is now.")
        self._draw()

    def _refuse_in_the_past(self) -> bool:
        """Return whether an earlier position is shown, and tell the player that it is read-only."""
        if self._step is None:
            return False
        self._say("Earlier moves are only to look at. Press End to go on.")
        self._draw()
        return True

    @property
    def _shown_practice(self) -> Practice:
        """The game at the position on the screen."""
        return self.practice if self._step is None else replace(self.practice, done=self._step)

    def action_restart(self) -> None:
        """Begin the same box again, after a second press if moves would be lost."""
        practice, is_scored = self.practice, self.practice.scoring is not Scoring.PRACTICE
        if self._refuse_in_the_past():
            return
        if practice.state == practice.steps[0].state:
            self._say("This box is at its beginning.")
            self._draw()
            return
        warning = "This try is over then." if is_scored else "Then u brings your moves back."
        if practice.over or self._confirmed(
            "R", f"Press R again to begin this box again. {warning}"
        ):
            self._change(practice.restart)
            if is_scored:
                self._earlier_seconds, self._begun_at = 0, self._clock()
                self._draw()

    def action_type(self) -> None:
        """Ask for a move in words."""
        self.push_screen(Question("Your move, such as 4,+c7,!b2", ""), self._play)

    def action_lock(self) -> None:
        """Lock or unlock the cell at the cursor, or the row or column of the port there."""
        self._lock(self._board.cursor)

    def action_guess(self) -> None:
        """Guess that the markers are right."""
        self._play("?")

    def action_check(self) -> None:
        """Show which marks the markers explain."""
        if self._refuse_in_the_past():
            return
        notes = check_markers(self.practice.view)
        self._highlight = wrong_ports(self.practice.options.board, notes)
        self._say(*self._sentences(notes))
        self._draw()

    def action_hint(self) -> None:
        """Show a hint of the coach, who thinks in a thread."""
        if self._refuse_in_the_past():
            return
        self._change(self.practice.hint)
        if self.practice.asks_for_hint:
            self._say("The coach thinks …")
            self._draw()
            self.run_worker(
                partial(self._work_out_hint, self.practice), thread=True, exclusive=True
            )

    def _work_out_hint(self, practice: Practice) -> None:
        """Work out a hint in a thread, since a large board takes seconds."""
        words = {"hint": hint(practice.view), "view": practice.view}
        lines = render_text("games/blackbox/hint.txt.j2", words).splitlines()
        self.call_from_thread(self._show_hint, practice, lines)

    def _show_hint(self, practice: Practice, lines: Sequence[str]) -> None:
        if practice is self.practice:
            self._say(*filter(None, map(str.strip, lines)))
            self._draw()

    def action_change(self, method: str) -> None:
        """Undo or redo."""
        self._change(getattr(self.practice, method))

    def action_solve(self) -> None:
        """Give up after a second press."""
        if self.practice.over or self._confirmed(
            "v", "Press v again to give up and see the atoms."
        ):
            self._change(self.practice.solve)

    def action_new(self) -> None:
        """Begin another box of the same kind, after a second press if moves would be lost."""
        if self._nothing_lost() or self._confirmed(
            "n", "Press n again to leave this box for another."
        ):
            if self._by_hand:
                self.push_screen(Hiding(self.practice), self._begin_hidden_box)
                return
            self._begin(Start(self._another_game(self.practice)))
            self._say("A new box.")
            self._draw()

    def action_leave(self) -> None:
        """Quit, after a second press if moves would be lost."""
        if self._nothing_lost() or self._confirmed(
            "q", "Not saved. Press q again to quit, s to save."
        ):
            self.exit()

    def action_save(self) -> None:
        """Ask for a file name, and save the game."""
        if self._refuse_to_tell_id():
            return
        self.push_screen(Question("Save this game as", self._file), self._save)

    def action_open(self) -> None:
        """Ask for a file, and continue its game; after a second press if moves would be lost."""
        if self._nothing_lost() or self._confirmed(
            "o", "Not saved. Press o again to open another game, s to save."
        ):
            self.push_screen(Question("Open the game in", self._file), self._open)

    def action_identify(self) -> None:
        """Show the game ID."""
        if self._refuse_to_tell_id():
            return
        self._say(f"This box: {self.practice.game.text}")
        self._draw()

    def _refuse_to_tell_id(self) -> bool:
        """Return whether the game ID must stay secret since a second person hid the atoms, and tell
        the player so."""
        if not self._by_hand or self.practice.over:
            return False
        self._say("The ID and the file of a box tell its atoms. You get them at the end.")
        self._draw()
        return True

    def action_copy(self) -> None:
        """Put the board on the clipboard."""
        self.copy_to_clipboard(grid(list(self._shown_practice.view.boxes)) + "\n")
        self._say("Copied the board as text, if this terminal has a clipboard.")
        self._draw()

    def action_keys(self) -> None:
        """Show all keys."""
        self.push_screen(Keys())

    def _choose(self, square: Square, *, second: bool) -> None:
        if self._refuse_in_the_past():
            return
        box = self.practice.view.boxes[0]
        port, cell = port_at(box.board, square), cell_at(box.board, square)
        if port is not None and box.marks[port]:
            self._point_at(port, test=second)
        elif second:
            self._lock(square)
        elif cell is not None:
            self._play(("/" if cell in box.markers else "+") + box.board.name(cell))
        elif port is not None:
            self._play(box.board.ports[port])

    def _lock(self, square: Square) -> None:
        """Lock a cell, or a port's row or column; unlock it if all of it is locked."""
        box = self.practice.view.boxes[0]
        area, cells = area_of(box.board, square)
        self._locks = not held_cells(box).issuperset(cells)
        self._play(f"{'lock' if self._locks else 'unlock'} {area}")

    def _point_at(self, port: int, *, test: bool) -> None:
        """Show both ends of a fired ray or, as a test, its way through the markers."""
        box = self.practice.view.boxes[0]
        mark, ports = box.marks[port], box.board.ports
        if test:
            result = trace(box.board, box.markers, port)
            self._highlight = Highlight(cells=frozenset(cells_passed(box.board, box.markers, port)))
            self._say(describe_test_ray(box, port, result))
        else:
            same_mark = {end for end, other in enumerate(box.marks) if other == mark}
            ends = frozenset(same_mark if mark.isalpha() else {port})
            self._highlight = Highlight(ports=ends)
            names = " and ".join(ports[end] for end in sorted(ends))
            self._say(f"{names}: {mark}")
        self._draw()

    def _play(self, text: str | None) -> None:
        if text and text.strip().lower() == HINT:
            self.action_hint()
        elif text:
            self._change(lambda: self.practice.play(text, self.seconds))

    def _change(self, change: Callable[[], Practice]) -> None:
        """Change the game, or show the refusal."""
        if self._refuse_in_the_past():
            return
        seconds, length = self.seconds, self.practice.done
        try:
            changed = change()
        except PlayerError as error:
            self._say(sentence(error))
            self._draw()
            return
        self._earlier_seconds, self._begun_at = seconds, self._clock()
        self.practice = changed
        notes = changed.notes if changed.done > length else ()
        self._highlight = wrong_ports(changed.options.board, notes)
        self._say(*self._sentences(notes), *self._too_many_markers())
        self._draw()

    def _too_many_markers(self) -> Iterable[str]:
        """Yield a warning if there are more markers than a guess may have."""
        box, most = self.practice.state.boxes[PLAYER], self.practice.options.most
        extra = len(box.markers) - most
        if extra > 0 and not self.practice.over:
            yield f"You have {counted(extra, 'marker')} too many for a guess."

    def _sentences(self, notes: Iterable[Note]) -> list[str]:
        return note_sentences(GAME, notes, ["you"], PLAYER)

    def _begin(self, start: Start) -> None:
        self.practice, self._file = start.practice, start.file
        self._saved = start.practice
        self._earlier_seconds, self._begun_at = start.seconds, self._clock()
        self._highlight, self._step = Highlight(), None

    def _begin_hidden_box(self, practice: Practice | None) -> None:
        """Begin the game on a box whose atoms another person hid; `None` if that person quit."""
        if practice is None:
            if not self._has_begun:
                self.exit()
            return
        self._has_begun = True
        self._messages = []
        self._begin(Start(practice))
        self._say("The box is shut: now it is the other one's turn. Where are the atoms?")
        self._draw()

    def _save(self, name: str | None) -> None:
        if name:
            try:
                write_game(Path(name).expanduser(), self.practice, self.seconds)
            except Unwritable as error:
                self._say(str(error))
            else:
                self._file, self._saved = name, self.practice
                self._say(f"Saved as {name}.")
            self._draw()

    def _open(self, name: str | None) -> None:
        if name:
            try:
                practice, seconds = read_game(Path(name).expanduser())
            except Unreadable as error:
                self._say(str(error))
            else:
                self._begin(Start(practice, seconds, name))
                self._say(f"Opened {name}.")
            self._draw()

    def _nothing_lost(self) -> bool:
        return self.practice is self._saved or self.practice.over or not self.practice.texts

    def _confirmed(self, key: str, question: str) -> bool:
        """Return whether the key was pressed twice in a row. The first time, show the question."""
        if self._key_to_confirm == key:
            return True
        self._say(question)
        self._key_to_confirm = key
        self._draw()
        return False

    def _say(self, *lines: str) -> None:
        self._key_to_confirm = ""
        if lines:
            self._messages = [lines, *self._messages[:8]]

    def _draw(self) -> None:
        self._board.show(self._shown_practice.view.boxes[0], self._highlight)
        self._message_panel.update("\n".join(line for lines in self._messages for line in lines))
        self._update_facts()

    def _update_facts(self) -> None:
        self._facts_panel.update(facts(self._shown_practice, self.seconds))
