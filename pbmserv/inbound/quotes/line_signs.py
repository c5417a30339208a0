"""Recognises kinds of single lines: quoted lines, dividers, footers, goodbyes, header fields.

A function takes one line, and none of the lines around it. Its argument `shown` is a line without
the blanks around it, `folded` is the same casefolded. docs/reading.md has examples of each kind.
"""

from __future__ import annotations

import re

from pbmserv.inbound.quotes.phrases import CLOSINGS, ENDINGS, LABELS

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

COLONS = (":", "\uff1a")
"""The colon of ASCII, and the wide one of Chinese and Japanese programs."""

EMPHASIS = BLANKS + "*_"
"""Characters around a line that a program writes in bold: "*Von:* Bob" (Outlook's HTML as text)."""

MARKER = "Reply above this line"
"""A line in all our letters. Nothing below it is new, even if the line is not marked as quoted."""
_MARKER_WORDS = MARKER.casefold()

# -- quoted lines ------------------------------------------------------------------------------

PLAIN_MARKS = (">", "\uff1e", "&gt;")
"""Marks of quoted lines that people seldom write for another purpose: "> Your move"."""

_OTHER_MARKS = (
    *("\ufe65", "»", "\u203a", "\u300b", "\u276f"),  # angles of other alphabets: "» Your move"
    *("|", "¦", "\uff5c", "\u2502", "\u2503", "\u2551", "\u258c", "}"),  # "| Your move"
)
"""Marks of quoted lines with which people also draw boards and tables."""

_QUOTE_MARKS = PLAIN_MARKS + _OTHER_MARKS
_LONGEST_INITIALS = 13
"""Characters of a name before the mark, "Bob> Your move" (The Bat!, Gnus)."""
_INSIDE_NAMES = str.maketrans("", "", "-.'\u2019 ")

# -- dividers ----------------------------------------------------------------------------------

_DASHES = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500\ufe63\uff0d", "-")
)
"""Characters that telephones and word processors write for a dash."""

_SIGNATURE = frozenset(("--", "\u2013", "\u2014"))
"""The line above a signature, "-- " (RFC 3676 section 4.3), of which a telephone makes one dash."""

_OF_RULES = "_-=~*#+\u2550\u2501 "
_SHORTEST_RULE = 10
"""A rule of at least ten such characters ends the text: "________________________________"
(Outlook)."""

_FRAMES = ("--", "===", "***", "___")
_SHORTEST_FRAMED = 7
"""Words between two frames end the text in any language: "-----Original Message-----" (Outlook),
"---------- Forwarded message ---------" (Gmail)."""

# -- goodbyes, addresses, header fields ----------------------------------------------------------

_LONGEST_CLOSING = 60

_LONGEST_ADDRESS = 200
_MAILBOX = r"[^<>@\s]{1,80}@[^<>@\s]{1,80}"
_ADDRESS = re.compile(rf"(?:[^<>@]{{0,100}}<)?(?:mailto:)?{_MAILBOX}>?")
"""A line with only an address: "bob@example.org", "Bob <mailto:bob@example.org>" (Outlook)."""

_LONGEST_LABEL = 60
_LONGEST_DATE = 60
_DATE = re.compile(r"(?:19|20)[0-9]{2}|[0-9]{1,2}[:./-][0-9]{1,2}[:./-][0-9]{2}")
"""A year, or three numbers as in "3.3.14" and "10:00:00"."""

# -- bold lines and lists ------------------------------------------------------------------------

_EMPHASIS_MARKS = ("**", "__", "*", "_")
"""Marks around bold and slanted words, by programs that turn HTML into text: "*g,+b2*" (Gmail)."""

_ITEM = re.compile(
    r"""
    (?:
        [\u2022\u2023\u25cf\u25e6\u00b7*]   # "• g,+b2" (Apple Mail), "*  g,+b2" (Outlook)
      | [-\u2013](?=\s{1,4}(?:            # "- g,+b2": a dash with one of these behind it:
            [a-z](?:[\s,]|$)              #     a port,
          | [+!?]                         #     a marker, a seal or a guess,
          | [a-z]{4}                      #     a word such as "resign".
        ))                                #   Not "- b2", which removes a marker.
    )
    \s{1,4}(?=\S)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The mark of an item in a list."""


def has_marker(folded: str) -> bool:
    """Return whether a line contains `MARKER`, with any blanks between its words."""
    return _MARKER_WORDS in " ".join(folded.split())


def is_quoted(shown: str) -> bool:
    """Return whether a line is marked as quoted."""
    if shown.startswith(_QUOTE_MARKS):
        return True
    # "Bob> …" and "BJ>> …", but not with digits, so that e2>e4 stays a move.
    mark = shown.find(">", 1, _LONGEST_INITIALS + 1)
    return mark > 0 and shown[:mark].translate(_INSIDE_NAMES).isalpha()


def ends_text(folded: str) -> bool:
    """Return whether a line begins a marked signature, a divider or a footer."""
    if folded in _SIGNATURE:
        return True
    dashed = folded if folded.isascii() else folded.translate(_DASHES)
    is_rule = len(dashed) >= _SHORTEST_RULE and not dashed.strip(_OF_RULES)
    is_framed = (
        len(dashed) >= _SHORTEST_FRAMED and dashed.startswith(_FRAMES) and dashed.endswith(_FRAMES)
    )
    return is_rule or is_framed or dashed.startswith(ENDINGS)


def is_closing(shown: str) -> bool:
    """Return whether a line only says goodbye, as people do above their names."""
    if len(shown) > _LONGEST_CLOSING:
        return False
    return shown.casefold().strip(f"{BLANKS},.!-\u2013") in CLOSINGS


def is_address(shown: str) -> bool:
    """Return whether a line is an address, with or without its owner's name, and nothing else."""
    return len(shown) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(shown) is not None


def is_label(shown: str) -> bool:
    """Return whether a line is only the label of a header field; a single letter may be a move."""
    if not 1 < len(shown) <= _LONGEST_LABEL:
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
    has_date = len(shown) <= _LONGEST_DATE and _DATE.search(shown) is not None
    has_address = "@" in shown[:_LONGEST_ADDRESS]
    return has_date or has_address or is_label(shown) or bool(header_role(shown))


def unadorned(line: str) -> str:
    """Return a line without the marks that make all of it bold, slanted or an item of a list."""
    text = line.strip()
    item = _ITEM.match(text)
    text = text[item.end() :] if item else text
    for mark in _EMPHASIS_MARKS:
        inside = text[len(mark) : -len(mark)]
        if text == f"{mark}{inside}{mark}" and inside.strip() and mark[0] not in inside:
            text = inside.strip()
    indent = len(line) - len(line.lstrip())
    return line if text == line.strip() else line[:indent] + text
