"""Signs by which one line of a mail is known: quoted, the end of all that is new, advertising."""

from __future__ import annotations

import re

from pbmserv.inbound.quotes.attribution import BLANKS, header_role
from pbmserv.inbound.quotes.phrases import (
    ADVERTISED,
    ENDINGS,
    GREETINGS,
    LABELS,
    SENT_FROM,
    SENT_FROM_TAILS,
)

MARKER = "Reply above this line"
"""The line in every letter of ours below which nothing is new, wherever it stands unquoted."""

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
_SENT_FROM_LIMIT = 120

_FRAMES = ("--", "===", "***", "___")

_GREETING_LIMIT = 60
_GREETING_WORDS = 4

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
    return "above" in folded and _MARKER_WORDS in " ".join(folded.split())


def is_quoted(shown: str) -> bool:
    """Whether a line is marked as quoted."""
    if shown.startswith(_QUOTE_MARKS):
        return True
    # "Bob> …" and "BJ>> …"; digits are no initials, so e2>e4 stays a move.
    mark = shown.find(">", 1, _INITIALS_LIMIT)
    return mark > 0 and shown[:mark].translate(_IN_NAMES).isalpha()


def is_end(folded: str) -> bool:
    """Whether a signature, a divider or a footer begins here."""
    if folded in _SIGNATURE:
        return True
    folded = folded if folded.isascii() else folded.translate(_DASHES)
    if folded.startswith(ENDINGS):
        return True
    if len(folded) >= _RULE_LENGTH and not folded.strip(_RULE):
        return True
    # "-----Original Message-----" in any language, and with rules of any kind around it
    return len(folded) > 6 and folded.startswith(_FRAMES) and folded.endswith(_FRAMES)


def is_sent_from(folded: str) -> bool:
    """Whether a telephone or a program praises itself."""
    if len(folded) > _SENT_FROM_LIMIT:
        return False
    if folded.startswith(SENT_FROM) or folded.endswith(SENT_FROM_TAILS):
        return True
    return any(name in folded and any(map(folded.count, places)) for name, places in ADVERTISED)


def is_greeting(shown: str) -> bool:
    """Whether somebody is greeted and nothing is said."""
    if len(shown) > _GREETING_LIMIT or any(map(str.isdigit, shown)):
        return False
    words = shown.casefold().rstrip("!,.:;\uff0c\uff01\u3002 ").split()
    return len(words) <= _GREETING_WORDS and bool(words) and words[0].rstrip(",!") in GREETINGS


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
