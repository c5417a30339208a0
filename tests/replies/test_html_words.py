"""Words of HTML: elements that a reader sees apart never make one word, inline ones always do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.inbound.html import BLOCKS, INLINE, read_html
from pbmserv.inbound.quotes.reply import read_new_text

VOID = {"br", "hr", "img", "input", "col"}
"""Elements without an end tag and without words."""
APART = (
    *("address", "blockquote", "br", "button", "caption", "center", "dd", "details", "div", "dt"),
    *("h1", "hr", "img", "input", "li", "main", "marquee", "option", "p", "plaintext", "pre"),
    *("select", "summary", "table", "td", "textarea", "th", "tr", "ul", "xmp"),
)
"""Elements of new and of old standards that are not inline."""
JOINED = INLINE - {"br"}
NOT_SHOWN = {"base", "basefont", "bgsound", "head", "link", "meta", "param", "script", "source",
             "style", "template", "title", "track"}  # fmt: skip
MADE_UP = st.from_regex(r"[a-z]{1,8}[-:_]?[a-z0-9]{0,5}", fullmatch=True)


def words(markup: str) -> list[str]:
    html = read_html(markup)
    assert html is not None
    return html.text.replace('"', " ").split()


def is_apart(name: str) -> bool:
    """Return whether no word of one such element is joined to the words beside it."""
    read = words(f"<div>1<{name}>2</div>")
    if name not in VOID:
        read += words(f"<div>1<{name}>2</{name}>3</div>") + words(f"<p>1<{name}></{name}>3</p>")
    return not {"12", "23", "13", "123"}.intersection(read)


@rows("name", APART)
def test_an_element_that_is_not_inline_never_joins_words(name):
    assert is_apart(name)


@given(MADE_UP.filter(lambda name: name not in JOINED | NOT_SHOWN))
def test_a_made_up_element_never_joins_words(name):
    assert is_apart(name)


@rows("name", sorted(JOINED - {"q", "html", "body", "wbr"}))
def test_an_inline_element_keeps_a_word_together(name):
    assert words(f"<p>ba<{name}>n</{name}>k</p>") == ["bank"]
    assert words(f"<p>the <{name} class=x>ba</{name}>nk</p>") == ["the", "bank"]


def test_a_place_where_a_word_may_break_keeps_it_together():
    assert words("<p>ba<wbr>nk</p>") == ["bank"]


@rows("display", ["block", "flex", "grid", "table", "list-item", "flow-root", "table-cell"])
def test_an_inline_element_that_is_displayed_as_a_block_joins_nothing(display):
    assert words(f'<div>1<span style="color: red; DISPLAY : {display}">2</span>3</div>') == [*"123"]
    assert words('<p>ba<b style="display: inline">n</b>k</p>') == ["bank"]


@pytest.mark.parametrize("name", ["hr", "br", "li", "option", "td", "dd", "summary"])
def test_two_numbers_apart_are_two_lines_or_words_of_a_move(name):
    html = read_html(f"<div>1<{name}>2</div>")
    assert html is not None
    assert read_new_text(html.text).text.split() == ["1", "2"]


def test_no_element_is_both_inline_and_a_block():
    assert not INLINE & BLOCKS
