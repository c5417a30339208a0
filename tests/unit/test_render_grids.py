"""Rows of a grid as Jinja's filters write them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from pbmserv.letters.filters import forms, padded, spots

cells = st.lists(st.text("ab<&>'\" #%@", max_size=2), min_size=1, max_size=9)


@given(cells)
def test_every_value_is_two_columns_wide(values: list[str]) -> None:
    line = padded(values, "|")
    assert len(line) == 3 * len(values) - 1
    assert line == "|".join(value.ljust(2) for value in values)


@given(cells)
def test_every_spot_has_the_form_of_its_kind_and_its_words_are_escaped(values: list[str]) -> None:
    found = [("odd" if n % 2 else "even", f"<{n}>", value, "&") for n, value in enumerate(values)]
    written = {"odd": '<td title="[name]">[shown]</td>', "even": "<td>[shown] to [more]</td>"}
    expected = [
        f'<td title="&lt;{n}&gt;">{escape(value)}</td>'
        if n % 2
        else f"<td>{escape(value)} to &amp;</td>"
        for n, value in enumerate(values)
    ]
    assert str(spots(found, forms(written))) == "\n".join(expected)
