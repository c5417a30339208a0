"""Tables of events: points and tie-breaks (pure)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from pbmserv.store.events.event_games import Pairing

WIN, DRAW, LOSS = 2, 1, 0

SHORT, TOP, NEIGHBOURS = 12, 5, 3
"""Lines of a table that a letter shows whole; of a longer one, the lines at its top, and those on
either side of the reader's."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player of a group, with the values that break ties beside the games."""

    player_id: int
    forfeits: int
    rating: float


@dataclass(frozen=True, slots=True)
class Line:
    """A player's line in a table.

    Attributes:
        place: 1 is the best. No two players of a group have the same place.
        buchholz: points of all opponents; 0 except in a Swiss.
        sonneborn: points of the opponents, times the result against each.
        direct: points against the players who are level by the values before it.
        open: games that still run.
    """

    player_id: int
    place: int
    points: int
    won: int
    drawn: int
    lost: int
    open: int
    forfeits: int
    rating: float
    buchholz: int = 0
    sonneborn: int = 0
    direct: int = 0


def standings(
    contestants: Sequence[Contestant], games: Sequence[Pairing], *, swiss: bool = False
) -> list[Line]:
    """Return the table of a group, the best first.

    Ties are broken by Sonneborn-Berger, direct encounter, fewer forfeits, and the rating at the
    start; in a Swiss, where players meet different opponents, first by Buchholz.
    """
    results = _results(games)
    points = {contestant.player_id: 0 for contestant in contestants}
    for (player, _), result in results.items():
        points[player] = points.get(player, 0) + result
    for game in games:
        if game.second_id is None and game.first_points is not None:
            points[game.first_id] = points.get(game.first_id, 0) + game.first_points
    lines = [_line(contestant, games, results, points, swiss=swiss) for contestant in contestants]
    tied: dict[tuple[int, ...], list[int]] = {}
    for line in lines:
        tied.setdefault(_first_criteria(line), []).append(line.player_id)
    lines = [
        replace(line, direct=_against(line.player_id, tied[_first_criteria(line)], results))
        for line in lines
    ]
    lines.sort(
        key=lambda line: (
            *(-value for value in _first_criteria(line)),
            -line.direct,
            line.forfeits,
            -line.rating,
            line.player_id,
        )
    )
    return [replace(line, place=place) for place, line in enumerate(lines, 1)]


def compare(
    contestants: Sequence[Contestant],
    boxes: Sequence[Mapping[int, int]],
    running: Mapping[int, int],
) -> list[Line]:
    """Return the table of players who had the same boxes, the best first; equal points share a
    place.

    At each box, each other player who was beaten gives 2 points, and who was equal 1.

    Args:
        boxes: for each box that is over, the place of each player.
        running: the number of boxes that each player has not finished.
    """
    ordered = [sorted(places.values()) for places in boxes]
    lines = []
    for contestant in contestants:
        player = contestant.player_id
        won = drawn = lost = 0
        for places, in_order in zip(boxes, ordered, strict=True):
            better = bisect_left(in_order, places[player])
            not_worse = bisect_right(in_order, places[player])
            won += len(in_order) - not_worse
            drawn += not_worse - better - 1
            lost += better
        lines.append(
            Line(
                player_id=player,
                place=0,
                points=won * WIN + drawn * DRAW,
                won=won,
                drawn=drawn,
                lost=lost,
                open=running[player],
                forfeits=contestant.forfeits,
                rating=contestant.rating,
            )
        )
    lines.sort(key=lambda line: (-line.points, line.player_id))
    first: dict[int, int] = {}
    for place, line in enumerate(lines, 1):
        first.setdefault(line.points, place)
    return [replace(line, place=first[line.points]) for line in lines]


def around(lines: Sequence[Line], player_id: int) -> list[Line]:
    """Return the lines of a table that a letter shows to a player."""
    if len(lines) <= SHORT:
        return list(lines)
    own = next((at for at, line in enumerate(lines) if line.player_id == player_id), 0)
    return [line for at, line in enumerate(lines) if at < TOP or abs(at - own) <= NEIGHBOURS]


def _first_criteria(line: Line) -> tuple[int, ...]:
    return line.points, line.buchholz, line.sonneborn


def _results(games: Sequence[Pairing]) -> dict[tuple[int, int], int]:
    """Return the points by player and opponent."""
    results: dict[tuple[int, int], int] = {}
    for game in games:
        if game.second_id is None or game.first_points is None or game.second_points is None:
            continue
        results[game.first_id, game.second_id] = game.first_points
        results[game.second_id, game.first_id] = game.second_points
    return results


def _against(player: int, others: Collection[int], results: Mapping[tuple[int, int], int]) -> int:
    return sum(results.get((player, other), 0) for other in others)


def _line(
    contestant: Contestant,
    games: Sequence[Pairing],
    results: Mapping[tuple[int, int], int],
    points: Mapping[int, int],
    *,
    swiss: bool,
) -> Line:
    player = contestant.player_id
    own = {other: result for (first, other), result in results.items() if first == player}
    byes = [game for game in games if game.first_id == player and game.second_id is None]
    values = list(own.values())
    return Line(
        player_id=player,
        place=0,
        points=points[player],
        won=values.count(WIN) + len(byes),
        drawn=values.count(DRAW),
        lost=values.count(LOSS),
        open=sum(game.is_open and player in {game.first_id, game.second_id} for game in games),
        buchholz=sum(points.get(other, 0) for other in own) if swiss else 0,
        sonneborn=sum(points.get(other, 0) * result for other, result in own.items()),
        forfeits=contestant.forfeits,
        rating=contestant.rating,
    )
