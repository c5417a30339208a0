"""Ratings of bots, from how often they beat each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pbmserv.engine.ratings import NEWCOMER, anchor, chances

MIDDLE = "house"
"""The level with the rating of a newcomer."""


def anchors(
    names: Sequence[str], wins: Mapping[tuple[str, str], float], stored: Mapping[str, float]
) -> dict[str, float]:
    """Return the mu of each level, which gives the measured shares of wins in a round robin.

    Args:
        names: the levels.
        wins: how often the first of two levels wins.
        stored: the mu of levels that are not measured. If there are none, the middle level gets the
            mu of a newcomer.
    """
    measured = {
        name: sum(share for (one, _), share in wins.items() if one == name)
        + sum(1 - share for (_, other), share in wins.items() if other == name)
        for name in names
    }
    mus = dict.fromkeys(names, NEWCOMER.mu) | dict(stored)
    for _ in range(30):
        for name in names:
            if name in stored:
                continue
            low, high = -100.0, 150.0
            while high - low > 1e-4:
                middle = (low + high) / 2
                if _expected(name, {**mus, name: middle}) < measured[name]:
                    low = middle
                else:
                    high = middle
            mus[name] = low
        shift = 0.0 if stored else NEWCOMER.mu - mus[MIDDLE]
        mus = {name: mu + shift for name, mu in mus.items()}
    return {name: round(mu, 2) for name, mu in mus.items()}


def _expected(name: str, mus: Mapping[str, float]) -> float:
    others = [mu for other, mu in mus.items() if other != name]
    return sum(chances([anchor(mus[name]), anchor(mu)])[0] for mu in others)
