"""Moments on a player's own clock: the next 07:30, the end of a day, the date a person wrote."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import available_timezones

from pbmserv.commands.grammar.dates import NUMBERS

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_DOTS = re.compile(r"(\d{1,2})\. ?(\d{1,2})\.(?: ?(\d{4}))?")
_DAY_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?([a-z]{3,9})\.?,?(?: (\d{4}))?")
_MONTH_DAY = re.compile(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))?")
_IN = re.compile(rf"(?:in )?(\d{{1,3}}|an?|one|{'|'.join(NUMBERS)}) (day|week)s?")
_OFFSET = re.compile(r"(?:utc|gmt|z)? ?[+\-\u2212] ?\d{1,2}(?::?\d{2})?")
_TIME = re.compile(
    r"(?:at |every day at |@)?([01]?[0-9]|2[0-3])(?:[:.h]([0-5][0-9])?)? ?(am|pm|h|o'clock)?",
    re.ASCII,
)
_LEAP_YEARS_APART = 8  # 1896 to 1904, 2096 to 2104
_MOST_NEAR = 3
"""Most zones that a text may mean."""
_NEAR = 0.75
"""How alike a text and the name of a zone must be, from 0 to 1."""


def clock_time(minute: int) -> str:
    """Return a minute of the day as HH:MM."""
    return f"{minute // 60:02}:{minute % 60:02}"


def minute_of_day(text: str) -> int | None:
    """Return the minute of a day ("18:30", "at 7pm", "7h"); `None` if the text is no time."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, half = int(match[1]), match[3]
    if half in {"am", "pm"}:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "pm" else 0)
    return hour * 60 + int(match[2] or 0)


def local_date(now: datetime, tz: tzinfo) -> date:
    """Return the local date."""
    return now.astimezone(tz).date()


def next_local(now: datetime, tz: tzinfo, minute: int) -> datetime:
    """Return the next moment, in UTC and after *now*, at which local clocks show this minute.

    There is one on each local day. If clocks go back, the first of the two moments counts; if they
    go forward, the moment right after the gap. A day that a zone leaves out (Samoa, 2011-12-30) has
    none.

    Args:
        now: aware.
        minute: 0 to 1439.
    """
    today = local_date(now, tz)
    # A day before, since a moment after a gap may belong to the day before by its minute.
    for days in range(-1, 4):
        moment = _moment(today + timedelta(days=days), minute, tz)
        if moment is not None and moment > now:
            return moment
    raise AssertionError("no zone leaves out three days")


def end_of_day(day: date, tz: tzinfo) -> datetime:
    """Return the end of a local day, in UTC."""
    return _instant(datetime.combine(day + timedelta(days=1), time()), tz)


def days_touched(begins: datetime, ends: datetime, tz: tzinfo) -> Iterator[date]:
    """Yield the local days that overlap the time from *begins* to *ends*, exclusive."""
    day = local_date(begins, tz)
    last = local_date(max(begins, ends - timedelta(microseconds=1)), tz)
    while day <= last:
        yield day
        day += timedelta(days=1)


def read_date(text: str, today: date) -> date | None:
    """Return the day that a text means; `None` if that is not clear.

    Understood: ``2026-12-24``, ``24 Dec``, ``Dec 24``, ``24.12.``, ``today``, ``tomorrow``,
    ``in 5 days``, ``two weeks``, ``friday`` (the next one that is not today). A day without a
    year is the next one of that name, today included.
    """
    return _read_date(text, today) or _read_date(text.rstrip(".! "), today)


def _read_date(text: str, today: date) -> date | None:
    words = " ".join(text.lower().replace(",", " , ").split()).replace(" ,", "")
    words = words.removeprefix("until ").removeprefix("till ").removeprefix("the ")
    if words == "today":
        return today
    if words == "tomorrow":
        return today + timedelta(days=1)
    if match := _IN.fullmatch(words):
        count = int(match[1]) if match[1].isdigit() else NUMBERS.get(match[1], 1)
        return today + timedelta(days=count * (7 if match[2] == "week" else 1))
    if weekday := _weekday(words.removeprefix("next ").removeprefix("on ")):
        return today + timedelta(days=(weekday - today.isoweekday()) % 7 or 7)
    if match := _ISO.fullmatch(words):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    if match := _DOTS.fullmatch(words):
        return _coming(today, int(match[2]), int(match[1]), match[3])
    if match := _DAY_MONTH.fullmatch(words):
        return _coming(today, _month(match[2]), int(match[1]), match[3])
    if match := _MONTH_DAY.fullmatch(words):
        return _coming(today, _month(match[1]), int(match[2]), match[3])
    return None


