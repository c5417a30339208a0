"""Signs by which one line of a mail is known: quoted or announcing a quote, the end, advertising.

Every question is answered from at most four lines of at most 600 characters, so a crafted mail
cannot make one expensive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.inbound.quotes.phrases import (
    CLOSINGS,
    ENDINGS,
    GREETINGS,
    LABELS,
    OPENERS,
    QUOTING,
    WEEKDAYS,
    WROTE,
    WROTE_UNSPACED,
)

# -- what announces a quote --------------------------------------------------------------------


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

_DATE_OR_TIME = re.compile(r"(?:19|20)[0-9]{2}|[0-9]{1,2}[:.][0-9]{2}")
_YEAR_FIRST = re.compile(r"[0-9]{4}[-/.年]")
_WORDS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"[0-9]")
DATED = re.compile(r"[@0-9]")
"""In a line that names a day, an hour or an address, as mail programs do and few people."""


# How an attribution begins, up to where it cannot be anything else.
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

_COLONS = (":", "\uff1a")  # ASCII, and as wide as a Chinese character
_EMPHASIS = BLANKS + "*_"


def lines_of_attribution(above: Sequence[str], shown: str) -> int:
    """Count the lines above `shown` that belong to the attribution that it ends.

    Args:
        above: the lines directly above, nearest last; at most `SPAN` of them count.
        shown: the line, which is not quoted, without blanks around it.

    Returns:
        The number of lines of `above` that belong to it, ``-1`` if the line ends none.
    """
    if len(shown) > _LONGEST:
        return -1
    last = shown.casefold().strip(_EMPHASIS)
    upper = [_folded(line) for line in above[-SPAN:]]
    if not last.endswith(_COLONS):
        return _with_its_beginning(upper, last, 0) if _lacks_a_colon(last) else -1
    if last.startswith(QUOTING):
        return 0
    if last.rfind("(") > last.rfind(")"):  # "Bob ezt írta (időpont:", and the date follows below
        return -1
    return _with_its_beginning(upper, last, _lines_to_its_date(upper, last))


def _lines_to_its_date(upper: Sequence[str], last: str) -> int:
    """Count the lines above the last one up to the highest that has a date, an address or an
    opener; ``-1`` if even all of them say too little."""
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
    """Add the lines above that a mail program broke off the beginning of an attribution.

    A line is one if a date, or a name with its verb or address, begins in it and ends below.
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
        rest: the part of `joined` that is known to belong to the attribution.
    """
    if _begins_with_date(rest):  # of which only a weekday or a name can stand above
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
    """Whether a text begins as attributions do that begin with a date."""
    return any(begins.match(text) for begins in _DATES_FIRST)


def _could_be_name(head: str) -> bool:
    """Whether a line could be a name, and neither greets nor says goodbye."""
    words = head.split()
    return head.rstrip(",") not in CLOSINGS and words[0].rstrip(",!") not in GREETINGS


def mend_attributions(lines: Sequence[str]) -> list[str]:
    """Return the lines of a mail with each ``>`` that ends an address back on the address's line.

    Mail programs break a long attribution in front of the ``>`` of an address. The rest of the
    attribution then looks like a quoted line. A ``>`` moves only where an attribution is complete
    with it, so a quoted line never loses its mark.
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
    """Whether `rest`, or a line soon below it, ends an attribution that began in `above`."""
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
    """Whether a line below an attribution is the rest of it: its colon, or a date with one."""
    last = _folded(shown)
    if not last.endswith(_COLONS):
        return False
    return last in _COLONS or _DATE_OR_TIME.search(last) is not None


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
    if not above:
        return 0
    if not _folded(above[-1]).endswith(_COLONS):
        return lines_of_stamp(above)
    count = 1
    for upper in reversed(above[-SPAN - 1 : -1]):
        head = _folded(upper)
        if not ("@" in head or _DATE_OR_TIME.search(head)):
            break
        count += 1
    return count


