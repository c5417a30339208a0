"""Public pages about players: their boards, ratings, ladders and seeks, with public names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from pbmserv.commands.grammar.word_forms import USERID
from pbmserv.engine.registry import AnyGame, shown_options
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.service.boards import game_lists
from pbmserv.service.boards.score_keeping import streak
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import races_of, shown_player
from pbmserv.service.ladder.ladder_commands import has_ladder
from pbmserv.service.ladder.tables import ladder_page
from pbmserv.service.pages.public_boards import finished_boards, is_open
from pbmserv.service.ratings import tables as rating_tables
from pbmserv.service.solo import daily_box
from pbmserv.store import scores
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import histories, seeks
from pbmserv.store.boards.histories import EndedGame, Met
from pbmserv.views.names import ALL_NAMES, public_names
from pbmserv.views.public_facts import (
    FinishedBoard,
    KindScores,
    LadderPage,
    PlayerRating,
    PublicPlayer,
    RunningBoard,
    Seek,
    StandingsTable,
    Streak,
    Tally,
)

SEEKS = 200
MET = 2_000
"""Boards that a player's page counts."""
SEARCHES = 5
"""Searches for finished boards until enough of them may be seen."""
KINDS, OPPONENTS = 12, 20


def _named_player(context: CommandContext, userid: str) -> Player | None:
    """Return the player of a userid; ``None`` if there is none who may be named."""
    userid = userid.lower()
    player = shown_player(context, userid) if USERID.fullmatch(userid) else None
    return player if player is not None and player.public else None


def finished_of(
    context: CommandContext, userid: str, most: int, before: int = 0
) -> list[FinishedBoard] | None:
    """Return finished boards that may be seen, newest first.

    Return `None` if nobody of this name may be named, or if *before* is not such a board.

    Args:
        userid: a player; "" for all.
        most: the most boards to return.
        before: the board after which the list continues; 0 for the newest.
    """
    connection = context.connection
    ended = histories.ended_at(connection, before) if before else None
    if before and (ended is None or not is_open(context, before)):
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
        listed += [row for row in rows if row.game in games and is_open(context, row.board)]
        if len(rows) < most or len(listed) >= most:
            break
        behind = _end(rows[-1])
    return finished_boards(context, listed[:most], "%Y-%m-%dT%H:%M:%SZ")


def _end(game: EndedGame) -> histories.Behind:
    return game.ended_at, game.board


def standings(context: CommandContext) -> list[StandingsTable]:
    """Return the best players of each game."""
    registry = context.services.registry
    return [rating_tables.best_players(context, game, public=True) for game in registry]


def standings_of(context: CommandContext, key: str) -> StandingsTable | None:
    """Return the best players of a game; `None` if there is no such game."""
    registry = context.services.registry
    if key not in registry:
        return None
    return rating_tables.best_players(context, registry.newest(key), public=True)


def ladder(context: CommandContext, key: str) -> LadderPage | None:
    """Return the ladder of a game; `None` if it has none."""
    if key not in context.services.registry:
        return None
    game = context.services.registry.newest(key)
    return ladder_page(context, game) if has_ladder(game) else None


def ladders(context: CommandContext) -> list[LadderPage]:
    """Return the ladders of all games for two, those with most players first."""
    games = [game for game in context.services.registry if has_ladder(game)]
    pages = [ladder_page(context, game) for game in games]
    return sorted(pages, key=lambda page: -page.count)


def open_seeks(context: CommandContext, except_of: int = 0) -> list[Seek]:
    """Return the open seeks of all players except the one with id *except_of*."""
    reachable = seeks.of_reachable(context.connection, SEEKS)
    return _seeks(context, [seek for seek in reachable if seek.player_id != except_of])


def _seeks(context: CommandContext, stored: Iterable[seeks.Seek]) -> list[Seek]:
    """Return the seeks of games that are installed, with public names."""
    installed = [seek for seek in stored if seek.game in context.services.registry]
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


def player_page(context: CommandContext, userid: str) -> PublicPlayer | None:
    """Return a player's page; `None` if nobody of this name may be named."""
    player = _named_player(context, userid)
    if player is None:
        return None
    connection = context.connection
    games = {game.info.key: game for game in context.services.registry}
    met = [board for board in histories.met(connection, player.id, MET) if board.game in games]
    opponents = public_names(connection, {board.userid for board in met})
    ended = histories.of_player(connection, player.id, None, game_lists.LISTED)
    best = scores.best_by_kind(connection, player.id, KINDS)
    return PublicPlayer(
        userid=ALL_NAMES.of(player.userid),
        bot=player.userid in BOT_USERIDS,
        ratings=_ratings(context, player),
        ended=finished_boards(context, ended, "%Y-%m-%d"),
        running=_running(context, player),
        seeks=_seeks(context, seeks.of_player(connection, player.id)),
        met=_tallies(
            [
                (opponents.opponent(board.userid), board, board.places[board.other_seat])
                for board in met
            ],
            OPPONENTS,
        ),
        kinds=_tallies([(_kind(games, board), board, _best_other(board)) for board in met], KINDS),
        scores=[
            KindScores(games[key].info.title, kind, count, points)
            for key, kind, count, points in best
            if key in games
        ],
        streaks=_streaks(context, player),
    )


def _ratings(context: CommandContext, player: Player) -> list[PlayerRating]:
    """Return a rating for each game that was played; if there is none, one without a standing."""
    ratings = []
    for game in context.services.registry:
        standing = rating_tables.shown_standing(context, game, player)
        bots = rating_tables.shown_bots(game)
        changes = rating_tables.curve(context, game.info.key, player.id)
        ratings.append(PlayerRating(game.info.key, game.info.title, standing, bots, changes))
    return [rating for rating in ratings if rating.standing is not None] or ratings[:1]


def _running(context: CommandContext, player: Player) -> list[RunningBoard]:
    rows = game_lists.running_rows(context, player)
    names = public_names(context.connection, {name for row in rows for name in row["players"]})
    running = []
    for row in rows:
        shown_names = names.at_board(row["players"])
        running.append(
            RunningBoard(
                board=row["board"],
                game=row["game"],
                players=[shown_names[name] for name in row["players"]],
                waiting=[shown_names[name] for name in row["waiting"]],
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


def _tallies(met: Sequence[tuple[str, Met, int]], most: int) -> list[Tally]:
    """Count how boards ended for their player, and return the tallies with most boards.

    Args:
        met: (name of the tally, board, place of the others). A board counts once in a tally,
            with the best place of the others.
        most: the most tallies to return.
    """
    best_last = sorted(met, key=lambda row: -row[2])
    boards = {(name, board.board): (board, place) for name, board, place in best_last}
    results: dict[str, list[int]] = {}
    for (name, _), (board, place) in boards.items():
        results.setdefault(name, []).append(place - board.places[board.seat])
    tallies = [
        Tally(
            name=name,
            played=len(margins),
            won=sum(margin > 0 for margin in margins),
            lost=sum(margin < 0 for margin in margins),
            drawn=margins.count(0),
        )
        for name, margins in results.items()
    ]
    return sorted(tallies, key=lambda tally: (-tally.played, tally.name))[:most]


def _streaks(context: CommandContext, player: Player) -> list[Streak]:
    today = daily_box.day_of(context.now)
    streaks = []
    for game in races_of(context, None):
        key = game.info.key
        lengths = [streak(context, player.id, key, day) for day in (today, today - 1)]
        streaks.append(Streak(game.info.title, max(lengths)))
    return [streak for streak in streaks if streak.days]
