"""Recognises attributions: the lines above a quote that say who wrote it, and when.

Most end with a colon and have a verb, or an address and a date, before it:

    On Mon, 3 Mar 2014 at 10:00, Bob <b@example.org> wrote:        Gmail
    Am 3. März 2014 um 10:00 schrieb Bob:                          Thunderbird, Apple Mail
    03.03.2014, 10:00, "Bob" <b@example.org>:                      Yandex
    2014年3月3日(月) 10:00 Bob <b@example.org>:                     Gmail

Programs wrap them at any blank, so that an attribution may have up to `SPAN` lines above its last
one. `lines_of_attribution` looks from the last line upward: first for the colon, then for the line
with the date or address, then for the line in which the date, or a name before it, begins.

Each question looks at no more than four lines of 600 characters, so a crafted mail cannot make it
expensive.
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.inbound.quotes.line_signs import COLONS, EMPHASIS
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

LONGEST = 600
"""Characters of an attribution."""

_MOST_COLONS = 8
"""Colons of a line that are looked at; a date, a time and a zone have four."""

# -- parts of patterns, for casefolded text ------------------------------------------------------

_YEAR = r"(?:19|20)[0-9]{2}"
_OPENER = f"(?:{'|'.join(map(re.escape, OPENERS))})"
_WEEKDAY = rf"(?:v )?(?:{'|'.join(map(re.escape, WEEKDAYS))})[.,]{{0,2}}"  # "mo.,", "v pon.,"
_MONTH = r"(?:[^\W\d_][^\s@<>]{0,15}|[0-9]{1,2}\.)"  # "märz", "mar.", "3."
_DAY = rf"[0-9]{{1,2}}[.,]? (?:de )?{_MONTH},? (?:de )?{_YEAR}"  # "3. märz 2014"
_ENGLISH_DAY = rf"[^\W\d_]{{3,10}} [0-9]{{1,2}}, {_YEAR}"  # "march 3, 2014"
_DOTTED_DAY = r"[0-9.]{6,10}"  # "3.3.2014"
_SHORT_WORD = r"[^\s\d@<>]{1,14}"  # "mon,"
_NAME_WORD = r"[^\W\d_][^\d\s<>:;,!?]{0,30}"  # "bob", "o'brien"
# The first words of verbs: "ezt írta", "a écrit", "ha scritto", "va escriure", "je napisao".
_NO_NAME = r"(?!(?:ezt|a|ha|va|je|hat|has) )"
_NAME = rf"{_NO_NAME}{_NAME_WORD}(?: {_NAME_WORD}){{0,3}}"
_NAME_VERB = f"(?:{'|'.join(sorted(map(re.escape, WROTE)))})"

# -- patterns ------------------------------------------------------------------------------------

DATED = re.compile(r"[@0-9]")
"""A sign of a date, a time or an address, which few people write above a quote themselves."""

_DATE_OR_TIME = re.compile(rf"{_YEAR}|[0-9]{{1,2}}[:.][0-9]{{2}}")
"""A year or a time, "10:00" or "10.00", in any language."""

_WORDS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"[0-9]")

# Beginnings of attributions, long enough that they cannot be anything else.

_YEAR_FIRST = re.compile(r"[0-9]{4}[-/.年]")
"""The year first: "2014-03-03 10:00 GMT+01:00 Bob <b@example.org>:", "2014年3月3日(月) 10:00"."""

_OPENED_WITH_YEAR = re.compile(rf"(?!de ){_OPENER}[^@:]{{0,30}}?{_YEAR}")
"""A word such as "on" and soon a year: "on mon, 3 mar 2014", "στις δευ, 3 μαρ 2014"."""

_WEEKDAY_BEGINS = re.compile(rf"{_WEEKDAY} (?:{_DAY}|{_YEAR}|{_DOTTED_DAY})|--- (?:on|am|le|el) ")
"""A weekday and a date, "man. 3. mar. 2014 kl. 10.00 skrev Bob:", or Yahoo's "--- On"."""

_OPENER_BEGINS = re.compile(
    rf"{_OPENER}\s?(?:giorno )?(?:{_SHORT_WORD} )?(?:{_DAY}|{_DOTTED_DAY}|{_ENGLISH_DAY})"
)
"""A word such as "on", perhaps a weekday, and a date: "il giorno lun 3 mar 2014"."""

_DAY_BEGINS = re.compile(_DAY)
"""A date alone: "3 марта 2014 г., 10:00 пользователь Bob написал:"."""

_DATES_FIRST = (_YEAR_FIRST, _OPENED_WITH_YEAR, _WEEKDAY_BEGINS, _DAY_BEGINS)

_NAME_BEGINS = re.compile(
    rf"{_NAME}(?:,? \(?< ?[^\s<>]{{0,80}}@| ?[于於] ?[0-9]| (?:ezt )?{_NAME_VERB}\b)"
)
"""A name with its address, "bob <b@example.org>", a Chinese date, "bob 于2014年", or a verb, "bob
schrieb", "bob ezt írta"."""

