"""Commands of races and solo games: giving up, practice, and replaying a finished box."""

from __future__ import annotations

from pbmserv.commands.table.playing import Practise, Solve
from pbmserv.commands.table.starting import Replay
from pbmserv.engine.protocol import races
from pbmserv.errors import Illegal, Refused
from pbmserv.service.boards.finished_boards import refuse_finished_unless_practice
from pbmserv.service.boards.first_draws import draw_box
from pbmserv.service.boards.mover import mover_at, running_mover
from pbmserv.service.boards.new_boards import Proposal
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.boards.plies import log_ply
from pbmserv.service.boards.proposals import propose, sender_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of, known_game, unknown_player
from pbmserv.service.core.outcome import Answer
from pbmserv.service.core.secret_boxes import (
    boxed_words,
    origin_of,
    refuse_secret_copy,
    refuse_spoiler,
)
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.tables.boards import BoardStatus


def solve(context: CommandContext, command: Solve) -> Answer:
    """``game solve board userid password``: give up. The box opens when all seats are done.

    Raises:
        Refused: the board is not a race.
    """
    mover = draw_box(context, running_mover(context, command))
    if not mover.position.apart:
        raise Refused("not-a-race", part="solve")
    if not mover.is_to_act:
        raise Refused("race-done", part="solve", example="show")
    after = mover.position.withdraw(mover.seat)
    return log_ply(context, mover.board, mover.sitter, after, words_for_others(context))


def practise(context: CommandContext, command: Practise) -> Answer:
    """``game redo|restart board userid password``: redo or restart in practice.

    Raises:
        Refused: the board is not practice, or nothing was taken back.
    """
    board, sitter = context.seat_of(command)
    refuse_finished_unless_practice(context, board)
    position = draw_box(context, mover_at(context, board, sitter)).position
    try:
        after = position.practise(sitter.seat, command.what)
    except Illegal as error:
        raise Refused(error.refusal.code, part=command.what, example="show") from error
    answer = log_ply(context, board, sitter, after, words_for_others(context))
    context.current.moved.clear()  # plans are for future turns
    return answer


def replay(context: CommandContext, command: Replay) -> Answer:
    """``game replay board userid``: play the box of a finished race alone.

    Raises:
        Refused: there is no such board, it was not a race, or it still runs.
    """
    if command.board is None:
        board, sitter = context.seat_at(None, command.game, None)
        player, guard = _player_called(context, sitter.userid), refuse_secret_copy
    else:
        player, guard = _replayer(context, command), refuse_spoiler
        board = board_of(context, command.board, command.game)
    game = known_game(context, board.game)
    if not races(game) or not game.is_race(game.options(board.options, board.seats)):
        raise Refused("not-raced", part=str(board.id), example=f"{board.game} show {board.id}")
    if board.status != BoardStatus.FINISHED:
        raise Refused("not-over", part=str(board.id), example=f"{board.game} show {board.id}")
    guard(context, board)
    example = f"{board.game} replay {board.id}"
    sender = player
    if command.credentials is None:
        sender = sender_of(context, (player,), f"{example} {{you}}")
    words = boxed_words(context, board)
    options, _ = read_options(game, words, 1, str(board.id), example)
    context.current.focus = None
    proposal = Proposal(game, options, False, board.terms, (player,), origin_of(board))
    return propose(context, sender, proposal, {"replay": board.id})


def _replayer(context: CommandContext, command: Replay) -> Player:
    """Return the player who gets the replay."""
    if command.credentials is not None:
        return context.authenticate(command.credentials)
    return _player_called(context, command.userid or context.speaker(None).userid)


def _player_called(context: CommandContext, userid: str) -> Player:
    """Return the player of a userid.

    Raises:
        Refused: there is no such player. Since the word may be a password, the refusal repeats it
            only if it is similar to a userid.
    """
    player = players.active_by_userid(context.connection, userid)
    if player is not None:
        return player
    unknown = unknown_player(context, userid)
    if unknown.refusal.values["suggestion"]:
        raise unknown
    context.current.echo_hidden = True
    raise Refused("no-such-player", place=1)
