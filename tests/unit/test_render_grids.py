"""Rows of a grid as Jinja's filters write them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from pbmserv.render.environment import padded, tagged

cells = st.lists(st.text("ab<&>'\" #%@", max_size=2), min_size=1, max_size=9)


@given(cells)
def test_every_value_is_two_columns_wide(values: list[str]) -> None:
    line = padded(values, "|")
    assert len(line) == 3 * len(values) - 1
    assert line == "|".join(value.ljust(2) for value in values)


@given(cells)
def test_every_value_is_escaped_and_stands_between_its_tags(values: list[str]) -> None:
    expected = "".join(f"<td>{escape(value.strip())}</td>" for value in values)
    assert str(tagged(values, "<td>", "</td>")) == expected
