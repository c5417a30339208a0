"""The part of a player's own page that starts games: friends, seeks and rematches."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.service.boards import game_lists
from pbmserv.service.boards.opponents import Friend, friends_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.pages.public_players import open_seeks
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import histories, seeks
from pbmserv.store.boards.histories import EndedGame
from pbmserv.store.boards.seeks import Seek as StoredSeek
from pbmserv.views.public_facts import Seek

FRIENDS = 20
"""Most friends on the page."""
REMATCHES = 5
"""Most finished boards on the page."""


@dataclass(frozen=True, slots=True)
class NewGames:
    """Facts for the forms that start a game.

    Attributes:
        friends: people the player has played, the most frequent first.
        seeks: other players' open seeks.
        own_seeks: the player's open seeks.
        ended: finished boards with others, the newest first.
    """

    friends: tuple[Friend, ...]
    seeks: tuple[Seek, ...]
    own_seeks: tuple[StoredSeek, ...]
    ended: tuple[EndedGame, ...]


def new_games(context: CommandContext, player: Player) -> NewGames:
    """Return the facts from which a player can start a game."""
    connection, installed = context.connection, context.services.registry
    own = [seek for seek in seeks.of_player(connection, player.id) if seek.game in installed]
    ended = histories.of_player(connection, player.id, None, game_lists.LISTED)
    return NewGames(
        tuple(friends_of(connection, player.id)[:FRIENDS]),
        tuple(open_seeks(context, player.id)),
        tuple(own),
        tuple([board for board in ended if len(board.names) > 1 and board.game in installed])[
            :REMATCHES
        ],
    )
