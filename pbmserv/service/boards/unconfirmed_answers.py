"""Answers to the question of `unconfirmed_boards`: yes, begin the board, or no."""

from __future__ import annotations

from pbmserv.commands.table.command_types import BoardRef
from pbmserv.commands.table.looking import ShowAs
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.boards import showing
from pbmserv.service.boards.new_boards import Proposal
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.boards.proposals import propose
from pbmserv.service.boards.unconfirmed_boards import ANSWERED_DAYS
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of, known_game
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.secret_boxes import origin_of, refuse_spoiler
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import unconfirmed_boards
from pbmserv.store.boards.unconfirmed_boards import Unconfirmed


def begin_confirmed(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes``: make the board, once.

    Raises:
        Refused: the answer is too late, or the board cannot be made today.
    """
    player = context.speaker(None)
    wanted = _wanted(context, reply_address, player)
    if wanted.board_id is not None:
        return showing.show_as(context, ShowAs(None, None, (BoardRef(wanted.board_id, None),)))
    game = known_game(context, wanted.game)
    seats = len(wanted.sitting)
    options, rated = read_options(game, wanted.options, seats, game.info.key, game.info.key)
    origin, words = None, {}
    if wanted.replayed is not None:
        board = board_of(context, wanted.replayed, None)
        refuse_spoiler(context, board)
        origin, words = origin_of(board), {"replay": board.id}
    sitting = []
    for player_id in wanted.sitting:
        player_there = players.by_id(context.connection, player_id)
        assert player_there is not None
        sitting.append(player_there)
    proposal = Proposal(game, options, rated, wanted.terms, tuple(sitting), origin)
    answer = propose(context, player, proposal, words)
    number = answer.parts[0].board
    assert number is not None
    unconfirmed_boards.note_created(context.connection, reply_address.about, number)
    return answer


def drop_unconfirmed(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``no``: drop the proposal.

    Raises:
        Refused: it was answered before.
    """
    player = context.speaker(None)
    wanted = _wanted(context, reply_address, player)
    if wanted.board_id is not None:
        raise Refused("begun-already", part=str(wanted.board_id))
    unconfirmed_boards.drop(context.connection, reply_address.about)
    title = context.services.registry.titles[wanted.game]
    return Answer((Part("not-begun", {"title": title}),))


def _wanted(context: CommandContext, reply_address: ReplyAddress, player: Player) -> Unconfirmed:
    """Return the proposal of a player.

    Raises:
        Refused: there is none, or it was too old and is no longer stored.
    """
    proposed = unconfirmed_boards.lock(context.connection, reply_address.about)
    if proposed is None or proposed.player_id != player.id:
        example = f"games {player.userid}"
        raise Refused("begin-late", part="yes", days=ANSWERED_DAYS, example=example)
    return proposed
