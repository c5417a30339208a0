"""Ratings of the strength of players, which finished boards change.

They use the Plackett-Luce model of openskill (Weng and Lin, "A Bayesian Approximation Method for
Online Ranking", JMLR 12, 2011), which allows any number of seats and ties, and has a measure of its
certainty.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from openskill.models import PlackettLuce

SURE_AFTER = 10
"""Rated games of a game after which a rating is no longer provisional."""

OPPONENTS = 5
"""Different opponents in rated games that a rating needs for a place in the table.

Two accounts of one person, or a ring of three, could otherwise play for a place.
"""

WINDOW = timedelta(days=90)
"""The time after a game of two players in which further games between them count less."""

SHOWN_START = 1000
SHOWN_STEP = 40
"""The shown number is ``SHOWN_START + SHOWN_STEP * ordinal``, rounded."""

# Without `limit_sigma`, a series of wins against much weaker players would increase the uncertainty
# of the winner's rating, and a win could lower the shown number.
_MODEL = PlackettLuce(limit_sigma=True)


@dataclass(frozen=True, slots=True)
class Rating:
    """An estimate of a player's strength in one game.

    Attributes:
        mu: the mean.
        sigma: the standard deviation.
    """

    mu: float
    sigma: float

    @property
    def ordinal(self) -> float:
        """A lower bound that is almost certain, 0 for a newcomer."""
        return self.mu - 3 * self.sigma

    @property
    def shown(self) -> int:
        """The number that players see, 1000 for a newcomer."""
        return round(SHOWN_START + SHOWN_STEP * self.ordinal)


NEWCOMER = Rating(25.0, 25.0 / 3)
"""The rating of a newcomer. Its ordinal is 0."""

ANCHOR_SIGMA = 1.0
"""The standard deviation of a bot's rating, which was measured.

It is as small as that of a player of many years.
"""


def anchor(mu: float) -> Rating:
    """Return the rating of a bot, which no game changes."""
    return Rating(mu, ANCHOR_SIGMA)


def is_provisional(games: int) -> bool:
    """Return whether a rating is marked as uncertain after this number of rated games."""
    return games < SURE_AFTER


def rate(before: Sequence[Rating], places: Sequence[int]) -> tuple[Rating, ...]:
    """Return the ratings after a board.

    Args:
        before: the ratings of its players by seat, at least two.
        places: their places, 1 is best; equal numbers are a tie.
    """
    teams = [[_MODEL.rating(mu=r.mu, sigma=r.sigma)] for r in before]
    after = _MODEL.rate(teams, ranks=[float(place) for place in places])
    return tuple(Rating(team[0].mu, team[0].sigma) for team in after)


@dataclass(frozen=True, slots=True)
class Past:
    """The history of two players in one game.

    Attributes:
        lately: the number of their rated games with each other in the last `WINDOW`.
        met: whether they ever had a rated game with each other.
    """

    lately: int
    met: bool


NEW = Past(0, met=False)
"""The history of two players without a rated game with each other."""

Pasts: TypeAlias = Mapping[tuple[int, int], Past]
"""Histories by pairs of seats, the lower seat first. The default is `NEW`."""


def pair_weight(past: Past) -> float:
    """Return the weight of a game of two players, half as much as of their last one in the
    `WINDOW`.

    Therefore all games of two accounts in 90 days together count less than two games.
    """
    return 0.5**past.lately


def weights(pasts: Pasts, seats: int) -> tuple[float, ...]:
    """Return the weight of a board for each seat, the mean over its opponents."""
    means = []
    for seat in range(seats):
        pairs = [_pair(seat, other) for other in range(seats) if other != seat]
        means.append(sum(pair_weight(pasts.get(pair, NEW)) for pair in pairs) / len(pairs))
    return tuple(means)


def _pair(seat: int, other: int) -> tuple[int, int]:
    return (seat, other) if seat < other else (other, seat)


def _interpolated(before: Rating, after: Rating, weight: float) -> Rating:
    """Return the rating at a fraction of the way between two ratings.

    The weights of openskill are for members of a team. They make a gain smaller and a loss larger
    (its `_compute` divides by them), so that they cannot make a game count less.
    """
    if weight == 1:
        return after
    return Rating(
        before.mu + weight * (after.mu - before.mu),
        before.sigma + weight * (after.sigma - before.sigma),
    )


def chances(before: Sequence[Rating]) -> tuple[float, ...]:
    """Return the probability of each player to win, without draws; the sum is 1."""
    return tuple(_MODEL.predict_win([[_MODEL.rating(mu=r.mu, sigma=r.sigma)] for r in before]))


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's rating in one game, and the rated games on which it is based.

    Attributes:
        rating: the rating.
        wins, losses, draws: the numbers of rated games by result.
        opponents: the number of different opponents, without bots.
    """

    rating: Rating
    wins: int
    losses: int
    draws: int
    opponents: int

    @property
    def games(self) -> int:
        return self.wins + self.losses + self.draws


UNRATED = Standing(NEWCOMER, 0, 0, 0, 0)
"""The standing before the first rated game."""


def is_win(place: int, places: Sequence[int]) -> bool:
    """Return whether *place* is the first and not shared."""
    return place == min(places) and list(places).count(place) == 1


def is_draw(place: int, places: Sequence[int]) -> bool:
    """Return whether *place* is the first and shared."""
    return place == min(places) and list(places).count(place) > 1


def settle(
    before: Sequence[Standing],
    places: Sequence[int],
    pasts: Pasts,
    anchored: Collection[int] = (),
) -> tuple[Standing, ...]:
    """Return the standings of the players after a rated board.

    Args:
        before: their standings before, by seat.
        places: see `rate`.
        pasts: the histories of pairs of players.
        anchored: seats whose rating is fixed, and which do not count as opponents.
    """
    rated = rate([standing.rating for standing in before], places)
    seat_weights = weights(pasts, len(before))
    standings = []
    for seat, (standing, rating, place) in enumerate(zip(before, rated, places, strict=True)):
        won, drawn = is_win(place, places), is_draw(place, places)
        opponents = [
            pasts.get(_pair(seat, other), NEW)
            for other in range(len(before))
            if other != seat and other not in anchored
        ]
        new = _interpolated(standing.rating, rating, seat_weights[seat])
        standings.append(
            Standing(
                standing.rating if seat in anchored else new,
                standing.wins + won,
                standing.losses + (not won and not drawn),
                standing.draws + drawn,
                standing.opponents + sum(not past.met for past in opponents),
            )
        )
    return tuple(standings)
