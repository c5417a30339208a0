"""Recognises attributions: the lines above a quote that say who wrote it, and when.

Each question looks at no more than four lines of 600 characters, so a crafted mail cannot make it
expensive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.inbound.quotes.line_signs import BLANKS, COLONS, EMPHASIS, is_quoted
from pbmserv.inbound.quotes.phrases import (
    CLOSINGS,
    GREETINGS,
    OPENERS,
    QUOTING,
    WEEKDAYS,
    WROTE,
    WROTE_UNSPACED,
)

SPAN = 3
"""Lines that an attribution may have above its last one."""

_LONGEST = 600
_COLONS_LIMIT = 8  # a date, a time and a zone have four

_DATE_OR_TIME = re.compile(r"(?:19|20)[0-9]{2}|[0-9]{1,2}[:.][0-9]{2}")
_YEAR_FIRST = re.compile(r"[0-9]{4}[-/.年]")
_WORDS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"[0-9]")
DATED = re.compile(r"[@0-9]")
"""A sign of a date, a time or an address, which few people write above a quote themselves."""


# Beginnings of attributions, long enough that they cannot be anything else.
_OPENED_WITH_YEAR = re.compile(
    rf"(?!de )(?:{'|'.join(map(re.escape, OPENERS))})[^@:]{{0,30}}?(?:19|20)[0-9]{{2}}"
)
_WEEKDAY = rf"(?:v )?(?:{'|'.join(map(re.escape, WEEKDAYS))})[.,]{{0,2}}"
_DAY = (
    r"[0-9]{1,2}[.,]? (?:de )?(?:[^\W\d_][^\s@<>]{0,15}|[0-9]{1,2}\.),? (?:de )?(?:19|20)[0-9]{2}"
)
_WEEKDAY_BEGINS = re.compile(
    rf"{_WEEKDAY} (?:{_DAY}|(?:19|20)[0-9]{{2}}|[0-9.]{{6,10}})|--- (?:on|am|le|el) "
)
_OPENER_BEGINS = re.compile(
    rf"(?:{'|'.join(map(re.escape, OPENERS))})\s?(?:giorno )?(?:[^\s\d@<>]{{1,14}} )?"
    rf"(?:{_DAY}|[0-9.]{{6,10}}|[^\W\d_]{{3,10}} [0-9]{{1,2}}, (?:19|20)[0-9]{{2}})"
)
_DAY_BEGINS = re.compile(_DAY)
_DATES_FIRST = (_YEAR_FIRST, _OPENED_WITH_YEAR, _WEEKDAY_BEGINS, _DAY_BEGINS)
_NAME_WORD = r"[^\W\d_][^\d\s<>:;,!?]{0,30}"
_NAME = rf"(?!(?:ezt|a|ha|va|je|hat|has) ){_NAME_WORD}(?: {_NAME_WORD}){{0,3}}"
_NAME_VERBS = "|".join(sorted(map(re.escape, WROTE)))
_NAME_BEGINS = re.compile(
    rf"{_NAME}(?:,? \(?< ?[^\s<>]{{0,80}}@| ?[于於] ?[0-9]| (?:ezt )?(?:{_NAME_VERBS})\b)"
)
_NAME_AND_DATE = re.compile(rf"{_NAME}, {_DAY}")
_NO_ADDRESS = re.compile(r"[\s<>]")

_LONGEST_STAMP = 200
_YEAR = re.compile(r"\b(?:19|20)[0-9]{2}\b")
_STAMP = re.compile(
    r"(?:\"[^\"@]{0,60}\"|[^\s@,.!?]{1,30}(?: [^\s@,.!?]{1,30}){0,3}|) ?"
    r"[<(]?[^\s@<>()]{1,64}@[^\s@<>()]{1,80}[>)]?"
    r",? [-\u2013\u2014|,]? ?([^@!?]{6,40}[0-9] ?:[0-9]{2}(?::[0-9]{2})?(?: ?[ap]\.?m\.?)?)"
)


def lines_of_attribution(above: Sequence[str], shown: str) -> int:
    """Count the lines above `shown` that belong to an attribution whose last line is `shown`.

    Args:
        above: the lines directly above, nearest last; at most `SPAN` of them count.
        shown: the line, which is not quoted, without blanks around it.

    Returns:
        The number of lines of `above`; ``-1`` if `shown` does not end an attribution.
    """
    if len(shown) > _LONGEST:
        return -1
    last = shown.casefold().strip(EMPHASIS)
    upper = [_folded(line) for line in above[-SPAN:]]
    if not last.endswith(COLONS):
        return _with_its_beginning(upper, last, 0) if _lacks_a_colon(last) else -1
    if last.startswith(QUOTING):
        return 0
    if last.rfind("(") > last.rfind(")"):  # "Bob ezt írta (időpont:" with the date below it
        return -1
    return _with_its_beginning(upper, last, _lines_to_its_date(upper, last))


def _lines_to_its_date(upper: Sequence[str], last: str) -> int:
    """Count the lines above the last one up to the highest with a date, an address or an opener.

    Returns ``-1`` if the attribution is incomplete even with all of them.
    """
    alone = _complete(last)
    if alone and _begins_with_date(last):
        return 0
    joined = last
    lines = 0 if alone else -1
    for count, head in enumerate(reversed(upper), start=1):
        rest, joined = joined, f"{head} {joined}"
        if len(joined) > _LONGEST:
            break
        if not _complete(joined):
            continue
        is_opened = f"{head} ".startswith(OPENERS)
        has_verb = lines < 0 and _DATE_OR_TIME.search(rest) is not None
        if is_opened or has_verb or "@" in head or _DATE_OR_TIME.search(head):
            lines = count
        if is_opened and _OPENED_WITH_YEAR.match(joined):
            break
    return lines


def _with_its_beginning(upper: Sequence[str], last: str, lines: int) -> int:
    """Add lines above that hold the beginning of a wrapped attribution.

    A line belongs to it if a date, or a name with its verb or address, begins in that line and ends
    in the lines below.
    """
    if lines < 0:
        return lines
    rest = " ".join((*upper[len(upper) - lines :], last))
    broken_off = ""
    for count in range(lines + 1, len(upper) + 1):
        head = upper[-count]
        broken_off = f"{head} {broken_off}"
        joined = broken_off + rest
        if not head or len(joined) > _LONGEST:
            break
        begins = _broken_beginning(head, joined, rest)
        if begins is not None and begins.end() > len(broken_off):
            lines, rest, broken_off = count, joined, ""
    return lines


def _broken_beginning(head: str, joined: str, rest: str) -> re.Match[str] | None:
    """Match the date or the name with which an attribution begins in `head`.

    Args:
        joined: `head` and all lines below it.
        rest: the part of `joined` that surely belongs to the attribution.
    """
    if _begins_with_date(rest):  # only a weekday or a name can come before a date
        begins = _WEEKDAY_BEGINS.match(joined)
        if begins is None and not rest.startswith(OPENERS):
            begins = _OPENER_BEGINS.match(joined)
        if begins is None and head.endswith(",") and _could_be_name(head):
            begins = _NAME_AND_DATE.match(joined)
        return begins or (_NAME_BEGINS.match(joined) if rest[0] in "于於2" else None)
    if (begins := _WEEKDAY_BEGINS.match(joined) or _DAY_BEGINS.match(joined)) is not None:
        return begins
    if _NAME_BEGINS.match(rest) is None and _could_be_name(head):
        return _NAME_BEGINS.match(joined) or _NAME_AND_DATE.match(joined)
    return None


def _begins_with_date(text: str) -> bool:
    """Return whether a text begins like an attribution with the date first."""
    return any(begins.match(text) for begins in _DATES_FIRST)


def _could_be_name(head: str) -> bool:
    """Return whether a line could be a name, and is neither a greeting nor a goodbye."""
    words = head.split()
    return head.rstrip(",") not in CLOSINGS and words[0].rstrip(",!") not in GREETINGS


def mend_attributions(lines: Sequence[str]) -> list[str]:
    """Return the lines of a mail with each ``>`` that ends an address moved back to the address.

    Mail programs may wrap a long attribution just before the ``>`` of an address. The rest of the
    attribution then looks like a quoted line. A ``>`` is moved only if that completes an
    attribution, so a quoted line never loses its mark.
    """
    mended: list[str] = []
    for at, line in enumerate(lines):
        shown = line.strip(BLANKS) if ">" in line else ""
        closing = _closing_marks(mended, shown) if shown.startswith(">") else 0
        if not closing:
            mended.append(line)
            continue
        above = [*mended[-SPAN:-1], mended[-1].rstrip() + ">" * closing]
        rest = shown[closing:].strip(BLANKS)
        if not _is_completed(above, rest, lines[at + 1 : at + SPAN]):
            mended.append(line)
            continue
        mended[-1] = above[-1]
        if rest:
            mended.append(rest)
    return mended


def _closing_marks(above: Sequence[str], shown: str) -> int:
    """Count the ``>`` at the beginning of a line that close addresses in the line above."""
    if not above or not above[-1] or len(above[-1]) > _LONGEST or is_quoted(above[-1].strip()):
        return 0
    line = above[-1]
    if len(above) > 1 and above[-2].rstrip(BLANKS).endswith("<"):
        line = f"<{line.strip(BLANKS)}"
    _, bracket, address = line.rstrip(f"{BLANKS}>").rpartition("<")
    if not bracket or "@" not in address or _NO_ADDRESS.search(address):
        return 0
    near = "".join(above[-SPAN:])
    opened = near.count("<") - near.count(">")
    return min(opened, len(shown) - len(shown.lstrip(">")))


def _is_completed(above: Sequence[str], rest: str, below: Sequence[str]) -> bool:
    """Return whether `rest`, or a line soon below it, ends an attribution that began in `above`."""
    read = [*above]
    for line in (rest, *below):
        shown = line.strip(BLANKS)
        if shown.startswith(">") and _closing_marks(read, shown):
            shown = shown.lstrip(">").strip(BLANKS)
        if shown and not is_quoted(shown):
            if lines_of_attribution(read, shown) >= len(read) - len(above) + 1:
                return True
        elif line is not rest:
            return False
        if shown:
            read.append(shown)
    return False


def continues_attribution(shown: str) -> bool:
    """Return whether a line below an attribution is its rest: a colon, or a date with a colon."""
    last = _folded(shown)
    if not last.endswith(COLONS):
        return False
    return last in COLONS or _DATE_OR_TIME.search(last) is not None


def quotes_behind(line: str) -> bool:
    """Return whether an attribution begins `line` and what it quotes follows on the same line."""
    head = line[:_LONGEST].strip(EMPHASIS).casefold()
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
    """Count the lines directly above a quote that announce it, in any language.

    These are a line that ends with a colon, and lines above that one with a date or an address.
    """
    if not above:
        return 0
    if not _folded(above[-1]).endswith(COLONS):
        return lines_of_stamp(above)
    count = 1
    for upper in reversed(above[-SPAN - 1 : -1]):
        head = _folded(upper)
        if not ("@" in head or _DATE_OR_TIME.search(head)):
            break
        count += 1
    return count


def lines_of_stamp(above: Sequence[str]) -> int:
    """Count the lines above a quote that hold only its writer and the time.

    Some programs write ``"Bob" bob@example.org - 3 March 2014 10:00 AM``, without a verb or a
    colon.
    """
    joined = ""
    lines = 0
    for count, upper in enumerate(reversed(above[-SPAN:]), start=1):
        head = _folded(upper)
        joined = f"{head} {joined}".rstrip()
        if len(joined) > _LONGEST_STAMP:
            break
        if _is_stamp(joined) and (not lines or head.startswith('"')):
            lines = count
    return lines


def _is_stamp(folded: str) -> bool:
    """Return whether a text is only a name, an address, a day with its year, and a time."""
    stamp = _STAMP.fullmatch(folded)
    return stamp is not None and _YEAR.search(stamp[1]) is not None


def _lacks_a_colon(last: str) -> bool:
    """Return whether a line is a whole attribution that only lacks its colon."""
    if not last.startswith(OPENERS) or "@" not in last or not _DIGIT.search(last):
        return False
    words = _WORDS.findall(last)
    return bool(words) and words[-1] in WROTE


def announces(line: str) -> bool:
    """Return whether a line announces a quote that follows below a blank line."""
    folded = _folded(line)
    announced = folded.startswith(QUOTING) or DATED.search(folded) is not None
    return announced and folded.endswith(COLONS)


def _folded(line: str) -> str:
    if len(line) > _LONGEST:
        return ""
    return line.strip(EMPHASIS).casefold()


def _complete(text: str) -> bool:
    """Return whether a text has the words of an attribution: a verb, or an address and a digit."""
    if "@" in text and _DIGIT.search(text):
        return True
    if not WROTE.isdisjoint(_WORDS.findall(text)):
        return True
    return not text.isascii() and any(verb in text for verb in WROTE_UNSPACED)
