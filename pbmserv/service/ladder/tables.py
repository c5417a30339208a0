"""Ladders as letters and pages show them: places, movements, running games, hall of fame."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from pbmserv.engine.registry import AnyGame
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.ladder.ranks import best_target, order_before
from pbmserv.store.accounts import players
from pbmserv.store.ladders import ladder_challenges, ladder_places, ladder_reigns, ladders
from pbmserv.store.ladders.ladder_places import Movement, Place
from pbmserv.store.ladders.ladder_reigns import Reign
from pbmserv.views.names import PublicNames, public_names
from pbmserv.views.public_facts import Climb, Fame, LadderGame, LadderPage, Rung

TOP, AROUND = 20, 12
"""Lines of a letter: the first of the ladder, and those above the reader."""
ON_A_PAGE = 500
"""Most places and running games on a page."""
MONTH = timedelta(days=30)
MOVEMENTS = 60
"""Most movements on a page."""
UNDONE = 1_000
"""Most movements that are undone to find the ranks of a month ago."""


def table_words(context: CommandContext, game: AnyGame, readers: Collection[int]) -> dict[str, Any]:
    """Return the words of the letter ``ladder``: the top, and the places around the reader's.

    Args:
        readers: ids of the players who get the letter.
    """
    context.budget.spend(Work.TABLE)
    connection, key = context.connection, game.info.key
    ladder = ladders.of_game(connection, key)
    count, shown, mine = 0, [], 0
    running: list[ladder_challenges.Challenge] = []
    if ladder is not None:
        count = ladder_places.count(connection, ladder.id)
        own = (ladder_places.of_player(connection, ladder.id, reader) for reader in sorted(readers))
        mine = next((place.rank for place in own if place is not None), 0)
        shown = ladder_places.places(connection, ladder.id, 1, TOP)
        if mine:
            around = max(TOP + 1, mine - AROUND)
            shown += ladder_places.places(connection, ladder.id, around, mine + 2)
        ids = [place.player_id for place in shown]
        running = ladder_challenges.open_challenges(connection, ladder.id, of=ids)
    playing = [
        challenge
        for challenge in reversed(running)
        if mine and not set(_pair(challenge)).isdisjoint(readers)
    ]
    # An opponent may have left the ladder, or be too far away to be shown.
    names = players.userids(
        connection, [player_id for challenge in playing for player_id in _pair(challenge)]
    )
    return {
        "game": key,
        "title": game.info.title,
        "rows": [
            {
                "rank": place.rank,
                "userid": place.userid,
                "you": place.rank == mine,
                "games": sum(place.player_id in _pair(challenge) for challenge in running),
            }
            for place in shown
        ],
        "count": count,
        "rank": mine,
        "first": best_target(mine) if mine > 1 else 0,
        "playing": [
            {
                "board": challenge.board_id,
                "challenger": names[challenge.challenger_id],
                "defender": names[challenge.defender_id],
            }
            for challenge in playing
        ],
    }


def _pair(challenge: ladder_challenges.Challenge) -> tuple[int, int]:
    return challenge.challenger_id, challenge.defender_id


def ladder_page(context: CommandContext, game: AnyGame) -> LadderPage:
    """Return the page of a ladder, with public names."""
    connection, key = context.connection, game.info.key
    ladder = ladders.of_game(connection, key)
    if ladder is None:
        return LadderPage(key, game.info.title, 0, [], [], [], [], ladder_reigns.FAME.days)
    places = ladder_places.places(connection, ladder.id)
    movements = ladder_places.movements(connection, ladder.id, context.now - MONTH, UNDONE)
    running = ladder_challenges.open_challenges(connection, ladder.id, most=ON_A_PAGE)[::-1]
    fame = ladder_reigns.hall_of_fame(connection, ladder.id)
    ids = {player_id for challenge in running for player_id in _pair(challenge)}
    userids = players.userids(connection, sorted(ids))
    names = public_names(
        connection,
        {
            *(place.userid for place in places),
            *(movement.userid for movement in movements),
            *(reign.userid for reign in fame),
            *userids.values(),
        },
    )
    return LadderPage(
        game=key,
        title=game.info.title,
        count=len(places),
        rungs=_rungs(places, movements, names),
        running=[
            LadderGame(
                board=challenge.board_id,
                challenger=names.of(userids[challenge.challenger_id]),
                defender=names.of(userids[challenge.defender_id]),
                since=f"{challenge.begun_at:%Y-%m-%d}",
            )
            for challenge in running
        ],
        climbs=[_climb(movement, names) for movement in movements[:MOVEMENTS]],
        fame=[_fame(reign, names, context.now) for reign in fame],
        days=ladder_reigns.FAME.days,
    )


def _rungs(
    places: Sequence[Place], movements: Sequence[Movement], names: PublicNames
) -> list[Rung]:
    """Return the first places, each with the rank before these movements."""
    before = order_before([place.player_id for place in places], movements)
    ranks_before = {player_id: rank for rank, player_id in enumerate(before, 1)}
    return [
        Rung(
            rank=place.rank,
            userid=names.of(place.userid),
            before=ranks_before.get(place.player_id),
            joined=f"{place.joined_at:%Y-%m-%d}",
        )
        for place in places[:ON_A_PAGE]
    ]


def _climb(movement: Movement, names: PublicNames) -> Climb:
    return Climb(
        number=movement.id,
        userid=names.of(movement.userid),
        before=movement.before,
        after=movement.after,
        why=movement.why,
        board=movement.board_id,
        at=f"{movement.created_at:%Y-%m-%dT%H:%M:%SZ}",
    )


def _fame(reign: Reign, names: PublicNames, now: datetime) -> Fame:
    return Fame(
        userid=names.of(reign.userid),
        since=f"{reign.began_at:%Y-%m-%d}",
        until=f"{reign.ended_at:%Y-%m-%d}" if reign.ended_at else "",
        days=((reign.ended_at or now) - reign.began_at).days,
    )
