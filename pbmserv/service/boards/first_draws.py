"""Mixes mails of players into the draws of a game: the box of a player alone, dice, or deals.

A letter pledges the server's seed before the mail comes that is mixed into it, so neither the
server nor a player can choose the draw.
"""

from __future__ import annotations

from dataclasses import replace

from pbmserv.engine.chance import mail_mark
from pbmserv.engine.record import JOIN, Ply
from pbmserv.errors import Refused
from pbmserv.service.boards.mover import Mover, mover_at
from pbmserv.service.core.context import CommandContext
from pbmserv.service.time import timekeeping
from pbmserv.store.boards import moves
from pbmserv.store.boards.boards import BoardRow, Sitter


def refuse_before_draw(mover: Mover) -> None:
    """Refuse a move before the dice are rolled, or the like: when all have accepted.

    The mails that accept are mixed into that draw.
    """
    undecided = mover.board.undecided
    if mover.position.draws and undecided:
        example = "accept" if mover.sitter.accepted_at is None else ""
        raise Refused("not-drawn", waiting=" and ".join(undecided), example=example)


def mark_of_first_mail(context: CommandContext, mover: Mover) -> str:
    """Return the mark of the mail if it is the first from this seat; ``""`` otherwise.

    A queued move of another player, which the mail sets off, has no mark: its player did not write
    the mail.
    """
    writer, sitter, position = context.current.speaker, mover.sitter, mover.position
    is_own = writer is not None and writer.player_id == sitter.player_id
    is_first = sitter.seat not in position.marked and not position.is_duplicate
    return mark_of_mail(context) if is_own and is_first else ""


def mark_of_mail(context: CommandContext) -> str:
    """Return the mark of the mail that is carried out; ``""`` for a press on a page."""
    submission = context.submission
    return mail_mark(submission.id) if submission.is_mail and submission.id else ""


def draw_again(context: CommandContext, board: BoardRow, sitter: Sitter) -> BoardRow:
    """Mix the mail of a player who accepts into the draw of the game before the first move.

    Returns:
        The board, with a ply more if its game draws anything then.
    """
    mover = mover_at(context, board, sitter)
    if not mover.position.draws:
        return board
    return mix(context, board, sitter, mark_of_first_mail(context, mover))


def mix(context: CommandContext, board: BoardRow, sitter: Sitter, mark: str) -> BoardRow:
    """Begin the game again with the mark of a player's mail; return the board with that ply."""
    position = context.position(board)
    ply = Ply(position.number + 1, sitter.seat, JOIN, free=True, mark=mark)
    after = position.play(ply)
    undecided = tuple(name for name in board.undecided if name != sitter.userid)
    times = timekeeping.times_at(context, board, after, undecided, ())
    moves.append(context.connection, board.id, ply, context.mail_id, context.now, times)
    context.effects.positions[board.id] = after
    return replace(board, plies=after.number)


def draw_box(context: CommandContext, mover: Mover) -> Mover:
    """Mix the first mail of a player alone into the box, before anything about it is known.

    A move on a page leaves the box as it is.

    Returns:
        The player with the position after that.
    """
    board, position = mover.board, mover.position
    is_first = board.seats == 1 and position.number == 0 and position.draws
    mark = mark_of_first_mail(context, mover) if is_first else ""
    if not mark:
        return mover
    return replace(mover, position=context.position(mix(context, board, mover.sitter, mark)))
