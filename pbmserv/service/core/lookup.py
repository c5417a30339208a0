"""Finds what a command names, and refuses what its speaker may not do or be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pbmserv.commands.table.spelling import nearest_name
from pbmserv.engine.protocol import RacingGame, races
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Refused, StoreAway
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.refusals import wrong_game
from pbmserv.store import bots as rows
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, closed_games
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.core.writer import UNAVAILABLE
from pbmserv.views import spoilers
from pbmserv.views.spoilers import Spoils

T = TypeVar("T")

AWAY = (StoreAway, *UNAVAILABLE)
"""The database, or the stage that was to answer, is not there now."""


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
    if closed_games.is_closed(context.connection, game.info.key):
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
        player = shown_player(context, userid)
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


_RUNNING = frozenset({"proposed", "active"})


def spoils(context: CommandContext, board: BoardRow) -> Spoils:
    """Return why a board must stay hidden from others; "" if it need not: see `spoilers.spoils`."""
    return spoilers.spoils(context.connection, context.now, board)


KNOWN_TO_PLAYERS: frozenset[Spoils] = frozenset({"", "box-chosen"})
"""Where a board's own players, who have seen its box, may have it as a copy."""


def is_kept(context: CommandContext, board: BoardRow) -> bool:
    """Whether even one of its players may make no copy: somebody has still to solve the box.

    What somebody chose, the board's own players have been told in full when it ended.
    """
    return board.status in _RUNNING or spoils(context, board) not in KNOWN_TO_PLAYERS


def is_shut(context: CommandContext, board: BoardRow) -> bool:
    """Return whether a box of the day stays hidden even from its own player."""
    return spoilers.is_shut(context.connection, context.now, board)


def must_not_spoil(context: CommandContext, board: BoardRow) -> None:
    """Refuse what would tell somebody a box that others have still to solve."""
    found = spoils(context, board)
    if found:
        raise Refused(found, part=str(board.id), example=f"{board.game} show {board.id}")


def must_allow_copy(context: CommandContext, board: BoardRow) -> None:
    """Refuse one of its players a copy of a box that anybody, that player too, has to solve."""
    if board.status in _RUNNING:
        raise Refused("load-runs", part=str(board.id), example=f"{board.game} show {board.id}")
    if is_kept(context, board):
        must_not_spoil(context, board)


def origin_of(board: BoardRow) -> int:
    """What a copy of this board names as the board that its box was drawn for."""
    return board.id if board.origin is None else board.origin


def nearest_userid(context: CommandContext, word: str) -> str:
    """A player whose userid is meant by a misspelt *word*; ``""`` if there is none.

    Only those who sit at a board: their names everybody can read there.
    """
    near = players.seated_like(context.connection, word) if len(word) > 1 else []
    return nearest_name(word.lower(), near) or ""


def shown_player(context: CommandContext, userid: str) -> Player | None:
    """An active player, or a bot: somebody whose boards can be looked at."""
    found = players.by_userid(context.connection, userid)
    if found is None and userid in BOT_USERIDS:
        return rows.known(context.connection, userid)
    return found
