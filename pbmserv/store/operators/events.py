"""Games of events and ladders that operators may want to look at."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, and_, select

from pbmserv.store.accounts import players
from pbmserv.store.tables.boards import BoardStatus, boards, seats
from pbmserv.store.tables.events import pairings
from pbmserv.store.tables.ladders import ladder_games


def early_resignations(
    connection: Connection, since: datetime, most_plies: int
) -> list[tuple[str, ...]]:
    """Return pairs of players in which one resigned a game of an event or a ladder after few plies.

    Returns:
        Loser, winner, number of such games, number of all their games, and the newest board; the
        most frequent pair first.
    """
    rows = connection.execute(
        select(
            pairings.c.first_id,
            pairings.c.second_id,
            pairings.c.first_points,
            pairings.c.board_id,
            (and_(pairings.c.reason == "resigned", boards.c.plies <= most_plies)).label("early"),
        )
        .join(boards, boards.c.id == pairings.c.board_id)
        .where(boards.c.finished_at >= since, pairings.c.first_points.is_not(None))
    )
    games = [
        (*((second, first) if points else (first, second)), board_id, is_early)
        for first, second, points, board_id, is_early in rows
    ]
    games += _challenges(connection, since, most_plies)
    met: dict[frozenset[int], int] = {}
    early: dict[tuple[int, int], list[int]] = {}
    for loser, winner, board_id, is_early in sorted(games, key=lambda game: game[2]):
        pair = frozenset((loser, winner))
        met[pair] = met.get(pair, 0) + 1
        if is_early:
            early.setdefault((loser, winner), []).append(board_id)
    ids = sorted({player for pair in early for player in pair})
    names = players.userids(connection, ids)
    lines = sorted(early.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        (
            names[loser],
            names[winner],
            str(len(numbers)),
            str(met[frozenset((loser, winner))]),
            str(numbers[-1]),
        )
        for (loser, winner), numbers in lines
    ]


def _challenges(
    connection: Connection, since: datetime, most_plies: int
) -> list[tuple[int, int, int, bool]]:
    """Return the finished challenges of ladders: loser, winner, board, and whether the loser
    resigned after few plies. Of a draw, the loser is any of the two."""
    rows = connection.execute(
        select(
            ladder_games.c.challenger_id,
            ladder_games.c.defender_id,
            seats.c.player_id,
            boards.c.outcome,
            boards.c.plies,
            boards.c.id,
        )
        .join(boards, boards.c.id == ladder_games.c.board_id)
        .join(seats, and_(seats.c.board_id == boards.c.id, seats.c.seat == 0))
        .where(boards.c.finished_at >= since, boards.c.status == BoardStatus.FINISHED)
    )
    games = []
    for challenger, defender, first, outcome, plies, board_id in rows:
        second = defender if first == challenger else challenger
        loser, winner = (second, first) if outcome["places"][0] == 1 else (first, second)
        is_early = outcome["reason"] == "resigned" and plies <= most_plies
        games.append((loser, winner, board_id, is_early))
    return games
