"""``hint``: asks the coach for a hint."""

from __future__ import annotations

from pbmserv.commands.table.playing import Hint
from pbmserv.errors import Illegal
from pbmserv.service.boards import reports
from pbmserv.service.boards.first_draws import draw_box
from pbmserv.service.boards.mover import running_mover
from pbmserv.service.boards.plies import log_ply
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.said import UNSAID


def hint(context: CommandContext, command: Hint) -> Answer:
    """``game hint board userid password``: ask for a hint, a free move whose letter waits for the
    coach. Until the player does something else, the same hint is sent again and counts once.

    Raises:
        Refused: the board is over, or its game has no hints.
        Illegal: the players have not agreed to hints, or there is nothing to solve now.
    """
    mover = draw_box(context, running_mover(context, command))
    board, sitter, position = mover.board, mover.sitter, mover.position
    try:
        after = position.hint(sitter.seat)
    except Illegal as error:
        raise error.offering("check") from error
    again = after.number <= position.number
    notifications = () if again else log_ply(context, board, sitter, after, UNSAID).notifications
    reports.ask_hint(context, board, after, sitter.seat)
    words = {"event": "show" if again else "moved", "asked": after.number}
    ply = position.number if again else after.number
    return Answer((Part("hint", words, board.id, ply, sitter.seat),), notifications)
