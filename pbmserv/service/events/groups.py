"""Groups of players: their sizes, and the order of the players by the last season (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pbmserv.store.events.event_draws import LastPlace
from pbmserv.store.events.event_entries import Entry

UP = DOWN = 2
"""Players who move up from a group, and down."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player who is to be drawn into a group.

    Attributes:
        last: the place in the last season that the player took part in; `None` for a newcomer.
            Players whose rating is not sure yet are newcomers: two moves up a season would take
            years to sort a large league.
    """

    player_id: int
    rating: float
    last: LastPlace | None = None


def sizes(players: int, most: int) -> list[int]:
    """Return the sizes of groups of at most *most* players, which differ by at most one, larger
    groups first."""
    groups = max(1, -(-players // most))
    size, larger = divmod(players, groups)
    return [size + 1] * larger + [size] * (groups - larger)


_T = TypeVar("_T")


def split(players: Sequence[_T], most: int) -> list[list[_T]]:
    """Return groups of neighbours in the order of the players."""
    groups, start = [], 0
    for size in sizes(len(players), most):
        groups.append(list(players[start : start + size]))
        start += size
    return groups


def deal(players: Sequence[_T], most: int) -> list[list[_T]]:
    """Return groups of equal strength, to which the players are dealt like cards."""
    count = len(sizes(len(players), most))
    return [list(players[first::count]) for first in range(count)]


def group_sizes(entries: Iterable[Entry]) -> Counter[int]:
    """Return the number of players drawn into each group, by its number."""
    return Counter(entry.group_number for entry in entries if entry.group_number is not None)


def movement(group_number: int, place: int | None, size: int) -> int:
    """Return -1 for a player who moves up a group, 1 for one who moves down, 0 otherwise.

    Args:
        place: the place in the group; `None` for a removed player, who moves down.
        size: number of players in the group.
    """
    if place is None or place > size - DOWN:
        return 1
    return -1 if place <= UP and group_number > 1 else 0


def in_order(entrants: Sequence[Entrant], number: int) -> list[Entrant]:
    """Return the players of season *number* in order, the strongest first.

    Players of the last season come in the order of group and place; the first two of a group move
    up, the last two down, and each skipped season costs a group. A newcomer enters the highest
    group whose mean rating is not above the newcomer's.
    """
    levels: dict[int, tuple[int, int, int]] = {}
    for entrant in entrants:
        if entrant.last is not None:
            levels[entrant.player_id] = _level(entrant.last, number)
    means = _means(entrants, {player: level[0] for player, level in levels.items()})
    lowest = max(means, default=1)
    for entrant in entrants:
        if entrant.last is None:
            fitting = (level for level, mean in means.items() if entrant.rating >= mean)
            levels[entrant.player_id] = (min(fitting, default=lowest), 2, 0)
    return sorted(
        entrants,
        key=lambda entrant: (*levels[entrant.player_id], -entrant.rating, entrant.player_id),
    )


def _level(last: LastPlace, number: int) -> tuple[int, int, int]:
    """Return the group that a player belongs to, the movement, and the former place."""
    moved = movement(last.group_number, last.place, last.size)
    level = last.group_number + moved + (number - last.number - 1)
    return level, -moved, last.place or last.size + 1


def _means(entrants: Sequence[Entrant], levels: Mapping[int, int]) -> dict[int, float]:
    """Return the mean rating of each group."""
    ratings: dict[int, list[float]] = {}
    for entrant in entrants:
        if entrant.player_id in levels:
            ratings.setdefault(levels[entrant.player_id], []).append(entrant.rating)
    return {level: sum(each) / len(each) for level, each in sorted(ratings.items())}
