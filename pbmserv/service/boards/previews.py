"""``preview`` and ``check``: show the board after a move, and what the markers explain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pbmserv.commands.grammar.word_forms import is_userid, looks_like_a_move, quotable
from pbmserv.commands.table.playing import Check, Preview
from pbmserv.engine.protocol import Aided, Previewing, only_meaning
from pbmserv.engine.types import Preview as Previewed
from pbmserv.engine.types import Seat
from pbmserv.errors import MoveError, PlayerError, Refused
from pbmserv.service.boards.finished_boards import refuse_finished
from pbmserv.service.boards.showing import watched_ply
from pbmserv.service.core.command_state import Focus
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.refusals import not_seated
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow


def preview(context: CommandContext, command: Preview) -> Answer:
    """``game preview board move``: show the board after a move.

    It needs no password: a stranger sees the position that any spectator would see.

    Raises:
        PlayerError: it cannot be shown. The refusal does not repeat a needless password.
    """
    command = _at_its_board(context, command)
    try:
        return _preview(context, command)
    except PlayerError as error:
        if not _may_hold_a_password(context, command.text):
            raise
        context.current.echo_hidden = True
        if isinstance(error, MoveError):
            raise Refused("no-password-there", part="preview") from error
        raise


def _preview(context: CommandContext, command: Preview) -> Answer:
    """Return the letter with a preview."""
    board, seat = _watched(context, command)
    refuse_finished(context, board)
    ply = board.plies if seat is not None else watched_ply(context, board, None)[0]
    position = context.position(board).at(ply)
    game = position.game
    if not isinstance(game, Previewing):
        raise Refused("no-preview", part=board.game, example=f"{board.game} show {board.id}")
    mover = seat if seat is not None else min(game.to_act(position.state), default=Seat(0))
    try:
        previewed = _previewed(game, game.view(position.state, seat), mover, command.text)
    except MoveError as error:
        again = error.refusal.example
        raise error.offering(again and f"{board.game} preview {board.id} {again}") from error
    words = {"move": previewed.move.text, "mover": mover}
    return Answer((Part("preview", words, board.id, ply, seat),))


def _may_hold_a_password(context: CommandContext, text: str) -> bool:
    """Return whether a text may begin with a userid, perhaps misspelt, and a password."""
    first, *behind = text.lower().split()[:2]
    if not is_userid(first) or not behind or quotable(behind[0]):
        return False
    is_move = first.isdigit() or looks_like_a_move(first)
    return not is_move or players.account_of(context.connection, first) is not None


def _at_its_board(context: CommandContext, command: Preview) -> Preview:
    """Return a preview whose number begins the move, "preview 3 twos", for the answered board.

    It does so if the player has no seat at a board of that number.
    """
    if command.board is None or context.answered_board is None:
        return command
    named = boards.load(context.connection, command.board)
    if named is not None and named.sitter_of(context.actor.speaks_for) is not None:
        return command
    return replace(command, board=None, text=f"{command.board} {command.text}")


def _watched(context: CommandContext, command: Preview) -> tuple[BoardRow, Seat | None]:
    """Return the board of a preview, and the seat that sees it."""
    if command.board is None:
        board, sitter = context.seat_at(None, command.game, None)
        return board, sitter.seat
    board = board_of(context, command.board, command.game)
    is_sure = bool(context.actor.speaks_for) or command.credentials is not None
    writers = [context.speaker(command.credentials)] if is_sure else context.known_writers()
    own = next(filter(None, (board.sitter_of(player.id) for player in writers)), None)
    if own is None and is_sure:
        raise not_seated(board)
    if own is None:
        return board, None
    context.current.speaker = own
    context.current.focus = Focus(board, own.seat)
    return board, own.seat


def _previewed(game: Any, view: Any, mover: Seat, text: str) -> Previewed[Any]:
    """Return the preview of a move, else of the only one that the text can mean."""
    previewed: Previewed[Any]
    try:
        previewed = game.preview(view, mover, text)
    except MoveError:
        move = only_meaning(game, view, text)
        if move is None:
            raise
        previewed = game.preview(view, mover, move.text)
    return previewed


def check(context: CommandContext, command: Check) -> Answer:
    """``game check board userid password [what]``: show which results the player's markers explain,
    or the way of a ray through them.
    """
    board, sitter = context.seat_of(command)
    position = context.position(board)
    game = position.game
    if not isinstance(game, Aided):
        raise Refused("no-check", part=board.game, example=f"{board.game} show {board.id}")
    view = game.view(position.state, sitter.seat)
    words = {}
    if command.text:
        try:
            words["drawn"] = game.drawn(view, command.text).move.text
        except MoveError as error:
            raise error.offering("") from error
    else:
        game.check(view)
    return Answer((Part("check", words, board.id, board.plies, sitter.seat),))
