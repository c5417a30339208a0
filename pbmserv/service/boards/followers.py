"""Following: letters about boards of other players, without hidden facts."""

from __future__ import annotations

from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.table import command_types
from pbmserv.commands.table.command_types import BoardRef
from pbmserv.commands.table.looking import Follow, Show, ShowAs
from pbmserv.commands.table.playing import MakeMove
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.boards import showing
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of, races_of
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.secret_boxes import refuse_spoiler, spoils
from pbmserv.store.boards import followers, seeks
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables.boards import BoardStatus

MOST_FOLLOWED = 50
"""Most boards that one player follows."""

MOST_FOLLOWERS = 100
"""Most followers of one board; each of its moves writes a letter to all of them."""


def follow(context: CommandContext, command: Follow) -> Answer:
    """``subscribe``, ``notify`` and ``unsubscribe``."""
    player = context.speaker(command.credentials)
    number = command.board
    if number is None and command.credentials is None and context.reply_address is not None:
        number = _bound_board(context.reply_address)
    if number is None:
        if command.what == "off":
            raise _what_else(context, player.id)
        raise Refused("which-board", example=f"games {player.userid}")
    board = board_of(context, number, None)
    if command.what == "off":
        if not followers.unfollow(context.connection, board.id, player.id):
            raise _not_followed(context, board, player.id)
        return Answer((Part("follow", {"what": "off"}, board.id, board.plies, None),))
    if board.sitter_of(player.id) is not None:
        raise Refused("own-board", part=str(board.id), example=f"{board.game} show {board.id}")
    if board.status in {BoardStatus.FINISHED, BoardStatus.DECLINED}:
        code = "board-over" if board.status == BoardStatus.FINISHED else "board-declined"
        raise Refused(code, part=str(board.id), example=f"{board.game} show {board.id}")
    if spoils(context, board) != "box-chosen":  # its end shows nothing hidden
        refuse_spoiler(context, board)
    _refuse_too_many(context, board, player.id)
    followers.follow(context.connection, board.id, player.id, command.what)
    return Answer((Part("follow", {"what": command.what}, board.id, board.plies, None),))


def _not_followed(context: CommandContext, board: BoardRow, player_id: int) -> Refused:
    """Return the refusal to stop following a board that is not followed."""
    if board.sitter_of(player_id) is not None:
        return _what_else(context, player_id, on_board=True)
    return Refused("not-followed", part=str(board.id), example=f"show {board.id}")


def _what_else(context: CommandContext, player_id: int, *, on_board: bool = False) -> Refused:
    """Return a refusal that names other letters that the player can end.

    Args:
        on_board: the player plays on the named board.
    """
    is_seeking = bool(seeks.of_player(context.connection, player_id))
    example = "seek off" if is_seeking else "signoff"
    daily = bool(races_of(context, None))
    return Refused(
        "unsubscribe-what", example=example, seeks=is_seeking, on_board=on_board, daily=daily
    )


def by_reply(context: CommandContext, line: Line, reply_address: ReplyAddress) -> Answer | None:
    """Carry out a reply to a follower's letter; return `None` for a command of its own.

    Raises:
        Refused: it may be a move.
    """
    match line.meaning:
        case command_types.ReplyMove() | command_types.Yes() | MakeMove(credentials=None):
            raise Refused("only-watching", part=line.echo, example="unsubscribe")
        case ShowAs(credentials=None, boards=()):
            return showing.show(context, Show(None, (BoardRef(reply_address.about),)))
    return None


def news_to_followers(
    context: CommandContext, board: BoardRow, ply: int, *, free: bool, ended: bool
) -> tuple[Notification, ...]:
    """Return letters to the followers of a board after a ply; free moves are no news."""
    if free and not ended:
        return ()
    # "moved": the effects of this ply, since the reader has no turns.
    event = "moved"
    if ended and spoils(context, board):  # others still have to solve it
        event, ply = "kept", 0
    return _news(context, board, event, ply, is_over=ended)


def news_of_declined_board(context: CommandContext, board: BoardRow) -> tuple[Notification, ...]:
    """Return letters to the followers of a board that was declined."""
    return _news(context, board, "declined", board.plies, is_over=True)


def _news(
    context: CommandContext, board: BoardRow, event: str, ply: int, *, is_over: bool
) -> tuple[Notification, ...]:
    """Return letters to the followers of a board, who are forgotten when it is over."""
    part = Part("followed", {"event": event, "over": is_over}, board.id, ply, None)
    readers = followers.of_board(context.connection, board.id)
    if is_over:
        followers.drop_all(context.connection, board.id)
    return tuple(
        Notification(reader.address, reader.player_id, part)
        for reader in readers
        if is_over or reader.what == "all"
    )


def _bound_board(reply_address: ReplyAddress) -> int | None:
    bound = reply_address.purpose in {Purpose.FOLLOW, Purpose.BOARD}
    return reply_address.about if bound else None


def _refuse_too_many(context: CommandContext, board: BoardRow, player_id: int) -> None:
    followed = followers.boards_of(context.connection, player_id)
    if any(number == board.id for number, _ in followed):
        return
    if len(followed) >= MOST_FOLLOWED:
        raise Refused(
            "follows-many",
            part=str(board.id),
            most=MOST_FOLLOWED,
            example=f"unsubscribe {followed[-1][0]} USERID PASSWORD",
        )
    if followers.count(context.connection, board.id) >= MOST_FOLLOWERS:
        raise Refused(
            "many-followers",
            part=str(board.id),
            most=MOST_FOLLOWERS,
            example=f"{board.game} show {board.id}",
        )
