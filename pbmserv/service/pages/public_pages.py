"""Answers for the pages that everybody may read: players, ratings, seeks and boards.

They show what a stranger learns by mail, with public names (`views.names`). Looking changes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from pbmserv.clock import Clock
from pbmserv.commands.grammar.words import USERID
from pbmserv.engine.registry import AnyGame, shown_options
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Refused
from pbmserv.service.boards import queries
from pbmserv.service.boards.score_keeping import streak
from pbmserv.service.core.actor import VISITOR
from pbmserv.service.core.budget import Budget
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.lookup import races_of, shown_player
from pbmserv.service.core.secret_boxes import spoils
from pbmserv.service.ladder.ladder import has_ladder
from pbmserv.service.ladder.tables import ladder_page
from pbmserv.service.pages import event_pages
from pbmserv.service.ratings import tables as rating_tables
from pbmserv.service.solo import daily_archive, daily_box
from pbmserv.service.solo.daily_archive import Dailies, DailyTable
from pbmserv.service.solo.guest_box import GuestBoxes, GuestLook, GuestPage
from pbmserv.store import solo
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, challenges, histories
from pbmserv.store.boards.histories import EndedGame, Met
from pbmserv.store.core.database import Database
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.views.forms import drawings
from pbmserv.views.names import PublicName, PublicNames, public_board, public_names
from pbmserv.views.public import (
    EventLine,
    EventPage,
    Finished,
    GamePage,
    LadderPage,
    PlayerRating,
    PublicPlayer,
    Record,
    RunningBoard,
    Seek,
    Standing,
    StandingsTable,
    TeamPage,
)
from pbmserv.views.reader import page_scene

T = TypeVar("T")

SEEKS = 200
MET = 2_000
"""Boards that a player's page counts."""
SEARCHES = 5
"""Searches for finished boards until enough of them may be seen."""
KINDS, OPPONENTS = 12, 20


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
        """Return a board after *turn* turns or now; ``None`` if there is no such board or turn."""
        return await asyncio.to_thread(self._read, partial(_game, number=number, turn=turn))

    async def stamp(self, number: int) -> tuple[Any, ...] | None:
        """Return a value that changes with a board's page; ``None`` if there is no such board."""
        read = partial(self._read, partial(_stamp, number=number))
        return read() if self._database.may_read_in_loop else await asyncio.to_thread(read)

    async def standings(self) -> list[StandingsTable]:
        """Return the best players of each game."""
        return await asyncio.to_thread(self._read, _standings)

    async def ladders(self) -> list[LadderPage]:
        """Return the ladders of all games for two, those with most players first."""
        return await asyncio.to_thread(self._read, _ladders)

    async def ladder(self, game: str) -> LadderPage | None:
        """Return the ladder of a game; ``None`` if it has none."""
        return await asyncio.to_thread(self._read, partial(_ladder, key=game))

    async def player(self, userid: str) -> PublicPlayer | None:
        """Return a player's page; ``None`` if nobody of this name may be named."""
        return await asyncio.to_thread(self._read, partial(_player, userid=userid.lower()))

    async def events(self) -> list[EventLine]:
        """Return the newest events: those that take entries first."""
        return await asyncio.to_thread(self._read, event_pages.lines)

    async def event(self, number: int, first: int) -> EventPage | None:
        """Return an event with its groups from *first* on; ``None`` if there is no such event."""
        read = partial(event_pages.page, number=number, first=first)
        return await asyncio.to_thread(self._read, read)

    async def teams(self) -> list[TeamPage]:
        """Return the teams by name."""
        return await asyncio.to_thread(self._read, event_pages.teams_listed)

    async def team(self, key: str) -> TeamPage | None:
        """Return a team; ``None`` if there is none of this name."""
        return await asyncio.to_thread(self._read, partial(event_pages.team_page, key=key))

    async def seeks(self) -> list[Seek]:
        """Return the open seeks."""
        return await asyncio.to_thread(self._read, open_seeks)

    async def finished(self, userid: str, most: int, before: int = 0) -> list[Finished] | None:
        """Return finished boards that may be seen, newest first.

        Return ``None`` if nobody of this name may be named, or if *before* is not such a board.

        Args:
            userid: a player; "" for all.
            most: the most boards to return.
            before: the board after which the list continues; 0 for the newest.
        """
        read = partial(_finished, userid=userid.lower(), most=most, before=before)
        return await asyncio.to_thread(self._read, read)

    async def tables(self, most: int) -> list[DailyTable]:
        """Return the newest boxes of the day that are open, newest first."""
        return await asyncio.to_thread(self._read, partial(_tables, most=most))

    async def dailies(self) -> list[Dailies]:
        """Return the newest boxes of the day, by game."""
        return await asyncio.to_thread(self._read, daily_archive.dailies)

    async def daily(self, number: int) -> DailyTable | None:
        """Return a box of the day; ``None`` if no player has got it."""
        return await asyncio.to_thread(
            self._read, partial(daily_archive.daily_table, number=number)
        )

    def _read(self, read: Callable[[CommandContext], T]) -> T:
        """Return the result of *read* in a transaction that only reads.

        Raises:
            TooMuch: it takes more work than a mail may ask for.
        """
        with self._database.reading.connect() as connection:
            context = CommandContext(
                self._services, connection, VISITOR, self._clock.now(), budget=Budget()
            )
            try:
                return read(context)
            finally:  # the next reader need not replay these boards, even if this page failed
                self._services.positions.remember(context.effects.positions)


