"""The rules of ladders as functions of ranks, without database and letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from pbmserv.store.ladders.ladder_places import Movement

MOST_OUTGOING = 3
"""Most running challenges by one player."""
APART = timedelta(days=7)
"""Least time from the end of a game to the next challenge between the same two players."""
SILENT = timedelta(days=45)
"""Time without a move or a command of the ladder after which a player is removed; absences do not
count."""


class Result(StrEnum):
    """The effect of a game on the ladder."""

    UP = "up"  # the lower player won and goes above the other
    HELD = "held"  # the upper player won
    DRAWN = "drawn"
    UPPER_LATE = "upper-late"  # the upper player lost on time and goes below the other
    LOWER_LATE = "lower-late"  # the lower player lost on time and goes to the bottom
    NONE = "none"  # the board counts for nothing, or a player has left


def best_target(rank: int) -> int:
    """Return the best rank that a player may challenge: ten places up, or 40 per cent of the way to
    the top if that is more."""
    return max(1, min(rank - 10, (6 * rank + 5) // 10))


def most_incoming(rank: int) -> int:
    """Return the number of running challenges after which a player cannot be challenged."""
    return 5 if rank <= 5 else 4 if rank <= 10 else 3


def result_of(places: tuple[int, int], *, late: bool) -> Result:
    """Return the effect of a finished game.

    Args:
        places: the places of the lower and the upper player in the game; 1 is the best.
        late: the loser lost on time.
    """
    lower, upper = places
    if lower == upper:
        return Result.DRAWN
    if lower < upper:
        return Result.UPPER_LATE if late else Result.UP
    return Result.LOWER_LATE if late else Result.HELD


@dataclass(frozen=True, slots=True)
class Shift:
    """The movement that a result causes: of the upper or the lower player, to a rank."""

    of_upper: bool
    to: int


def shift_of(result: Result, upper: int, lower: int, bottom: int) -> Shift | None:
    """Return the movement that a result causes, `None` for none.

    Args:
        result: the effect of the game.
        upper, lower: the ranks of its players when it ended.
        bottom: the last rank.
    """
    match result:
        case Result.UP:
            return Shift(of_upper=False, to=upper)
        case Result.UPPER_LATE:
            return Shift(of_upper=True, to=lower)
        case Result.LOWER_LATE if lower < bottom:
            return Shift(of_upper=False, to=bottom)
    return None


def order_before(order: Sequence[int], movements: Sequence[Movement]) -> list[int]:
    """Return the players in the order before some movements.

    Args:
        order: the players' ids in their order now.
        movements: newest first.
    """
    players = list(order)
    for movement in movements:
        if movement.player_id in players:
            players.remove(movement.player_id)
        if movement.before is not None:
            players.insert(movement.before - 1, movement.player_id)
    return players