_NAME_AND_DATE = re.compile(rf"{_NAME}, {_DAY}")
"""A name and a date: "bob, 3 mar 2014 pzt, 10:00 tarihinde şunu yazdı:"."""

# Stamps: attributions with neither a verb nor a colon.

_LONGEST_STAMP = 200
_WHOLE_YEAR = re.compile(rf"\b{_YEAR}\b")
_STAMP_WORD = r"[^\s@,.!?]{1,30}"
_STAMP_NAME = rf"(?:\"[^\"@]{{0,60}}\"|{_STAMP_WORD}(?: {_STAMP_WORD}){{0,3}}|)"
_STAMP_ADDRESS = r"[<(]?[^\s@<>()]{1,64}@[^\s@<>()]{1,80}[>)]?"
_STAMP_DATE = r"[^@!?]{6,40}[0-9] ?:[0-9]{2}(?::[0-9]{2})?(?: ?[ap]\.?m\.?)?"
_STAMP = re.compile(rf"{_STAMP_NAME} ?{_STAMP_ADDRESS},? [-\u2013\u2014|,]? ?({_STAMP_DATE})")
"""A name, an address and a date: ``"Bob" bob@example.org - 3 March 2014 10:00 AM``."""


def lines_of_attribution(above: Sequence[str], shown: str) -> int:
    """Count the lines above `shown` that belong to an attribution whose last line is `shown`.

    Args:
        above: the lines directly above, nearest last; at most `SPAN` of them count.
        shown: the line, which is not quoted, without blanks around it.

    Returns:
        The number of lines of `above`; ``-1`` if `shown` does not end an attribution.
    """
    if len(shown) > LONGEST:
        return -1
    last_line = shown.casefold().strip(EMPHASIS)
    lines_above = [_folded(line) for line in above[-SPAN:]]
    if not last_line.endswith(COLONS):
        lines = 0 if _lacks_only_its_colon(last_line) else -1
    elif last_line.startswith(QUOTING):
        return 0
    elif last_line.rfind("(") > last_line.rfind(")"):
        return -1  # "Bob ezt írta (időpont:" with the date below it
    else:
        lines = _lines_up_to_date(lines_above, last_line)
    return lines if lines < 0 else _lines_up_to_beginning(lines_above, last_line, lines)


def _lines_up_to_date(lines_above: Sequence[str], last_line: str) -> int:
    """Count the lines above the last one up to the highest with a date, an address or an opener.

    For "On Mon, 3 Mar 2014" / "Bob <b@example.org>" / "wrote:" these are two lines. Returns ``-1``
    if even all lines together have no verb and no address.
    """
    is_complete = _has_verb_or_address(last_line)
    if is_complete and _begins_with_date(last_line):
        return 0
    lines = 0 if is_complete else -1
    joined = last_line
    for count, line in enumerate(reversed(lines_above), start=1):
        below, joined = joined, f"{line} {joined}"
        if len(joined) > LONGEST:
            break
        if not _has_verb_or_address(joined):
            continue
        is_opened = f"{line} ".startswith(OPENERS)
        completes_date = lines < 0 and _DATE_OR_TIME.search(below) is not None
        if is_opened or completes_date or "@" in line or _DATE_OR_TIME.search(line):
            lines = count
        if is_opened and _OPENED_WITH_YEAR.match(joined):
            break
    return lines


def _lines_up_to_beginning(lines_above: Sequence[str], last_line: str, lines: int) -> int:
    """Count the lines above the last one up to the beginning of an attribution.

    A line belongs to it if a date, or a name with its verb or address, begins in that line and ends
    in a line below: "Am Mo., 3." / "März 2014 schrieb Bob:", "Bob" / "<b@example.org> wrote:".

    Args:
        lines: the number of lines above the last one that surely belong to the attribution.
    """
    sure = " ".join((*lines_above[len(lines_above) - lines :], last_line))
    doubtful = ""  # lines above the sure ones that may belong to it
    for count in range(lines + 1, len(lines_above) + 1):
        line = lines_above[-count]
        doubtful = f"{line} {doubtful}"
        joined = doubtful + sure
        if not line or len(joined) > LONGEST:
            break
        if _begins_with_date(sure):
            beginning = _beginning_above_date(line, joined, sure)
        else:
            beginning = _beginning_above_name(line, joined, sure)
        if beginning is not None and beginning.end() > len(doubtful):
            lines, sure, doubtful = count, joined, ""
    return lines


