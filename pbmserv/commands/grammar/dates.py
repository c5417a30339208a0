"""Recognises dates and absences as people write them; the service reads them."""

from __future__ import annotations

import re

_MONTHS = (
    *("jan(?:uary)?", "feb(?:ruary)?", "mar(?:ch)?", "apr(?:il)?", "may", "june?", "july?"),
    *("aug(?:ust)?", "sept?(?:ember)?", "oct(?:ober)?", "nov(?:ember)?", "dec(?:ember)?"),
)
NUMBERS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
"""Numbers of days and weeks in words. "One" and "a" are read, too."""

_DATE_WORDS = (
    r"\d{1,4}(?:st|nd|rd|th|[.,])?",  # "24", "24th", "24."
    r"\d{1,4}([-./])\d{1,2}(?:\1(?:\d{1,4})?)?",  # "24.12.", "2026-12-24", "12/24"
    *("an?", "one", "the", "of", "in", "on", "next", "today", "tomorrow", "days?", "weeks?"),
    "|".join(NUMBERS),
    f"(?:{'|'.join(_MONTHS)})[.,]?",
    "(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?,?",
)
_DATE_WORD = re.compile("|".join(_DATE_WORDS), re.IGNORECASE | re.ASCII)

_BEGINS = re.compile(r"(?:from|between|starting|beginning)\s+", re.IGNORECASE)

# A run of blanks matches only from its first one, so that long runs take linear time.
_TO = re.compile(
    r"(?<!\s)\s+-\s*|-\s*|(?<![\s,])[\s,]+(?:to|and|(?:un)?till?|through|for)\s+", re.IGNORECASE
)
"""The words between two days: "24 Dec - 2 Jan", "from Monday to Friday"."""

MOST_DATE_WORDS = 5
_LONGEST_DAYS = 60


def is_date(text: str) -> bool:
    """Return whether a text has only words of dates, so that it can be repeated."""
    words = text.rstrip(".! ").split()
    return 0 < len(words) <= MOST_DATE_WORDS and all(_DATE_WORD.fullmatch(word) for word in words)


def first_and_last_day(text: str) -> tuple[str, str] | None:
    """Return the first and last day of an absence as written, `None` if the text has other words.

    The first day is ``""`` if the text is only the end ("2 Jan", "for 2 weeks"). The last day is
    ``""`` if the text is only the beginning ("from 24 Dec").
    """
    if len(text) > _LONGEST_DAYS:
        return None
    begins = _BEGINS.match(text)
    text = text[begins.end() :] if begins else text
    if is_date(text):
        return (text, "") if begins else ("", text)
    splits = ((text[: to.start()], text[to.end() :]) for to in _TO.finditer(text))
    return next((days for days in splits if all(map(is_date, days))), None)
