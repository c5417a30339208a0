"""Filters of templates: sentences and tables of a text letter, and the cells of boards."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from pbmserv.commands.grammar.words import typed
from pbmserv.engine.clocks import zone
from pbmserv.errors import is_form

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
    """A letter's headline, with the words in its first line that end the reading of a reply.

    Both stand in one line, so that a reply that quotes us without quote marks leaves neither. What
    is too long for that goes on below.
    """
    mark = "  -- Reply above this line --"
    if len(headline) <= WIDTH - len(mark) and headline == " ".join(headline.split()) != "":
        return f"{headline}{mark}"
    first, *rest = textwrap.wrap(headline, WIDTH - len(mark), break_on_hyphens=False)
    return "\n".join((f"{first}{mark}", *textwrap.wrap(" ".join(rest), WIDTH)))


def said(words: str, indent: str = "  ") -> str:
    """A person's words, indented and wrapped, their own line breaks kept."""
    lines = []
    for line in words.splitlines():
        wrapped = textwrap.wrap(line, WIDTH - len(indent), break_on_hyphens=False)
        lines += [indent + part for part in wrapped] or [""]
    return "\n".join(lines)


def filled(words: str, indent: str = "", hanging: str = "", width: int = WIDTH) -> str:
    """Words of ours in lines as full as they can be, the first one behind *indent*, all others
    behind *hanging*.

    As `textwrap.fill` does it without breaking words, in a quarter of its time.
    """
    lines: list[str] = []
    line: list[str] = []
    room, length = width - len(indent), -1
    for word in words.split():
        length += 1 + len(word)
        if line and length > room:
            lines.append((hanging if lines else indent) + " ".join(line))
            line, room = [], width - len(hanging)
            length = len(word)
        line.append(word)
    if line:
        lines.append((hanging if lines else indent) + " ".join(line))
    return "\n".join(lines)


sentence = lru_cache(maxsize=1_000)(filled)
"""The same for what letters have in common, as they have most of their sentences."""