# -- boards ----------------------------------------------------------------------------------


def _game(context: CommandContext, number: int, turn: int | None) -> GamePage | None:
    connection = context.connection
    board = boards.load(connection, number)
    if board is None:
        return None
    try:
        ply, kept = queries.watched_ply(context, board, turn)
    except Refused:  # so many turns have not been made
        return None
    is_declined = board.status == BoardStatus.DECLINED
    newest, board = context.position(board), public_board(board)
    position = newest.at(ply)
    scene = page_scene(connection, board, position, None)
    is_over = newest.outcome is not None
    if is_over:  # while a race runs, spectators count no turns
        scene = replace(scene, moves=position.turns)
    turns = newest.turns_of(None)
    if kept or is_declined or scene.undrawn:
        return GamePage(scene, kept, is_declined, 0 if kept else turns)
    pictures = drawings(position, newest if is_over else None, board.seats)
    ended = histories.ended_at(connection, board.id) if is_over else None
    return GamePage(scene, kept, is_declined, turns, pictures, ended)


def _stamp(context: CommandContext, number: int) -> tuple[Any, ...] | None:
    board = boards.load(context.connection, number)
    if board is None:
        return None
    kept = spoils(context, board)
    # Until all players of the event have finished it, its page shows only its start.
    plies = 0 if kept == "event-game-runs" else board.plies
    return board.status, plies, public_board(board).names, kept


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
    listed: list[EndedGame] = []
    for _ in range(SEARCHES):
        if player is not None:
            rows = histories.of_player(connection, player.id, None, most, behind)
        else:
            of_games = (histories.of_game(connection, key, most, behind) for key in games)
            rows = sorted(chain(*of_games), key=_end, reverse=True)[:most]
        listed += [row for row in rows if row.game in games and _is_open(context, row.board)]
        if len(rows) < most or len(listed) >= most:
            break
        behind = _end(rows[-1])
    return _finished_boards(context, listed[:most], "%Y-%m-%dT%H:%M:%SZ")


def _finished_boards(
    context: CommandContext, games: Sequence[EndedGame], form: str
) -> list[Finished]:
    """Return finished boards with public names, and the moments of their ends in this form."""
    names = public_names(context.connection, {name for game in games for name in game.names})
    titles = context.services.registry.titles
    finished = []
    for game in games:
        called = names.at_board(game.names)
        finished.append(
            Finished(
                board=game.board,
                game=game.game,
                title=titles[game.game],
                players=[called[name] for name in game.names],
                winners=[called[name] for name in queries.winners(game.names, game.places)],
                drawn=queries.is_drawn(game.places),
                reason=game.reason,
                moves=game.turns,
                ended=format(game.ended_at, form),
            )
        )
    return finished


