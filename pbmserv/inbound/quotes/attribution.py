"""How mail programs announce what they quote: the lines that do, recognised.

Every question is answered from at most four lines of at most 600 characters,
so a crafted mail cannot make one expensive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.inbound.quotes.phrases import LABELS, OPENERS, QUOTING, WROTE, WROTE_UNSPACED

BLANKS = (
    " \t\n\r\x0b\x0c\x7f\x85\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180e\u3000\u3164"
    "\ufeff\uffa0\U000e0001"
    + "".join(map(chr, range(0x2000, 0x2010)))
    + "".join(map(chr, range(0x2028, 0x2030)))
    + "".join(map(chr, range(0x205F, 0x2070)))
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xFFF9, 0xFFFC)))
    + "".join(map(chr, range(0xE0020, 0xE0080)))
)
"""White space, and the characters that no reader sees; they may stand before a quote mark."""

SPAN = 3
"""Lines above its last one that an attribution may begin."""

_LONGEST = 600
_COLONS_LIMIT = 8  # a date, a time and a zone have four

_DATE = re.compile(r"(?:19|20)[0-9]{2}|[0-9]{1,2}[:.][0-9]{2}")
_YEAR_FIRST = re.compile(r"[0-9]{4}[-/.年]")
_WORDS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"[0-9]")

_COLONS = (":", "\uff1a")  # ASCII, and as wide as a Chinese character
_EMPHASIS = BLANKS + "*_"


def lines_of_attribution(above: Sequence[str], line: str) -> int:
    """Whether `line` ends an attribution, and how many lines of it stand above.

    Args:
        above: the lines directly above, nearest last; at most `SPAN` of them count.
        line: not quoted.

    Returns:
        The number of lines of `above` that belong to it, ``-1`` if `line` ends none.
    """
    last = _folded(line)
    if not last.endswith(_COLONS):
        return 0 if _lacks_a_colon(last) else -1
    if last.startswith(QUOTING):
        return 0
    alone = _complete(last)
    if alone and (_YEAR_FIRST.match(last) or (last.startswith(OPENERS) and _DIGIT.search(last))):
        return 0
    joined = last
    lines = 0 if alone else -1
    for count, upper in enumerate(reversed(above[-SPAN:]), start=1):
        head = _folded(upper)
        joined = f"{head} {joined}"
        if len(joined) > _LONGEST:
            break
        if not _complete(joined):
            continue
        if head.startswith(OPENERS):
            return count
        if "@" in head or _DATE.search(head):
            lines = count
    return lines


def quotes_behind(line: str) -> bool:
    """Whether an attribution begins `line` and what it quotes follows on the same line."""
    head = line[:_LONGEST].strip(_EMPHASIS).casefold()
    if not (head.startswith(OPENERS) or _YEAR_FIRST.match(head)) or not _DIGIT.search(head):
        return False
    at = -1
    for _ in range(_COLONS_LIMIT):
        at = head.find(": ", at + 1)
        if at < 0:
            return False
        if _DIGIT.search(head, 0, at) and _complete(head[:at]):
            return True
    return False


def lines_above_quote(above: Sequence[str]) -> int:
    """How many of the lines directly above a quote announce it, in whatever language.

    A line that ends with a colon is taken for one; and lines above it that bear
    a date or an address.
    """
    if not above or not _folded(above[-1]).endswith(_COLONS):
        return 0
    count = 1
    for upper in reversed(above[-SPAN - 1 : -1]):
        head = _folded(upper)
        if not ("@" in head or _DATE.search(head)):
            break
        count += 1
    return count


def _lacks_a_colon(last: str) -> bool:
    """Whether all of an attribution stands in a line but its colon; it must have all the rest."""
    if not last.startswith(OPENERS) or "@" not in last or not _DIGIT.search(last):
        return False
    words = _WORDS.findall(last)
    return bool(words) and words[-1] in WROTE


def announces(line: str) -> bool:
    """Whether a line above a blank one announces what is quoted below that."""
    folded = _folded(line)
    return folded.endswith(_COLONS) and (folded.startswith(QUOTING) or is_dated(folded))


def is_dated(line: str) -> bool:
    """Whether a line names a day, an hour or an address, as mail programs do and few people."""
    return "@" in line or _DIGIT.search(line) is not None


def header_role(line: str) -> str:
    """``"from"``, ``"date"``, ``"to"`` or ``"subject"`` for a line of a quoted header block."""
    head = line[:40]
    for colon in _COLONS:
        label, found, _ = head.partition(colon)
        if found:
            return LABELS.get(label.strip(_EMPHASIS).casefold(), "")
    return ""


def _folded(line: str) -> str:
    if len(line) > _LONGEST:
        return ""
    return line.strip(_EMPHASIS).casefold()


def _complete(text: str) -> bool:
    """Whether an attribution's words are all there: someone wrote, or an address at a date."""
    if "@" in text and _DIGIT.search(text):
        return True
    return not WROTE.isdisjoint(_WORDS.findall(text)) or any(
        verb in text for verb in WROTE_UNSPACED
    )
