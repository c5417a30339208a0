"""The ways of rays agree with where the rays come out."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.paths import path
from pbmserv.games.blackbox.rays import HIT, trace


@given(st.data())
def test_a_path_is_walked_step_by_step_and_back_again(data: st.DataObject) -> None:
    board = geometry(data.draw(st.integers(2, 9)), data.draw(st.integers(2, 9)))
    atoms = data.draw(st.frozensets(st.sampled_from(board.cells), max_size=12))
    for port in range(len(board.ports)):
        found, passed = trace(board, atoms, port), path(board, atoms, port)
        assert not atoms & set(passed)
        assert all(apart(board, a, b) == 1 for a, b in pairwise(passed))
        if found not in (HIT, port):
            assert passed
            assert path(board, atoms, found) == passed[::-1]


def apart(board: Geometry, first: int, second: int) -> int:
    (y, x), (v, u) = divmod(first, board.width), divmod(second, board.width)
    return abs(x - u) + abs(y - v)


def test_the_paths_of_a_known_box() -> None:
    board = geometry(7, 7)
    atoms = {board.cell(name) for name in ("G1", "B2", "B4", "F5")}

    def told(label: str) -> str:
        port = board.port(label)
        assert port is not None
        return " ".join(map(board.name, path(board, {a for a in atoms if a is not None}, port)))

    assert told("A") == "A1"
    assert told("2") == "A2"  # absorbed behind it
    assert told("3") == "A3"  # thrown back there
    assert told("9") == told("G") == ""
    assert told("14") == "G7 F7 E7 D7 C7 B7 A7"
    assert told("5") == "A5 A6 A7"
