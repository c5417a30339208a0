"""The part of a player's own page that starts games: friends, seeks, rematches, and its forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pbmserv.service.boards import queries
from pbmserv.service.boards.opponents import USUAL, Friend, friends_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.pages.public_pages import open_seeks
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges, histories
from pbmserv.store.boards.histories import EndedGame
from pbmserv.views.public import Seek

FRIENDS = 20
"""Most friends on the page."""
REMATCHES = 5
"""Most finished boards on the page."""
FORMS = frozenset({"challenge", "solo", "seek", "seek-off", "rematch"})
"""Forms that start games."""


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
    own_seeks: tuple[challenges.Seek, ...]
    ended: tuple[EndedGame, ...]


def new_games(context: CommandContext, player: Player) -> NewGames:
    """Return what a player can start from."""
    connection, installed = context.connection, context.services.registry
    own = [seek for seek in challenges.seeks_of(connection, player.id) if seek.game in installed]
    ended = histories.of_player(connection, player.id, None, queries.LISTED)
    return NewGames(
        tuple(friends_of(connection, player.id)[:FRIENDS]),
        tuple(open_seeks(context, player.id)),
        tuple(own),
        tuple([board for board in ended if len(board.names) > 1 and board.game in installed])[
            :REMATCHES
        ],
    )


def line_of(fields: Mapping[str, str]) -> str:
    """Return the command of a form that starts a game.

    Only words with a dash count as options, so no field can hold another command.

    Raises:
        KeyError: there is no such form.
    """
    values = {name: "".join(value.split()) for name, value in fields.items()}
    game = values.get("game", "")
    options = [word for word in fields.get("options", "").split() if word.startswith("-")]
    if values.get("kind") in {"race", "practice"}:
        options.insert(0, f"-{values['kind']}")
    match fields["do"]:
        case "challenge":
            who = " ".join(fields.get("who", "").lower().split())
            name = "usual" if who in USUAL else values.get("who", "")
            words = (game, "challenge", name, *options)
        case "solo":
            words = (game, "solo", *options)
        case "seek":
            seats = values.get("seats", "")
            words = (game, "seek", seats if seats.isdecimal() else "", *options)
        case "seek-off":
            words = (game, "seek", "off")
        case "rematch":
            words = (game, "rematch", values.get("board", ""))
        case _:
            raise KeyError(fields["do"])
    return " ".join(filter(None, words))
