"""Races and solo games: giving up, practice, and a finished box once more."""

from __future__ import annotations

from pbmserv.commands.table.model import Practise, Replay, Solve
from pbmserv.engine.protocol import races
from pbmserv.errors import Illegal, Refused
from pbmserv.service.boards.game_options import read_options
from pbmserv.service.boards.invitations import invite, must_run, sender_of
from pbmserv.service.boards.moves import log_ply
from pbmserv.service.boards.proposals import Proposal
from pbmserv.service.core.answers import Answer
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of, known_game, unknown_player
from pbmserv.service.solo.spoilers import must_allow_copy, must_not_spoil, origin_of
from pbmserv.store.accounts import players
from pbmserv.store.tables import BoardStatus


def solve(context: CommandContext, command: Solve) -> Answer:
    """``game solve board userid password``: give up; the box is opened when all are done.

    Raises:
        Refused: the board is no race.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    position = context.position(board)
    if not position.apart:
        raise Refused("not-a-race", part="solve", example="resign")
    if sitter.seat not in position.game.to_act(position.state):
        raise Refused("race-done", part="solve", example="show")
    return log_ply(context, board, sitter, position.withdraw(sitter.seat), context.words)


def practise(context: CommandContext, command: Practise) -> Answer:
    """``game redo|restart board userid password``, on boards that are practice.

    Raises:
        Refused: this one is not, or nothing was taken back.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    position = context.position(board)
    try:
        after = position.practise(sitter.seat, command.what)
    except Illegal as error:
        raise Refused(error.refusal.code, part=command.what, example="show") from error
    answer = log_ply(context, board, sitter, after, context.words)
    context.moved.clear()  # a plan is for turns that come
    return answer


def replay(context: CommandContext, command: Replay) -> Answer:
    """``game replay board userid``: a board of one's own with the box of a finished race.

    Raises:
        Refused: there is no such board, it was no race, or it still runs.
    """
    if command.board is None:
        board, sitter = context.seat_at(None, command.game, None)
        userid, guard = sitter.userid, must_allow_copy
    else:
        board, userid = board_of(context, command.board, command.game), command.userid
        guard = must_not_spoil
    game = known_game(context, board.game)
    if not races(game) or not game.is_race(game.options(board.options, board.seats)):
        raise Refused("not-a-race", part=str(board.id), example=f"{board.game} show {board.id}")
    if board.status != BoardStatus.FINISHED:
        raise Refused("not-over", part=str(board.id), example=f"{board.game} show {board.id}")
    guard(context, board)
    player = players.by_userid(context.connection, userid or context.speaker(None).userid)
    if player is None:
        raise unknown_player(context, userid)
    example = f"{board.game} replay {board.id}"
    sender = sender_of(context, (player,), f"{example} {{you}}")
    options, _ = read_options(game, board.options, 1, str(board.id), example)
    context.focus = None
    proposal = Proposal(game, options, False, board.terms, (player,), origin_of(board))
    return invite(context, sender, proposal, {"replay": board.id})
