"""Cuts a line into words, and says how userids, boards, options and times are written."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import field
from difflib import get_close_matches

from pbmserv.commands.table.model import BoardRef
from pbmserv.engine.types import BOT_USERIDS, value
from pbmserv.mail import reading_time


def _table() -> dict[int, str]:
    """What `fold` replaces: odd forms of the characters that mean something in a command."""
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


_TABLE = _table()
# Of a run of blanks only the first can begin the second form, so that a long one is read once.
_FRENCH = re.compile(
    r"([\u00ab\u2039])[ \u00a0\u202f]+"
    r"|(?<![ \u00a0\u202f])[ \u00a0\u202f]+([\u00bb\u203a])"
)
_OPENING = re.compile(r"""[^\s"'=]*=(["'])|(["'])""")
_PLAIN = re.compile(r"\S+")
_CLOSING = {mark: re.compile(rf"{mark}(?!\S)") for mark in "\"'"}


@value(frozen=True, slots=True)
class Word:
    """One word of a line; it may be a password, so a repr shows nothing.

    Attributes:
        text: without the quotes that joined it.
        raw: as it stood in the folded line.
    """

    text: str = field(repr=False)
    raw: str = field(repr=False)

    @property
    def plain(self) -> str:
        """In lower case, without the punctuation that people put behind a command."""
        return self.text.lower().rstrip(":,.;!")

    @property
    def unclosed(self) -> bool:
        """Whether it begins with a quote that nothing closes, and so is taken literally."""
        return self.raw == self.text and self.raw[:1] in {'"', "'"}


POLITE = frozenset({"please", "pls", "plz"})
"""What people put behind a command, and nobody's userid."""

_TOGETHER = {tuple(userid.split("-")): userid for userid in BOT_USERIDS if "-" in userid}


def without_please(words: Sequence[Word]) -> Sequence[Word]:
    """The words without a "please" at their end."""
    end = len(words)
    while end and words[end - 1].plain in POLITE:
        end -= 1
    return words[:end]


def with_bots(words: Sequence[Word]) -> Sequence[Word]:
    """The words of a challenge, with "house hard" joined, and without "with" and "the"."""
    found: list[Word] = []
    for word in words:
        before = found[-1].plain if found else ""
        userid = _TOGETHER.get((before, word.plain))
        if userid is not None:
            found[-1] = Word(userid, userid)
        elif word.plain != "the" and (found or word.plain not in {"with", "against"}):
            found.append(word)
    return found


def fold(text: str) -> str:
    """Plain characters where odd ones mean the same; letters with accents stay.

    Typographic quotes and dashes, odd blanks, full-width characters and the
    multiplication sign become ASCII; invisible characters go; every control
    character that separates becomes a blank.
    """
    if text.isascii() and text.isprintable():
        return text
    if _is_french(text):
        text = _FRENCH.sub(r"\1\2", text)
    return text.translate(_TABLE)


def _is_french(text: str) -> bool:
    """Whether quotes point outwards; then blanks stand inside of them and mean nothing."""
    return any(0 <= text.find(a) < text.find(b) for a, b in ("\u00ab\u00bb", "\u2039\u203a"))


def split(line: str) -> list[Word]:
    """Return the words of a folded line: blanks separate, single or double quotes join.

    A quote opens at the start of a word or behind ``=`` and closes before a
    blank or the end; one that is not closed is an ordinary character.

    Raises:
        ReadingTooLong: the mail has taken all its time.
    """
    reading_time.check()
    line = fold(line)
    if '"' not in line and "'" not in line:
        return [Word(word, word) for word in line.split()]
    # Each place where a quote can close is found once: a search from every opening quote would take
    # quadratic time in a line where none closes.
    closings = {
        mark: deque([found.start() for found in closing.finditer(line)])
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
    """A line that `split` takes apart into these words."""
    return " ".join([quoted(one, "'") if " " in one else one for one in words])


def quoted(word: str, mark: str = '"') -> str:
    """A word as a command line takes it, whatever is in it; *mark*: in these, if that can be."""
    mark = mark if mark not in word else '"' if mark == "'" else "'"
    return f"{mark}{word}{mark}"


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
    | {"broadcast", "broadcasts", "labels", "messages", "public", "report"}
)
"""Names of preferences; what they may be set to the service knows."""
OFF = frozenset({"off", "stop", "end", "cancel", "none", "no"})
"""What people write to have something no longer."""

PLAN_WORDS = frozenset({"if", "then", "else", "and", "or", "not"})
TIMES = ("nagtime", "forfeittime", "totaltime")

BOARD = re.compile(r"#?(\d{1,9})(?:#(\d{1,6}))?", re.ASCII)
USERID = re.compile(r"[a-z0-9_-]{2,20}")
NUMBER = re.compile(r"#\s*(\d{1,6})\s*\Z", re.ASCII)
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
_BEGINS = re.compile(r"(?:from|between|starting|beginning)\s+", re.IGNORECASE)
# A run of blanks is tried from its first one only, else a long run takes the square of its length.
_TO = re.compile(
    r"(?<!\s)\s+-\s*|-\s*|(?<![\s,])[\s,]+(?:to|and|(?:un)?till?|through|for)\s+", re.IGNORECASE
)
MOST_DATE_WORDS = 5
_LONGEST_DAYS = 60


def slip_of(name: str, among: Iterable[str]) -> str:
    """The option that a name is the beginning or a slip of; "" = none.

    What is put in front turns a word round ("rated", "noclue").
    """
    known = [one for one in among if one[:1] == name[:1]]
    begun = [one for one in known if len(name) >= 3 and one.startswith(name)]
    return next(iter(begun or get_close_matches(name, known, 1, 0.75)), "")


def time_meant(text: str) -> str:
    """A time that is right, but maybe for a slip in its name, as it is written; "" = none."""
    name, _, value = text.lower().lstrip("-").partition("=")
    days = DAYS.fullmatch(value)
    name = name if name in TIMES else slip_of(name, TIMES)
    return f"--{name}={days[1]}" if name and days and int(days[1]) <= MOST_DAYS else ""


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


def first_and_last_day(text: str) -> tuple[str, str] | None:
    """The days between which a text lies, as they are written; ``None`` if it has other words.

    The first is ``""`` where the text is one day ("2 Jan", "for 2 weeks"), the last where it only
    begins ("from 24 Dec").
    """
    if len(text) > _LONGEST_DAYS:
        return None
    begins = _BEGINS.match(text)
    text = text[begins.end() :] if begins else text
    if is_date(text):
        return (text, "") if begins else ("", text)
    days = ((text[: one.start()], text[one.end() :]) for one in _TO.finditer(text))
    return next((both for both in days if all(map(is_date, both))), None)


def looks_like_a_move(word: str) -> bool:
    """Whether a word is rather a move than a password."""
    return _MOVE.fullmatch(word) is not None


def setting_name(word: str) -> str:
    """The preference that ``name=value`` sets, ``""`` if there is none of that name."""
    name, equals, _ = word.lower().partition("=")
    return name if equals and name in SETTINGS else ""
