"""Locks: a locked marker stays, a locked cell without one is sealed, and only its player knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.cli.blackbox.marks import grid
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.errors import Illegal, MoveError
from pbmserv.games.blackbox.facts import facts_of
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.game_ids import read_id
from pbmserv.games.blackbox.options import ENDLESS
from pbmserv.games.blackbox.practice import PLAYER, Practice, Scoring, begin
from pbmserv.games.blackbox.state import State
from pbmserv.views.texts import note_sentences, refusal_sentence, render_text

ALICE, BOB = Seat(0), Seat(1)


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


@rows(
    ("move", "code"),
    [
        ("lock z9", "column-unknown"),
        ("lock q", "line-unknown"),
        ("unlock 15", "line-unknown"),
        ("lock c3-a1", "range-backwards"),
        ("lock it", "not-a-move"),
        ("unlock", "not-a-move"),
        ("lock me out", "not-a-move"),
        ("lock b3-", "not-a-move"),
    ],
)
def test_a_lock_that_names_no_cells_is_refused(move: str, code: str) -> None:
    with pytest.raises(MoveError) as caught:
        practice().play(move)
    refusal = caught.value.refusal
    assert refusal.code == f"blackbox.{code}"
    assert move in refusal_sentence(refusal)


def test_notes_about_locks_are_written_in_both_tenses() -> None:
    game = practice("+b3")
    for move, sentence in (
        ("lock b3", "lock B3."),
        ("lock 3", "lock row 3."),
        ("lock a3-b3", "lock A3 to B3 again, which changes nothing."),
        ("unlock b", "unlock column B."),
        ("unlock e5", "unlock E5, where nothing is locked."),
    ):
        notes = GAME.preview(game.view, PLAYER, move).notes
        assert note_sentences(GAME, notes, ["you"], PLAYER) == [f"You would {sentence}"]
        game = game.play(move)
    sentences = [note_sentences(GAME, step.notes, ["you"], PLAYER) for step in game.chain[1:]]
    assert sentences == [
        ["You locked B3."],
        ["You locked row 3."],
        ["You had already locked A3 to B3."],
        ["You unlocked column B."],
        ["Nothing is locked at E5."],
    ]


def test_a_lock_is_drawn_and_read_aloud_and_told_to_programs() -> None:
    game = practice("+b3,+c1", "lock 3")
    assert " 3|  |. |?!|. |. |. |  |8 " in grid(list(game.view.boxes))
    words = {"view": game.view, "names": ["you"], "you": PLAYER}
    assert "locked marker on B3" in render_text("games/blackbox/spoken.txt.j2", words)
    (facts,) = facts_of(game.view).boxes
    assert (facts.markers, facts.locked) == (["C1", "B3"], ["B3"])
    over = game.solve()
    assert "?!" not in grid(list(over.view.boxes))


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
        assert game.chain[-1].text == move
    again = practice(*[step.text for step in game.chain])
    assert aids(again) == aids(game)
    for example in (game.view.examples.mark, game.view.examples.unmark, game.view.examples.seal):
        game.play(example)
    if game.view.examples.guess:
        game.play(game.view.examples.guess)


def test_clearing_all_markers_leaves_locked_ones() -> None:
    game = practice("+a1,+b3,+c5,lock b3")
    meant = GAME.meant(game.view, "clear all markers")
    assert meant is not None
    assert aids(game.play(meant.text))[0] == {"B3"}


def test_locks_are_the_solvers_own_secret() -> None:
    state: State = GAME.setup(2, GAME.options((), 2), Rng(b"locks", 0))
    for seat, text in ((ALICE, "c2,e2,f6,f7"), (BOB, "g1,b2,b4,f5"), (ALICE, "+c3")):
        move = GAME.parse(GAME.view(state, seat), text)
        state = GAME.apply(state, seat, move, Rng(b"locks", 1)).state
    others = GAME.view(state, BOB), GAME.view(state, None)
    for text in ("lock c3", "lock 4", "unlock c3"):
        move = GAME.parse(GAME.view(state, ALICE), text)
        assert move.free
        step = GAME.apply(state, ALICE, move, Rng(b"locks", 2))
        state = step.state
        assert step.public == {None: "", ALICE: move.text}
        assert all(note.audience == frozenset({ALICE}) for note in step.notes)
        assert (GAME.view(state, BOB), GAME.view(state, None)) == others
    seen = GAME.preview(others[0], ALICE, "/c3")
    assert seen.move.text == "/C3"  # a preview of another player's move reveals no lock


@given(
    st.lists(
        st.sampled_from(
            ["A", "9", "+B2", "/B2", "lock B2", "unlock B2", "lock 2", "unlock 2", "?"]
        ),
        max_size=8,
    )
)
def test_taps_that_lock_are_taken_back_by_the_next_one(taps: list[str]) -> None:
    now, draft = practice().view, ""
    for tap in taps:
        once = GAME.tapped(now, draft, tap)
        if tap.startswith(("lock ", "unlock ")) and once.split(",")[-1:] == [tap]:
            assert GAME.tapped(now, once, tap) == draft
        draft = once


def test_a_tap_on_a_locked_line_unlocks_it() -> None:
    game = practice("+b3", "lock 3")
    assert GAME.tapped(game.view, "", "lock 3") == "unlock 3"
    assert GAME.tapped(game.view, "", "lock 8") == "unlock 8"
    assert GAME.tapped(game.view, "", "lock 2") == "lock 2"
    assert GAME.tapped(game.view, "", "lock zz") == "lock ZZ"
