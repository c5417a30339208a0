"""The Clock port: the only place where the server learns what time it is."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Protocol

WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)
"""This program is younger: a clock that says less was not set since the machine started."""


class Clock(Protocol):
    """Tells the time; tests hand in one that they move."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    now = staticmethod(partial(datetime.now, UTC))


def span(seconds: float) -> str:
    """A span for people: ``45 s``, ``12 min``, ``3.5 h``, ``2.1 days``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"
