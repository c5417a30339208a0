"""The screen on which one person hides the atoms for another at the same keyboard."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from pbmserv.cli.blackbox.terminal.board import Board, Highlight
from pbmserv.cli.blackbox.terminal.panels import screen_layout
from pbmserv.cli.blackbox.terminal.squares import cell_at
from pbmserv.games.blackbox.game_ids import descriptive_id, read_id
from pbmserv.games.blackbox.manual import manual_view
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.practice import PLAYER, Practice, begin_alike
from pbmserv.games.blackbox.views import BoxView

KEYS = "Enter put an atom, or take it off  g Hide!  q quit"


class Hiding(Screen[Practice | None]):
    """An open box in which a person hides atoms.

    The result of the screen is a game on the box, `None` if the person quits.

    Args:
        kind: a game whose rules, size and number of atoms the new one takes over.
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
        self._facts_panel = Static(id="facts", markup=False)
        self._message_panel = Static(id="messages", markup=False)

    def compose(self) -> ComposeResult:
        yield from screen_layout(self._board, self._facts_panel, self._message_panel, KEYS)

    def on_mount(self) -> None:
        self._board.focus()
        self._draw()

    def on_board_chosen(self, chosen: Board.Chosen) -> None:
        """Put an atom on a cell, or remove it."""
        chosen.stop()
        cell = cell_at(self._options.board, chosen.square)
        if cell is None:
            self._message_panel.update("Atoms go on cells, not on ports.")
            return
        self.atoms ^= {cell}
        self._draw()

    def on_board_dragged(self, dragged: Board.Dragged) -> None:
        dragged.stop()

    def action_hide(self) -> None:
        """Close the box if its number of atoms is allowed."""
        options = self._options
        if options.missing_atoms(len(self.atoms)):
            self._message_panel.update(f"{_count(len(self.atoms), options)} So the box stays open.")
            return
        game = read_id(descriptive_id(options.kind, self.atoms))
        self.dismiss(begin_alike(game, self._kind))

    def action_leave(self) -> None:
        self.dismiss(None)

    def _draw(self) -> None:
        self._board.show(_open_box(self._options, self.atoms), Highlight())
        self._facts_panel.update(
            "Hide the atoms, then press g\nand hand the keyboard over.\nLet nobody look.\n\n"
            + _count(len(self.atoms), self._options)
        )
        self._message_panel.update("")


def _open_box(options: Options, atoms: frozenset[int]) -> BoxView:
    """Return an untouched box that shows its atoms."""
    return manual_view(options, options.board.names_of(atoms)).boxes[PLAYER]


def _count(atoms: int, options: Options) -> str:
    """Return a sentence with the number of hidden atoms and of missing or superfluous ones."""
    hidden = f"{atoms} of {options.atoms.replace('-', ' to ')} hidden"
    missing = options.missing_atoms(atoms)
    if missing > 0:
        return f"{hidden}, {missing} missing."
    if missing < 0:
        return f"{hidden}, {-missing} too many."
    return f"{hidden}: press g for Hide!"
