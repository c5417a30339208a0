"""What everybody may read on the pages: players, ratings, seeks, games, the boxes of the day.

All of it is what a stranger gets as an answer to a mail, but for the names of players who want none
of theirs there (``prefs public=no``); looking never changes anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, ClassVar, TypeAlias, TypeVar

from pbmserv.clock import Clock
from pbmserv.commands.grammar.words import USERID
from pbmserv.commands.table.looking import Games, History, Ratings, Standings
from pbmserv.commands.table.model import Command
from pbmserv.engine.protocol import races
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import BOT_USERIDS, Drawing
from pbmserv.errors import PlayerError, Refused
from pbmserv.service.boards import queries
from pbmserv.service.boards.score_keeping import streak
from pbmserv.service.core.actor import VISITOR
from pbmserv.service.core.budget import Budget, TooMuch
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.lookup import anonymous, named, races_of, shown_player, spoils
from pbmserv.service.core.outcome import Answer
from pbmserv.service.ratings import tables as rating_tables
from pbmserv.service.solo import daily_box, daily_pages
from pbmserv.service.solo.daily_pages import Dailies, DailyTable, GuestBoxes, GuestLook, GuestPage
from pbmserv.store import solo
from pbmserv.store.accounts import preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, challenges, histories
from pbmserv.store.boards.histories import EndedGame, Met
from pbmserv.store.core.database import Database
from pbmserv.views.board import BoardScene
from pbmserv.views.forms import drawings
from pbmserv.views.reader import page_scene

T = TypeVar("T")
Words: TypeAlias = Mapping[str, Any]

SEEKS = 200
MET = 2_000
"""Boards that a player's page counts."""
LOOKS = 5
"""How often boards are asked for, until there are enough that may be seen."""
KINDS, OPPONENTS = 12, 20
UNNAMED = "players who give no name"


@dataclass(frozen=True, slots=True)
class PublicPlayer:
    """A player's page.

    Attributes:
        ratings: words of the letter ``ratings``, one for each game that was played.
        curves: by game how its rating has gone, see `rating_tables.curve`.
        ended, running: rows of the letters ``history`` and ``games``.
        accept: what becomes of a challenge: ``ask``, ``auto`` or ``none``; "" for a bot.
        seeks: what the player looks for, as `PublicPages.seeks` has it.
        met, kinds: by opponent, and by kind of board, how boards ended; the most played first.
        scores: (game, kind of board, how many, the best) of races and games alone.
        streaks: by title of a game how many boxes of the day were solved in a row.
    """

    userid: str
    ratings: Sequence[Words]
    ended: Sequence[Words]
    running: Sequence[Words]
    curves: Mapping[str, Sequence[Words]]
    accept: str
    seeks: Sequence[Words]
    met: Sequence[Words]
    kinds: Sequence[Words]
    scores: Sequence[tuple[str, str, int, int]]
    streaks: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Finished:
    """A game that is over and may be seen; `ended` is in ISO 8601, UTC."""

    board: int
    game: str
    title: str
    players: Sequence[str]
    winners: Sequence[str]
    drawn: bool
    reason: str
    moves: int
    ended: str


@dataclass(frozen=True, slots=True)
class GamePage:
    """What everybody may see of a board.

    Attributes:
        scene: after so many turns as were asked for.
        kept: why it is shown as it was at first: see `lookup.spoils`; "" where it need not be.
        turns: how many there are, as far as everybody may know.
        drawings: what each seat plays on, at that turn; of a board that is over with all that it
            hides. None where the game draws none, or they are not to be seen.
        ended: when it was over, if it is and may be seen.
    """

    scene: BoardScene
    kept: str
    declined: bool
    turns: int
    drawings: tuple[Drawing, ...] = ()
    ended: datetime | None = None

    draft: ClassVar[str] = ""
    at_once: ClassVar[bool] = False
    is_running: ClassVar[bool] = False
    """Nobody can play there."""

    @property
    def now(self) -> Any:
        """The view."""
        return self.scene.view


