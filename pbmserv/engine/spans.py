"""Time with holes in it: spans that do not count, nights, and where people live."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Span: TypeAlias = tuple[datetime, datetime]
"""From the first moment, and up to but without the second one."""

NIGHT = (time(22), time(7))
"""Local time between which nobody is reminded who has not asked for it."""


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same time in spans that do not touch, oldest first; empty ones are left out."""
    found: list[Span] = []
    for begins, ends in sorted(spans):
        if ends <= begins:
            continue
        if found and begins <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ends))
        else:
            found.append((begins, ends))
    return found


def counted(since: datetime, until: datetime, stopped: Sequence[Span]) -> timedelta:
    """Time from *since* to *until* outside of *stopped*, which is `merged`."""
    total = until - since
    for begins, ends in stopped:
        total -= max(timedelta(), min(ends, until) - max(begins, since))
    return total


def instant(since: datetime, waited: timedelta, stopped: Sequence[Span]) -> datetime:
    """The first moment at which `counted` time since *since* is *waited*."""
    at = since + waited
    for begins, ends in stopped:
        if ends <= since:
            continue
        if begins >= at:
            break
        at += ends - max(begins, since)
    return at


def daytime(at: datetime, local: tzinfo) -> datetime:
    """*at*, or the next morning if it is night there."""
    evening, morning = NIGHT
    wall = at.astimezone(local)
    if morning <= wall.time() < evening:
        return at
    day = wall.date() + timedelta(days=1) if wall.time() >= evening else wall.date()
    return datetime.combine(day, morning, local).astimezone(UTC)


@lru_cache(maxsize=1024)
def zone(name: str) -> tzinfo:
    """The time zone of that name; UTC where the machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
