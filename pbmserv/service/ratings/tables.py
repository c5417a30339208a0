"""Answers about ratings: tables of the best players, and how a rating came about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from pbmserv.commands.table.looking import Ratings, Standings
from pbmserv.engine.ratings import (
    OPPONENTS,
    SHOWN_START,
    SURE_AFTER,
    WINDOW,
    anchor,
    is_provisional,
)
from pbmserv.engine.registry import AnyGame
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import games_asked_about, players_of
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.ratings.rating import change_words
from pbmserv.store import ratings
from pbmserv.store.accounts import persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.ratings import Change, Line, Rated
from pbmserv.views.names import ALL_NAMES, PublicName, public_names
from pbmserv.views.public_facts import RatingChange, Standing, StandingsTable

BEST = 50
"""Lines of a table of the best."""
LAST = 10
"""Changes of a rating that are explained."""
CURVE = 200
"""Changes of a rating in a graph."""


def standings(context: CommandContext, command: Standings) -> Answer:
    """Carry out ``game standings``: show the best players, each person once."""
    games = games_asked_about(context, command.game)
    tables = [best_players(context, game, public=False) for game in games]
    return Answer(tuple(Part("standings", asdict(table)) for table in tables))


def best_players(context: CommandContext, game: AnyGame, *, public: bool) -> StandingsTable:
    """Return the best players, each person once.

    Args:
        public: whether everybody may read the table, so that it hides names.
    """
    best = partial(ratings.best, context.connection, game.info.key)
    placed = persons.first_each_once(context.connection, best, BEST + 1)
    room = max(0, BEST - len(placed))
    without_place = partial(ratings.without_place, context.connection, game.info.key)
    placed_ids = [line.player_id for line in placed]
    below = persons.first_each_once(context.connection, without_place, room + 1, placed_ids)
    userids = {line.userid for line in (*placed, *below)}
    names = public_names(context.connection, userids) if public else ALL_NAMES
    return StandingsTable(
        game=game.info.key,
        title=game.info.title,
        rows=[_shown(line, names.of(line.userid), rank) for rank, line in _ranked(placed[:BEST])],
        below=[_shown(line, names.of(line.userid)) for line in below[:room]],
        more=len(placed) > BEST or len(below) > room,
        bots=shown_bots(game),
        sure_after=SURE_AFTER,
        opponents=OPPONENTS,
    )


def shown_standing(context: CommandContext, game: AnyGame, player: Player) -> Standing | None:
    """Return what people see of the rating of a named player; ``None`` before the first rated
    game."""
    rated = ratings.of_player(context.connection, game.info.key, player.id)
    return _shown(rated, ALL_NAMES.of(player.userid)) if rated else None


def shown_bots(game: AnyGame) -> dict[str, int]:
    """Return the ratings of a game's bots, best first; no game changes them."""
    strengths = game.info.strength.items()
    ratings_shown = {userid: anchor(strength["mu"]).shown for userid, strength in strengths}
    return dict(sorted(ratings_shown.items(), key=lambda item: -item[1]))


def explain(context: CommandContext, command: Ratings) -> Answer:
    """Carry out ``game ratings [userid…]``: explain ratings; without players, show the best."""
    if command.userids:
        wanted = players_of(context, command.userids)
    elif context.actor.speaks_for:
        wanted = [context.speaker(None)]
    else:
        return standings(context, Standings(command.game))
    games = games_asked_about(context, command.game)
    parts = []
    for player in wanted:
        each = [_rating_words(context, game, player) for game in games]
        # Show games that the player has played, or one game without a rating.
        played = [words for words in each if words["standing"]]
        parts += [Part("ratings", words) for words in played or each[:1]]
    return Answer(tuple(parts))


def curve(context: CommandContext, game: str, player_id: int) -> list[RatingChange]:
    """Return the last `CURVE` changes of a rating, oldest first."""
    changes = ratings.last_changes(context.connection, game, player_id, CURVE)
    return [
        RatingChange(change.board_id, f"{change.created_at:%Y-%m-%d}", change.after.shown)
        for change in reversed(changes)
    ]


def _rating_words(context: CommandContext, game: AnyGame, player: Player) -> dict[str, Any]:
    key = game.info.key
    standing = shown_standing(context, game, player)
    changes = ratings.last_changes(context.connection, key, player.id, LAST)
    boards = ratings.of_boards(context.connection, [change.board_id for change in changes])
    ids = sorted({change.player_id for board in boards.values() for change in board})
    names = players.userids(context.connection, ids)
    return {
        "of": player.userid,
        "title": game.info.title,
        "standing": None if standing is None else asdict(standing),
        "bots": shown_bots(game),
        "changes": [_explained(change, boards[change.board_id], names) for change in changes],
        "start": SHOWN_START,
        "sure_after": SURE_AFTER,
        "opponents": OPPONENTS,
        "days": WINDOW.days,
    }


def _explained(change: Change, board: Sequence[Change], names: dict[int, str]) -> dict[str, Any]:
    return {
        "board": change.board_id,
        "date": f"{change.created_at:%Y-%m-%d}",
        "others": [
            names[other.player_id] for other in board if other.player_id != change.player_id
        ],
        **change_words(change, board),
    }


def _shown(rated: Line | Rated, userid: PublicName, rank: int | None = None) -> Standing:
    standing = rated.standing
    return Standing(
        userid=userid,
        rank=rank,
        rating=standing.rating.shown,
        provisional=is_provisional(standing.games),
        games=standing.games,
        won=standing.wins,
        lost=standing.losses,
        drawn=standing.draws,
    )


def _ranked(lines: Sequence[Line]) -> list[tuple[int, Line]]:
    """Return lines with their ranks; players whose ratings look equal share a rank."""
    ranked: list[tuple[int, Line]] = []
    for place, line in enumerate(lines, 1):
        is_tie = ranked and ranked[-1][1].standing.rating.shown == line.standing.rating.shown
        ranked.append((ranked[-1][0] if is_tie else place, line))
    return ranked
