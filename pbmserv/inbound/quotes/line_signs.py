"""Recognises kinds of single lines: quoted lines, dividers, footers, goodbyes, header fields."""

from __future__ import annotations

import re

from pbmserv.inbound.quotes.phrases import (
    CLOSINGS,
    ENDINGS,
    LABELS,
)

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
"""White space and invisible characters; they may come before a quote mark."""

COLONS = (":", "\uff1a")  # ASCII and full width
EMPHASIS = BLANKS + "*_"

MARKER = "Reply above this line"
"""A line in all our letters. Nothing below it is new, even if the line is not marked as quoted."""

PLAIN_MARKS = (">", "\uff1e", "&gt;")
"""Marks of quoted lines that people seldom write for another purpose."""

_MARKER_WORDS = MARKER.casefold()
_QUOTE_MARKS = (
    *(*PLAIN_MARKS, "\ufe65", "»", "\u203a", "\u300b", "\u276f"),
    *("|", "¦", "\uff5c", "\u2502", "\u2503", "\u2551", "\u258c", "}"),
)
_INITIALS_LIMIT = 14
_IN_NAMES = str.maketrans("", "", "-.'\u2019 ")

_RULE = "_-=~*#+\u2550\u2501 "
_RULE_LENGTH = 10

# Characters that telephones and word processors write for a dash.
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

# Marks that programs write for bold and slanted letters, and for items of a list. A dash before a
# cell is not one of these: it is the command to remove a marker.
_ADORNMENTS = ("**", "__", "*", "_")
_ITEM = re.compile(
    r"(?:[\u2022\u2023\u25cf\u25e6\u00b7*]|[-\u2013](?=\s{1,4}(?:[a-z](?:[\s,]|$)|[+!?]|[a-z]{4})))"
    r"\s{1,4}(?=\S)",
    re.IGNORECASE,
)


def has_marker(folded: str) -> bool:
    """Return whether a line contains `MARKER`, with any blanks between its words."""
    return _MARKER_WORDS in " ".join(folded.split())


def is_quoted(shown: str) -> bool:
    """Return whether a line is marked as quoted."""
    if shown.startswith(_QUOTE_MARKS):
        return True
    # "Bob> …" and "BJ>> …", but not with digits, so that e2>e4 stays a move.
    mark = shown.find(">", 1, _INITIALS_LIMIT)
    return mark > 0 and shown[:mark].translate(_IN_NAMES).isalpha()


def ends_text(folded: str) -> bool:
    """Return whether a line begins a marked signature, a divider or a footer."""
    if folded in _SIGNATURE:
        return True
    dashed = folded if folded.isascii() else folded.translate(_DASHES)
    is_rule = len(dashed) >= _RULE_LENGTH and not dashed.strip(_RULE)
    # "-----Original Message-----" in any language, between rules of any kind
    is_framed = len(dashed) > 6 and dashed.startswith(_FRAMES) and dashed.endswith(_FRAMES)
    return is_rule or is_framed or dashed.startswith(ENDINGS)


def is_closing(shown: str) -> bool:
    """Return whether a line only says goodbye, as people do above their names."""
    return (
        len(shown) <= _CLOSING_LIMIT and shown.casefold().strip(f"{BLANKS},.!-\u2013") in CLOSINGS
    )


def is_address(shown: str) -> bool:
    """Return whether a line is an address, with or without its owner's name, and nothing else."""
    return len(shown) <= _ADDRESS_LIMIT and _ADDRESS.fullmatch(shown) is not None


def is_label(shown: str) -> bool:
    """Return whether a line is only the label of a header field; a single letter may be a move."""
    if not 1 < len(shown) <= _DATED_LIMIT:
        return False
    label = shown.strip(f"{BLANKS}*_:").casefold()
    return len(label) > 1 and label in LABELS


def header_role(line: str) -> str:
    """Return the role of a line in a quoted header block; ``""`` for other lines.

    The roles are ``"from"``, ``"date"``, ``"to"`` and ``"subject"``.
    """
    head = line[:40]
    for colon in COLONS:
        label, separator, _ = head.partition(colon)
        if separator:
            return LABELS.get(label.strip(EMPHASIS).casefold(), "")
    return ""


def is_of_a_header(shown: str) -> bool:
    """Return whether a line could belong to a header block without being sure evidence of one."""
    dated = len(shown) <= _DATED_LIMIT and _DATE.search(shown) is not None
    return dated or "@" in shown[:_ADDRESS_LIMIT] or is_label(shown) or bool(header_role(shown))


def unadorned(line: str) -> str:
    """Return a line without the marks that make all of it bold, slanted or an item of a list."""
    text = line.strip()
    item = _ITEM.match(text)
    text = text[item.end() :] if item else text
    for mark in _ADORNMENTS:
        inside = text[len(mark) : -len(mark)]
        if text == f"{mark}{inside}{mark}" and inside.strip() and mark[0] not in inside:
            text = inside.strip()
    indent = len(line) - len(line.lstrip())
    return line if text == line.strip() else line[:indent] + text
