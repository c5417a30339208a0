"""Grids, and sentences, as Jinja's filters write them."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from pbmserv.views.grids import forms, grid

cells = st.lists(st.text("ab<&>'\" #%@", max_size=2), min_size=1, max_size=9)


class Found(NamedTuple):
    """Spots of a grid of one row."""

    top: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[object, ...], ...]
    bottom: tuple[tuple[str, ...], ...]


@given(cells)
def test_every_spot_has_the_form_of_its_kind_and_its_words_are_escaped(values: list[str]) -> None:
    row = tuple(("odd" if n % 2 else "even", f"<{n}>", v, "&") for n, v in enumerate(values))
    port = ("port", "<p>", "", "")
    written = {
        "odd": '<td title="[name]">[shown]</td>',
        "even": "<td>[shown] to [more]</td>",
        "port": '<th><a href="[link][name]"></th>',
        "row": "<tr>[spots]</tr>",
        "ends": "<tr><th></th>[spots]<th></th></tr>",
    }
    inside = [
        f'<td title="&lt;{n}&gt;">{escape(value)}</td>'
        if n % 2
        else f"<td>{escape(value)} to &amp;</td>"
        for n, value in enumerate(values)
    ]
    end = '<th><a href="x?a&amp;b=&lt;p&gt;"></th>'
    finding = Found((port,), ((port, row, port),), ())
    drawn = str(grid(finding, forms(written), "x?a&b=")).replace("<a\n", "<a ")
    assert drawn.replace("\n", "") == (
        f"<tr><th></th>{end}<th></th></tr><tr>{end}{''.join(inside)}{end}</tr>"
        "<tr><th></th><th></th></tr>"
    )