class PublicPages:
    """Answers for the public pages."""

    def __init__(self, services: Services, database: Database, clock: Clock) -> None:
        self._services = services
        self._database = database
        self._clock = clock
        self._guests = GuestBoxes(services, clock)

    async def guest(self, look: GuestLook) -> GuestPage | None:
        """Return the guest box: see `GuestBoxes.page`."""
        return await self._guests.page(look)

    async def game(self, number: int, turn: int | None) -> GamePage | None:
        """A board as everybody may see it, after *turn* turns or now; ``None``: there is none."""
        return await asyncio.to_thread(self._seen, partial(_game, number=number, turn=turn))

    async def stamp(self, number: int) -> tuple[Any, ...] | None:
        """What a board's page is made of; it is never shown. ``None``: there is none."""
        look = partial(self._seen, partial(_stamp, number=number))
        return look() if self._database.reads_at_once else await asyncio.to_thread(look)

    async def standings(self) -> list[Words]:
        """The best players of each game: words of the letter ``standings``."""
        return await asyncio.to_thread(self._told, rating_tables.standings, Standings(None)) or []

    async def player(self, userid: str) -> PublicPlayer | None:
        """What everybody may know of a player; ``None``: there is none of this name."""
        return await asyncio.to_thread(self._player, userid.lower())

    async def seeks(self) -> list[Words]:
        """What people look for: game, seats, options, who, since when."""
        return await asyncio.to_thread(self._looked, _seeks)

    async def finished(self, userid: str, most: int, before: int = 0) -> list[Finished] | None:
        """Games that are over and may be seen, of a player or (``""``) of all, newest first;
        ``None``: there is no such player, or board.

        Args:
            before: the board, itself one of these, behind which the list goes on; 0 = the newest.
        """
        look = partial(_finished, userid=userid.lower(), most=most, before=before)
        return await asyncio.to_thread(self._looked, look)

    async def tables(self, most: int) -> list[DailyTable]:
        """The newest boxes of the day that are open, newest first."""
        return await asyncio.to_thread(self._looked, partial(_tables, most=most))

    async def dailies(self) -> list[Dailies]:
        """The newest boxes of the day, game by game."""
        return await asyncio.to_thread(self._looked, daily_pages.dailies)

    async def daily(self, number: int) -> DailyTable | None:
        """One of them; ``None``: nobody has got it."""
        return await asyncio.to_thread(self._looked, partial(daily_pages.daily, number=number))

    def _player(self, userid: str) -> PublicPlayer | None:
        if self._seen(partial(_named_player, userid=userid)) is None:
            return None
        ratings = self._told(rating_tables.explain, Ratings(None, (userid,)))
        ended = self._told(queries.history, History(None, (userid,)))
        running = self._told(queries.games, Games(None, (userid,)))
        if ratings is None or ended is None or running is None:
            return None
        build = partial(
            PublicPlayer, str(ended[0]["of"]), ratings, ended[0]["rows"], running[0]["rows"]
        )
        return self._looked(lambda context: build(**_more_of(context, userid)))

    def _told(
        self, handler: Callable[[CommandContext, Any], Answer], command: Command
    ) -> list[Words] | None:
        """Words of the answer that a stranger gets to a command; ``None``: it is refused."""

        def look(context: CommandContext) -> list[Words] | None:
            try:
                return [part.words for part in handler(context, command).parts]
            except TooMuch:
                raise
            except PlayerError:
                return None

        return self._looked(look)

    def _looked(self, look: Callable[[CommandContext], T]) -> T:
        """What somebody finds, without the names that are not to be there."""
        return self._seen(lambda context: named(context, look(context)))

    def _seen(self, look: Callable[[CommandContext], T]) -> T:
        """Return what a reader may see.

        Raises:
            TooMuch: it takes more work than a mail may ask for.
        """
        with self._database.reading.connect() as connection:
            context = CommandContext(self._services, connection, VISITOR, self._clock.now())
            context.budget = Budget()
            try:
                return look(context)
            finally:  # also what was replayed in vain: the next reader need not begin again
                self._services.positions.remember(context.played)


def _game(context: CommandContext, number: int, turn: int | None) -> GamePage | None:
    connection = context.connection
    board = boards.load(connection, number)
    if board is None:
        return None
    try:
        part = queries.watched(context, board, turn)
    except Refused:  # so many turns have not been made
        return None
    newest, board = context.position(board), anonymous(board)
    kept, declined = part.words["kept"], bool(part.words["declined"])
    position = newest if part.ply is None else newest.at(part.ply)
    scene = page_scene(connection, board, position, None)
    over = newest.outcome is not None
    if over:  # a race that runs has no turns for others, nor has the same position then
        scene = replace(scene, moves=position.turns)
    last = newest.turns_of(None)
    if kept or declined:
        return GamePage(scene, kept, declined, 0 if kept else last)
    pictures = drawings(position, newest if over else None, board.seats)
    ended = histories.ended_at(connection, board.id) if over else None
    return GamePage(scene, kept, declined, last, pictures, ended)


def _stamp(context: CommandContext, number: int) -> tuple[Any, ...] | None:
    board = boards.load(context.connection, number)
    if board is None:
        return None
    return board.status, board.plies, anonymous(board).names, spoils(context, board)


def _named_player(context: CommandContext, userid: str) -> Player | None:
    """Whoever plays under a name and may be named."""
    found = shown_player(context, userid) if USERID.fullmatch(userid) else None
    return found if found is not None and found.public else None