def wordwrap(words: str, width: int, *, break_on_hyphens: bool = True) -> str:
    """As Jinja's, which goes by `textwrap`, and quickly where each word stands as it is."""
    found = words.split()
    is_plain = words == " ".join(found) and max(map(len, found), default=0) <= width
    if is_plain and not (break_on_hyphens and "-" in words):
        return filled(words, width=width)
    return "\n".join(
        [
            "\n".join(
                textwrap.wrap(
                    line, width, replace_whitespace=False, break_on_hyphens=break_on_hyphens
                )
            )
            for line in words.splitlines()
        ]
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


def beside(boxes: Sequence[Any], forms: Mapping[str, str]) -> str:
    """Grids beside each other as text, line by line: they are most of a letter, and Jinja takes a
    hundred times as long for a loop over cells.

    Args:
        boxes: all of one size; what is `drawn` of each has `board.top`, `top_marks`, `rows`,
            `bottom_marks` and `board.bottom`.
        forms: lines: `names` and `marks` of ports above and below, where ``[spots]`` stands for
            all of them; `rule` next to them; `between` two rows. Names, marks and `row`, which
            names a row's fields, are ``%`` forms.
    """
    grids = []
    drawn = [one.drawn for one in boxes]
    spots = ["%-2s"] * len(drawn[0].board.top)
    names = forms["names"].replace("[spots]", " ".join(spots))
    marks = forms["marks"].replace("[spots]", "|".join(spots))
    for box in drawn:
        rows = [forms["between"]] * (2 * len(box.rows) - 1)
        rows[::2] = [_line(row, forms["row"]) for row in box.rows]
        above = [names % tuple(box.board.top), marks % tuple(box.top_marks), forms["rule"]]
        below = [forms["rule"], marks % tuple(box.bottom_marks), names % tuple(box.board.bottom)]
        grids.append([*above, *rows, *below])
    return "\n".join(map("".join, zip(*grids, strict=True)))


@lru_cache(maxsize=4_096)  # most rows are empty, or were the same in the letter before
def _line(row: Any, form: str) -> str:
    return form % {**row._asdict(), "cells": "|".join(row.cells)}


_LINK = "\x02"
"""Stands for the beginning of a link in rows that are kept: no template and no name has it."""


@dataclass(frozen=True, eq=False, slots=True)
class Forms:
    """The HTML of a grid's spots, which a template writes down once for all letters.

    Attributes:
        spots: for each kind its HTML, cut where the name belongs.
        row, ends: HTML around the cells of a row, and of the rows of ports above and below.
    """

    spots: Mapping[str, list[str]]
    row: tuple[str, ...]
    ends: tuple[str, ...]


def forms(written: Mapping[str, str]) -> Forms:
    """HTML for each kind of spot, in which ``[name]``, ``[shown]``, ``[more]`` and ``[link]`` may
    stand; ``row`` and ``ends`` have ``[spots]`` where theirs belong.
    """
    pieces = {kind: str(form).strip().replace("[link]", _LINK) for kind, form in written.items()}
    row, ends = [tuple(pieces.pop(around).split("[spots]")) for around in ("row", "ends")]
    return Forms({kind: form.split("[name]") for kind, form in pieces.items()}, row, ends)


def grid(found: Any, filled: Forms, link: str = "") -> Markup:
    """The rows of a grid in HTML, in short lines, which mails can carry as they are.

    Args:
        found: its spots, as (kind, name, shown, more): `top`, `rows` of (left, inside, right) and
            `bottom`.
        filled: how each kind looks.
        link: what stands for ``[link]``, in front of words of a reply.
    """
    pieces = [""]
    for row in (
        _row(found.top, filled.ends, filled),
        *[_row((left, *inside, right), filled.row, filled) for left, inside, right in found.rows],
        _row(found.bottom, filled.ends, filled),
    ):
        pieces[-1] += row[0]
        pieces += row[1:]
    drawn = str(escape(link)).join(pieces)
    return Markup(drawn[:-1])  # noqa: S704 - see `_row`


# Most rows are like those of other letters, and a row is a hundred times dearer than a look-up.
@lru_cache(maxsize=2_560)
def _row(spots: tuple[Any, ...], around: tuple[str, ...], filled: Forms) -> list[str]:
    """Cells, or ports, in a line that is cut where links begin; their forms are a template's own,
    all else is escaped."""
    drawn = []
    for kind, name, shown, more in spots:
        form = str(escape(name)).join(filled.spots[kind])
        drawn.append(form.replace("[more]", escape(more)).replace("[shown]", escape(shown)))
    line = "\n".join(drawn).join(around)
    return f"{line}\n".split(_LINK)


_LABELS = ("aria-label", 'aria-pressed="true" aria-label')
"""What follows a button's value, tapped or not."""


_SIGNS = ("", "+", "/", "!", "lock ", "unlock ")
"""What a button's value may have in front of the spot's name."""


def pressed(rows: str, draft: str, tap: str = "") -> Markup:
    """The rows of a grid, where buttons whose taps are in a draft say so to those who hear them.

    Args:
        tap: what was tapped last. Its button has the focus again, under whatever name: whoever
            plays by keys need not begin at the top of the page for each tap.
    """
    html = str(rows)
    for put in filter(None, map(str.strip, draft.split(","))):
        word, _, spot = put.rpartition(" ")
        value = f'value="{escape(f"{word.lower()} {spot.upper()}".strip())}"'
        html = html.replace(value, f'{value} aria-pressed="true"')
    spot = escape(tap.upper().rpartition(" ")[2].lstrip("+/!"))
    values = (f'value="{sign}{spot}" {label}' for sign in _SIGNS for label in _LABELS)
    if found := next((one for one in values if spot and one in html), None):
        html = html.replace(found, found.replace(" aria-label", " autofocus aria-label"), 1)
    return Markup(html)  # noqa: S704 - it was escaped where it was made


FILTERS: Mapping[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        aligned,
        beside,
        day,
        definitions,
        filled,
        forms,
        grid,
        is_form,
        listing,
        marked,
        moment,
        pressed,
        said,
        typed,
        verbatim,
        wordwrap,
    )
} | {"sentence": sentence}
"""All of them by the names that templates know."""
