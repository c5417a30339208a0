"""The full-screen game: keys and mouse become moves of a `Practice`, and it is drawn again."""

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

from pbmserv.engine.record import HINT
from pbmserv.engine.types import Note
from pbmserv.errors import PlayerError
from pbmserv.games.blackbox.analysis import check_markers
from pbmserv.games.blackbox.bots.hints import hint
from pbmserv.games.blackbox.cli.arguments import grid, sentence
from pbmserv.games.blackbox.cli.play import Unreadable, read_game, write_game
from pbmserv.games.blackbox.cli.terminal.board import (
    Board,
    Pointing,
    Square,
    area_of,
    cell_at,
    held_cells,
    port_at,
)
from pbmserv.games.blackbox.cli.terminal.hiding import Hiding
from pbmserv.games.blackbox.cli.terminal.panels import (
    Keys,
    Question,
    arranged,
    facts,
    pointed_out,
    test_ray,
)
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import trace, way
from pbmserv.games.blackbox.practice import PLAYER, Practice, Scoring
from pbmserv.views.texts import note_sentences, render_text

USUAL_FILE = "blackbox.txt"
SHORT = "Enter fire/mark  Space lock  g guess  c check  t tip  u undo  h keys  q quit"


@dataclass(frozen=True, slots=True)
class Start:
    """What a game begins with.

    Attributes:
        practice: the game as it stands.
        seconds: for how long it was played before.
        file: where it came from, if from a file.
    """

    practice: Practice
    seconds: int = 0
    file: str = USUAL_FILE


