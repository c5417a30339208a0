"""Filters of the templates that format sentences, tables, moments and words; see also `grids`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from pbmserv.commands.grammar.words import typed
from pbmserv.drawing.text import WIDTH
from pbmserv.engine.time_spans import zone
from pbmserv.errors import is_form
from pbmserv.plurals import counted, pluralize

_BETWEEN = "  "
_INDENT = "  "
_NARROWEST = 8
"""Columns to which a column of a table that is too wide may shrink."""

_DEFINED = re.compile(r"  (\S+(?: {1,2}\S+)*) {2,}([^\s|](?:(?!  ).)*)")
_GOES_ON = re.compile(r" {4,}[^\s|].*")


def aligned(text: str) -> str:
    """Format lines of cells, separated by ``|``, as a table; the first line has the headings.

    Columns of numbers are aligned to the right. If the table is wider than `WIDTH` columns, the
    widest column shrinks, and its cells continue in lines below.
    """
    rows = [
        [cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.strip()
    ]
    if not rows:
        return ""
    count = max(map(len, rows))
    rows = [row + [""] * (count - len(row)) for row in rows]
    columns = list(zip(*rows, strict=True))
    widths = _widths([max(1, *map(len, column)) for column in columns], WIDTH)
    right = [all(_is_number(cell) for cell in column[1:]) and len(rows) > 1 for column in columns]
    lines: list[str] = []
    for row in rows:
        lines += _lines(row, widths, right)
    return "\n".join(lines) + "\n"


def definitions(block: str) -> list[tuple[str, str]]:
    """Return the terms and meanings of a block that is a list of definitions, else an empty list.

    A definition is indented by two blanks, and at least two blanks separate term and meaning. Lines
    with a deeper indent continue the meaning above.
    """
    pairs: list[tuple[str, str]] = []
    for line in block.strip("\n").splitlines():
        if definition := _DEFINED.fullmatch(line):
            pairs.append((definition[1], definition[2].strip()))
        elif pairs and _GOES_ON.fullmatch(line):
            term, meaning = pairs[-1]
            pairs[-1] = (term, f"{meaning} {line.strip()}")
        else:
            return []
    return pairs


def _widths(widths: list[int], width: int) -> list[int]:
    room = width - len(_BETWEEN) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.removeprefix("+").removeprefix("-").removesuffix("?").isdigit()


def _lines(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    cells = [
        textwrap.wrap(cell, width, break_on_hyphens=False) or [""]
        for cell, width in zip(row, widths, strict=True)
    ]
    lines = []
    for at in range(max(map(len, cells))):
        texts = [cell[at] if at < len(cell) else "" for cell in cells]
        placed = [
            text.rjust(width) if numbers else text.ljust(width)
            for text, width, numbers in zip(texts, widths, right, strict=True)
        ]
        lines.append(_BETWEEN.join(placed).rstrip())
    return lines


def marked(headline: str) -> str:
    """Return a letter's headline with the mark above which replies are read, in its first line.

    Both are in one line, so that a reply that quotes the letter without quote marks leaves neither.
    A headline that is too long continues below.
    """
    mark = "  -- Reply above this line --"
    if len(headline) <= WIDTH - len(mark) and headline == " ".join(headline.split()) != "":
        return f"{headline}{mark}"
    first, *rest = textwrap.wrap(headline, WIDTH - len(mark), break_on_hyphens=False)
    return "\n".join((f"{first}{mark}", *textwrap.wrap(" ".join(rest), WIDTH)))


def said(words: str) -> str:
    """Indent and wrap a person's words, and keep their line breaks.

    In a line that is too long each tab is one blank: textwrap takes long for thousands of blanks.
    """
    lines, room = [], WIDTH - len(_INDENT)
    for line in words.splitlines():
        fits = len(line.expandtabs()) <= room
        wrapped = textwrap.wrap(line, room, break_on_hyphens=False, expand_tabs=fits)
        lines += [_INDENT + part for part in wrapped] or [""]
    return "\n".join(lines)


@lru_cache(maxsize=1_000)  # many letters have the same sentences
def sentence(words: str, indent: str = "", hanging: str = "") -> str:
    """Wrap words of ours; *indent* begins the first line, *hanging* the others."""
    return textwrap.fill(
        " ".join(words.split()),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def in_one_line(sentences: Sequence[str]) -> str:
    """Join sentences in one line; if that is too long, each gets a line of its own."""
    line = "  ".join(sentences)
    return line if len(line) <= WIDTH else "\n".join(sentences)


def explained(example: str, meaning: str) -> str:
    """Return the line of a table of examples, or two lines if the example is long.

    An example that is longer than a line is left out.
    """
    if len(example) > WIDTH - 2:
        return ""
    first = f"  {example:20}" if len(example) <= 20 else f"  {example}\n{'':22}"
    return f"{first} {meaning}\n"


def moment(iso: str, tz: str) -> str:
    """Format a moment in ISO 8601 as ``Saturday 21 March 2026, 14:00 (Europe/Berlin)``."""
    at = datetime.fromisoformat(iso).astimezone(zone(tz))
    return f"{at:%A} {at.day} {at:%B %Y, %H:%M} ({tz})"


def lasting(seconds: float) -> str:
    """Format a length of time as ``12 days and 3 hours``, or in minutes below an hour."""
    minutes = int(seconds // 60)
    days, hours = divmod(minutes // 60, 24)
    spans = ((days, "day"), (hours, "hour")) if minutes >= 60 else ((minutes, "minute"),)
    shown = [counted(number, unit) for number, unit in spans if number]
    return " and ".join(shown) or "no time"


def day(iso: str, tz: str = "") -> str:
    """Format a moment in ISO 8601, or without *tz* a date, as ``21 March 2026``."""
    at = datetime.fromisoformat(iso)
    if tz:
        at = at.astimezone(zone(tz))
    return f"{at.day} {at:%B %Y}"


def verbatim(words: str, label: str) -> str:
    """Put a label before a person's words; break only lines that are too long."""
    return textwrap.fill(
        words,
        WIDTH,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_on_hyphens=False,
    )


def listing(words: Sequence[str], last: str = "and") -> str:
    """Join words as in ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


FILTERS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        aligned,
        day,
        definitions,
        explained,
        in_one_line,
        is_form,
        lasting,
        listing,
        marked,
        moment,
        pluralize,
        said,
        sentence,
        typed,
        verbatim,
    )
}
"""The filters by their names in templates."""
