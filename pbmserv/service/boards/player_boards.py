"""Finds the newest boards of a player, for lists and for ``show``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, histories, player_boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables.boards import RUNNING, BoardStatus
from pbmserv.views.shown_boards import show_or_log

SEARCHED = 500
"""Most boards that are replayed to find those that wait for a player."""

STATUSES = {
    "all": tuple(BoardStatus),
    "active": RUNNING,
    "inactive": (BoardStatus.FINISHED, BoardStatus.DECLINED),
    "next": RUNNING,
}
"""The statuses of the boards that a word after ``show`` or ``games`` means."""


@dataclass(frozen=True, slots=True)
class NewestBoards:
    """The newest boards of a player, and the number of all."""

    boards: tuple[BoardRow, ...]
    total: int


def boards_of(
    context: CommandContext, player: Player, which: str, game: str | None, most: int
) -> NewestBoards:
    """Return the newest boards of a player, and the number of all.

    Args:
        which: one of `STATUSES`; ``next`` for the boards that wait for this player.
        game: boards of this game only; `None` for all games.
        most: most boards to return.
    """
    statuses = STATUSES[which]
    most_read = SEARCHED if which == "next" else most
    listed: list[BoardRow] = []
    total = 0
    numbers = player_boards.of_player(
        context.connection, player.id, statuses, game=game, most=most_read
    )
    for board_id in numbers:
        context.budget.spend(Work.BOARD)
        board = boards.load(context.connection, board_id)
        if board is None:
            continue
        is_next = partial(_is_next, context, board, player)
        # A board that cannot be replayed is listed, too.
        if which == "next" and show_or_log(board.id, board.game, is_next) is False:
            continue
        total += 1
        if len(listed) < most:
            listed.append(board)
    if which != "next" and total == most:
        total = histories.count(context.connection, player.id, statuses, game)
    return NewestBoards(tuple(listed), total)


def _is_next(context: CommandContext, board: BoardRow, player: Player) -> bool:
    """Return whether the board waits for a move, or an answer to a challenge, of this player."""
    if board.status == BoardStatus.PROPOSED and player.userid in board.undecided:
        return True
    position = context.position(board)
    waiting = position.game.to_act(position.state)
    return any(s.player_id == player.id and s.seat in waiting for s in board.sitters)
