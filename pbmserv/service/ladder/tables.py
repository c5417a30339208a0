"""Ladders as letters and pages show them: places, movements, running games, hall of fame."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from pbmserv.engine.registry import AnyGame
from pbmserv.service.core.context import CommandContext
from pbmserv.service.ladder.ranks import FAME, best_target, order_before
from pbmserv.store import ladders
from pbmserv.views.names import public_names
from pbmserv.views.public import Climb, Fame, LadderGame, LadderPage, Rung

IN_A_LETTER = 60
"""Most lines of a ladder in a letter: the top, and the places around the reader's."""
TOP = 20
ON_A_PAGE = 500
MONTH = timedelta(days=30)
MOVEMENTS = 60
"""Most movements on a page."""


def table_words(context: CommandContext, game: AnyGame, readers: Collection[int]) -> dict[str, Any]:
    """Return the words of the letter ``ladder``: the top, and the places around the reader's.

    Args:
        readers: ids of the players who get the letter.
    """
    key = game.info.key
    ladder = ladders.of_game(context.connection, key)
    places = [] if ladder is None else ladders.places(context.connection, ladder.id)
    mine = next((place.rank for place in places if place.player_id in readers), 0)
    around = range(best_target(mine), mine + 3) if mine else range(0)
    shown = [place for place in places if place.rank <= TOP or place.rank in around]
    names = {place.player_id: place.userid for place in places}
    running = [] if ladder is None else ladders.open_challenges(context.connection, ladder.id)
    return {
        "game": key,
        "title": game.info.title,
        "rows": [
            {
                "rank": place.rank,
                "userid": place.userid,
                "you": place.rank == mine,
                "games": sum(place.player_id in _pair(one) for one in running),
            }
            for place in shown[:IN_A_LETTER]
        ],
        "count": len(places),
        "rank": mine,
        "first": best_target(mine) if mine > 1 else 0,
        "playing": [
            {
                "board": one.board_id,
                "challenger": names.get(one.challenger_id, ""),
                "defender": names.get(one.defender_id, ""),
            }
            for one in running
            if mine and not set(_pair(one)).isdisjoint(readers)
        ],
    }


def _pair(challenge: ladders.Challenge) -> tuple[int, int]:
    return challenge.challenger_id, challenge.defender_id


def ladder_page(context: CommandContext, game: AnyGame) -> LadderPage:
    """Return the page of a ladder, with public names."""
    connection, key = context.connection, game.info.key
    ladder = ladders.of_game(connection, key)
    if ladder is None:
        return LadderPage(key, game.info.title, 0, [], [], [], [])
    places = ladders.places(connection, ladder.id)
    movements = ladders.movements(connection, ladder.id, context.now - MONTH)
    running = ladders.open_challenges(connection, ladder.id)
    fame = ladders.hall_of_fame(connection, ladder.id)
    ids = {player_id for one in running for player_id in _pair(one)}
    userids = ladders.userids(connection, sorted(ids))
    names = public_names(
        connection,
        {
            *(place.userid for place in places),
            *(movement.userid for movement in movements),
            *(reign.userid for reign in fame),
            *userids.values(),
        },
    )
    before = order_before([place.player_id for place in places], movements)
    ranks_before = {player_id: rank for rank, player_id in enumerate(before, 1)}
    rungs = [
        Rung(
            rank=place.rank,
            userid=names.of(place.userid),
            before=ranks_before.get(place.player_id),
            joined=f"{place.joined_at:%Y-%m-%d}",
        )
        for place in places[:ON_A_PAGE]
    ]
    return LadderPage(
        game=key,
        title=game.info.title,
        count=len(places),
        rungs=rungs,
        running=[
            LadderGame(
                board=one.board_id,
                challenger=names.of(userids[one.challenger_id]),
                defender=names.of(userids[one.defender_id]),
                since=f"{one.begun_at:%Y-%m-%d}",
            )
            for one in running
        ],
        climbs=[
            Climb(
                userid=names.of(movement.userid),
                before=movement.before,
                after=movement.after,
                why=movement.why,
                board=movement.board_id,
                at=f"{movement.created_at:%Y-%m-%dT%H:%M:%SZ}",
            )
            for movement in movements[:MOVEMENTS]
        ],
        fame=[
            Fame(
                userid=names.of(reign.userid),
                since=f"{reign.began_at:%Y-%m-%d}",
                until=f"{reign.ended_at:%Y-%m-%d}" if reign.ended_at else "",
                days=((reign.ended_at or context.now) - reign.began_at).days,
            )
            for reign in fame
        ],
        days=FAME.days,
    )
