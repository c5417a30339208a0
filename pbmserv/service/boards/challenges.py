"""Challenges: ``challenge``, ``rematch``, and the acceptance of a challenge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pbmserv.commands.table.starting import Challenge, Rematch
from pbmserv.engine.clocks import USUAL
from pbmserv.engine.protocol import races
from pbmserv.engine.record import DUPLICATE
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import Refused
from pbmserv.service.boards import bot_turns, mail_invitations, opponents
from pbmserv.service.boards.acceptance import join, refuse_blocked_meeting
from pbmserv.service.boards.challenged_players import (
    invited_players,
    refuse_company,
    refuse_unknown_names,
    with_bot,
    with_writer,
)
from pbmserv.service.boards.chat import words_to
from pbmserv.service.boards.first_draws import draw_again
from pbmserv.service.boards.new_boards import Proposal
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.boards.proposals import propose, sender_of
from pbmserv.service.boards.undashed_options import refuse_undashed_options
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import game_of_letter, known_game
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import Said
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.service.time import timekeeping
from pbmserv.service.time.time_options import terms_of_challenge
from pbmserv.store.boards import challenges
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.boards import BoardStatus


def challenge(context: CommandContext, command: Challenge) -> Answer:
    """Begin a board of which the sender is a player; ask the others by mail."""
    command = replace(command, game=command.game or game_of_letter(context))
    if command.address:
        return mail_invitations.invite(context, command)
    game = known_game(context, command.game)
    written = with_bot(context, game, opponents.with_usual_opponent(context, command))
    command = with_writer(context, game, written)
    terms = terms_of_challenge(written)
    if command.alone and not races(game):
        options = tuple(option for option in command.options if option != "-race")
        command = replace(command, options=options)  # refused, since it needs another player
    refuse_undashed_options(context, game, command)
    refuse_company(context, game, command)
    refuse_unknown_names(context, written.userids)
    options, rated = _options_of(game, command)
    sitting = invited_players(context, game, command.userids, options)
    if command.credentials is not None:
        sender = context.authenticate(command.credentials)
    else:
        sender = sender_of(context, sitting, _example_of(command))
    return propose(context, sender, Proposal(game, options, rated, terms, sitting), {})


def _options_of(game: AnyGame, command: Challenge) -> tuple[tuple[str, ...], bool]:
    """Return the options of a challenge, and whether its board is rated; see `read_options`."""
    seats, names = len(command.userids), " ".join(command.userids)
    is_alone = seats == 1 and "-race" in command.options
    line = f"{game.info.key} {'solo' if is_alone else 'challenge'} {names}"
    return read_options(game, command.options, seats, names, line, command.times)


def _example_of(command: Challenge) -> str:
    """Return the line that makes the same challenge, with ``{you}`` for its writer's userid."""
    settings = (*command.options, *command.times)
    if len(command.userids) == 1:
        settings = tuple(word for word in settings if word != "-race")
        return " ".join((command.game, "solo", "{you}", *settings))
    return " ".join((command.game, "challenge", "{you}", *command.userids[1:], *settings))


def rematch(context: CommandContext, command: Rematch) -> Answer:
    """Begin a board with the same players and options, and the other player first.

    If the other player has asked for the same rematch, accept it instead.
    """
    board, sitter = context.seat_of(command)
    if board.status == BoardStatus.PROPOSED and sitter.accepted_at is None:
        raise Refused("accept-how")  # "let's play again" is not a clear yes
    if board.status not in {BoardStatus.FINISHED, BoardStatus.DECLINED}:
        raise Refused("not-over", part=str(board.id), example=f"{board.game} show {board.id}")
    order = (*board.sitters[1:], board.sitters[0])
    seated = [player.player_id for player in order]
    waiting_for = partial(
        challenges.waiting_for,
        context.connection,
        game=board.game,
        options=board.options,
        sitting=seated,
    )
    asked_by_other = waiting_for(sitter.player_id)
    if asked_by_other is not None:
        return accept(context, *context.seat_at(asked_by_other, None, command.credentials))
    for player_id in seated:
        asked_before = waiting_for(player_id)
        if asked_before is not None:
            raise Refused("rematch-asked", part=str(asked_before), example=f"show {asked_before}")
    game = known_game(context, board.game)
    options, rated = _options_again(game, board)
    userids = tuple(player.userid for player in order)
    sitting = invited_players(context, game, userids, options)
    sender = next(player for player in sitting if player.id == sitter.player_id)
    context.current.focus = None
    terms = USUAL if board.of_event else board.terms
    proposal = Proposal(game, options, rated, terms, sitting)
    return propose(context, sender, proposal, {"rematch": board.id})


def _options_again(game: AnyGame, board: BoardRow) -> tuple[tuple[str, ...], bool]:
    """Return the options of a rematch, which has another box, dice or deals; see `read_options`."""
    words = board.options
    if races(game):
        words = game.describe(game.without_box(game.options(words, board.seats)))
    words = tuple(word for word in words if word != DUPLICATE)
    return read_options(game, words, board.seats, " ".join(words), f"{game.info.key} seek")


def accept(context: CommandContext, board: BoardRow, sitter: Sitter) -> Answer:
    """Accept a challenge without a move."""
    if sitter.accepted_at is not None:
        raise Refused("already-accepted", part=str(board.id), example="show")
    refuse_blocked_meeting(context, board, sitter)
    undecided = join(context, board, sitter)
    board = draw_again(context, board, sitter)
    times = timekeeping.set_after_acceptance(context, board, undecided)
    begins = not undecided
    if begins:
        bot_turns.note_turn(context, board, context.position(board))
    words = words_for_others(context)

    def part_for(reader: Sitter, event: str, said: Mapping[str, Said]) -> Part:
        bank = timekeeping.bank_words(context, board, times, reader.seat) if begins else {}
        about = {"by": sitter.userid, "undecided": list(undecided), "event": event}
        return Part("board", {**about, **said, **bank}, board.id, board.plies, reader.seat)

    notifications = tuple(
        Notification.sitter(other, part_for(other, "accepted", {"said": words}))
        for other in board.sitters
        if other.player_id != sitter.player_id and other.userid not in undecided
    )
    if words:
        waiting = [other for other in board.sitters if other.userid in undecided]
        notifications += words_to(waiting, board, sitter, words)
    return Answer((part_for(sitter, "joined", {"said_to": words}),), notifications)
