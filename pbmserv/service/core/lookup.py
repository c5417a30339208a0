"""Finds the games, boards and players that a command names, and protects boxes from spoilers.

A board shows each reader what that reader may know. A spoiler concerns everybody else, and boards
with the same box. A copy names the board for which its box was drawn (`boards.origin`), so that it
is secret as long as that board is.

Boxes are never compared. Otherwise a player could name boxes (``-id``, ``-seed``, a file) until one
is refused, and would know the box of another board.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, TypeVar, cast

from pbmserv.commands.table.spelling import nearest_name
from pbmserv.engine.protocol import RacingGame, races
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Refused, StoreAway
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.refusals import wrong_game
from pbmserv.store import bots as rows
from pbmserv.store import solo
from pbmserv.store.accounts import players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, closed_games, histories
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.core.writer import UNAVAILABLE
from pbmserv.store.solo import EPOCH

T = TypeVar("T")

AWAY = (StoreAway, *UNAVAILABLE)
"""Errors that say that the database, or a stage that should answer, is not there now."""


def known_game(context: CommandContext, key: str) -> AnyGame:
    """Return the newest version of a game.

    Raises:
        Refused: it is not played here.
    """
    registry = context.services.registry
    if key not in registry:
        keys = ", ".join(g.info.key for g in registry)
        raise Refused("unknown-game", part=key, games=keys, suggestion="")
    return registry.newest(key)


def must_be_open(context: CommandContext, game: AnyGame) -> None:
    """Refuse a new board of a game that an operator has closed."""
    if closed_games.is_closed(context.connection, game.info.key):
        raise Refused("game-closed", part=game.info.title, example="list")


def games_of(context: CommandContext, key: str | None) -> list[AnyGame]:
    """Return the named game, or all games if none is named."""
    return list(context.services.registry) if key is None else [known_game(context, key)]


def races_of(context: CommandContext, key: str | None) -> list[RacingGame]:
    """Return the named game, or all games, if it can be played as a race."""
    return [game for game in games_of(context, key) if races(game)]


def board_of(context: CommandContext, board_id: int, game: str | None) -> BoardRow:
    """Return a board, without a lock.

    Raises:
        Refused: it does not exist, or the command names another game.
    """
    context.budget.spend(Work.BOARD)
    board = boards.load(context.connection, board_id)
    if board is None:
        raise Refused("no-such-board", part=str(board_id), example="games USERID")
    if game is not None and board.game != game:
        raise wrong_game(board, game)
    return board


def players_of(context: CommandContext, userids: Sequence[str]) -> list[Player]:
    """Return the players with these userids.

    Raises:
        Refused: one is unknown. Behind a userid the word may be a password (``show alice
            secret``), so the refusal does not repeat it.
    """
    named_players: list[Player] = []
    for userid in dict.fromkeys(userids):
        context.budget.spend(Work.NAME)
        player = shown_player(context, userid)
        if player is None:
            if named_players:
                context.echo_hidden = True
                raise Refused("no-such-player", place=len(named_players) + 1)
            raise unknown_player(context, userid)
        named_players.append(player)
    return named_players


def unknown_player(context: CommandContext, userid: str) -> Refused:
    """Return the refusal for a userid that does not exist."""
    return Refused("no-such-player", part=userid, suggestion=nearest_userid(context, userid))


Spoils: TypeAlias = Literal["", "daily-today", "daily-runs", "origin-runs", "box-chosen"]
"""Why a box must stay secret, as the code of a refusal; ``""`` if it need not."""

_RUNNING = frozenset({"proposed", "active"})


def spoils(context: CommandContext, board: BoardRow) -> Spoils:
    """Return why a board's box must stay secret from people who do not play it.

    The box of the day is secret until its day (UTC) is over and no board with it runs. A copy is
    secret until its original is over. A box that a player chose is secret until the day after its
    board has ended, since it may be the box of that day.
    """
    origin = board if board.origin is None else boards.load(context.connection, board.origin)
    assert origin is not None
    daily = solo.daily_of_board(context.connection, origin.id) if origin.seats == 1 else None
    today = _day(context.now)
    if daily is not None:
        if daily.day == today:
            return "daily-today"
        return "daily-runs" if solo.still_run(context.connection, origin.game, daily.day) else ""
    if board.origin is not None and origin.status in _RUNNING:
        return "origin-runs"
    if not origin.comparable:
        ended = histories.ended_at(context.connection, origin.id)
        return "box-chosen" if ended is None or _day(ended) == today else ""
    return ""


KNOWN_TO_PLAYERS: frozenset[Spoils] = frozenset({"", "box-chosen"})
"""Reasons for secrecy that do not keep the board's own players from copying the box."""


