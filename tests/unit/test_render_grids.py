"""Grids, and sentences, as Jinja's filters write them."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment
from jinja2.filters import do_wordwrap
from markupsafe import escape

from pbmserv.views.filters import WIDTH, filled, sentence, wordwrap
from pbmserv.views.grids import beside, forms, grid

cells = st.lists(st.text("ab<&>'\" #%@", max_size=2), min_size=1, max_size=9)


class Found(NamedTuple):
    """Spots of a grid of one row."""

    top: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[object, ...], ...]
    bottom: tuple[tuple[str, ...], ...]


class Line(NamedTuple):
    """A row of a drawn grid."""

    left: str
    cells: tuple[str, ...]


class Drawn:
    """A grid of two rows that are the same."""

    def __init__(self, names: str, texts: str, marks: str) -> None:
        self.board = self.drawn = self
        self.top = self.bottom = tuple(names)
        self.top_marks = self.bottom_marks = tuple(mark.strip() for mark in marks)
        self.rows = (Line("1", tuple(text.ljust(2) for text in texts)),) * 2


@given(
    st.lists(st.text("ab\u00e4-\u00a0\t", max_size=90), max_size=20).map(" ".join),
    st.text(" *", max_size=4),
    st.text(" ", max_size=9),
)
def test_a_sentence_is_wrapped_as_the_library_does_it(words: str, indent: str, more: str) -> None:
    assert sentence(words, indent, more) == textwrap.fill(
        " ".join(words.split()),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=more,
        break_on_hyphens=False,
        break_long_words=False,
    )


@given(
    st.lists(st.text("ab-\u00e4 \n", max_size=30), max_size=12).map(" ".join),
    st.integers(5, 40),
    st.booleans(),
)
def test_words_are_wrapped_as_jinja_does_it(words: str, width: int, hyphens: bool) -> None:
    theirs = do_wordwrap(Environment(), words, width, break_on_hyphens=hyphens)
    assert wordwrap(words, width, break_on_hyphens=hyphens) == theirs


@given(st.lists(st.text("ABC12", min_size=1, max_size=3), min_size=1, max_size=80))
def test_short_words_fill_their_lines(words: list[str]) -> None:
    theirs = do_wordwrap(Environment(), " ".join(words), WIDTH - 2)
    assert filled(" ".join(words), "  ", "  ") == "\n".join(
        f"  {line}" for line in theirs.split("\n")
    )


def test_grids_of_one_size_stand_beside_each_other() -> None:
    left, right = Drawn("ab", "AB", "# "), Drawn("ab", "A", "%a")
    drawn = beside(
        (left, right),
        {
            "names": "<[spots]>",
            "marks": "[[spots]]",
            "rule": "====",
            "between": "----",
            "row": "%(left)2s|%(cells)s|",
        },
    )
    assert drawn.split("\n") == [
        "<a  b ><a  b >",
        "[# |  ][% |a ]",
        "========",
        " 1|A |B | 1|A |",
        "--------",
        " 1|A |B | 1|A |",
        "========",
        "[# |  ][% |a ]",
        "<a  b ><a  b >",
    ]


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
