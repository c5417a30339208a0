"""Games of events that operators may want to look at."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, and_, select

from pbmserv.store.accounts import players
from pbmserv.store.tables import boards
from pbmserv.store.tables.events import pairings


def early_resignations(
    connection: Connection, since: datetime, most_plies: int
) -> list[tuple[str, ...]]:
    """Return pairs of players in which one resigned a game of an event after few plies.

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
        .order_by(pairings.c.board_id)
    )
    met: dict[frozenset[int], int] = {}
    early: dict[tuple[int, int], list[int]] = {}
    for first, second, points, board_id, is_early in rows:
        pair = frozenset((first, second))
        met[pair] = met.get(pair, 0) + 1
        if is_early:
            loser, winner = (second, first) if points else (first, second)
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
