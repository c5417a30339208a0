"""The player who gives a command at a board, together with the position there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pbmserv.commands.table.command_types import AtBoard
from pbmserv.engine.position import Position
from pbmserv.engine.types import Seat
from pbmserv.service.boards.finished_boards import refuse_finished
from pbmserv.service.core.context import CommandContext
from pbmserv.store.boards.boards import BoardRow, Sitter


@dataclass(frozen=True, slots=True)
class Mover:
    """A player at a board, and the position in which the player moves."""

    board: BoardRow
    sitter: Sitter
    position: Position

    @property
    def seat(self) -> Seat:
        """The player's seat."""
        return self.sitter.seat

    @property
    def view(self) -> Any:
        """The position as the player sees it."""
        return self.position.game.view(self.position.state, self.seat)

    @property
    def turn(self) -> int:
        """The number of the player's next turn."""
        return self.position.game.turn(self.position.state, self.seat)

    @property
    def is_to_act(self) -> bool:
        """Whether the player may use a turn now."""
        return self.seat in self.position.game.to_act(self.position.state)


def running_mover(context: CommandContext, command: AtBoard) -> Mover:
    """Return the speaker at the board of a command, which is not over.

    Raises:
        Refused: the board is over, or see `CommandContext.seat_at`.
    """
    board, sitter = context.seat_of(command)
    refuse_finished(context, board)
    return mover_at(context, board, sitter)


def mover_at(context: CommandContext, board: BoardRow, sitter: Sitter) -> Mover:
    """Return a player at a board with the board's newest position."""
    return Mover(board, sitter, context.position(board))
