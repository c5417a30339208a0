"""Filters of the templates that draw the grids of boards, as text and in HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape


def beside(boxes: Sequence[Any], forms: Mapping[str, str]) -> str:
    """Draw grids beside each other as text.

    A loop over cells in a template takes a hundred times as long.

    Args:
        boxes: boxes of one size; `drawn` of each has `board.top`, `top_marks`, `rows`,
            `bottom_marks` and `board.bottom`.
        forms: ``%`` forms of lines: `names` and `marks` of the ports above and below, in which
            ``[spots]`` is replaced by a field for each port; `row` with the fields of a row; and,
            without fields, `rule` next to the ports and `between` two rows.
    """
    grids = []
    drawn = [box.drawn for box in boxes]
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


@lru_cache(maxsize=4_096)  # most rows equal rows of other letters
def _line(row: Any, form: str) -> str:
    return form % {**row._asdict(), "cells": "|".join(row.cells)}


_LONG_TAG = re.compile("<(a|td|th) (?=[^<>]*(?:href|aria-label)=)")
"""The start of a tag with a long attribute: a line end replaces the blank, to keep lines short."""

_LINK = "\x02"
"""The place of a link's beginning in rows; it occurs in no template and no name."""


@dataclass(frozen=True, eq=False, slots=True)
class GridForms:
    """HTML forms of a grid's spots.

    Attributes:
        spots: HTML of each kind, split where the name is inserted.
        row: HTML around the cells of a row.
        ends: HTML around the row of ports above and below.
    """

    spots: Mapping[str, list[str]]
    row: tuple[str, ...]
    ends: tuple[str, ...]


def forms(written: Mapping[str, str]) -> GridForms:
    """Read the forms of a template.

    Args:
        written: HTML of each kind of spot, in which ``[name]``, ``[shown]``, ``[more]`` and
            ``[link]`` are placeholders; ``row`` and ``ends`` have the placeholder ``[spots]``.
    """
    pieces = {
        kind: _LONG_TAG.sub(r"<\1\n", str(form).strip()).replace("[link]", _LINK)
        for kind, form in written.items()
    }
    row, ends = [tuple(pieces.pop(around).split("[spots]")) for around in ("row", "ends")]
    return GridForms({kind: form.split("[name]") for kind, form in pieces.items()}, row, ends)


def grid(spots: Any, forms: GridForms, link: str = "") -> Markup:
    """Draw the rows of a grid in HTML.

    Args:
        spots: the spots `top`, `rows` of (left, inside, right) and `bottom`; each spot is (kind,
            name, shown, more).
        forms: the form of each kind.
        link: the link in place of ``[link]``, in front of the words of a reply.
    """
    rows = [
        _row(spots.top, forms.ends, forms),
        *[_row((left, *inside, right), forms.row, forms) for left, inside, right in spots.rows],
        _row(spots.bottom, forms.ends, forms),
    ]
    drawn = "\n".join(rows).replace(_LINK, escape(link))
    return Markup(drawn)  # noqa: S704 - see `_row`


# Most rows equal rows of other letters.
@lru_cache(maxsize=1_280)
def _row(spots: tuple[Any, ...], around: tuple[str, ...], forms: GridForms) -> str:
    """Draw a line of cells or ports.

    The forms come from a template and are HTML; everything else is escaped.
    """
    drawn = []
    for kind, name, shown, more in spots:
        form = str(escape(name)).join(forms.spots[kind])
        drawn.append(form.replace("[more]", escape(more)).replace("[shown]", escape(shown)))
    return "".join(drawn).join(around)


_LABELS = ("aria-label", 'aria-pressed="true" aria-label')
"""Attributes after the value of a button, not pressed and pressed."""

_SIGNS = ("", "+", "/", "!", "lock ", "unlock ")
"""Beginnings of a button's value, in front of the spot's name."""


def pressed(rows: str, draft: str, tap: str = "") -> Markup:
    """Mark the buttons of a grid whose moves are in the draft as pressed, for screen readers.

    Args:
        rows: HTML of the grid.
        draft: moves, separated by commas.
        tap: the last tap. Its button gets the focus, also if its value has changed, so that a
            player with a keyboard continues there and not at the top of the page.
    """
    html = str(rows)
    for move in filter(None, map(str.strip, draft.split(","))):
        word, _, spot = move.rpartition(" ")
        value = f'value="{escape(f"{word.lower()} {spot.upper()}".strip())}"'
        html = html.replace(value, f'{value} aria-pressed="true"')
    spot = escape(tap.upper().rpartition(" ")[2].lstrip("+/!"))
    values = (f'value="{sign}{spot}" {label}' for sign in _SIGNS for label in _LABELS)
    if button := next((value for value in values if spot and value in html), None):
        html = html.replace(button, button.replace(" aria-label", " autofocus aria-label"), 1)
    return Markup(html)  # noqa: S704 - it was escaped where it was made


GRID_FILTERS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function for function in (beside, forms, grid, pressed)
}
"""The filters by their names in templates."""