class Terminal(App[None]):
    """One box after the other, until the player quits.

    Args:
        start: the first game; with *by_hand* it only says which kind of game to play.
        fresh: makes another game of the same kind.
        clock: tells seconds from anywhere.
        by_hand: one person hides the atoms of each box, and another one plays it.
    """

    TITLE = "Blackbox"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #field { width: 1fr; height: 1fr; background: #121212; align: center middle; }
    #field { scrollbar-size: 1 1; }
    #side { width: 32; height: 1fr; padding: 0 1; background: #1a1f24; color: #e8e8e8; }
    #facts { height: auto; margin-bottom: 1; }
    #told { height: 1fr; color: #b8d8f0; }
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
        fresh: Callable[[Practice], Practice],
        clock: Callable[[], float] = time.monotonic,
        *,
        by_hand: bool = False,
    ) -> None:
        super().__init__()
        self.practice = start.practice
        self._file = start.file
        self._fresh = fresh
        self._clock = clock
        self._before = start.seconds
        self._since = clock()
        self._kept: Practice | None = start.practice
        self._asked = ""
        self._locks = True
        self._by_hand = by_hand
        self._has_begun = not by_hand
        self._step: int | None = None
        self._pointing = Pointing()
        self._told: list[tuple[str, ...]] = []
        # Kept, not looked for: a question above the board must not hide them from the timer.
        self._board = Board(self.practice.view.boxes[0])
        self._facts = Static(id="facts", markup=False)
        self._news = Static(id="told", markup=False)

    @property
    def seconds(self) -> int:
        """For how long this game has been played; it stands still once the game is over."""
        running = 0 if self.practice.over else int(self._clock() - self._since)
        return self._before + running

    def compose(self) -> ComposeResult:
        yield from arranged(self._board, self._facts, self._news, SHORT)

    def on_mount(self) -> None:
        """Begin."""
        self._board.focus()
        self.set_interval(1, self._tell_facts)
        self._say("Where are the atoms? Fire rays from the ports around the box.")
        self._draw()
        if self._by_hand:
            self.push_screen(Hiding(self.practice), self._shut)

    def on_board_chosen(self, chosen: Board.Chosen) -> None:
        """A click."""
        self._choose(chosen.square, second=chosen.second)

    def on_board_dragged(self, dragged: Board.Dragged) -> None:
        """Lock, or unlock, the cells that the mouse is drawn over."""
        box = self.practice.view.boxes[0]
        cell = cell_at(box.board, dragged.square)
        if cell is not None and (cell in held_cells(box)) != self._locks:
            self._play(f"{'lock' if self._locks else 'unlock'} {box.board.name(cell)}")

    def action_step(self, by: int) -> None:
        """Look at the game as it was one move earlier, or later."""
        done = self.practice.done
        step = min(max((done if self._step is None else self._step) + by, 0), done)
        if step == done:
            self.action_present()
            return
        self._step, self._pointing = step, Pointing()
        shown = self._shown
        text = f": {shown.chain[step - 1].text}" if step else ""
        self._told = [(f"Move {step} of {done}{text}", *self._sentences(shown.notes))]
        self._draw()

    def action_present(self) -> None:
        """Show the game as it is."""
        if self._step is None:
            return
        self._step, self._told = None, []
        self._say("This is your game as it is now.")
        self._draw()

    def _only_looks(self) -> bool:
        """Whether an earlier move is shown, where nothing can be played; says so."""
        if self._step is None:
            return False
        self._say("Earlier moves are only to look at. Press End to go on.")
        self._draw()
        return True

    @property
    def _shown(self) -> Practice:
        """The game as the screen shows it: as it is, or as it was."""
        return self.practice if self._step is None else replace(self.practice, done=self._step)

    def action_restart(self) -> None:
        """Begin again on the same box, once it is asked for twice if that loses anything."""
        practice, scored = self.practice, self.practice.scoring is not Scoring.PRACTICE
        if self._only_looks():
            return
        if practice.state == practice.start:
            self._say("This box is at its beginning.")
            self._draw()
            return
        warning = "This try is over then." if scored else "Then u brings your moves back."
        if practice.over or self._sure("R", f"Press R again to begin this box again. {warning}"):
            self._change(practice.restart)
            if scored:
                self._before, self._since = 0, self._clock()
                self._draw()

    def action_type(self) -> None:
        """A move in words."""
        self.push_screen(Question("Your move, such as 4,+c7,!b2", ""), self._play)

    def action_lock(self) -> None:
        """Lock or unlock the cell at the cursor, or the row or column of the port there."""
        self._lock(self._board.cursor)

    def action_guess(self) -> None:
        """Judge the markers."""
        self._play("?")

    def action_check(self) -> None:
        """Compare markers and marks."""
        if self._only_looks():
            return
        notes = check_markers(self.practice.view)
        self._pointing = pointed_out(self.practice.options.board, notes)
        self._say(*self._sentences(notes))
        self._draw()

    def action_hint(self) -> None:
        """What the coach would say; keys and clock go on while it thinks."""
        if self._only_looks():
            return
        self._change(self.practice.hint)
        if self.practice.asks_for_hint:
            self._say("The coach thinks …")
            self._draw()
            self.run_worker(partial(self._think, self.practice), thread=True, exclusive=True)

    def _think(self, practice: Practice) -> None:
        """In a thread: a large board takes seconds."""
        words = {"hint": hint(practice.view), "view": practice.view}
        lines = render_text("games/blackbox/hint.txt.j2", words).splitlines()
        self.call_from_thread(self._give_hint, practice, lines)

    def _give_hint(self, practice: Practice, lines: Sequence[str]) -> None:
        if practice is self.practice:
            self._say(*filter(None, map(str.strip, lines)))
            self._draw()

    def action_change(self, what: str) -> None:
        """Undo, redo or restart."""
        self._change(getattr(self.practice, what))

    def action_solve(self) -> None:
        """Give up, once it is asked for twice."""
        if self.practice.over or self._sure("v", "Press v again to give up and see the atoms."):
            self._change(self.practice.solve)

    def action_new(self) -> None:
        """Another box of the same kind."""
        if self._nothing_lost() or self._sure("n", "Press n again to leave this box for another."):
            if self._by_hand:
                self.push_screen(Hiding(self.practice), self._shut)
                return
            self._begin(Start(self._fresh(self.practice)))
            self._say("A new box.")
            self._draw()

    def action_leave(self) -> None:
        """Quit, but not by mistake."""
        if self._nothing_lost() or self._sure("q", "Not saved. Press q again to quit, s to save."):
            self.exit()

    def action_save(self) -> None:
        """Ask where to, and write it."""
        if self._keeps_secret():
            return
        self.push_screen(Question("Save this game as", self._file), self._save)

    def action_open(self) -> None:
        """Ask for a file, and go on with its game."""
        self.push_screen(Question("Open the game in", self._file), self._open)

    def action_identify(self) -> None:
        """Show the game ID."""
        if self._keeps_secret():
            return
        self._say(f"This box: {self.practice.game.text}")
        self._draw()

    def _keeps_secret(self) -> bool:
        """Whether the game ID must not be told, since somebody here has hidden the atoms; says
        so."""
        if not self._by_hand or self.practice.over:
            return False
        self._say("The ID and the file of a box tell its atoms. You get them at the end.")
        self._draw()
        return True

    def action_copy(self) -> None:
        """Put the board on the clipboard."""
        self.copy_to_clipboard(grid(list(self._shown.view.boxes)) + "\n")
        self._say("Copied the board as text, if this terminal has a clipboard.")
        self._draw()

    def action_keys(self) -> None:
        """Show all keys."""
        self.push_screen(Keys())

    def _choose(self, square: Square, *, second: bool) -> None:
        if self._only_looks():
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
        """Show both ends of a ray, or its way through the markers."""
        box = self.practice.view.boxes[0]
        mark, ports = box.marks[port], box.board.ports
        if test:
            found = trace(box.board, box.markers, port)
            self._pointing = Pointing(cells=frozenset(way(box.board, box.markers, port)))
            self._say(test_ray(box, port, found))
        else:
            same = {other for other, shown in enumerate(box.marks) if shown == mark}
            ends = frozenset(same if mark.isalpha() else {port})
            self._pointing = Pointing(ports=ends)
            names = " and ".join(ports[end] for end in sorted(ends))
            self._say(f"{names}: {mark}")
        self._draw()

    def _play(self, text: str | None) -> None:
        if text and text.strip().lower() == HINT:
            self.action_hint()
        elif text:
            self._change(lambda: self.practice.play(text, self.seconds))

    def _change(self, change: Callable[[], Practice]) -> None:
        """Go on to what a change makes of the game, or say why it cannot."""
        if self._only_looks():
            return
        seconds, length = self.seconds, self.practice.done
        try:
            after = change()
        except PlayerError as error:
            self._say(sentence(error))
            self._draw()
            return
        self._before, self._since = seconds, self._clock()
        self.practice = after
        notes = after.notes if after.done > length else ()
        self._pointing = pointed_out(after.options.board, notes)
        self._say(*self._sentences(notes), *self._too_many())
        self._draw()

    def _too_many(self) -> Iterable[str]:
        """Say that there are more markers than a guess may have."""
        box, most = self.practice.state.boxes[PLAYER], self.practice.options.most
        extra = len(box.markers) - most
        if extra > 0 and not self.practice.over:
            s = "" if extra == 1 else "s"
            yield f"You have {extra} marker{s} too many for a guess."

    def _sentences(self, notes: Iterable[Note]) -> list[str]:
        return note_sentences(GAME, notes, ["you"], PLAYER)

    def _begin(self, start: Start) -> None:
        self.practice, self._file = start.practice, start.file
        self._kept = start.practice
        self._before, self._since = start.seconds, self._clock()
        self._pointing, self._step = Pointing(), None

    def _shut(self, practice: Practice | None) -> None:
        """Begin the game on a box that somebody has hidden the atoms in."""
        if practice is None:
            if not self._has_begun:
                self.exit()
            return
        self._has_begun = True
        self._told = []
        self._begin(Start(practice))
        self._say("The box is shut: now it is the other one's turn. Where are the atoms?")
        self._draw()

    def _save(self, name: str | None) -> None:
        if name:
            try:
                write_game(Path(name).expanduser(), self.practice, self.seconds)
            except Unreadable as error:
                self._say(str(error))
            else:
                self._file, self._kept = name, self.practice
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
        return self.practice is self._kept or self.practice.over or not self.practice.chain

    def _sure(self, key: str, question: str) -> bool:
        """Whether this was asked for twice in a row; the first time it only asks back."""
        if self._asked == key:
            return True
        self._say(question)
        self._asked = key
        self._draw()
        return False

    def _say(self, *lines: str) -> None:
        self._asked = ""
        if lines:
            self._told = [lines, *self._told[:8]]

    def _draw(self) -> None:
        self._board.show(self._shown.view.boxes[0], self._pointing)
        self._news.update("\n".join(line for lines in self._told for line in lines))
        self._tell_facts()

    def _tell_facts(self) -> None:
        self._facts.update(facts(self._shown, self.seconds))
