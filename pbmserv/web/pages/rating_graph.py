"""The graph of a player's rating on their page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pbmserv.views.public_facts import RatingChange

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 68, 16, 14, 30
"""Room around the line."""
STEPS = (10, 25, 50, 100, 200, 500, 1_000, 10_000)
"""Rating points between two lines of the scale."""
FEWEST = 2
"""Changes that make a line."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A rating over its changes.

    Attributes:
        width: width of the picture.
        height: height of the picture.
        left: left end of the line.
        line: points of the line, in the notation of SVG.
        dots: (x, y, change) of each change.
        lines: (y, rating) of each line of the scale.
        first: the oldest change.
        last: the newest change.
        low, high: the lowest and highest rating.
    """

    width: int
    height: int
    left: int
    line: str
    dots: Sequence[tuple[float, float, RatingChange]]
    lines: Sequence[tuple[float, int]]
    first: RatingChange
    last: RatingChange
    low: int
    high: int


def rating_graph(curve: Sequence[RatingChange]) -> Graph | None:
    """Return the graph of a rating's changes, oldest first; ``None`` if there are too few."""
    if len(curve) < FEWEST:
        return None
    shown = [change.rating for change in curve]
    low, high = min(shown), max(shown)
    step = next(step for step in STEPS if high - low <= 4 * step)
    floor, ceiling = low // step * step, -(-high // step) * step
    ceiling += step * (floor == ceiling)
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def height_of(rating: int) -> float:
        return round(TOP + up * (ceiling - rating) / (ceiling - floor), 1)

    places = [round(LEFT + across * n / (len(curve) - 1), 1) for n in range(len(curve))]
    heights = [height_of(rating) for rating in shown]
    return Graph(
        WIDTH,
        HEIGHT,
        LEFT,
        " ".join(f"{x},{y}" for x, y in zip(places, heights, strict=True)),
        list(zip(places, heights, curve, strict=True)),
        [(height_of(rating), rating) for rating in range(floor, ceiling + 1, step)],
        curve[0],
        curve[-1],
        low,
        high,
    )
