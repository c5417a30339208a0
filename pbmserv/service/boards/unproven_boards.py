"""Boards that a mail asks for in a player's name without proving to be that player's.

Such a board would begin at once, with nobody to be asked, and count against what the player may
have; anybody could make as many as that. So it waits: a letter to the player's own address asks,
and a yes makes the board. What nobody answers is forgotten, and never counted.
"""

from __future__ import annotations

from datetime import timedelta

from pbmserv.commands.table.model import BoardRef, ShowAs
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Capability
from pbmserv.service.auth.proof import ANSWERED_DAYS
from pbmserv.service.boards import invitations, queries
from pbmserv.service.boards.game_options import read_options
from pbmserv.service.boards.proposals import Proposal
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.context import Desk
from pbmserv.service.core.lookup import board_of, known_game
from pbmserv.service.solo.spoilers import must_not_spoil, origin_of
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import unconfirmed


def begin(desk: Desk, capability: Capability) -> Answer:
    """``yes``: the board is made, once, however often that is said.

    Raises:
        Refused: it comes too late, or the board could not be made today, either.
    """
    player = desk.speaker(None)
    wanted = _wanted(desk, capability, player)
    if wanted.board_id is not None:
        return queries.show_as(desk, ShowAs(None, None, (BoardRef(wanted.board_id, None),)))
    game = known_game(desk, wanted.game)
    seats = len(wanted.sitting)
    options, rated = read_options(game, wanted.options, seats, game.info.key, game.info.key)
    origin, words = None, {}
    if wanted.replayed is not None:
        board = board_of(desk, wanted.replayed, None)
        must_not_spoil(desk, board)
        origin, words = origin_of(board), {"replay": board.id}
    sitting = []
    for player_id in wanted.sitting:
        one = players.by_id(desk.connection, player_id)
        assert one is not None
        sitting.append(one)
    proposal = Proposal(game, options, rated, wanted.terms, tuple(sitting), origin)
    answer = invitations.invite(desk, player, proposal, words)
    number = answer.parts[0].board
    assert number is not None
    unconfirmed.begun(desk.connection, capability.about, number)
    return answer


def refuse(desk: Desk, capability: Capability) -> Answer:
    """``no``: nothing is made of it.

    Raises:
        Refused: it is settled already.
    """
    player = desk.speaker(None)
    wanted = _wanted(desk, capability, player)
    if wanted.board_id is not None:
        raise Refused("begun-already", part=str(wanted.board_id), example="resign")
    unconfirmed.drop(desk.connection, capability.about)
    return Answer((Part("not-begun", {"title": known_game(desk, wanted.game).info.title}),))


def _wanted(desk: Desk, capability: Capability, player: Player) -> unconfirmed.Unconfirmed:
    found = unconfirmed.locked(desk.connection, capability.about)
    late = found is not None and desk.now > found.created_at + timedelta(days=ANSWERED_DAYS)
    if found is None or found.player_id != player.id or (late and found.board_id is None):
        example = f"games {player.userid}"
        raise Refused("begin-late", part="yes", days=ANSWERED_DAYS, example=example)
    return found
