"""Ratings: what a board that ends does to them, the tables, and making all of them anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection

from pbmserv.commands.table.looking import Ratings, Standings
from pbmserv.engine.ratings import (
    OPPONENTS,
    SHOWN_START,
    SURE_AFTER,
    WINDOW,
    Pasts,
    Rating,
    Standing,
    anchor,
    chances,
    is_draw,
    is_provisional,
    is_win,
    settle,
    weights,
)
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import BOT_USERIDS, Outcome
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import games_of, players_of
from pbmserv.service.core.results import Answer, Part
from pbmserv.store import ratings
from pbmserv.store.accounts import persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.ratings import Change, Rated
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus

BEST = 50
"""Lines of a table of the best."""

LAST = 10
"""Changes of a rating that are explained."""


CURVE = 200
"""Changes of a rating that a graph has."""


@dataclass(frozen=True, slots=True)
class Ended:
    """When a board counts as ended, and what its letters say of ratings (nothing if unrated)."""

    at: datetime
    words: list[dict[str, Any]]


def board_ended(
    connection: Connection,
    board: BoardRow,
    outcome: Outcome,
    undecided: Sequence[str],
    now: datetime,
    game: AnyGame,
) -> Ended:
    """Rate a board of a *game* whose outcome is known; not if somebody has never agreed to play.

    For boards of one player the moment always grows: the order in which boards were rated must
    be told by their record.
    """
    ids = [sitter.player_id for sitter in board.sitters]
    if not board.rated or undecided or not counts(ids):
        return Ended(now, [])
    locked = ratings.lock(connection, board.game, ids, now)
    bots = {one.player_id: one.userid for one in board.sitters if one.state == PlayerState.BOT}
    strong = strong_bots(game, bots)
    before = anchored([locked[player_id] for player_id in ids], strong)
    at = ratings.next_moment(before, now)
    pasts = ratings.pasts(connection, board.game, ids, at)
    changes, after = rated(board.id, board.game, before, outcome.places, pasts, at, strong)
    ratings.settle(connection, board.game, after)
    ratings.log(connection, changes)
    return Ended(at, _told(changes, dict(zip(ids, board.names, strict=True))))


def counts(player_ids: Sequence[int]) -> bool:
    """Whether a board with these players can be rated at all: two or more, all different."""
    return len(player_ids) > 1 and len(set(player_ids)) == len(player_ids)


def rated(
    board_id: int,
    game: str,
    before: Sequence[Rated],
    places: Sequence[int],
    pasts: Pasts,
    at: datetime,
    strong: Mapping[int, Rating],
) -> tuple[list[Change], list[Rated]]:
    """What one board does to its players, by seat; the one sum that play and rebuild share.

    Args:
        strong: ratings of bots by their ids, which stay as they are.
    """
    anchored = [seat for seat, one in enumerate(before) if one.player_id in strong]
    after = settle([one.standing for one in before], places, pasts, anchored)
    weighed = weights(pasts, len(before))
    changes = [
        Change(
            board_id,
            old.player_id,
            game,
            new.games,
            place,
            old.standing.rating,
            new.rating,
            weight,
            at,
        )
        for old, new, place, weight in zip(before, after, places, weighed, strict=True)
    ]
    standings = [Rated(old.player_id, new, at) for old, new in zip(before, after, strict=True)]
    return changes, standings


def strong_bots(game: AnyGame, bots: Mapping[int, str]) -> dict[int, Rating]:
    """The ratings of bots, of their userids by id, at a game."""
    known = game.info.strength
    return {i: anchor(known[userid]["mu"]) for i, userid in bots.items() if userid in known}


def anchored(before: Sequence[Rated], strong: Mapping[int, Rating]) -> list[Rated]:
    """The standings with bots as strong as they are, whatever their rows say."""
    return [
        replace(one, standing=replace(one.standing, rating=strong[one.player_id]))
        if one.player_id in strong
        else one
        for one in before
    ]


def words_of(context: CommandContext, board: BoardRow) -> list[dict[str, Any]]:
    """What the letters of a board that ended earlier say of ratings."""
    if board.status != BoardStatus.FINISHED or not board.rated:
        return []
    by_player = {
        change.player_id: change
        for change in ratings.of_boards(context.connection, [board.id]).get(board.id, [])
    }
    names = {sitter.player_id: sitter.userid for sitter in board.sitters}
    return _told([by_player[i] for i in names if i in by_player], names)


def standings(context: CommandContext, command: Standings) -> Answer:
    """``game standings``: the best players, each person once."""
    games = games_of(context, command.game)
    return Answer(tuple(Part("standings", best_players(context, game)) for game in games))


def best_players(context: CommandContext, game: AnyGame) -> dict[str, Any]:
    """Return the words of the letter ``standings``: the best players, each person once."""
    best = partial(ratings.best, context.connection, game.info.key)
    found = persons.first_each_once(context.connection, best, BEST + 1)
    rows = [
        {"rank": rank, "userid": line.userid, **_shown(line.standing)}
        for rank, line in _ranked(found[:BEST])
    ]
    room = max(0, BEST - len(found))
    without_place = partial(ratings.without_place, context.connection, game.info.key)
    placed = [line.player_id for line in found]
    below = persons.first_each_once(context.connection, without_place, room + 1, placed)
    return {
        "game": game.info.key,
        "title": game.info.title,
        "rows": rows,
        "below": [{"userid": one.userid, **_shown(one.standing)} for one in below[:room]],
        "more": len(found) > BEST or len(below) > room,
        "bots": shown_bots(game),
        "sure_after": SURE_AFTER,
        "opponents": OPPONENTS,
    }


def shown_standing(context: CommandContext, game: AnyGame, player: Player) -> dict[str, Any] | None:
    """Return what people see of a player's rating; ``None`` before the first rated game."""
    line = ratings.of_player(context.connection, game.info.key, player.id)
    return _shown(line.standing) if line else None