def _end(game: EndedGame) -> histories.Behind:
    return game.ended_at, game.board


def _is_open(context: CommandContext, number: int) -> bool:
    """Return whether everybody may see all of a finished board."""
    board = boards.load(context.connection, number)
    return board is not None and not spoils(context, board)


def _tables(context: CommandContext, most: int) -> list[DailyTable]:
    numbers = [
        box.number for game in daily_archive.dailies(context) for box in game.days[: most + 1]
    ]
    tables = (daily_archive.daily_table(context, number) for number in dict.fromkeys(numbers))
    return [table for table in tables if table is not None and table.scene is not None][:most]


# -- players ---------------------------------------------------------------------------------


def _named_player(context: CommandContext, userid: str) -> Player | None:
    """Return the player of a userid; ``None`` if there is none who may be named."""
    player = shown_player(context, userid) if USERID.fullmatch(userid) else None
    return player if player is not None and player.public else None


def _standings(context: CommandContext) -> list[StandingsTable]:
    return [_standings_table(context, game) for game in context.services.registry]


def _standings_table(context: CommandContext, game: AnyGame) -> StandingsTable:
    words = rating_tables.best_players(context, game)
    names = public_names(
        context.connection, {row["userid"] for row in (*words["rows"], *words["below"])}
    )
    return StandingsTable(
        game=words["game"],
        title=words["title"],
        rows=[_standing(row, names.of(row["userid"]), row["rank"]) for row in words["rows"]],
        below=[_standing(row, names.of(row["userid"])) for row in words["below"]],
        more=words["more"],
        bots=words["bots"],
        sure_after=words["sure_after"],
        opponents=words["opponents"],
    )


def _standing(row: Mapping[str, Any], name: PublicName, rank: int | None = None) -> Standing:
    return Standing(
        userid=name,
        rank=rank,
        shown=row["shown"],
        provisional=row["provisional"],
        games=row["games"],
        wins=row["wins"],
        losses=row["losses"],
        draws=row["draws"],
    )


def _ladder(context: CommandContext, key: str) -> LadderPage | None:
    if key not in context.services.registry:
        return None
    game = context.services.registry.newest(key)
    return ladder_page(context, game) if has_ladder(game) else None


def _ladders(context: CommandContext) -> list[LadderPage]:
    games = [game for game in context.services.registry if has_ladder(game)]
    pages = [ladder_page(context, game) for game in games]
    return sorted(pages, key=lambda page: -page.count)


def open_seeks(context: CommandContext, but: int = 0) -> list[Seek]:
    """Return the open seeks of all players except the one with id *but*."""
    seeks = challenges.open_seeks(context.connection, SEEKS)
    return _seeks(context, [seek for seek in seeks if seek.player_id != but])


def _seeks(context: CommandContext, seeks: Iterable[challenges.Seek]) -> list[Seek]:
    """Return the seeks of games that are installed, with public names."""
    installed = [seek for seek in seeks if seek.game in context.services.registry]
    names = public_names(context.connection, {seek.userid for seek in installed})
    return [
        Seek(
            userid=names.of(seek.userid),
            game=seek.game,
            seats=seek.seats,
            options=list(seek.options),
            since=f"{seek.created_at:%Y-%m-%d}",
        )
        for seek in installed
    ]


