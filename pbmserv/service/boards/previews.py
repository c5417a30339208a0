"""Moves that are looked at before they are made, and a player's own markers put to the test."""

from __future__ import annotations

from pbmserv.commands.table.model import Check, ConfirmMove, Preview, Submit
from pbmserv.engine.protocol import Aided, Previewing
from pbmserv.engine.types import Seat
from pbmserv.errors import MoveError, Refused
from pbmserv.service.boards.invitations import must_run
from pbmserv.service.boards.moves import bound_turn, example_of, meant_turn, not_late, play_move
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.context import CommandContext, Focus
from pbmserv.service.core.may_speak import not_seated, wrong_game
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards, moves
from pbmserv.store.boards.boards import BoardRow, Sitter


def submit(context: CommandContext, command: Submit) -> Answer:
    """``game submit board userid password move``: shown now, played on ``confirm``."""
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    position = context.position(board)
    game, seat = position.game, sitter.seat
    not_late(position, seat, meant_turn(context, board, command.number), [command.text])
    view = game.view(position.state, seat)
    move = game.parse(view, command.text)
    turn = game.turn(position.state, seat)
    moves.submit(context.connection, board.id, seat, turn, move.text, context.now)
    words = {
        "move": move.text,
        "mover": seat,
        "now": move.free or seat in game.to_act(position.state),
        "shown": isinstance(game, Previewing),
    }
    return Answer((Part("submitted", words, board.id, board.plies, seat),))


def confirm(context: CommandContext, command: ConfirmMove) -> Answer:
    """``game confirm board userid password``: play the submitted move, if nothing came between."""
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    waiting = moves.submitted(context.connection, board.id, sitter.seat)
    if waiting is None:
        example = f"submit {example_of(context.position(board), sitter.seat)}"
        raise Refused("nothing-submitted", part=str(board.id), example=example)
    position = context.position(board)
    game = position.game
    meant, text = waiting
    turn = game.turn(position.state, sitter.seat)
    if meant != turn or bound_turn(context, board) not in {None, turn}:
        example = example_of(position, sitter.seat)
        raise Refused("submitted-stale", part=text, meant=meant, turn=turn, example=example)
    moves.drop_submitted(context.connection, board.id, sitter.seat)
    move = game.parse(game.view(position.state, sitter.seat), text)
    return play_move(context, board, sitter, position, move, context.words)


def may_confirm(context: CommandContext, board: BoardRow, sitter: Sitter) -> bool:
    """Whether a ``yes`` can mean the submitted move: there is one for the turn asked about."""
    waiting = moves.submitted(context.connection, board.id, sitter.seat)
    return waiting is not None and waiting[0] == bound_turn(context, board)


def preview(context: CommandContext, command: Preview) -> Answer:
    """``game preview board move``: what the boards would look like; in a reply, to its writer.

    Nobody needs to say who they are: a stranger sees what any spectator would see.
    """
    board, seat = _watched(context, command)
    must_run(context, board)
    position = context.position(board)
    game = position.game
    if not isinstance(game, Previewing):
        raise Refused("no-preview", part=board.game, example=f"{board.game} show {board.id}")
    mover = seat if seat is not None else min(game.to_act(position.state), default=Seat(0))
    try:
        found = game.preview(game.view(position.state, seat), mover, command.text)
    except MoveError as error:
        first = command.text.partition(" ")[0].lower()
        if players.by_userid(context.connection, first) is not None:
            context.echo_hidden = True  # the word behind it is a password, which need not be there
            example = f"{board.game} preview {board.id} {error.refusal.example}"
            raise Refused("no-password-there", part="preview", example=example) from error
        raise error if seat is not None else _asked_again(error, board) from error
    words = {"move": found.move.text, "mover": mover}
    return Answer((Part("preview", words, board.id, board.plies, seat),))


def _asked_again(error: MoveError, board: BoardRow) -> MoveError:
    """The same refusal for somebody to whom a move alone is no example: they have no seat."""
    refusal = error.refusal
    example = f"{board.game} preview {board.id} {refusal.example}" if refusal.example else ""
    return type(error)(refusal.code, part=refusal.part, example=example, **refusal.values)


def check(context: CommandContext, command: Check) -> Answer:
    """``game check board userid password [what]``: which results one's own markers explain; or
    the way of a ray through them.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    position = context.position(board)
    game = position.game
    if not isinstance(game, Aided):
        raise Refused("no-check", part=board.game, example=f"{board.game} show {board.id}")
    view = game.view(position.state, sitter.seat)
    words = {}
    if command.what:
        try:
            words["drawn"] = game.drawn(view, command.what).move.text
        except MoveError as error:
            refusal = error.refusal
            example = f"check {refusal.example}"
            raise type(error)(
                refusal.code, part=refusal.part, example=example, **refusal.values
            ) from error
    else:
        game.check(view)
    return Answer((Part("check", words, board.id, board.plies, sitter.seat),))


def _watched(context: CommandContext, command: Preview) -> tuple[BoardRow, Seat | None]:
    """The board of a preview, and the seat through whose eyes it is seen."""
    reply_address = context.reply_address
    if command.board is None:
        board, sitter = context.seat_at(None, command.game, None)
        return board, sitter.seat
    board_row = boards.load(context.connection, command.board)
    if board_row is None:
        raise Refused("no-such-board", part=str(command.board), example="games USERID")
    if command.game is not None and command.game != board_row.game:
        raise wrong_game(board_row, command.game)
    if reply_address is None or not reply_address.player:
        return board_row, None
    player = context.speaker(None)
    own = board_row.sitter_of(player.id)
    if own is None:
        raise not_seated(board_row)
    context.focus = Focus(board_row, own.seat)
    return board_row, own.seat