def zone_name(text: str) -> str | None:
    """Return the name of a time zone as the zone database spells it; `None` if there is none."""
    return _zones().get(text.lower().replace(" ", "_"))


def is_offset(text: str) -> bool:
    """Return whether a text is an offset from UTC (``UTC+2``), which does not name a zone."""
    return _OFFSET.fullmatch(text.strip().lower()) is not None


def zone_of_city(word: str) -> str | None:
    """Return the only zone that is named after a city; `None` if there is none, or several."""
    city = word.strip().lower().replace(" ", "_")
    zones = _zones()
    matching = [zones[name] for name in zones if name.split("/")[1:] == [city]]
    return matching[0] if len(matching) == 1 else None


def near_zones(text: str) -> list[str]:
    """Return names of zones that *text* may mean, the likeliest first."""
    wanted = text.lower().replace(" ", "_")
    zones = _zones()
    cities = [zones[name] for name in sorted(zones) if wanted in name.split("/")[1:]]
    if cities:
        return cities[:_MOST_NEAR]
    near = difflib.get_close_matches(wanted, zones, _MOST_NEAR, _NEAR)
    if not near:
        city = wanted.rpartition("/")[2]
        by_city = {name.rpartition("/")[2]: name for name in sorted(zones, reverse=True)}
        near = [by_city[c] for c in difflib.get_close_matches(city, by_city, _MOST_NEAR, _NEAR)]
    return [zones[name] for name in near]


@cache
def _zones() -> dict[str, str]:
    unfit = ("Etc/", "SystemV/", "posix/", "right/", "Factory", "localtime", "posixrules")
    names = (name for name in available_timezones() if not name.startswith(unfit))
    return {name.lower(): name for name in names if name not in {"GMT0", "GMT+0", "GMT-0"}}


def _moment(day: date, minute: int, tz: tzinfo) -> datetime | None:
    """Return the first moment of *minute* on *day*; `None` if the zone leaves out that day."""
    moment = _instant(datetime.combine(day, time(*divmod(minute, 60))), tz)
    shown = local_date(moment, tz)
    # A gap over midnight belongs to the day before it; a day may also be left out.
    missing = shown != day and not any(
        local_date(_instant(datetime.combine(day, time(hour)), tz), tz) == day for hour in (6, 12)
    )
    return None if missing else moment


def _instant(wall: datetime, tz: tzinfo) -> datetime:
    """Return the first moment in UTC at which local clocks show *wall*, or jump over it."""
    moment = wall.replace(tzinfo=tz, fold=0).astimezone(UTC)
    if moment.astimezone(tz).replace(tzinfo=None) == wall:
        return moment
    # In a gap (PEP 495): fold 0 is read by the offset before it and lands past its end, fold 1
    # lands before it. The gap ends where the offset changes between the two.
    low, high = wall.replace(tzinfo=tz, fold=1).astimezone(UTC), moment
    before = low.astimezone(tz).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(tz).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


def _weekday(word: str) -> int:
    """Return 1 for Monday to 7 for Sunday, by three letters or more; 0 if it is no weekday."""
    if len(word) < 3:
        return 0
    return next((n for n, name in enumerate(_WEEKDAYS, 1) if name.startswith(word)), 0)


def _month(word: str) -> int:
    """Return 1 to 12 for a month, in full or by three letters; 0 if it is no month."""
    word = "sep" if word == "sept" else word
    return next((n for n, name in enumerate(_MONTHS, 1) if name.startswith(word)), 0)


def _coming(today: date, month: int, day: int, year: str | None) -> date | None:
    if year:
        return _date(int(year), month, day)
    for later in range(_LEAP_YEARS_APART + 1):
        day_of_year = _date(today.year + later, month, day)
        if day_of_year is not None and day_of_year >= today:
            return day_of_year
    return None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