def is_kept(context: CommandContext, board: BoardRow) -> bool:
    """Whether not even a player of the board may copy its box, since others still have to solve it.

    If a player chose the box, the end of the board has shown it to its players.
    """
    return board.status in _RUNNING or spoils(context, board) not in KNOWN_TO_PLAYERS


def is_shut(context: CommandContext, board: BoardRow) -> bool:
    """Whether not even its player may see the box yet: a box of the day that was not solved.

    After giving up, the player could play the same box under another name.
    """
    daily = solo.daily_of_board(context.connection, board.id) if board.seats == 1 else None
    return daily is not None and not daily.solved and bool(spoils(context, board))


def must_not_spoil(context: CommandContext, board: BoardRow) -> None:
    """Refuse to show a box that others still have to solve."""
    reason = spoils(context, board)
    if reason:
        raise Refused(reason, part=str(board.id), example=f"{board.game} show {board.id}")


def must_allow_copy(context: CommandContext, board: BoardRow) -> None:
    """Refuse a player a copy of a box that somebody, perhaps the player, still has to solve."""
    if board.status in _RUNNING:
        raise Refused("load-runs", part=str(board.id), example=f"{board.game} show {board.id}")
    if is_kept(context, board):
        must_not_spoil(context, board)


def origin_of(board: BoardRow) -> int:
    """Return the board for which the box of a copy of this board was drawn."""
    return board.id if board.origin is None else board.origin


def _day(moment: datetime) -> int:
    """Return the UTC day, counted from 1970."""
    return (moment.astimezone(UTC).date() - EPOCH).days


def nearest_userid(context: CommandContext, word: str) -> str:
    """Return the userid that a misspelt *word* means; ``""`` if there is none.

    Only players at boards are considered, whose names everybody can read there.
    """
    near = players.seated_like(context.connection, word) if len(word) > 1 else []
    return nearest_name(word.lower(), near) or ""


def shown_player(context: CommandContext, userid: str) -> Player | None:
    """Return an active player or a bot, whose boards can be shown."""
    player = players.by_userid(context.connection, userid)
    if player is None and userid in BOT_USERIDS:
        return rows.known(context.connection, userid)
    return player


# -- names on public pages -----------------------------------------------------------------

_NAMES = frozenset({"name", "of", "others", "players", "userid", "waiting", "winners"})
"""Under these words of letters and pages names of players stand."""


def named(context: CommandContext, told: T) -> T:
    """What a page that everybody may read tells, without names of players who want that so.

    Args:
        told: mappings, sequences and dataclasses; a board that is drawn names nobody any more, if
            it was made of what `anonymous` gave.
    """
    names = frozenset(_names_in(told))
    unnamed = preferences.unnamed(context.connection, names) if names else names
    return cast("T", _renamed(told, unnamed)) if unnamed else told


def anonymous(board: BoardRow) -> BoardRow:
    """A board as pages that everybody may read name its players."""
    unnamed = frozenset(one.userid for one in board.sitters if not one.public)
    if not unnamed:
        return board
    return board.with_names(_called(board.names, unnamed))


def _called(names: Sequence[str], unnamed: frozenset[str]) -> dict[str, str]:
    """What each player of a board is called: one is "a player"; several are told apart."""
    seats = [seat for seat, name in enumerate(names, 1) if name in unnamed]
    if len(seats) == 1:
        return {name: "a player" if name in unnamed else name for name in names}
    return {
        name: f"player {seat}" if name in unnamed else name for seat, name in enumerate(names, 1)
    }


def _parts(told: object) -> dict[str, Any]:
    """What stands in a mapping or a dataclass, by name."""
    if isinstance(told, Mapping):
        return dict(told)
    if is_dataclass(told) and not isinstance(told, type):
        return {one.name: getattr(told, one.name) for one in fields(told)}
    return {}


def _names_in(told: object) -> Iterator[str]:
    if isinstance(told, list | tuple):
        for one in told:
            yield from _names_in(one)
    for word, one in _parts(told).items():
        if word in _NAMES:
            yield from [one] if isinstance(one, str) else one
        elif isinstance(one, list | tuple | Mapping):
            yield from _names_in(one)


def _renamed(told: object, unnamed: frozenset[str]) -> object:
    if isinstance(told, list | tuple):
        return type(told)(_renamed(one, unnamed) for one in told)
    parts = _parts(told)
    called = _called(parts.get("players", ()), unnamed)
    changed: dict[str, Any] = {}
    for word, one in parts.items():
        if word in _NAMES:
            new = [
                called.get(name, "a player" if name in unnamed else name)
                for name in ([one] if isinstance(one, str) else one)
            ]
            changed[word] = new[0] if isinstance(one, str) else type(one)(new)
        elif isinstance(one, list | tuple | Mapping):
            changed[word] = _renamed(one, unnamed)
    if isinstance(told, Mapping):
        return {**told, **changed}
    return replace(cast("Any", told), **changed) if changed else told
