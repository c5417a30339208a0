"""Finds when the next letter is due, also while letters to some domains are not sent."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from time import monotonic
from typing import TypeAlias

PAUSES = 50
"""Pause between two searches of the queue while domains are closed, as a multiple of the time that
a search takes."""

NextDue: TypeAlias = Callable[[Collection[str]], datetime | None]
"""Returns when the next letter is due that does not go to one of these domains."""


class DueSearch:
    """Asks the queue when the next letter is due; used by one thread.

    While domains are closed, an answer takes a search of the whole queue. So it is used for a
    while, and a letter that is queued meanwhile waits for the next search.
    """

    def __init__(self, next_due: NextDue) -> None:
        self._next_due = next_due
        self._closed: frozenset[str] = frozenset()  # when the queue was last searched
        self._due_at: datetime | None = None
        self._search_at = 0.0
        self._is_rung = False  # since that search

    def next_due(self, closed: frozenset[str]) -> datetime | None:
        """Return when the next letter is due that does not go to a closed domain; `None` if there
        is none."""
        if not closed:
            return self._next_due(())
        if closed != self._closed or monotonic() >= self._search_at:
            begun = monotonic()
            self._closed, self._is_rung = closed, False
            self._due_at = self._next_due(closed)
            ended = monotonic()
            self._search_at = ended + PAUSES * (ended - begun)
        return self._due_at

    def forget(self) -> None:
        """Search again next time, since letters were claimed."""
        self._search_at = 0.0

    def ring(self) -> None:
        """Note that letters were queued."""
        self._is_rung = True

    def pause_s(self) -> float | None:
        """Return the seconds until queued letters are searched for, `None` if none were queued."""
        return max(0.0, self._search_at - monotonic()) if self._is_rung else None
