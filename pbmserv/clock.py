"""The clock from which everything in the server reads the time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

EARLIEST_TIME = datetime(2026, 1, 1, tzinfo=UTC)
"""A clock that shows an earlier time is not set: this program did not exist then."""


class Clock(Protocol):
    """A source of the time; tests use one that they move."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)


def duration_text(seconds: float) -> str:
    """Return a duration for people: ``45 s``, ``12 min``, ``3.5 h``, ``2.1 days``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"
