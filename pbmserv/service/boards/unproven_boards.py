"""Boards that a mail asks for in a player's name without proving to be that player's.

Such a board would begin at once, with nobody to be asked, and count against what the player may
have; anybody could make as many as that. So it waits: a letter to the player's own address asks,
and a yes makes the board. What nobody answers is forgotten, and never counted.
"""

from __future__ import annotations

from datetime import timedelta

from pbmserv.commands.table.model import BoardRef, ShowAs
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.auth.proof import ANSWERED_DAYS
from pbmserv.service.boards import invitations, queries
from pbmserv.service.boards.game_options import read_options
from pbmserv.service.boards.proposals import Proposal
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of, known_game
from pbmserv.service.solo.spoilers import must_not_spoil, origin_of
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges


def begin(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes``: the board is made, once, however often that is said.

    Raises:
        Refused: it comes too late, or the board could not be made today, either.
    """
    player = context.speaker(None)
    wanted = _wanted(context, reply_address, player)
    if wanted.board_id is not None:
        return queries.show_as(context, ShowAs(None, None, (BoardRef(wanted.board_id, None),)))
    game = known_game(context, wanted.game)
    seats = len(wanted.sitting)
    options, rated = read_options(game, wanted.options, seats, game.info.key, game.info.key)
    origin, words = None, {}
    if wanted.replayed is not None:
        board = board_of(context, wanted.replayed, None)
        must_not_spoil(context, board)
        origin, words = origin_of(board), {"replay": board.id}
    sitting = []
    for player_id in wanted.sitting:
        one = players.by_id(context.connection, player_id)
        assert one is not None
        sitting.append(one)
    proposal = Proposal(game, options, rated, wanted.terms, tuple(sitting), origin)
    answer = invitations.invite(context, player, proposal, words)
    number = answer.parts[0].board
    assert number is not None
    challenges.confirmed(context.connection, reply_address.about, number)
    return answer


def refuse(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``no``: nothing is made of it.

    Raises:
        Refused: it is settled already.
    """
    player = context.speaker(None)
    wanted = _wanted(context, reply_address, player)
    if wanted.board_id is not None:
        raise Refused("begun-already", part=str(wanted.board_id), example="resign")
    challenges.drop_unconfirmed(context.connection, reply_address.about)
    return Answer((Part("not-begun", {"title": known_game(context, wanted.game).info.title}),))


def _wanted(
    context: CommandContext, reply_address: ReplyAddress, player: Player
) -> challenges.Unconfirmed:
    found = challenges.lock_unconfirmed(context.connection, reply_address.about)
    late = found is not None and context.now > found.created_at + timedelta(days=ANSWERED_DAYS)
    if found is None or found.player_id != player.id or (late and found.board_id is None):
        example = f"games {player.userid}"
        raise Refused("begin-late", part="yes", days=ANSWERED_DAYS, example=example)
    return found
