"""Filters of templates: sentences and tables of a text letter, and the cells of boards."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from pbmserv.engine.clocks import zone

WIDTH = 76
"""Columns of a text letter (spec/mail.md)."""

_BETWEEN = "  "
_NARROWEST = 8
"""A column that must give way stays at least this wide (or as wide as it is)."""

_DEFINED = re.compile(r"  (\S+(?: {1,2}\S+)*) {2,}([^\s|](?:(?!  ).)*)")
_GOES_ON = re.compile(r" {4,}[^\s|].*")


def aligned(text: str, width: int = WIDTH) -> str:
    """Lines of cells with ``|`` between them as a table; the first line has the headings.

    Columns of numbers stand to the right. Where the table is too wide, the widest column gives
    way and its cells go on in lines below.
    """
    rows = [
        [cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.strip()
    ]
    if not rows:
        return ""
    count = max(map(len, rows))
    rows = [row + [""] * (count - len(row)) for row in rows]
    columns = list(zip(*rows, strict=True))
    widths = _widths([max(1, *map(len, column)) for column in columns], width)
    right = [all(_is_number(cell) for cell in column[1:]) and len(rows) > 1 for column in columns]
    lines: list[str] = []
    for row in rows:
        lines += _lines(row, widths, right)
    return "\n".join(lines) + "\n"


def definitions(block: str) -> list[tuple[str, str]]:
    """Terms and what they mean, where the block is a list of them; else none.

    A line is indented by two, and two blanks or more stand between term and meaning; deeper lines
    go on with the meaning above.
    """
    found: list[tuple[str, str]] = []
    for line in block.strip("\n").splitlines():
        if begun := _DEFINED.fullmatch(line):
            found.append((begun[1], begun[2].strip()))
        elif found and _GOES_ON.fullmatch(line):
            term, meaning = found[-1]
            found[-1] = (term, f"{meaning} {line.strip()}")
        else:
            return []
    return found


def _widths(widths: list[int], width: int) -> list[int]:
    room = width - len(_BETWEEN) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def _is_number(cell: str) -> bool:
    return cell.removeprefix("+").removeprefix("-").removesuffix("?").isdigit()


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
    """A letter's headline, with the words in its first line that end the reading of a reply.

    Both stand in one line, so that a reply that quotes us without quote marks leaves neither. What
    is too long for that goes on below.
    """
    mark = "  -- Reply above this line --"
    first, *rest = textwrap.wrap(headline, WIDTH - len(mark), break_on_hyphens=False)
    return "\n".join((f"{first}{mark}", *textwrap.wrap(" ".join(rest), WIDTH)))


def said(words: str, indent: str = "  ") -> str:
    """A person's words, indented and wrapped, their own line breaks kept."""
    lines = []
    for line in words.splitlines():
        wrapped = textwrap.wrap(line, WIDTH - len(indent), break_on_hyphens=False)
        lines += [indent + part for part in wrapped] or [""]
    return "\n".join(lines)


@lru_cache(maxsize=1_000)  # wrapping is slow, and letters have most of their sentences in common
def sentence(words: str, indent: str = "", hanging: str = "") -> str:
    """A sentence of ours wrapped to the letter's width."""
    return textwrap.fill(
        " ".join(words.split()),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=hanging,
        break_on_hyphens=False,
        break_long_words=False,
    )


def moment(iso: str, tz: str) -> str:
    """``Saturday 21 March 2026, 14:00 (Europe/Berlin)``, of a moment in ISO 8601."""
    at = datetime.fromisoformat(iso).astimezone(zone(tz))
    return f"{at:%A} {at.day} {at:%B %Y, %H:%M} ({tz})"


def day(iso: str, tz: str = "") -> str:
    """``21 March 2026``, of a moment in ISO 8601, or of a day that is one without a time zone."""
    at = datetime.fromisoformat(iso)
    if tz:
        at = at.astimezone(zone(tz))
    return f"{at.day} {at:%B %Y}"


def verbatim(words: str, label: str) -> str:
    """What somebody wrote, behind a label; only what is too long for a line is broken."""
    return textwrap.fill(
        words,
        WIDTH,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_on_hyphens=False,
    )


def listing(words: Sequence[str], last: str = "and") -> str:
    """``a, b and c``"""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def padded(values: Sequence[str], between: str) -> str:
    """A line of a grid: every value two columns wide.

    Grids are most of a letter; Jinja takes a hundred times as long for a loop over the cells.
    """
    return _padded(tuple(values), between)


@lru_cache(maxsize=4_096)  # most rows are empty, or were the same in the letter before
def _padded(values: tuple[str, ...], between: str) -> str:
    return between.join([value.ljust(2) for value in values])


Forms = Mapping[str, tuple[list[str], bool]]
"""For each kind of spot its HTML, cut where the name belongs; whether it shows more than that."""


def forms(written: Mapping[str, str]) -> Forms:
    """HTML for each kind of spot, in which ``[name]``, ``[shown]`` and ``[more]`` may stand."""
    return {kind: _cut(str(form)) for kind, form in written.items()}


@lru_cache(maxsize=1_024)  # most of them are the same in every letter
def _cut(form: str) -> tuple[list[str], bool]:
    return form.split("[name]"), "[shown]" in form or "[more]" in form


def spots(found: Iterable[Sequence[str]], filled: Forms) -> Markup:
    """The cells of a grid in HTML, a line each: for each spot the form of its kind, filled in.

    *found* are (kind, name, shown, more) for each spot, the way a game's view lists them.
    """
    return Markup("\n".join([_spot(spot, filled) for spot in found]))  # noqa: S704 - see `_spot`


def row_spots(row: Sequence[Any], labels: Forms, ends: Forms, cells: Forms) -> Markup:
    """A row of a grid: label and spot of its left end, its cells, spot and label of its right."""
    left, inside, right = row
    made = [_spot(left, labels), _spot(left, ends)]
    made += [_spot(spot, cells) for spot in inside]
    made += (_spot(right, ends), _spot(right, labels))
    return Markup("\n".join(made))  # noqa: S704 - see `_spot`


def _spot(spot: Sequence[str], filled: Forms) -> str:
    """One cell; its form is a template's own, all else is escaped."""
    kind, name, shown, more = spot
    pieces, rich = filled[kind]
    form = (name if name.isalnum() else str(escape(name))).join(pieces)
    if rich:
        form = form.replace("[more]", escape(more)).replace("[shown]", escape(shown))
    return form


FILTERS: Mapping[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        aligned,
        day,
        definitions,
        forms,
        listing,
        marked,
        moment,
        padded,
        row_spots,
        said,
        sentence,
        spots,
        verbatim,
    )
}
"""All of them by the names that templates know."""
