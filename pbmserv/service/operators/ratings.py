"""Deeds of operators about ratings: leave a board out, let it count, compute them all again."""

from __future__ import annotations

from pbmserv.errors import OperatorError
from pbmserv.plurals import counted
from pbmserv.service.boards.bot_turns import can_be_rated
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.boards import letters_about, lock_board
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.service.ratings import rating, rebuilding
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.operators import boards as operator_boards
from pbmserv.store.tables.boards import BoardStatus


def set_rated(context: CommandContext, by: Signature, number: int, *, rated: bool) -> Deed:
    """Set whether a board's result counts; if the board is over, compute the ratings again.

    Raises:
        OperatorError: there is no such board, nothing would change, or its result can never count:
            it has one player, it ended before all had accepted, or an unrated bot plays there.
    """
    board = lock_board(context, number)
    if why := _why_never_rated(board):
        raise OperatorError(f"board {number} counts for no ratings: {why}")
    if board.rated == rated:
        state = "rated" if rated else "unrated"
        raise OperatorError(f"board {number} is {state} already")
    if rated and not can_be_rated(context.services.registry.newest(board.game), board.sitters):
        raise OperatorError(f"board {number} is a game with bots that are not rated")
    operator_boards.set_rated(context.connection, number, rated=rated)
    changed = 0
    if board.status == BoardStatus.FINISHED:
        changed = rebuilding.rebuild(context.connection).differences
    letters = letters_about(board, "rated" if rated else "unrated", by)
    facts = {"before": board.rated, "after": rated}
    verdict = "counts" if rated else "does not count"
    summary = f"Board {number} {verdict}; that changed {counted(changed, 'row')}."
    action = "include" if rated else "exclude"
    return Deed(action, f"board {number}", summary, tuple(letters), facts)


def _why_never_rated(board: BoardRow) -> str:
    """Return why a board's result can never count, ``""`` if it can."""
    if board.status == BoardStatus.DECLINED:
        return "it was declined or called off, so nobody has won or lost it"
    if board.status == BoardStatus.FINISHED and board.undecided:
        return f"it ended before {' and '.join(board.undecided)} had accepted it"
    players = [sitter.player_id for sitter in board.sitters]
    return "" if rating.can_be_rated(players) else "that takes two players or more"


def rebuild_ratings(context: CommandContext, _: Signature) -> Deed:
    """Compute all ratings again from the record of the boards."""
    result = rebuilding.rebuild(context.connection)
    rows = f"{counted(result.boards, 'rated board')}, {counted(result.players, 'rating')}"
    summary = f"{rows}: all correct."
    if result.differences:
        differed = counted(result.differences, "row differed and has", "rows differed and have")
        summary = f"{rows}: {differed} been put right."
    facts = {"differences": result.differences, "first": result.examples}
    return Deed("rebuild", "ratings", "\n".join((*result.examples, summary)), (), facts)
