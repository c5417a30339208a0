"""The numbering of days, and of the boxes of the day."""

from __future__ import annotations

from datetime import date, timedelta

EPOCH = date(1970, 1, 1)
"""Day 0 in the numbering of days; UTC."""

FIRST = date(2026, 1, 1)
"""The UTC day of daily box number 1."""


def number_of(day: int) -> int:
    """Return the number of a day's box."""
    return day - (FIRST - EPOCH).days + 1


def day_of_number(number: int) -> int:
    """Return the day of a box."""
    return number - 1 + (FIRST - EPOCH).days


def date_of(day: int) -> str:
    """Return a day in ISO 8601."""
    return f"{EPOCH + timedelta(days=day):%Y-%m-%d}"
