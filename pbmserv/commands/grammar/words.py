"""Splits a line into words, and defines the forms of userids, boards, options, times and dates."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from pbmserv.commands.table.model import BoardRef
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.mail import reading_time


def _replacements() -> dict[int, str]:
    """Return the replacements that `fold` makes for odd forms of characters used in commands."""
    table: dict[int, str] = {}
    for code in range(0xFF01, 0xFF5F):  # full-width ASCII, as Asian keyboards type it
        table[code] = chr(code - 0xFEE0)
    for replacement, odd in (
        ('"', "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u2036\u301d\u301e\u301f\u2e42"),
        ("'", "\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\u00b4\u02bc\u275b\u275c"),
        ("-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\u00ad\u2796"),
        (",", "\u3001\u060c\ufe50\ufe51\uff64"),
        ("/", "\u2044\u2215\u29f8"),
        ("+", "\ufe62\u2795"),
        ("#", "\ufe5f\u266f"),
        ("?", "\ufe56\u2753\u2754"),
        ("!", "\ufe57\u2757\u2755"),
        ("=", "\ufe66"),
        ("x", "\u00d7\u2715\u2a2f"),
        (" ", "\t\r\n\v\f\x85\u00a0\u1680\u202f\u205f\u3000\u2028\u2029\u3164\uffa0"),
        (" ", "".join(map(chr, range(0x2000, 0x200B)))),
    ):
        for character in odd:
            table[ord(character)] = replacement
    invisible = [0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x180E, 0xFEFF, 0xE0001, 0x7F]
    invisible += [code for code in range(0x20) if chr(code) not in "\t\r\n\v\f"]
    for first, last in (
        (0x80, 0x84),  # C1 controls; 0x85 is a line end and folded above
        (0x86, 0x9F),
        (0x200B, 0x200F),  # zero-width and direction marks
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0xFE00, 0xFE0F),  # variation selectors
        (0xFFF9, 0xFFFB),
        (0xD800, 0xDFFF),  # lone surrogates cannot be sent back
        (0xE0020, 0xE007F),
    ):
        invisible += range(first, last + 1)
    table.update(dict.fromkeys(invisible, ""))
    return table


_TABLE = _replacements()
# A run of blanks matches the second form only from its first one, to take linear time.
_FRENCH = re.compile(
    r"([\u00ab\u2039])[ \u00a0\u202f]+"
    r"|(?<![ \u00a0\u202f])[ \u00a0\u202f]+([\u00bb\u203a])"
)
_OPENING = re.compile(r"""[^\s"'=]*=(["'])|(["'])""")
_PLAIN = re.compile(r"\S+")
_CLOSING = {mark: re.compile(rf"{mark}(?!\S)") for mark in "\"'"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line, hidden from `repr` since it may be a password.

    Attributes:
        text: without the quotes around it.
        raw: as in the folded line.
    """

    text: str = field(repr=False)
    raw: str = field(repr=False)

    @property
    def plain(self) -> str:
        """The text in lower case, without punctuation at the end."""
        return self.text.lower().rstrip(":,.;!")

    @property
    def unclosed(self) -> bool:
        """Whether the word begins with a quote that is not closed and therefore is literal."""
        return self.raw == self.text and self.raw[:1] in {'"', "'"}


POLITE = frozenset({"please", "pls", "plz"})
"""Polite words behind a command, which are not userids."""

_BOTS_OF_TWO_WORDS = {tuple(userid.split("-")): userid for userid in BOT_USERIDS if "-" in userid}