def lines_of_stamp(above: Sequence[str]) -> int:
    """Count the lines above a quote that hold nothing but who wrote it and when.

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
    """Whether a name, an address, a day with its year and a time are all that a text holds."""
    stamp = _STAMP.fullmatch(folded)
    return stamp is not None and _YEAR.search(stamp[1]) is not None


def _lacks_a_colon(last: str) -> bool:
    """Whether all of an attribution stands in a line but its colon; it must have all the rest."""
    if not last.startswith(OPENERS) or "@" not in last or not _DIGIT.search(last):
        return False
    words = _WORDS.findall(last)
    return bool(words) and words[-1] in WROTE


def announces(line: str) -> bool:
    """Whether a line above a blank one announces what is quoted below that."""
    folded = _folded(line)
    announced = folded.startswith(QUOTING) or DATED.search(folded) is not None
    return announced and folded.endswith(_COLONS)


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
    if not WROTE.isdisjoint(_WORDS.findall(text)):
        return True
    return not text.isascii() and any(verb in text for verb in WROTE_UNSPACED)


# -- single lines ------------------------------------------------------------------------------


MARKER = "Reply above this line"
"""The line in all our letters below which nothing is new, wherever it stands unquoted."""

PLAIN_MARKS = (">", "\uff1e", "&gt;")
"""What all programs understand as the mark of a quoted line, and people seldom write there."""

_MARKER_WORDS = MARKER.casefold()
_QUOTE_MARKS = (
    *(*PLAIN_MARKS, "\ufe65", "»", "\u203a", "\u300b", "\u276f"),
    *("|", "¦", "\uff5c", "\u2502", "\u2503", "\u2551", "\u258c", "}"),
)
_INITIALS_LIMIT = 14
_IN_NAMES = str.maketrans("", "", "-.'\u2019 ")

_RULE = "_-=~*#+\u2550\u2501 "
_RULE_LENGTH = 10

# What telephones and word processors make of dashes.
_DASHES = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500\ufe63\uff0d", "-")
)
_SIGNATURE = frozenset(("--", "\u2013", "\u2014"))
_FRAMES = ("--", "===", "***", "___")

_CLOSING_LIMIT = 60

_ADDRESS_LIMIT = 200
_ADDRESS = re.compile(r"(?:[^<>@]{0,100}<)?(?:mailto:)?[^<>@\s]{1,80}@[^<>@\s]{1,80}>?")
_DATED_LIMIT = 60
_DATE = re.compile(r"(?:19|20)[0-9]{2}|[0-9]{1,2}[:./-][0-9]{1,2}[:./-][0-9]{2}")

# What programs make of bold and slanted letters, and of the items of a list. Behind a dash a
# cell could follow, whose marker is to be taken away: then it is no item.
_ADORNMENTS = ("**", "__", "*", "_")
_ITEM = re.compile(
    r"(?:[\u2022\u2023\u25cf\u25e6\u00b7*]|[-\u2013](?=\s{1,4}(?:[a-z](?:[\s,]|$)|[+!?]|[a-z]{4})))"
    r"\s{1,4}(?=\S)",
    re.IGNORECASE,
)


def has_marker(folded: str) -> bool:
    """Whether `MARKER` stands in a line, whatever its blanks have become."""
    return _MARKER_WORDS in " ".join(folded.split())


def is_quoted(shown: str) -> bool:
    """Whether a line is marked as quoted."""
    if shown.startswith(_QUOTE_MARKS):
        return True
    # "Bob> …" and "BJ>> …"; digits are no initials, so e2>e4 stays a move.
    mark = shown.find(">", 1, _INITIALS_LIMIT)
    return mark > 0 and shown[:mark].translate(_IN_NAMES).isalpha()


def ends_text(folded: str) -> bool:
    """Whether a marked signature, a divider or a footer begins with a line."""
    if folded in _SIGNATURE:
        return True
    dashed = folded if folded.isascii() else folded.translate(_DASHES)
    is_rule = len(dashed) >= _RULE_LENGTH and not dashed.strip(_RULE)
    # "-----Original Message-----" in any language, and with rules of any kind around it
    is_framed = len(dashed) > 6 and dashed.startswith(_FRAMES) and dashed.endswith(_FRAMES)
    return is_rule or is_framed or dashed.startswith(ENDINGS)


def is_closing(shown: str) -> bool:
    """Whether a line only says goodbye, as above a name."""
    return (
        len(shown) <= _CLOSING_LIMIT and shown.casefold().strip(f"{BLANKS},.!-\u2013") in CLOSINGS
    )


def is_address(shown: str) -> bool:
    """Whether an address is all that stands in a line, with or without its owner's name."""
    return len(shown) <= _ADDRESS_LIMIT and _ADDRESS.fullmatch(shown) is not None


def is_label(shown: str) -> bool:
    """Whether the label of a header field stands alone in a line; one letter may be a move."""
    if not 1 < len(shown) <= _DATED_LIMIT:
        return False
    label = shown.strip(f"{BLANKS}*_:").casefold()
    return len(label) > 1 and label in LABELS


def is_of_a_header(shown: str) -> bool:
    """Whether a line could belong to a header block that is known only from what else is in it."""
    dated = len(shown) <= _DATED_LIMIT and _DATE.search(shown) is not None
    return dated or "@" in shown[:_ADDRESS_LIMIT] or is_label(shown) or bool(header_role(shown))


def unadorned(line: str) -> str:
    """A line that is bold or slanted as a whole, or an item of a list, without the marks of it."""
    text = line.strip()
    item = _ITEM.match(text)
    text = text[item.end() :] if item else text
    for mark in _ADORNMENTS:
        inside = text[len(mark) : -len(mark)]
        if text == f"{mark}{inside}{mark}" and inside.strip() and mark[0] not in inside:
            text = inside.strip()
    indent = len(line) - len(line.lstrip())
    return line if text == line.strip() else line[:indent] + text
