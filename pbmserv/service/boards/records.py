"""The command ``record``: a finished game as a text that can be replayed."""

from __future__ import annotations

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
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_named_or_answered, own_sitter
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.secret_boxes import is_shut, refuse_spoiler, spoils
from pbmserv.store.boards import histories, moves
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables.boards import BoardStatus


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
    words = {
        "title": game.info.title,
        "board": board.id,
        "text": write_record(_scoresheet(context, board)),
        "look": "showas" if is_own else "show",
        "again": not is_secret
        and races(game)
        and game.is_race(game.options(board.options, board.seats)),
    }
    return Answer((Part("record", words),))


def _scoresheet(context: CommandContext, board: BoardRow) -> Scoresheet:
    """Return the record of a finished board with its players and result.

    Raises:
        TooMuch: the budget is used up.
    """
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
    outcome = board.outcome
    assert outcome is not None
    return Scoresheet(
        full if board.pledged else without_seed(position, full),
        board.names,
        board.id,
        f"{histories.ended_at(context.connection, board.id):%Y-%m-%d}",
        result_of(board.names, outcome["places"], outcome["reason"]),
        board.sides_drawn,
    )