def _beginning_above_date(line: str, joined: str, sure: str) -> re.Match[str] | None:
    """Match the words with which an attribution begins in `line`, if a date is below it.

    Only a weekday, the word "on" or a name can come before a date.

    Args:
        joined: `line` and all lines below it.
        sure: the part of `joined` that surely belongs to the attribution.
    """
    beginning = _WEEKDAY_BEGINS.match(joined)
    if beginning is None and not sure.startswith(OPENERS):
        beginning = _OPENER_BEGINS.match(joined)
    if beginning is None and line.endswith(",") and _could_be_name(line):
        beginning = _NAME_AND_DATE.match(joined)
    if beginning is None and sure[0] in "于於2":  # "Bob" / "于2014年3月3日周一 10:00"
        beginning = _NAME_BEGINS.match(joined)
    return beginning


def _beginning_above_name(line: str, joined: str, sure: str) -> re.Match[str] | None:
    """Match the date or the name with which an attribution begins in `line`.

    Args:
        joined, sure: see `_beginning_above_date`.
    """
    beginning = _WEEKDAY_BEGINS.match(joined) or _DAY_BEGINS.match(joined)
    if beginning is None and _NAME_BEGINS.match(sure) is None and _could_be_name(line):
        beginning = _NAME_BEGINS.match(joined) or _NAME_AND_DATE.match(joined)
    return beginning


def _begins_with_date(text: str) -> bool:
    """Return whether a text begins like an attribution with the date first."""
    return any(begins.match(text) for begins in _DATES_FIRST)


def _could_be_name(line: str) -> bool:
    """Return whether a line could be a name, and is neither a greeting nor a goodbye."""
    words = line.split()
    return line.rstrip(",") not in CLOSINGS and words[0].rstrip(",!") not in GREETINGS


def continues_attribution(shown: str) -> bool:
    """Return whether a line below an attribution is its rest: a colon, or a date with a colon."""
    folded = _folded(shown)
    if not folded.endswith(COLONS):
        return False
    return folded in COLONS or _DATE_OR_TIME.search(folded) is not None


def has_quote_behind_attribution(line: str) -> bool:
    """Return whether a line begins with an attribution and goes on with the quote.

    Programs that lose line ends write "On Mon, 3 Mar 2014, Bob wrote: Your move on board 1".
    """
    head = line[:LONGEST].strip(EMPHASIS).casefold()
    if not (head.startswith(OPENERS) or _YEAR_FIRST.match(head)) or not _DIGIT.search(head):
        return False
    at = -1
    for _ in range(_MOST_COLONS):
        at = head.find(": ", at + 1)
        if at < 0:
            return False
        if _DIGIT.search(head, 0, at) and _has_verb_or_address(head[:at]):
            return True
    return False


def lines_announcing_quote(above: Sequence[str]) -> int:
    """Count the lines directly above a quote that announce it, in any language.

    These are a line that ends with a colon, and lines above that one with a date or an address.
    """
    if not above:
        return 0
    if not _folded(above[-1]).endswith(COLONS):
        return lines_of_stamp(above)
    count = 1
    for line in reversed(above[-SPAN - 1 : -1]):
        folded = _folded(line)
        if not ("@" in folded or _DATE_OR_TIME.search(folded)):
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
    for count, line in enumerate(reversed(above[-SPAN:]), start=1):
        folded = _folded(line)
        joined = f"{folded} {joined}".rstrip()
        if len(joined) > _LONGEST_STAMP:
            break
        if _is_stamp(joined) and (not lines or folded.startswith('"')):
            lines = count
    return lines


def _is_stamp(folded: str) -> bool:
    """Return whether a text is only a name, an address, a day with its year, and a time."""
    stamp = _STAMP.fullmatch(folded)
    return stamp is not None and _WHOLE_YEAR.search(stamp[1]) is not None


def _lacks_only_its_colon(folded: str) -> bool:
    """Return whether a line is an attribution without its colon: "On 3 Mar b@b.example wrote"."""
    if not folded.startswith(OPENERS) or "@" not in folded or not _DIGIT.search(folded):
        return False
    words = _WORDS.findall(folded)
    return bool(words) and words[-1] in WROTE


def announces_quote(line: str) -> bool:
    """Return whether a line announces a quote that follows below a blank line.

    It ends with a colon, and has a digit or an address: "Bob, 3.3.14:", "b@example.org:".
    """
    folded = _folded(line)
    names_writer = folded.startswith(QUOTING) or DATED.search(folded) is not None
    return names_writer and folded.endswith(COLONS)


def _folded(line: str) -> str:
    """Return a line casefolded, without marks of bold letters; ``""`` for one that is too long."""
    if len(line) > LONGEST:
        return ""
    return line.strip(EMPHASIS).casefold()


def _has_verb_or_address(text: str) -> bool:
    """Return whether a text has a verb of attributions, or an address and a digit."""
    if "@" in text and _DIGIT.search(text):
        return True
    if not WROTE.isdisjoint(_WORDS.findall(text)):
        return True
    return not text.isascii() and any(verb in text for verb in WROTE_UNSPACED)
