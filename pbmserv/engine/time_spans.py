"""Spans of time: their union, the time outside of them, weekends, nights and time zones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Span: TypeAlias = tuple[datetime, datetime]
"""A span of time from the first moment up to, but not including, the second one."""

NIGHT = (time(22), time(7))
"""Local times of the night, when only players who asked for it are reminded."""


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, with overlapping and adjacent ones joined and empty ones removed."""
    joined: list[Span] = []
    for begins, ends in sorted(spans):
        if ends <= begins:
            continue
        if joined and begins <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], ends))
        else:
            joined.append((begins, ends))
    return joined


def counted_time(since: datetime, until: datetime, stopped: Sequence[Span]) -> timedelta:
    """Return the time from *since* to *until* outside of *stopped*, a result of `merge_spans`."""
    total = until - since
    for begins, ends in stopped:
        total -= max(timedelta(), min(ends, until) - max(begins, since))
    return total


def time_after(since: datetime, waited: timedelta, stopped: Sequence[Span]) -> datetime:
    """Return the first moment at which the `counted_time` time since *since* is *waited*."""
    at = since + waited
    for begins, ends in stopped:
        if ends <= since:
            continue
        if begins >= at:
            break
        at += ends - max(begins, since)
    return at


def weekends(begin: datetime, end: datetime, local: tzinfo) -> list[Span]:
    """Return the local Saturdays and Sundays that overlap the time from *begin* to *end*."""
    day = begin.astimezone(local).date()
    day -= timedelta(days=(day.weekday() - 5) % 7)
    spans = []
    while (begins := _midnight(day, local)) < end:
        spans.append((begins, _midnight(day + timedelta(days=2), local)))
        day += timedelta(days=7)
    return spans


def _midnight(day: date, local: tzinfo) -> datetime:
    return datetime.combine(day, time(), local).astimezone(UTC)


def first_part(spans: Iterable[Span], begun: datetime, most: timedelta) -> list[Span]:
    """Return the parts of spans after *begun*, in order, up to a total length of *most*."""
    kept = []
    for begins, ends in merge_spans((max(span[0], begun), span[1]) for span in spans):
        kept.append((begins, min(ends, begins + most)))
        most -= kept[-1][1] - begins
    return [span for span in kept if span[0] < span[1]]


def next_daytime(at: datetime, local: tzinfo) -> datetime:
    """Return *at*, or the next morning if it is night in the time zone."""
    evening, morning = NIGHT
    wall = at.astimezone(local)
    if morning <= wall.time() < evening:
        return at
    day = wall.date() + timedelta(days=1) if wall.time() >= evening else wall.date()
    return datetime.combine(day, morning, local).astimezone(UTC)


@lru_cache(maxsize=1024)
def zone(name: str) -> tzinfo:
    """Return the time zone with a name, UTC if it is unknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
