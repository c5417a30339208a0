"""Boards on a box that several players get: each plays alone."""

from __future__ import annotations

from pbmserv.engine.clocks import Terms
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.boards.proposals import Proposal, make_board
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.shared_boxes import Box


def deal(context: CommandContext, box: Box, player: Player, terms: Terms) -> BoardRow:
    """Make a player's board on a box; the caller notes that the player has it."""
    game = known_game(context, box.game)
    options, rated = read_options(game, box.options, 1, box.game, box.game)
    proposal = Proposal(game, options, rated, terms, (player,), event_id=box.event_id)
    return make_board(context, proposal, {player.id})
