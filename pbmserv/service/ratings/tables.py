"""Answers about ratings: tables of the best players, and how a rating came about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pbmserv.commands.table.looking import Ratings, Standings
from pbmserv.engine.ratings import (
    OPPONENTS,
    SHOWN_START,
    SURE_AFTER,
    WINDOW,
    Rating,
    Standing,
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
from pbmserv.store.ratings import Change
from pbmserv.views.public_facts import RatingChange

BEST = 50
"""Lines of a table of the best."""
LAST = 10
"""Changes of a rating that are explained."""
CURVE = 200
"""Changes of a rating in a graph."""


def standings(context: CommandContext, command: Standings) -> Answer:
    """Carry out ``game standings``: show the best players, each person once."""
    games = games_asked_about(context, command.game)
    return Answer(tuple(Part("standings", best_players(context, game)) for game in games))


def best_players(context: CommandContext, game: AnyGame) -> dict[str, Any]:
    """Return the words of the letter ``standings``: the best players, each person once."""
    best = partial(ratings.best, context.connection, game.info.key)
    placed = persons.first_each_once(context.connection, best, BEST + 1)
    rows = [
        {"rank": rank, "userid": line.userid, **_shown(line.standing)}
        for rank, line in _ranked(placed[:BEST])
    ]
    room = max(0, BEST - len(placed))
    without_place = partial(ratings.without_place, context.connection, game.info.key)
    placed_ids = [line.player_id for line in placed]
    below = persons.first_each_once(context.connection, without_place, room + 1, placed_ids)
    return {
        "game": game.info.key,
        "title": game.info.title,
        "rows": rows,
        "below": [{"userid": line.userid, **_shown(line.standing)} for line in below[:room]],
        "more": len(placed) > BEST or len(below) > room,
        "bots": shown_bots(game),
        "sure_after": SURE_AFTER,
        "opponents": OPPONENTS,
    }


def shown_standing(context: CommandContext, game: AnyGame, player: Player) -> dict[str, Any] | None:
    """Return what people see of a player's rating; ``None`` before the first rated game."""
    rated = ratings.of_player(context.connection, game.info.key, player.id)
    return _shown(rated.standing) if rated else None


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
    rated = ratings.of_player(context.connection, key, player.id)
    changes = ratings.last_changes(context.connection, key, player.id, LAST)
    boards = ratings.of_boards(context.connection, [change.board_id for change in changes])
    ids = sorted({change.player_id for board in boards.values() for change in board})
    names = players.userids(context.connection, ids)
    return {
        "of": player.userid,
        "title": game.info.title,
        "standing": _shown(rated.standing) if rated else None,
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


def _shown(standing: Standing) -> dict[str, Any]:
    rating: Rating = standing.rating
    return {
        "shown": rating.shown,
        "games": standing.games,
        "wins": standing.wins,
        "losses": standing.losses,
        "draws": standing.draws,
        "opponents": standing.opponents,
        "provisional": is_provisional(standing.games),
    }


def _ranked(lines: Sequence[ratings.Line]) -> list[tuple[int, ratings.Line]]:
    """Return lines with their ranks; players whose ratings look equal share a rank."""
    ranked: list[tuple[int, ratings.Line]] = []
    for place, line in enumerate(lines, 1):
        is_tie = ranked and ranked[-1][1].standing.rating.shown == line.standing.rating.shown
        ranked.append((ranked[-1][0] if is_tie else place, line))
    return ranked
