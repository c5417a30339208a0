"""Tables of text letters: columns side by side, never wider than the letter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pbmserv.views.filters import aligned, definitions

cells = st.text(
    st.characters(whitelist_categories=("Ll", "Nd"), whitelist_characters=" -"), max_size=60
)


def test_columns_are_set_side_by_side_and_numbers_to_the_right() -> None:
    assert aligned("Rank|Player|Rating\n1|alice|1138\n12|bob|927?\n") == (
        "Rank  Player  Rating\n   1  alice     1138\n  12  bob       927?\n"
    )


def test_a_long_cell_continues_on_the_next_line() -> None:
    table = aligned("Board|Players\n7|" + " - ".join(["somebody-with-a-name"] * 4))
    assert table == (
        "Board  Players\n"
        "    7  somebody-with-a-name - somebody-with-a-name - somebody-with-a-name -\n"
        "       somebody-with-a-name\n"
    )


@given(st.lists(st.lists(cells, min_size=1, max_size=6), min_size=1, max_size=6))
def test_no_line_is_too_long_and_no_word_is_lost(rows: list[list[str]]) -> None:
    table = aligned("\n".join("|".join(row) for row in rows))
    assert all(len(line) <= 76 for line in table.splitlines())
    letters = sorted("".join("".join(row).split()) for row in rows)
    assert sorted("".join(letters)) == sorted("".join(table.split()))


def test_lists_of_terms_are_found_and_drawings_are_not() -> None:
    listed = (
        "  g      fire a ray into port G; at most\n         one in a move\n  +b2    put a marker"
    )
    assert definitions(listed) == [
        ("g", "fire a ray into port G; at most one in a move"),
        ("+b2", "put a marker"),
    ]
    for other in ("       |a |  |b |\n     --|--|--|--|--", "  b3,d3,8h,13n", "Prose of ours.", ""):
        assert definitions(other) == []
