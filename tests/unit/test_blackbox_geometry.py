"""Labels and cells of every board size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.games.blackbox.geometry import geometry

sizes = st.integers(2, 26)


def test_the_classic_board_is_labelled_as_in_the_original() -> None:
    board = geometry(7, 7)
    assert "".join(board.top) == "ABCDEFG"
    assert "".join(board.bottom) == "HIJKLMN"
    assert board.left == ("1", "2", "3", "4", "5", "6", "7")
    assert board.right == ("8", "9", "10", "11", "12", "13", "14")


@pytest.mark.parametrize("name", ["b3", "3b", "10i", "i10", "b10", "3i", "B3", "3B", "I10"])
def test_either_label_in_either_order_names_a_cell(name: str) -> None:
    board = geometry(7, 7)
    cell = board.cell(name)
    assert cell is not None
    assert board.name(cell) == "B3"


@pytest.mark.parametrize("name", ["", "b", "3", "o1", "a15", "a0", "bb3", "a1b", "\u00df1", "b-3"])
def test_other_names_are_no_cells(name: str) -> None:
    assert geometry(7, 7).cell(name) is None


@pytest.mark.parametrize("width", range(2, 27))
@pytest.mark.parametrize("height", [2, 7, 26])
def test_all_labels_of_a_board_are_different(width: int, height: int) -> None:
    for w, h in ((width, height), (height, width)):
        ports = geometry(w, h).ports
        assert len(set(ports)) == len(ports) == 2 * (w + h)
        assert max(map(len, ports)) <= 2  # the two characters that the board has for them


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


@pytest.mark.parametrize(("width", "height"), [(1, 7), (7, 1), (27, 7), (7, 27), (0, 0)])
def test_other_sizes_are_refused(width: int, height: int) -> None:
    with pytest.raises(ValueError, match="2 to 26"):
        geometry(width, height)
