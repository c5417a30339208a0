"""The archive: lists of what has ended, and whole games as texts that can be played back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pbmserv.commands.table.model import History, Record
from pbmserv.engine.record import GameRecord
from pbmserv.engine.scoresheet import Scoresheet, result_of, without_seed, write_record
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.boards.queries import LISTED, winners
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of, games_of, players_of
from pbmserv.service.solo.spoilers import must_not_spoil, spoils
from pbmserv.store.boards import histories, moves
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.histories import EndedGame
from pbmserv.store.tables import BoardStatus


def history(context: CommandContext, command: History) -> Answer:
    """``game history [userid…]``: what has ended, newest first; in a reply, one's own."""
    wanted = players_of(context, command.userids)
    if not wanted and context.reply_address is not None and context.reply_address.player:
        wanted = [context.speaker(None)]
    if not wanted:
        games = games_of(context, command.game)
        return Answer(tuple(_ended_of_game(context, game.info.key) for game in games))
    parts = []
    for player in wanted:
        found = histories.of_player(context.connection, player.id, command.game, LISTED)
        total = len(found)
        if total == LISTED:
            total = histories.count(
                context.connection, player.id, (BoardStatus.FINISHED,), command.game
            )
        parts.append(
            Part(
                "history",
                {"of": player.userid, "game": command.game, "total": total, **_ended(found)},
            )
        )
    return Answer(tuple(parts))


def record(context: CommandContext, command: Record) -> Answer:
    """``game record board``: a finished game as a text that can be played back."""
    if command.board is not None:
        board = board_of(context, command.board, command.game)
    else:
        reply_address = context.reply_address
        if reply_address is None or reply_address.purpose not in {Purpose.BOARD, Purpose.FOLLOW}:
            raise Refused("which-board", example="blackbox record 12")
        board = board_of(context, reply_address.about, command.game)
    example = f"{board.game} show {board.id}"
    if board.status == BoardStatus.DECLINED:
        raise Refused("board-declined", part=str(board.id), example=example)
    outcome = board.outcome
    if board.status != BoardStatus.FINISHED or outcome is None:
        raise Refused("not-over", part=str(board.id), example=example)
    if spoils(context, board) and not _by_player_of(context, board):
        must_not_spoil(context, board)
    game = context.services.registry.version(board.game, board.rules_version)
    full = GameRecord(
        board.game,
        board.rules_version,
        board.seats,
        board.options,
        board.seed,
        tuple(moves.record(context.connection, board.id)),
    )
    sheet = Scoresheet(
        without_seed(game, full),
        board.names,
        board.id,
        f"{histories.ended_at(context.connection, board.id):%Y-%m-%d}",
        result_of(board.names, outcome["places"], outcome["reason"]),
    )
    words = {"title": game.info.title, "board": board.id, "text": write_record(sheet)}
    return Answer((Part("record", words),))


def _by_player_of(context: CommandContext, board: BoardRow) -> bool:
    """Whether the record goes to somebody who played that board, and was told how it ended."""
    if context.reply_address is None or not context.reply_address.player:
        return False
    return board.sitter_of(context.speaker(None).id) is not None


def _ended_of_game(context: CommandContext, key: str) -> Part:
    found = histories.of_game(context.connection, key, LISTED + 1)
    # Nobody counts all boards of a game; that there are more is said without a number.
    words = {"of": "", "game": key, "total": len(found), **_ended(found[:LISTED])}
    return Part("history", words)


def _ended(found: Sequence[EndedGame]) -> dict[str, Any]:
    rows = [
        {
            "board": one.board,
            "game": one.game,
            "players": list(one.names),
            "winners": winners(one.names, one.places),
            "drawn": len(set(one.places)) == 1 and len(one.places) > 1,
            "reason": one.reason,
            "moves": one.turns,
            "ended": f"{one.ended_at:%Y-%m-%d}",
            "rated": one.rated,
        }
        for one in found
    ]
    return {"rows": rows}