def without_please(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words without a "please" at the end."""
    end = len(words)
    while end and words[end - 1].plain in POLITE:
        end -= 1
    return words[:end]


def with_bots(words: Sequence[Word]) -> Sequence[Word]:
    """Join "house hard" in the words of a challenge, and drop "with" and "the"."""
    kept: list[Word] = []
    for word in words:
        before = kept[-1].plain if kept else ""
        userid = _BOTS_OF_TWO_WORDS.get((before, word.plain))
        if userid is not None:
            kept[-1] = Word(userid, userid)
        elif word.plain != "the" and (kept or word.plain not in {"with", "against"}):
            kept.append(word)
    return kept


def fold(text: str) -> str:
    """Replace odd characters by plain ones with the same meaning.

    Typographic quotes and dashes, odd blanks, full-width characters and the multiplication sign
    become ASCII. Invisible characters are removed. Control characters that separate words become
    blanks. Letters with accents stay.
    """
    if text.isascii() and text.isprintable():
        return text
    if _is_french(text):
        text = _FRENCH.sub(r"\1\2", text)
    return text.translate(_TABLE)


def _is_french(text: str) -> bool:
    """Return whether quotes point outwards, as in French, where blanks are inside the quotes."""
    return any(0 <= text.find(a) < text.find(b) for a, b in ("\u00ab\u00bb", "\u2039\u203a"))


def split(line: str) -> list[Word]:
    """Split a line at blanks, except between single or double quotes.

    A quote opens at the start of a word or behind ``=``, and closes before a blank or the end. A
    quote that is not closed is an ordinary character.

    Raises:
        ReadingTooLong: the mail has used up its reading time.
    """
    reading_time.check()
    line = fold(line)
    if '"' not in line and "'" not in line:
        return [Word(word, word) for word in line.split()]
    # Find all closing quotes once. A search from every opening quote would take quadratic time in a
    # line where none closes.
    closings = {
        mark: deque([match.start() for match in closing.finditer(line)])
        for mark, closing in _CLOSING.items()
    }
    words: list[Word] = []
    at = 0
    while plain := _PLAIN.search(line, at):
        start, end = plain.span()
        opening = _OPENING.match(line, start)
        inside = opening.end() if opening else end
        left = closings[line[inside - 1]] if opening else deque[int]()
        while left and left[0] < inside:
            left.popleft()
        if left:
            at = left[0] + 1
            words.append(Word(line[start : inside - 1] + line[inside : at - 1], line[start:at]))
        else:
            at = end
            words.append(Word(plain[0], plain[0]))
    return words


def typed(words: Iterable[str]) -> str:
    """Join words into a line that `split` splits into the same words."""
    return " ".join([quoted(word, "'") if " " in word else word for word in words])


def quoted(word: str, mark: str = '"') -> str:
    """Put a word in quotes for a command line, in *mark* unless the word contains it."""
    mark = mark if mark not in word else '"' if mark == "'" else "'"
    return f"{mark}{word}{mark}"


SHORTEST_PASSWORD = 4
LONGEST_PASSWORD = 200
MOST_ADDRESSES = 5
MOST_RECIPIENTS = 8
MOST_PLAYERS = 8
MOST_SHOWN = 20
MOST_SUBJECTS = 5
MOST_WORDS = 30
MOST_SETTINGS = 20
MOST_DAYS = 365
"""The longest time that a challenge may set."""
SETTINGS = frozenset(
    {"format", "digest", "tz", "timezone", "remind", "accept", "block", "unblock"}
    | {"broadcast", "broadcasts", "labels", "messages", "public", "report"}
)
"""Names of preferences. The service knows their values."""
OFF = frozenset({"off", "stop", "end", "cancel", "none", "no"})
"""Words that switch something off."""

PLAN_WORDS = frozenset({"if", "then", "else", "and", "or", "not"})
TIMES = ("nagtime", "forfeittime", "totaltime")

BOARD = re.compile(r"#?(\d{1,9})(?:#(\d{1,6}))?", re.ASCII)
USERID = re.compile(r"[a-z0-9_-]{2,20}")
NUMBER = re.compile(r"#\s*(\d{1,6})\s*\Z", re.ASCII)
OPTION = re.compile(r"-?([a-z][a-z0-9-]*)(?:=(.+))?", re.IGNORECASE)
TIME = re.compile(r"-{0,2}(nagtime|forfeittime|totaltime)(?:=(.*))?", re.IGNORECASE)
BANK = re.compile(r"-{1,2}(time|cap)(?:=(.*))?|(time|cap)=(.*)", re.IGNORECASE)
"""A bank of time, or the most that it may hold."""
_BANK_VALUES = {
    "time": re.compile(r"(\d{1,4})(?:d|days?)?(?:\+(\d{1,4})(?:d|days?)?)?(/(?:week|work)days?)?"),
    "cap": re.compile(r"(\d{1,4})(?:d|days?)?"),
}
BANK_EXAMPLES = {"time": "--time=14d+1d", "cap": "--time=14d+1d --cap=30d"}
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
_BEGINS = re.compile(r"(?:from|between|starting|beginning)\s+", re.IGNORECASE)
# A run of blanks matches only from its first one, so that long runs take linear time.
_TO = re.compile(
    r"(?<!\s)\s+-\s*|-\s*|(?<![\s,])[\s,]+(?:to|and|(?:un)?till?|through|for)\s+", re.IGNORECASE
)
MOST_DATE_WORDS = 5
_LONGEST_DAYS = 60


def slip_of(name: str, among: Iterable[str]) -> str:
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
    name = name if name in TIMES else slip_of(name, TIMES)
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


def board_ref(match: re.Match[str]) -> BoardRef:
    """Return the board of a match of `BOARD`."""
    return BoardRef(int(match[1]), int(match[2]) if match[2] else None)


def harmless(word: str) -> bool:
    """Return whether a refusal may show a word of a command without a password."""
    return (
        len(word) < SHORTEST_PASSWORD
        or USERID.fullmatch(word.lower()) is not None
        or BOARD.fullmatch(word) is not None
        or OPTION.fullmatch(word.lstrip("-")) is not None
    )


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


def looks_like_a_move(word: str) -> bool:
    """Return whether a word is more likely a move than a password."""
    return _MOVE.fullmatch(word) is not None


def setting_name(word: str) -> str:
    """Return the name of the preference that ``name=value`` sets, ``""`` for none."""
    name, equals, _ = word.lower().partition("=")
    return name if equals and name in SETTINGS else ""
