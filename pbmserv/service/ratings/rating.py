"""Rates boards that end, and words the changes for their letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from pbmserv.engine.ratings import (
    Pasts,
    Rating,
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
from pbmserv.store import ratings
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.ratings import Change, Rated
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus


@dataclass(frozen=True, slots=True)
class RatedEnd:
    """The end of a board, after which its ratings are settled.

    Attributes:
        at: time at which it counts as ended.
        words: changes of ratings for its letters; empty if the board is unrated.
    """

    at: datetime
    words: list[dict[str, Any]]


def rate_ended_board(
    connection: Connection,
    board: BoardRow,
    outcome: Outcome,
    undecided: Sequence[str],
    now: datetime,
    game: AnyGame,
) -> RatedEnd:
    """Rate a board of a *game* that has an outcome, unless a player never accepted it.

    A player's rated boards get increasing end times, so that the record holds the order in which
    they were rated.
    """
    ids = [sitter.player_id for sitter in board.sitters]
    if not board.rated or undecided or not can_be_rated(ids):
        return RatedEnd(now, [])
    locked = ratings.lock(connection, board.game, ids, now)
    bots = {
        sitter.player_id: sitter.userid
        for sitter in board.sitters
        if sitter.state == PlayerState.BOT
    }
    fixed = fixed_ratings(game, bots)
    before = with_fixed_ratings([locked[player_id] for player_id in ids], fixed)
    at = ratings.next_moment(before, now)
    pasts = ratings.pasts(connection, board.game, ids, at)
    changes, after = rate(board.id, board.game, before, outcome.places, pasts, at, fixed)
    ratings.settle(connection, board.game, after)
    ratings.log(connection, changes)
    return RatedEnd(at, _words(changes, dict(zip(ids, board.names, strict=True))))


def can_be_rated(player_ids: Sequence[int]) -> bool:
    """Return whether a board of these players can be rated: two or more, all different."""
    return len(player_ids) > 1 and len(set(player_ids)) == len(player_ids)


def rate(
    board_id: int,
    game: str,
    before: Sequence[Rated],
    places: Sequence[int],
    pasts: Pasts,
    at: datetime,
    fixed: Mapping[int, Rating],
) -> tuple[list[Change], list[Rated]]:
    """Return the changes and the new standings of a board's players, by seat.

    Both play and rebuild use this calculation.

    Args:
        fixed: fixed ratings of bots, by player id.
    """
    fixed_seats = [seat for seat, player in enumerate(before) if player.player_id in fixed]
    after = settle([player.standing for player in before], places, pasts, fixed_seats)
    weighed = weights(pasts, len(before))
    changes = [
        Change(
            board_id,
            old.player_id,
            game,
            new.games,
            place,
            old.standing.rating.mu,
            old.standing.rating.sigma,
            new.rating.mu,
            new.rating.sigma,
            weight,
            at,
        )
        for old, new, place, weight in zip(before, after, places, weighed, strict=True)
    ]
    standings = [Rated(old.player_id, new, at) for old, new in zip(before, after, strict=True)]
    return changes, standings


def fixed_ratings(game: AnyGame, bots: Mapping[int, str]) -> dict[int, Rating]:
    """Return the fixed ratings of bots at a game, by player id.

    Args:
        bots: userids by player id.
    """
    strength = game.info.strength
    return {
        player_id: anchor(strength[userid]["mu"])
        for player_id, userid in bots.items()
        if userid in strength
    }


def with_fixed_ratings(before: Sequence[Rated], fixed: Mapping[int, Rating]) -> list[Rated]:
    """Return the standings with the fixed ratings of bots in place of those in their rows."""
    return [
        replace(player, standing=replace(player.standing, rating=fixed[player.player_id]))
        if player.player_id in fixed
        else player
        for player in before
    ]


def words_of(context: CommandContext, board: BoardRow) -> list[dict[str, Any]]:
    """Return the changes of ratings for letters about a board that ended earlier."""
    if board.status != BoardStatus.FINISHED or not board.rated:
        return []
    by_player = {
        change.player_id: change
        for change in ratings.of_boards(context.connection, [board.id]).get(board.id, [])
    }
    names = {sitter.player_id: sitter.userid for sitter in board.sitters}
    return _words([by_player[player_id] for player_id in names if player_id in by_player], names)


def _words(changes: Sequence[Change], names: dict[int, str]) -> list[dict[str, Any]]:
    return [
        {
            "userid": names[change.player_id],
            "games": change.number,
            "provisional": is_provisional(change.number),
            "anchored": change.before == change.after and names[change.player_id] in BOT_USERIDS,
            **change_words(change, changes),
        }
        for change in changes
    ]


def change_words(change: Change, board: Sequence[Change]) -> dict[str, Any]:
    """Return result and expected result, which explain a change.

    Args:
        board: the changes of all players of the board.
    """
    places = [player.place for player in board]
    expected = chances([player.before for player in board])[board.index(change)]
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
