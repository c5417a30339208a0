"""The screen on which one person hides the atoms by hand for another one at the same keyboard."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from pbmserv.games.blackbox.cli.terminal.board import Board, Pointing, cell_at
from pbmserv.games.blackbox.cli.terminal.panels import arranged
from pbmserv.games.blackbox.game_ids import descriptive_id, read_id
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.practice import PLAYER, Practice, begin
from pbmserv.games.blackbox.state import new_state
from pbmserv.games.blackbox.views import BoxView, view_of

KEYS = "Enter put an atom, or take it off  g Hide!  q quit"


class Hiding(Screen[Practice | None]):
    """An open box; the result is a game on it, ``None`` if nobody wants to hide anything.

    Args:
        kind: a game with the rules, size and number of atoms that the new one shall have.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("g,question_mark", "hide", show=False),
        Binding("q,ctrl+q,escape", "leave", show=False),
    ]

    def __init__(self, kind: Practice) -> None:
        super().__init__()
        self._kind = kind
        self._options = kind.options
        self.atoms: frozenset[int] = frozenset()
        self._board = Board(_open_box(kind.options, self.atoms))
        self._facts = Static(id="facts", markup=False)
        self._news = Static(id="told", markup=False)

    def compose(self) -> ComposeResult:
        yield from arranged(self._board, self._facts, self._news, KEYS)

    def on_mount(self) -> None:
        self._board.focus()
        self._draw()

    def on_board_chosen(self, chosen: Board.Chosen) -> None:
        """Put an atom on a cell, or take it off."""
        chosen.stop()
        cell = cell_at(self._options.board, chosen.square)
        if cell is None:
            self._news.update("Atoms go on cells, not on ports.")
            return
        self.atoms ^= {cell}
        self._draw()

    def on_board_dragged(self, dragged: Board.Dragged) -> None:
        dragged.stop()

    def action_hide(self) -> None:
        """Shut the box, if it holds a number of atoms that it may hold."""
        options = self._options
        if not options.least <= len(self.atoms) <= options.most:
            self._news.update(f"{_count(len(self.atoms), options)} So the box stays open.")
            return
        sizes = options.width, options.height, options.least, options.most
        game = read_id(descriptive_id(*sizes, self.atoms))
        rules = self._kind.options
        guesses, scoring = rules.guesses, self._kind.scoring
        self.dismiss(begin(game, scoring, guesses, fair=rules.fair, clue=rules.clue))

    def action_leave(self) -> None:
        self.dismiss(None)

    def _draw(self) -> None:
        self._board.show(_open_box(self._options, self.atoms), Pointing())
        self._facts.update(
            "Hide the atoms, then press g\nand hand the keyboard over.\nLet nobody look.\n\n"
            + _count(len(self.atoms), self._options)
        )
        self._news.update("")


def _open_box(options: Options, atoms: frozenset[int]) -> BoxView:
    """Return a box with its atoms to be seen, as nobody has played on it."""
    box = view_of(new_state(options, 1, frozenset()), PLAYER).boxes[PLAYER]
    return replace(box, atoms=atoms)


def _count(have: int, options: Options) -> str:
    """Say how many atoms are hidden, and how many are missing or too many."""
    wanted = options.atoms.replace("-", " to ")
    hidden = f"{have} of {wanted} hidden"
    if have < options.least:
        return f"{hidden}, {options.least - have} missing."
    if have > options.most:
        return f"{hidden}, {have - options.most} too many."
    return f"{hidden}: press g for Hide!"
