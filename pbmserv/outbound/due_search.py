"""Searches the queue for the next due letter, and seldom while that is slow."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from datetime import datetime
from time import monotonic

PAUSES = 50
"""While domains are closed: pause between two searches of the queue, in times of a search."""


class DueSearch:
    """The search for the next letter that can be claimed; used by one thread.

    While domains are closed, a search reads the whole queue, so its result is used for a while.

    Args:
        next_due: returns when the next letter is due that goes to none of these domains.
    """

    def __init__(self, next_due: Callable[[Collection[str]], datetime | None]) -> None:
        self._next_due = next_due
        self._closed: frozenset[str] = frozenset()
        self._due_at: datetime | None = None
        self._again_at = 0.0
        self._is_rung = False

    def next_due(self, closed: frozenset[str]) -> datetime | None:
        """Return when the next letter is due that does not go to a closed domain."""
        if not closed:
            return self._next_due(())
        if closed != self._closed or monotonic() >= self._again_at:
            begun = monotonic()
            self._closed, self._is_rung = closed, False
            self._due_at = self._next_due(closed)
            ended = monotonic()
            self._again_at = ended + PAUSES * (ended - begun)
        return self._due_at

    def forget(self) -> None:
        """Search again next time, since letters were claimed."""
        self._again_at = 0.0

    def ring(self) -> None:
        """Note that letters were queued, which the result of a search may not contain."""
        self._is_rung = True

    def pause(self) -> float:
        """Return the seconds until a new search would find letters that were queued since the last
        one; infinity if none were."""
        return max(0.0, self._again_at - monotonic()) if self._is_rung else math.inf