def _finished(
    context: CommandContext, userid: str, most: int, before: int
) -> list[Finished] | None:
    connection = context.connection
    ended = histories.ended_at(connection, before) if before else None
    if before and (ended is None or not _is_open(context, before)):
        return None
    behind = None if ended is None else (ended, before)
    player = _named_player(context, userid)
    if userid and player is None:
        return None
    games = context.services.registry.titles
    found: list[EndedGame] = []
    for _ in range(LOOKS):
        if player is not None:
            rows = histories.of_player(connection, player.id, None, most, behind)
        else:
            of_games = (histories.of_game(connection, key, most, behind) for key in games)
            rows = sorted(chain(*of_games), key=_ended, reverse=True)[:most]
        found += [one for one in rows if one.game in games and _is_open(context, one.board)]
        if len(rows) < most or len(found) >= most:
            break
        behind = _ended(rows[-1])
    return [
        Finished(
            board=one.board,
            game=one.game,
            title=games[one.game],
            players=one.names,
            winners=queries.winners(one.names, one.places),
            drawn=len(set(one.places)) == 1 and len(one.places) > 1,
            reason=one.reason,
            moves=one.turns,
            ended=f"{one.ended_at:%Y-%m-%dT%H:%M:%SZ}",
        )
        for one in found[:most]
    ]


def _ended(one: EndedGame) -> histories.Behind:
    return one.ended_at, one.board


def _is_open(context: CommandContext, number: int) -> bool:
    """Whether everybody may see all of a board that is over."""
    board = boards.load(context.connection, number)
    return board is not None and not spoils(context, board)


def _tables(context: CommandContext, most: int) -> list[DailyTable]:
    numbers = [day[0] for game in daily_pages.dailies(context) for day in game.days[: most + 1]]
    tables = (daily_pages.daily(context, number) for number in dict.fromkeys(numbers))
    return [one for one in tables if one is not None and one.scene is not None][:most]


def _seeks(context: CommandContext) -> list[Words]:
    found = challenges.open_seeks(context.connection, SEEKS)
    return [_seek(seek) for seek in found if seek.game in context.services.registry]


def _seek(seek: challenges.Seek) -> Words:
    return {
        "userid": seek.userid,
        "game": seek.game,
        "seats": seek.seats,
        "options": list(seek.options),
        "since": f"{seek.created_at:%Y-%m-%d}",
    }


def _more_of(context: CommandContext, userid: str) -> dict[str, Any]:
    """What a player's page has beside what letters tell."""
    connection, player = context.connection, shown_player(context, userid)
    assert player is not None
    games = {game.info.key: game for game in context.services.registry}
    met = [one for one in histories.met(connection, player.id, MET) if one.game in games]
    seeks = challenges.seeks_of(connection, player.id)
    best = solo.best_by_kind(connection, player.id, KINDS)
    hidden = preferences.unnamed(connection, {one.userid for one in met})
    rivals = [(UNNAMED if one.userid in hidden else one.userid, one) for one in met]
    return {
        "curves": {key: rating_tables.curve(context, key, player.id) for key in games},
        "accept": "" if player.userid in BOT_USERIDS else player.accept,
        "seeks": [_seek(seek) for seek in seeks if seek.game in games],
        "met": _counted([(who, one, one.places[one.other_seat]) for who, one in rivals], OPPONENTS),
        "kinds": _counted([(_kind(games, one), one, _best_other(one)) for one in met], KINDS),
        "scores": [(games[one[0]].info.title, *one[1:]) for one in best if one[0] in games],
        "streaks": _streaks(context, player),
    }


def _kind(games: Mapping[str, AnyGame], one: Met) -> str:
    """A kind of board in words: what everybody may read of its options."""
    game = games[one.game]
    words = one.options
    if races(game):
        words = game.shown(game.options(one.options, one.seats))
    many = "" if one.seats == 2 else f"for {one.seats}"
    return " ".join(filter(None, (game.info.title, many, *words)))


def _best_other(one: Met) -> int:
    """The best place of all others at a board."""
    return min(place for seat, place in enumerate(one.places) if seat != one.seat)


def _counted(met: Sequence[tuple[str, Met, int]], most: int) -> list[Words]:
    """How boards ended for their player: (what they are counted by, board, the others' place)."""
    found: dict[str, dict[str, Any]] = {}
    best_last = sorted(met, key=lambda row: -row[2])
    boards = {(what, one.board): (one, place) for what, one, place in best_last}
    for (what, _), (one, theirs) in boards.items():
        row = found.setdefault(what, {"name": what, "played": 0, "won": 0, "lost": 0, "drawn": 0})
        mine = one.places[one.seat]
        row["played"] += 1
        row["won" if mine < theirs else "lost" if mine > theirs else "drawn"] += 1
    rows: list[Words] = sorted(found.values(), key=lambda row: (-row["played"], row["name"]))
    return rows[:most]


def _streaks(context: CommandContext, player: Player) -> list[tuple[str, int]]:
    today = daily_box.day_of(context.now)
    found = []
    for game in races_of(context, None):
        key = game.info.key
        lengths = [streak(context, player.id, key, day) for day in (today, today - 1)]
        found.append((game.info.title, max(lengths)))
    return [one for one in found if one[1]]
