"""How userids, boards, options, times and addresses are written, and how many there may be."""

from __future__ import annotations

import re

from pbmserv.commands.model import BoardRef

SHORTEST_PASSWORD = 4
LONGEST_PASSWORD = 200
MOST_ADDRESSES = 5
MOST_RECIPIENTS = 8
MOST_PLAYERS = 8
MOST_SHOWN = 20
MOST_SUBJECTS = 5
TIMES = ("nagtime", "forfeittime", "totaltime")

BOARD = re.compile(r"#?(\d{1,9})(?:#(\d{1,6}))?", re.ASCII)
USERID = re.compile(r"[a-z0-9_-]{2,20}")
NUMBER = re.compile(r"#\s*(\d{1,6})\s*\Z", re.ASCII)
COMMAS = re.compile(r"\s*,\s*")
OPTION = re.compile(r"-?([a-z][a-z0-9-]*)(?:=(.+))?", re.IGNORECASE)
TIME = re.compile(r"-{0,2}(nagtime|forfeittime|totaltime)(?:=(.*))?", re.IGNORECASE)
VALUE = re.compile(r"\d+(?:[x*-]\d+)*", re.IGNORECASE | re.ASCII)
DAYS = re.compile(r"(\d{1,4})d?", re.IGNORECASE | re.ASCII)
ADDRESS = re.compile(r"[^@\s<>()\[\],;:\"\\]{1,64}@[^@\s<>()\[\],;:\"\\]{1,253}")


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
