"""Splits a line into words, after odd characters were replaced by plain ones."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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


LONGEST_LINE = 2_000
"""Characters of a line that are read."""

POLITE = frozenset({"please", "pls", "plz"})
"""Polite words after a command, which are not userids."""

PREPOSITIONS = frozenset({"at", "for", "in", "to"})
"""Words in front of the name of a game, which are not userids either."""

_BOTS_OF_TWO_WORDS = {tuple(userid.split("-")): userid for userid in BOT_USERIDS if "-" in userid}


def without_please(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words without a "please" at the end."""
    end = len(words)
    while end and words[end - 1].plain in POLITE:
        end -= 1
    return words[:end]


_MOST_OF_MY_FRIEND = 3
"""Words of "my little brother" in front of an address."""


def without_my_friend(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words of a challenge without "my friend" in front of an address."""
    at = next((n for n, word in enumerate(words) if "@" in word.text), 0)
    nearest = range(at - 1, max(at - 1 - _MOST_OF_MY_FRIEND, -1), -1)
    start = next((n for n in nearest if words[n].plain in {"my", "our"}), at)
    return (*words[:start], *words[at:])


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

    A quote opens at the start of a word or after ``=``, and closes before a blank or the end. A
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


def words_of(text: str) -> list[Word]:
    """Return the words of a line, cut after `LONGEST_LINE`.

    If the whole line is in quotes, they are ignored.
    """
    words = split(text[: LONGEST_LINE + 1])
    if len(words) == 1 and words[0].raw != words[0].text:
        return split(words[0].text)
    return words


def typed(words: Iterable[str]) -> str:
    """Join words into a line that `split` splits into the same words."""
    return " ".join([quoted(word, "'") if " " in word else word for word in words])


def quoted(word: str, mark: str = '"') -> str:
    """Put a word in quotes for a command line, in *mark* unless the word contains it."""
    mark = mark if mark not in word else '"' if mark == "'" else "'"
    return f"{mark}{word}{mark}"
