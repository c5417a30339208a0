"""Ratings: what a finished board says about how strong its players are.

A thin door to openskill's Plackett-Luce model (Weng and Lin, "A Bayesian Approximation Method
for Online Ranking", JMLR 12, 2011): any number of seats, ties, and a measure of how sure it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openskill.models import PlackettLuce

SURE_AFTER = 10
"""Rated games of one kind after which a rating is no longer provisional."""

SHOWN_START = 1000
SHOWN_STEP = 40
"""The number that people see is ``SHOWN_START + SHOWN_STEP * ordinal``, rounded."""

# Without `limit_sigma` a long row of wins against much weaker players would make the model less
# sure of the winner, and a win could lower the number that people see.
_MODEL = PlackettLuce(limit_sigma=True)


@dataclass(frozen=True, slots=True)
class Rating:
    """A belief about a player's strength at one game.

    Attributes:
        mu: the best guess.
        sigma: how far from the truth it may well be (one standard deviation).
    """

    mu: float
    sigma: float

    @property
    def ordinal(self) -> float:
        """A careful guess, 0 for a newcomer: the truth is almost surely not below it."""
        return self.mu - 3 * self.sigma

    @property
    def shown(self) -> int:
        """The number that people see, 1000 for a newcomer."""
        return round(SHOWN_START + SHOWN_STEP * self.ordinal)


NEWCOMER = Rating(25.0, 25.0 / 3)
"""Where everybody begins; its ordinal is 0."""


def is_provisional(games: int) -> bool:
    """Whether a rating after so many rated games is still marked as uncertain."""
    return games < SURE_AFTER


def rate(before: Sequence[Rating], places: Sequence[int]) -> tuple[Rating, ...]:
    """Ratings after one board.

    Args:
        before: ratings of its players, by seat; at least two.
        places: their places, 1 = best, equal numbers are a tie.
    """
    teams = [[_MODEL.rating(mu=r.mu, sigma=r.sigma)] for r in before]
    after = _MODEL.rate(teams, ranks=[float(place) for place in places])
    return tuple(Rating(team[0].mu, team[0].sigma) for team in after)


def chances(before: Sequence[Rating]) -> tuple[float, ...]:
    """How likely each of the players is to come first, draws left out; they add up to 1."""
    return tuple(_MODEL.predict_win([[_MODEL.rating(mu=r.mu, sigma=r.sigma)] for r in before]))


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's rating at one game, and how it was earned.

    Attributes:
        games: rated games, which are wins, losses and draws together.
    """

    rating: Rating
    wins: int
    losses: int
    draws: int

    @property
    def games(self) -> int:
        """How many rated games it rests on."""
        return self.wins + self.losses + self.draws


UNRATED = Standing(NEWCOMER, 0, 0, 0)
"""Before the first rated game."""


def is_win(place: int, places: Sequence[int]) -> bool:
    """Whether *place* is first and nobody shares it."""
    return place == min(places) and list(places).count(place) == 1


def is_draw(place: int, places: Sequence[int]) -> bool:
    """Whether *place* is first together with somebody else."""
    return place == min(places) and list(places).count(place) > 1


def settle(before: Sequence[Standing], places: Sequence[int]) -> tuple[Standing, ...]:
    """The standings of a rated board's players after it; arguments as for `rate`."""
    rated = rate([standing.rating for standing in before], places)
    settled = []
    for standing, rating, place in zip(before, rated, places, strict=True):
        won, drawn = is_win(place, places), is_draw(place, places)
        settled.append(
            Standing(
                rating,
                standing.wins + won,
                standing.losses + (not won and not drawn),
                standing.draws + drawn,
            )
        )
    return tuple(settled)