def _player(context: CommandContext, userid: str) -> PublicPlayer | None:
    player = _named_player(context, userid)
    if player is None:
        return None
    connection = context.connection
    name = PublicNames(frozenset()).of(player.userid)
    games = {game.info.key: game for game in context.services.registry}
    met = [board for board in histories.met(connection, player.id, MET) if board.game in games]
    opponents = public_names(connection, {board.userid for board in met})
    ended = histories.of_player(connection, player.id, None, queries.LISTED)
    best = solo.best_by_kind(connection, player.id, KINDS)
    return PublicPlayer(
        userid=name,
        ratings=_ratings(context, player, name),
        ended=_finished_boards(context, ended, "%Y-%m-%d"),
        running=_running(context, player),
        curves={key: rating_tables.curve(context, key, player.id) for key in games},
        accept="" if player.userid in BOT_USERIDS else player.accept,
        seeks=_seeks(context, challenges.seeks_of(connection, player.id)),
        met=_records(
            [
                (opponents.opponent(board.userid), board, board.places[board.other_seat])
                for board in met
            ],
            OPPONENTS,
        ),
        kinds=_records([(_kind(games, board), board, _best_other(board)) for board in met], KINDS),
        scores=[(games[row[0]].info.title, *row[1:]) for row in best if row[0] in games],
        streaks=_streaks(context, player),
    )


def _ratings(context: CommandContext, player: Player, name: PublicName) -> list[PlayerRating]:
    """Return a rating for each game that was played; if there is none, one without a standing."""
    ratings = []
    for game in context.services.registry:
        row = rating_tables.shown_standing(context, game, player)
        standing = None if row is None else _standing(row, name)
        bots = rating_tables.shown_bots(game)
        ratings.append(PlayerRating(game.info.key, game.info.title, standing, bots))
    return [rating for rating in ratings if rating.standing is not None] or ratings[:1]


def _running(context: CommandContext, player: Player) -> list[RunningBoard]:
    rows = queries.running_rows(context, player)
    names = public_names(context.connection, {name for row in rows for name in row["players"]})
    running = []
    for row in rows:
        called = names.at_board(row["players"])
        running.append(
            RunningBoard(
                board=row["board"],
                game=row["game"],
                players=[called[name] for name in row["players"]],
                waiting=[called[name] for name in row["waiting"]],
                unshown="unshown" in row,
            )
        )
    return running


def _kind(games: Mapping[str, AnyGame], met: Met) -> str:
    """Return a kind of board in words: the title, and the options that everybody may read."""
    game = games[met.game]
    options = shown_options(game, met.options, met.seats)
    seats = "" if met.seats == 2 else f"for {met.seats}"
    return " ".join(filter(None, (game.info.title, seats, *options)))


def _best_other(met: Met) -> int:
    """Return the best place of all others at a board."""
    return min(place for seat, place in enumerate(met.places) if seat != met.seat)


def _records(met: Sequence[tuple[str, Met, int]], most: int) -> list[Record]:
    """Count how boards ended for their player, and return the records with most boards.

    Args:
        met: (name of the record, board, place of the others). A board counts once in a record,
            with the best place of the others.
        most: the most records to return.
    """
    best_last = sorted(met, key=lambda row: -row[2])
    boards = {(name, board.board): (board, place) for name, board, place in best_last}
    results: dict[str, list[int]] = {}
    for (name, _), (board, place) in boards.items():
        results.setdefault(name, []).append(place - board.places[board.seat])
    records = [
        Record(
            name=name,
            played=len(margins),
            won=sum(margin > 0 for margin in margins),
            lost=sum(margin < 0 for margin in margins),
            drawn=margins.count(0),
        )
        for name, margins in results.items()
    ]
    return sorted(records, key=lambda record: (-record.played, record.name))[:most]


def _streaks(context: CommandContext, player: Player) -> list[tuple[str, int]]:
    """Return the titles of games, and the boxes of the day that were solved in a row."""
    today = daily_box.day_of(context.now)
    streaks = []
    for game in races_of(context, None):
        key = game.info.key
        lengths = [streak(context, player.id, key, day) for day in (today, today - 1)]
        streaks.append((game.info.title, max(lengths)))
    return [(title, days) for title, days in streaks if days]
