"""Locks: a locked marker stays, a locked cell without one is sealed, and only its player knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.errors import Illegal
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.game_ids import read_id
from pbmserv.games.blackbox.options import ENDLESS, Scoring
from pbmserv.games.blackbox.practice import Practice, begin
from pbmserv.views.texts import refusal_sentence


def practice(*moves: str, box: str = "w5h5m3M3#tea") -> Practice:
    game = begin(read_id(box), Scoring.PRACTICE, ENDLESS, fair=True, clue=True)
    for move in moves:
        game = game.play(move)
    return game


def aids(game: Practice) -> tuple[set[str], set[str], set[str]]:
    """Return the names of the cells with a marker, with a seal, and with a locked marker."""
    box, name = game.state.boxes[0], game.options.board.name
    markers, sealed, locked = (
        {name(cell) for cell in cells} for cells in (box.markers, box.sealed, box.locked)
    )
    return markers, sealed, locked


@rows(
    ("moves", "markers", "sealed", "locked"),
    [
        (["+b3", "lock b3"], "B3", "", "B3"),
        (["+b3,lock b3"], "B3", "", "B3"),
        (["lock b3"], "", "B3", ""),
        (["+b3", "LOCK 3B", "unlock b3", "/b3"], "", "", ""),
        (["+b3", "lock 3"], "B3", "A3 C3 D3 E3", "B3"),
        (["+b3", "lock g"], "B3", "B1 B2 B4 B5", "B3"),
        (["+b3", "lock b2-c3"], "B3", "B2 C2 C3", "B3"),
        (["+b3", "lock 3", "unlock a3-b3"], "B3", "C3 D3 E3", ""),
        (["+b3,lock b3", "!3"], "B3", "A3 C3 D3 E3", "B3"),
        (["+b3,lock b3", "!3", "!3"], "B3", "", "B3"),
        (["lock b3", "+b3"], "B3", "", ""),
        (["+b3", "lock b3", "unlock b3,/b3,lock b3"], "", "B3", ""),
        (["+b3", "please lock b3."], "B3", "", "B3"),
        (["a,+b3,lock b3"], "B3", "", "B3"),
    ],
)
def test_a_lock_keeps_a_cell_as_it_is(
    moves: list[str], markers: str, sealed: str, locked: str
) -> None:
    game = begin(read_id("w5h5m3M3#tea"), Scoring.PRACTICE, ENDLESS, fair=True, clue=True)
    for move in moves:
        meant = GAME.meant(game.view, move) if move.startswith("please") else None
        game = game.play(meant.text if meant else move)
    assert aids(game) == (set(markers.split()), set(sealed.split()), set(locked.split()))


def test_a_tap_that_locks_a_row_unlocks_it_if_all_of_it_is_locked() -> None:
    assert GAME.tapped(practice("+b3", "lock a3-d3").view, "", "lock 3") == "lock 3"
    assert GAME.tapped(practice("+b3", "lock 3").view, "", "lock 3") == "unlock 3"


@rows("move", ["/b3", "-b3", "!b3", "+c3,/b3", "?,/b3", "!b3-b3", "lock c3,/3b"])
def test_a_locked_marker_does_not_move_before_it_is_unlocked(move: str) -> None:
    game = practice("+b3,lock b3")
    with pytest.raises(Illegal) as caught:
        game.play(move)
    refusal = caught.value.refusal
    assert refusal.code == "blackbox.locked"
    assert refusal.part in move.split(",")
    assert refusal.part in refusal_sentence(refusal)
    assert refusal.example.startswith("unlock B3")
    assert "B3" not in aids(game.play(refusal.example))[2]


CELLS = st.sampled_from(["A1", "B1", "B2", "C3", "E5"])
AREAS = CELLS | st.sampled_from(["1", "B", "4", "E", "A1-C2"])
STEPS = st.one_of(
    CELLS.map("+{}".format),
    CELLS.map("/{}".format),
    AREAS.map("!{}".format),
    AREAS.map("lock {}".format),
    AREAS.map("unlock {}".format),
)


@given(st.lists(st.lists(STEPS, min_size=1, max_size=3).map(",".join), max_size=12))
def test_no_move_takes_a_locked_marker_away(moves: list[str]) -> None:
    """And a cell has a marker or a seal, locks lie on markers, and refused moves change nothing."""
    game = practice()
    for move in moves:
        _, _, before = aids(game)
        try:
            game = game.play(move)
        except Illegal:
            assert before or "lock" in move  # nothing else forbids markers and seals
            continue
        markers, sealed, locked = aids(game)
        assert not markers & sealed
        assert locked <= markers
        if "unlock" not in move:
            assert before <= locked
        assert game.texts[-1] == move
    again = practice(*game.texts)
    assert aids(again) == aids(game)
    for example in (game.view.examples.mark, game.view.examples.unmark, game.view.examples.seal):
        game.play(example)
    if game.view.examples.guess:
        game.play(game.view.examples.guess)
