"""The forms that words of commands have: userids, boards, options, times and preferences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

SHORTEST_PASSWORD = 4
LONGEST_PASSWORD = 200
MOST_DAYS = 365
"""The longest time that a challenge may set."""
SETTINGS = frozenset(
    {"format", "digest", "tz", "timezone", "remind", "accept", "block", "unblock"}
    | {"broadcast", "broadcasts", "labels", "messages", "public", "report"}
)
"""Names of preferences. The service knows their values."""
OFF = frozenset({"off", "stop", "end", "cancel", "none", "no"})
"""Words that switch something off."""

TIMES = ("nagtime", "forfeittime", "totaltime")

BOARD = re.compile(r"#?(\d{1,9})(?:#(\d{1,6}))?", re.ASCII)
USERID = re.compile(r"[a-z0-9_-]{2,20}")
OPTION = re.compile(r"-?([a-z][a-z0-9-]*)(?:=(.+))?", re.IGNORECASE)
TIME = re.compile(r"-{0,2}(nagtime|forfeittime|totaltime)(?:=(.*))?", re.IGNORECASE)
BANK = re.compile(r"-{1,2}(time|cap)(?:=(.*))?|(time|cap)=(.*)", re.IGNORECASE)
"""A bank of time, or the most that it may hold."""
_BANK_VALUES = {
    "time": re.compile(r"(\d{1,4})(?:d|days?)?(?:\+(\d{1,4})(?:d|days?)?)?(/(?:week|work)days?)?"),
    "cap": re.compile(r"(\d{1,4})(?:d|days?)?"),
}
BANK_EXAMPLES = {"time": "--time=14d+1d", "cap": "--time=14d+1d --cap=30d"}
DAYS = re.compile(r"(\d{1,4})d?", re.IGNORECASE | re.ASCII)
SETTING = re.compile(r"([a-z][a-z-]{0,19})=(.{1,200})", re.IGNORECASE)
ADDRESS = re.compile(r"[^@\s<>()\[\],;:\"\\]{1,64}@[^@\s<>()\[\],;:\"\\]{1,253}")
_MOVE = re.compile(r"[+\-/!?].*|.*[,;].*|[a-z]{1,2}\d{1,2}|\d{1,2}[a-z]{1,2}", re.IGNORECASE)


def option_meant(name: str, among: Iterable[str]) -> str:
    """Return the option that a name abbreviates or misspells, ``""`` for none.

    The first letter must be right, since a prefix reverses the meaning ("unrated", "noclue").
    """
    options = [option for option in among if option[:1] == name[:1]]
    abbreviated = [option for option in options if len(name) >= 3 and option.startswith(name)]
    return next(iter(abbreviated or get_close_matches(name, options, 1, 0.75)), "")


def time_meant(text: str) -> str:
    """Return a time in its correct form, perhaps with its name corrected; ``""`` for no time."""
    if match := BANK.fullmatch(text):
        name = (match[1] or match[3]).lower()
        return bank_meant(name, match[2] or match[4] or "") or BANK_EXAMPLES[name]
    name, _, value = text.lower().lstrip("-").partition("=")
    days = DAYS.fullmatch(value)
    name = name if name in TIMES else option_meant(name, TIMES)
    return f"--{name}={days[1]}" if name and days and int(days[1]) <= MOST_DAYS else ""


def bank_meant(name: str, value: str) -> str:
    """Return ``time`` or ``cap`` in its correct form (``--time=14d+1d``); ``""`` if it is wrong."""
    match = _BANK_VALUES[name].fullmatch(value.lower())
    if match is None:
        return ""
    parts = [f"{int(days)}d" for days in match.groups()[:2] if days]
    weekdays = "/weekdays" if name == "time" and match[3] else ""
    return f"--{name}={'+'.join(parts)}{weekdays}"


def quotable(word: str) -> str:
    """Return the word if it is too short for a password, else ``""``."""
    return word if len(word) < SHORTEST_PASSWORD else ""


def is_userid(word: str) -> bool:
    """Return whether a word has the form of a userid."""
    return USERID.fullmatch(word.lower()) is not None


def is_number(text: str) -> bool:
    """Return whether a word is a board number, ``12`` or ``#12``."""
    digits = text.removeprefix("#")
    return digits.isascii() and digits.isdigit()


def harmless(word: str) -> bool:
    """Return whether a refusal may show a word of a command without a password."""
    return (
        len(word) < SHORTEST_PASSWORD
        or USERID.fullmatch(word.lower()) is not None
        or BOARD.fullmatch(word) is not None
        or OPTION.fullmatch(word.lstrip("-")) is not None
    )


def looks_like_a_move(word: str) -> bool:
    """Return whether a word is more likely a move than a password."""
    return _MOVE.fullmatch(word) is not None


def setting_name(word: str) -> str:
    """Return the name of the preference that ``name=value`` sets, ``""`` for none."""
    name, equals, _ = word.lower().partition("=")
    return name if equals and name in SETTINGS else ""
