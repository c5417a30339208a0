"""Labels and cells of every board size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.games.blackbox.geometry import geometry

sizes = st.integers(2, 26)


def test_the_classic_board_is_labelled_as_in_the_original() -> None:
    board = geometry(7, 7)
    assert "".join(board.top) == "ABCDEFG"
    assert "".join(board.bottom) == "HIJKLMN"
    assert board.left == ("1", "2", "3", "4", "5", "6", "7")
    assert board.right == ("8", "9", "10", "11", "12", "13", "14")


@rows("name", ["", "b", "3", "o1", "a15", "a0", "bb3", "a1b", "\u00df1", "b-3"])
def test_other_names_are_no_cells(name: str) -> None:
    assert geometry(7, 7).cell(name) is None


@rows("width", range(2, 27))
@rows("height", [2, 7, 26])
def test_all_labels_of_a_board_are_different(width: int, height: int) -> None:
    for w, h in ((width, height), (height, width)):
        ports = geometry(w, h).ports
        assert len(set(ports)) == len(ports) == 2 * (w + h)
        assert max(map(len, ports)) <= 2  # the board has two characters for each label


def test_bottom_labels_double_where_the_alphabet_runs_out() -> None:
    assert geometry(13, 2).bottom[-1] == "Z"
    assert geometry(14, 2).bottom == tuple(letter * 2 for letter in "ABCDEFGHIJKLMN")
    assert geometry(26, 26).cell("zz52") == 26 * 26 - 1


@given(sizes, sizes, st.data())
def test_a_cell_has_eight_names_and_a_port_has_one(w: int, h: int, data: st.DataObject) -> None:
    board = geometry(w, h)
    cell = data.draw(st.sampled_from(board.cells))
    row, column = divmod(cell, w)
    for letter in (board.top[column], board.bottom[column]):
        for number in (board.left[row], board.right[row]):
            assert board.cell(letter + number) == board.cell(number + letter) == cell
    for port, label in enumerate(board.ports):
        assert board.port(label) == port


@rows(("width", "height"), [(1, 7), (7, 1), (27, 26), (2, 51), (51, 2), (0, 0)])
def test_other_sizes_are_refused(width: int, height: int) -> None:
    with pytest.raises(ValueError, match="together 52 at most"):
        geometry(width, height)


@given(st.integers(27, 50), st.data())
def test_columns_beyond_z_are_labelled_as_in_a_table(w: int, data: st.DataObject) -> None:
    board = geometry(w, data.draw(st.integers(2, 52 - w)))
    assert (board.top[25], board.top[26]) == ("Z", "AA")
    assert board.bottom[0] not in board.top
    assert len(set(board.ports)) == len(board.ports) <= 2 * 52  # each detour has a letter
    cell = data.draw(st.sampled_from(board.cells))
    row, column = divmod(cell, w)
    for letter in (board.top[column], board.bottom[column]):
        assert board.cell(letter + board.right[row]) == board.cell(board.left[row] + letter) == cell
