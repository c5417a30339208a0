"""Protects boxes that somebody still has to solve: who may see or copy one, and the refusals.

`pbmserv.views.spoilers` decides which boxes are secret.
"""

from __future__ import annotations

from pbmserv.engine.protocol import races
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables.boards import RUNNING
from pbmserv.views import spoilers
from pbmserv.views.spoilers import Spoils


def spoils(context: CommandContext, board: BoardRow) -> Spoils:
    """Return why a board must stay hidden from others; ``""`` if it need not."""
    return spoilers.spoils(context.connection, context.now, board)


KNOWN_TO_PLAYERS: frozenset[Spoils] = frozenset({"", "box-chosen"})
"""Reasons for secrecy that do not keep the players of a finished board from copying its box: if a
player chose it, the end of the board has shown it to them."""


def is_shut(context: CommandContext, board: BoardRow) -> bool:
    """Return whether a shared box stays hidden even from its own player."""
    return spoilers.is_shut(context.connection, context.now, board)


def refuse_spoiler(context: CommandContext, board: BoardRow) -> None:
    """Refuse to show a box that others still have to solve."""
    reason = spoils(context, board)
    if reason:
        raise Refused(reason, part=str(board.id), example=f"{board.game} show {board.id}")


def refuse_secret_copy(context: CommandContext, board: BoardRow) -> None:
    """Refuse a player a copy of a box that somebody, perhaps the player, still has to solve."""
    if board.status in RUNNING:
        raise Refused("load-runs", part=str(board.id), example=f"{board.game} show {board.id}")
    if spoils(context, board) not in KNOWN_TO_PLAYERS:
        refuse_spoiler(context, board)


def boxed_words(context: CommandContext, board: BoardRow) -> tuple[str, ...]:
    """Return the option words of a board, with the words that name its box."""
    position = context.position(board)
    game = position.game
    if not races(game):
        return board.options
    options = game.options(board.options, board.seats)
    return game.describe(game.boxed(options, position.state))


def origin_of(board: BoardRow) -> int:
    """Return the board for which the box of a copy of this board was drawn."""
    return board.id if board.origin is None else board.origin
