"""Acceptance of boards: a player accepts by a word, or by a first move."""

from __future__ import annotations

from pbmserv.engine.record import DECLINE
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.boards import BoardStatus


def join(context: CommandContext, board: BoardRow, sitter: Sitter) -> tuple[str, ...]:
    """Note that a player accepts the board; return the userids of the players still undecided."""
    if board.status != BoardStatus.PROPOSED:
        return ()
    undecided = board.undecided
    if sitter.accepted_at is None:
        boards.accept(context.connection, board.id, sitter.player_id, context.now)
        undecided = tuple(userid for userid in undecided if userid != sitter.userid)
    if not undecided:
        boards.set_status(context.connection, board.id, BoardStatus.ACTIVE)
    return undecided


def players_for_board(context: CommandContext, board: BoardRow) -> list[str]:
    """Return the userids of the players who want to play, for a player who has not answered yet.

    A player who declines a race has a date of acceptance, too, since no answer is awaited then.
    """
    plies = [position.ply for position in context.position(board).backwards()]
    declined = {ply.seat for ply in plies if ply is not None and ply.text == DECLINE}
    return [
        sitter.userid
        for sitter in board.sitters
        if sitter.accepted_at is not None and sitter.seat not in declined
    ]


def refuse_blocked_meeting(context: CommandContext, board: BoardRow, sitter: Sitter) -> None:
    """Refuse to accept a board if this player and another one block each other."""
    if sitter.accepted_at is not None:
        return
    others = [other for other in board.sitters if other.player_id != sitter.player_id]
    contact.refuse_blocked_players(context, sitter.player_id, others)
