"""How userids, boards, options, times and addresses are written, and how many there may be."""

from __future__ import annotations

import re

from pbmserv.commands.table.model import BoardRef

SHORTEST_PASSWORD = 4
LONGEST_PASSWORD = 200
MOST_ADDRESSES = 5
MOST_RECIPIENTS = 8
MOST_PLAYERS = 8
MOST_SHOWN = 20
MOST_SUBJECTS = 5
MOST_SETTINGS = 20
MOST_DAYS = 365
"""Longest time that a challenge can set."""
SETTINGS = frozenset(
    {"format", "digest", "tz", "timezone", "remind", "accept", "block", "unblock"}
    | {"broadcast", "broadcasts"}
)
"""Names of preferences; what they may be set to the service knows."""
PLAN_WORDS = frozenset({"if", "then", "else", "and", "or", "not"})
TIMES = ("nagtime", "forfeittime", "totaltime")

BOARD = re.compile(r"#?(\d{1,9})(?:#(\d{1,6}))?", re.ASCII)
USERID = re.compile(r"[a-z0-9_-]{2,20}")
NUMBER = re.compile(r"#\s*(\d{1,6})\s*\Z", re.ASCII)
COMMAS = re.compile(r"\s*,\s*")
OPTION = re.compile(r"-?([a-z][a-z0-9-]*)(?:=(.+))?", re.IGNORECASE)
TIME = re.compile(r"-{0,2}(nagtime|forfeittime|totaltime)(?:=(.*))?", re.IGNORECASE)
VALUE = re.compile(r"\d+(?:[x*-]\d+)*", re.IGNORECASE | re.ASCII)
DAYS = re.compile(r"(\d{1,4})d?", re.IGNORECASE | re.ASCII)
SEATS = re.compile(r"[1-8]")
SETTING = re.compile(r"([a-z][a-z-]{0,19})=(.{1,200})", re.IGNORECASE)
ADDRESS = re.compile(r"[^@\s<>()\[\],;:\"\\]{1,64}@[^@\s<>()\[\],;:\"\\]{1,253}")
_DATE_WORD = re.compile(
    r"\d{1,4}(?:st|nd|rd|th|[.,])?|\d{1,4}([-./])\d{1,2}(?:\1(?:\d{1,4})?)?|an?|one|the|of|in|on"
    r"|next|today|tomorrow|days?|weeks?"
    r"|(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)[.,]?"
    r"|(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?,?",
    re.IGNORECASE | re.ASCII,
)
_MOVE = re.compile(r"[+\-/!?].*|.*[,;].*|[a-z]{1,2}\d{1,2}|\d{1,2}[a-z]{1,2}", re.IGNORECASE)
MOST_DATE_WORDS = 5


def quotable(word: str) -> str:
    """The word if it cannot be a password, else nothing."""
    return word if len(word) < SHORTEST_PASSWORD else ""


def is_userid(word: str) -> bool:
    """Whether a word has the form of a userid."""
    return USERID.fullmatch(word.lower()) is not None


def board_ref(found: re.Match[str]) -> BoardRef:
    return BoardRef(int(found[1]), int(found[2]) if found[2] else None)


def harmless(word: str) -> bool:
    """Whether a word of a command without a password may be shown after a refusal."""
    return (
        len(word) < SHORTEST_PASSWORD
        or USERID.fullmatch(word.lower()) is not None
        or BOARD.fullmatch(word) is not None
        or OPTION.fullmatch(word.lstrip("-")) is not None
    )


def is_date(text: str) -> bool:
    """Whether a text has only words that dates are made of, so that it can be repeated."""
    words = text.rstrip(".! ").split()  # a sentence's end is none of its words
    return 0 < len(words) <= MOST_DATE_WORDS and all(_DATE_WORD.fullmatch(word) for word in words)


def looks_like_a_move(word: str) -> bool:
    """Whether a word is rather a move than a password."""
    return _MOVE.fullmatch(word) is not None


def setting_name(word: str) -> str:
    """The preference that ``name=value`` sets, ``""`` if there is none of that name."""
    name, equals, _ = word.lower().partition("=")
    return name if equals and name in SETTINGS else ""
