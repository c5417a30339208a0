"""Finds what a command names, and refuses what its speaker may not do or be told.

A board shows each reader what that reader may know; what spoils a box is about everybody else, and
about boards with the same box. A copy names the board that its box was drawn for (`boards.origin`),
so that whatever keeps that one secret keeps every copy of it secret, however it was made.

Boxes are never compared. Whether a box that somebody names (``-id``, ``-seed``, a file) is the box
of another board is just what nobody shall find out by naming boxes until one is refused.
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


Spoils: TypeAlias = Literal["", "daily-today", "daily-runs", "origin-runs", "box-chosen"]
"""Why a box may not be told; these are the codes of refusals. "" = it may."""

_RUNNING = frozenset({"proposed", "active"})


def spoils(context: CommandContext, board: BoardRow) -> Spoils:
    """Whom it would harm if somebody heard what is hidden on a board without playing it.

    The box of the day is kept from everybody until its day (UTC) is over and nobody who has got it
    still runs; a copy, until the board that it was made of is over; and a box that somebody chose
    until the day after its board has ended, since it may be that day's.
    """
    origin = board if board.origin is None else boards.load(context.connection, board.origin)
    assert origin is not None
    one = solo.daily_of_board(context.connection, origin.id) if origin.seats == 1 else None
    today = _day(context.now)
    if one is not None:
        if one.day == today:
            return "daily-today"
        return "daily-runs" if solo.still_run(context.connection, origin.game, one.day) else ""
    if board.origin is not None and origin.status in _RUNNING:
        return "origin-runs"
    if not origin.comparable:
        ended = histories.ended_at(context.connection, origin.id)
        return "box-chosen" if ended is None or _day(ended) == today else ""
    return ""


KNOWN_TO_PLAYERS: frozenset[Spoils] = frozenset({"", "box-chosen"})
"""Where a board's own players, who have seen its box, may have it as a copy."""


def is_kept(context: CommandContext, board: BoardRow) -> bool:
    """Whether even one of its players may make no copy: somebody has still to solve the box.

    What somebody chose, the board's own players have been told in full when it ended.
    """
    return board.status in _RUNNING or spoils(context, board) not in KNOWN_TO_PLAYERS


def is_shut(context: CommandContext, board: BoardRow) -> bool:
    """Whether even its own player may not see the box yet: one of a day that was not solved.

    Who gives up could play it under another name, and do so with all that its end opens.
    """
    one = solo.daily_of_board(context.connection, board.id) if board.seats == 1 else None
    return one is not None and not one.solved and bool(spoils(context, board))


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


def _day(moment: datetime) -> int:
    """The UTC day, counted from 1970."""
    return (moment.astimezone(UTC).date() - EPOCH).days


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
