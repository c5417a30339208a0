"""The command ``record``: a finished game as a text that can be replayed."""

from __future__ import annotations

from pbmserv.commands.table.command_types import Credentials
from pbmserv.commands.table.looking import Record
from pbmserv.engine.position import without_seed
from pbmserv.engine.protocol import races
from pbmserv.engine.record import (
    GameRecord,
    Scoresheet,
    result_of,
    write_record,
)
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.secret_boxes import is_shut, refuse_spoiler, spoils
from pbmserv.store.boards import histories, moves
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables.boards import BoardStatus


def record(context: CommandContext, command: Record) -> Answer:
    """``game record board``: show a finished game as a text that can be replayed."""
    if command.board is not None:
        board = board_of(context, command.board, command.game)
    else:
        reply_address = context.reply_address
        if reply_address is None or reply_address.purpose not in {Purpose.BOARD, Purpose.FOLLOW}:
            raise Refused("which-board", example=f"{command.game or context.usual_game} record 12")
        board = board_of(context, reply_address.about, command.game)
    example = f"{board.game} show {board.id}"
    if board.status == BoardStatus.DECLINED:
        raise Refused("board-declined", part=str(board.id), example=example)
    outcome = board.outcome
    if board.status != BoardStatus.FINISHED or outcome is None:
        raise Refused("not-over", part=str(board.id), example=example)
    own, is_secret = _by_player_of(context, board, command.who), bool(spoils(context, board))
    if is_secret and (not own or is_shut(context, board)):
        refuse_spoiler(context, board)
    game = context.services.registry.version(board.game, board.rules_version)
    full = GameRecord(
        board.game,
        board.rules_version,
        board.seats,
        board.options,
        board.seed,
        tuple(moves.record(context.connection, board.id)),
    )
    position = context.position(board)
    if not board.pledged:  # replays the board again without the seed
        context.budget.replay(position.at(0), full.plies)
    sheet = Scoresheet(
        full if board.pledged else without_seed(position, full),
        board.names,
        board.id,
        f"{histories.ended_at(context.connection, board.id):%Y-%m-%d}",
        result_of(board.names, outcome["places"], outcome["reason"]),
        board.sides_drawn,
    )
    words = {
        "title": game.info.title,
        "board": board.id,
        "text": write_record(sheet),
        "look": "showas" if own else "show",
        "again": not is_secret
        and races(game)
        and game.is_race(game.options(board.options, board.seats)),
    }
    return Answer((Part("record", words),))


def _by_player_of(context: CommandContext, board: BoardRow, who: Credentials | None) -> bool:
    """Return whether a player of the board asks for the record, who knows the end.

    The answer goes to that player's own address.
    """
    for player in context.writers(who):
        if board.sitter_of(player.id) is not None:
            context.current.player = player
            return True
    return False
