"""Ratings of bots, from how often they beat each other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import partial

from pbmserv.engine.ratings import NEWCOMER, anchor, chances

MIDDLE = "house"
"""The level with the rating of a newcomer."""
_THOUSANDTHS = range(-100_000, 150_000)
"""All mu that a level can have, in thousandths."""


def anchors(names: Sequence[str], wins: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Return the mu of each level, which gives the measured shares of wins in a round robin.

    Args:
        names: the levels.
        wins: how often the first of two levels wins.
    """
    measured = {
        name: sum(share for (one, _), share in wins.items() if one == name)
        + sum(1 - share for (_, other), share in wins.items() if other == name)
        for name in names
    }
    mus = dict.fromkeys(names, NEWCOMER.mu)
    for _ in range(30):
        for name in names:
            expected = partial(_expected, [mu for other, mu in mus.items() if other != name])
            place = bisect_left(_THOUSANDTHS, measured[name], key=expected)
            mus[name] = _THOUSANDTHS[place] / 1000
        shift = NEWCOMER.mu - mus[MIDDLE]
        mus = {name: mu + shift for name, mu in mus.items()}
    return {name: round(mu, 2) for name, mu in mus.items()}


def _expected(others: Sequence[float], thousandths: int) -> float:
    """Return the expected number of wins of a level against others with these mu."""
    return sum(chances([anchor(thousandths / 1000), anchor(mu)])[0] for mu in others)
