"""Ratings: what a finished board says about how strong its players are.

A thin door to openskill's Plackett-Luce model (Weng and Lin, "A Bayesian Approximation Method
for Online Ranking", JMLR 12, 2011): any number of seats, ties, and a measure of how sure it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from openskill.models import PlackettLuce

SURE_AFTER = 10
"""Rated games of one kind after which a rating is no longer provisional."""

OPPONENTS = 5
"""Different opponents in rated games of one kind without whom a rating has no place in the table:
two accounts of one person, or a ring of three, can play as often as they like."""

WINDOW = timedelta(days=90)
"""How long a game of two players makes the next ones between them weigh less."""

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

ANCHOR_SIGMA = 1.0
"""How sure we are of a bot's strength, which was measured: as sure as of somebody who has played
for years. No game moves it."""


def anchor(mu: float) -> Rating:
    """The rating of a bot that is as strong as this, which no game moves."""
    return Rating(mu, ANCHOR_SIGMA)


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


@dataclass(frozen=True, slots=True)
class Past:
    """What two players have behind them at one game.

    Attributes:
        lately: their rated games with each other in the `WINDOW` before.
        met: whether they ever had one.
    """

    lately: int
    met: bool


NEW = Past(0, met=False)
"""Of two who have never had a rated game with each other."""

Pasts: TypeAlias = Mapping[tuple[int, int], Past]
"""By pairs of seats, the lower one first; a pair that is not there is `NEW`."""


def pair_weight(past: Past) -> float:
    """How much a game of two counts, 1 = in full: half as much as their last one in the `WINDOW`.

    So however many games two accounts give each other, in any 90 days they are worth less than two.
    """
    return 0.5**past.lately


def weights(pasts: Pasts, seats: int) -> tuple[float, ...]:
    """How much a board counts for each seat: the mean over its opponents."""
    found = []
    for seat in range(seats):
        pairs = [_pair(seat, other) for other in range(seats) if other != seat]
        found.append(sum(pair_weight(pasts.get(pair, NEW)) for pair in pairs) / len(pairs))
    return tuple(found)


def _pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def _weighed(before: Rating, after: Rating, weight: float) -> Rating:
    """So much of the way from one rating to the other.

    openskill's own weights are for the members of a team: they make a gain smaller and a loss
    larger (its `_compute` divides by them), so they cannot make a game count less.
    """
    if weight == 1:
        return after
    return Rating(
        before.mu + weight * (after.mu - before.mu),
        before.sigma + weight * (after.sigma - before.sigma),
    )


def chances(before: Sequence[Rating]) -> tuple[float, ...]:
    """How likely each of the players is to come first, draws left out; they add up to 1."""
    return tuple(_MODEL.predict_win([[_MODEL.rating(mu=r.mu, sigma=r.sigma)] for r in before]))


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's rating at one game, and how it was earned.

    Attributes:
        games: rated games, which are wins, losses and draws together.
        opponents: how many different people they were against; bots are none.
    """

    rating: Rating
    wins: int
    losses: int
    draws: int
    opponents: int

    @property
    def has_place(self) -> bool:
        """Whether it has a place in the table of the best."""
        return self.opponents >= OPPONENTS

    @property
    def games(self) -> int:
        """How many rated games it rests on."""
        return self.wins + self.losses + self.draws


UNRATED = Standing(NEWCOMER, 0, 0, 0, 0)
"""Before the first rated game."""


def is_win(place: int, places: Sequence[int]) -> bool:
    """Whether *place* is first and nobody shares it."""
    return place == min(places) and list(places).count(place) == 1


def is_draw(place: int, places: Sequence[int]) -> bool:
    """Whether *place* is first together with somebody else."""
    return place == min(places) and list(places).count(place) > 1


def settle(
    before: Sequence[Standing],
    places: Sequence[int],
    pasts: Pasts,
    anchored: Collection[int] = (),
) -> tuple[Standing, ...]:
    """The standings of a rated board's players after it; the other arguments as for `rate`.

    Args:
        anchored: seats whose rating stays as it is, and who count as nobody's opponents.
    """
    rated = rate([standing.rating for standing in before], places)
    weighed = weights(pasts, len(before))
    settled = []
    for seat, (standing, rating, place) in enumerate(zip(before, rated, places, strict=True)):
        won, drawn = is_win(place, places), is_draw(place, places)
        others = [
            pasts.get(_pair(seat, one), NEW)
            for one in range(len(before))
            if one != seat and one not in anchored
        ]
        new = _weighed(standing.rating, rating, weighed[seat])
        settled.append(
            Standing(
                standing.rating if seat in anchored else new,
                standing.wins + won,
                standing.losses + (not won and not drawn),
                standing.draws + drawn,
                standing.opponents + sum(not past.met for past in others),
            )
        )
    return tuple(settled)
