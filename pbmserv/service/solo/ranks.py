"""Ranks in the tables of scores and of boxes of the day."""

from __future__ import annotations

from collections.abc import Sequence


def ranks(standings: Sequence[object]) -> list[int]:
    """Return the rank of each line of a table, the best first; equal standings share a rank."""
    return [1 + standings.index(standing) for standing in standings]
