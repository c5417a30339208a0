"""Finds what a command names: games, boards and players."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pbmserv.engine.protocol import RacingGame, races
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import Refused
from pbmserv.service.bots import bot_moves
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.may_speak import wrong_game
from pbmserv.service.core.refusals import nearest_userid
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.operators import audit

EPOCH = date(1970, 1, 1)


def known_game(context: CommandContext, key: str) -> AnyGame:
    """The newest version of a game.

    Raises:
        Refused: it is not played here.
    """
    registry = context.services.registry
    if key not in registry:
        known = ", ".join(g.info.key for g in registry)
        raise Refused("unknown-game", part=key, games=known, suggestion="")
    return registry.newest(key)


def must_be_open(context: CommandContext, game: AnyGame) -> None:
    """Refuse a new board of a game that an operator has closed."""
    if audit.is_closed(context.connection, game.info.key):
        raise Refused("game-closed", part=game.info.title, example="list")


def games_of(context: CommandContext, key: str | None) -> list[AnyGame]:
    """The named game, or all of them where none is named."""
    return list(context.services.registry) if key is None else [known_game(context, key)]


def races_of(context: CommandContext, key: str | None) -> list[RacingGame]:
    """Those of them that can be played as a race."""
    return [game for game in games_of(context, key) if races(game)]


def board_of(context: CommandContext, board_id: int, game: str | None) -> BoardRow:
    """A board by its number, without a lock.

    Raises:
        Refused: there is none, or it is not of the *game* that was named.
    """
    context.budget.spend(Work.BOARD)
    board = boards.load(context.connection, board_id)
    if board is None:
        raise Refused("no-such-board", part=str(board_id), example="games USERID")
    if game is not None and board.game != game:
        raise wrong_game(board, game)
    return board


def players_of(context: CommandContext, userids: Sequence[str]) -> list[Player]:
    """The players of these userids.

    Raises:
        Refused: one is unknown. Behind a userid it may be a password (``show alice secret``), so
            then it is not repeated.
    """
    found: list[Player] = []
    for userid in dict.fromkeys(userids):
        context.budget.spend(Work.NAME)
        player = bot_moves.named(context, userid)
        if player is None:
            if found:
                context.echo_hidden = True
                raise Refused("no-such-player", place=len(found) + 1)
            raise unknown_player(context, userid)
        found.append(player)
    return found


def unknown_player(context: CommandContext, userid: str) -> Refused:
    """Nobody plays under a name that stands where no password belongs."""
    return Refused("no-such-player", part=userid, suggestion=nearest_userid(context, userid))
