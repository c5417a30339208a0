"""Boards on a box, or with dice or deals, that several players get.

Each player has one: alone, or against the house.
"""

from __future__ import annotations

from pbmserv.engine.clocks import Terms
from pbmserv.engine.registry import AnyGame
from pbmserv.service.boards.new_boards import Proposal, make_board
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.store import bots
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.shared_boxes.shared_boxes import Box


def deal(
    context: CommandContext, box: Box, player: Player, terms: Terms, house: str = ""
) -> BoardRow:
    """Make a player's board on a box; the caller notes that the player has it.

    Args:
        house: the bot that plays against each player, if the box is a game with dice or deals.
    """
    game = known_game(context, box.game)
    if house:
        return _against_house(context, box, game, player, terms, house)
    options, rated = read_options(game, box.options, 1, box.game, box.game)
    proposal = Proposal(game, options, rated, terms, (player,), event_id=box.event_id)
    return make_board(context, proposal, {player.id})


def _against_house(
    context: CommandContext, box: Box, game: AnyGame, player: Player, terms: Terms, house: str
) -> BoardRow:
    """Make a board on which the seed of the box draws dice or deals; the player has seat 0."""
    bot = bots.account(context.connection, house, context.now)
    sitting = (player, bot)
    proposal = Proposal(
        game, box.options, rated=False, terms=terms, sitting=sitting, event_id=box.event_id
    )
    return make_board(context, proposal, {player.id, bot.id}, seed=box.seed)
