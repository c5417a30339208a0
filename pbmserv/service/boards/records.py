"""The command ``record``: a finished game as a text that can be replayed."""

from __future__ import annotations

from pbmserv.commands.table.looking import Record
from pbmserv.engine.protocol import races
from pbmserv.engine.record import write_record
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_named_or_answered, own_sitter
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.secret_boxes import is_shut, refuse_spoiler, spoils
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.views.scoresheets import scoresheet_of


def record(context: CommandContext, command: Record) -> Answer:
    """``game record board``: show a finished game as a text that can be replayed."""
    board = board_named_or_answered(context, command.board, command.game, "record")
    example = f"{board.game} show {board.id}"
    if board.status == BoardStatus.DECLINED:
        raise Refused("board-declined", part=str(board.id), example=example)
    if board.status != BoardStatus.FINISHED:
        raise Refused("not-over", part=str(board.id), example=example)
    is_own = own_sitter(context, board, command.credentials) is not None
    is_secret = bool(spoils(context, board))
    if is_secret and (not is_own or is_shut(context, board)):
        refuse_spoiler(context, board)
    game = context.services.registry.version(board.game, board.rules_version)
    sheet = scoresheet_of(context.connection, board, context.position(board))
    words = {
        "title": game.info.title,
        "board": board.id,
        "text": write_record(sheet),
        "look": "showas" if is_own else "show",
        "again": not is_secret
        and races(game)
        and game.is_race(game.options(board.options, board.seats)),
    }
    return Answer((Part("record", words),))