def shown_bots(game: AnyGame) -> dict[str, int]:
    """What people see of the ratings of a game's bots, which no game moves; the best first."""
    found = {userid: anchor(known["mu"]).shown for userid, known in game.info.strength.items()}
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def explain(context: CommandContext, command: Ratings) -> Answer:
    """``game ratings [userid…]``: how ratings came about; of nobody = the table of the best."""
    if command.userids:
        wanted = players_of(context, command.userids)
    elif context.reply_address is not None and context.reply_address.player:
        wanted = [context.speaker(None)]
    else:
        return standings(context, Standings(command.game))
    parts = []
    for player in wanted:
        known = [
            (game, _rating_of(context, game, player)) for game in games_of(context, command.game)
        ]
        # Of every game only those that were played; of none of them, that there is nothing yet.
        played = [words for _, words in known if words["standing"]]
        shown = played or [words for _, words in known[:1]]
        parts += [Part("ratings", words) for words in shown]
    return Answer(tuple(parts))


def curve(context: CommandContext, game: str, player_id: int) -> list[dict[str, Any]]:
    """How a rating has gone, the oldest of its last `CURVE` changes first."""
    found = ratings.last_changes(context.connection, game, player_id, CURVE)
    return [
        {
            "board": one.board_id,
            "date": f"{one.created_at:%Y-%m-%d}",
            "number": one.number,
            "shown": one.after.shown,
        }
        for one in reversed(found)
    ]


def _rating_of(context: CommandContext, game: AnyGame, player: Player) -> dict[str, Any]:
    key = game.info.key
    found = ratings.of_player(context.connection, key, player.id)
    changes = ratings.last_changes(context.connection, key, player.id, LAST)
    boards = ratings.of_boards(context.connection, [change.board_id for change in changes])
    ids = sorted({one.player_id for board in boards.values() for one in board})
    names = players.userids(context.connection, ids)
    return {
        "of": player.userid,
        "game": key,
        "title": game.info.title,
        "standing": _shown(found.standing) if found else None,
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
        "others": [names[one.player_id] for one in board if one.player_id != change.player_id],
        **_change_words(change, board),
    }


def _told(changes: Sequence[Change], names: dict[int, str]) -> list[dict[str, Any]]:
    return [
        {
            "userid": names[change.player_id],
            "games": change.number,
            "provisional": is_provisional(change.number),
            "anchored": change.before == change.after and names[change.player_id] in BOT_USERIDS,
            **_change_words(change, changes),
        }
        for change in changes
    ]


def _change_words(change: Change, board: Sequence[Change]) -> dict[str, Any]:
    """What happened, and what was to be expected: together they explain the change."""
    places = [one.place for one in board]
    expected = chances([one.before for one in board])[board.index(change)]
    if is_win(change.place, places):
        result = "won"
    elif is_draw(change.place, places):
        result = "drawn"
    else:
        result = "lost"
    return {
        "result": result,
        "place": change.place,
        "of_seats": len(board),
        "expected": round(100 * expected),
        "before": change.before.shown,
        "after": change.after.shown,
        "percent": round(100 * change.weight),
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
    """Lines with their ranks; those who show the same number share one."""
    found: list[tuple[int, ratings.Line]] = []
    for place, line in enumerate(lines, 1):
        same = found and found[-1][1].standing.rating.shown == line.standing.rating.shown
        found.append((found[-1][0] if same else place, line))
    return found
