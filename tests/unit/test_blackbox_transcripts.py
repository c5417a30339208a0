"""A game on one box and its transcript, which is written and read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.errors import Illegal, MoveError, NotUnderstood, OptionError, PlayerError
from pbmserv.games.blackbox.game_ids import read_id
from pbmserv.games.blackbox.options import Scoring
from pbmserv.games.blackbox.practice import Practice, begin, resumed
from pbmserv.games.blackbox.transcripts import (
    MOST_CHARACTERS,
    MOST_MOVES,
    read_transcript,
    write_transcript,
)
from pbmserv.views.texts import refusal_sentence

BOX = read_id("w8h8m5M5#123456789012345")  # D1 G1 B3 F5 D7
TEXT = """\
pbmserv transcript 1
game: blackbox
box: w8h8m5M5#123456789012345
options: -practice -guesses=99 -fair -clue
seconds: 95

1. A
2. +B2,+C4
3. restart
4. 9
undone:
5. 4,+D1
end
"""


def practice(scoring: Scoring = Scoring.PRACTICE, guesses: int = 99) -> Practice:
    return begin(BOX, scoring, guesses, fair=True, clue=True)


def test_a_transcript_reads_like_this_and_goes_there_and_back() -> None:
    game = practice().play("a").play("+b2 , +4c").restart().play("9").play("4,+1d").undo()
    assert write_transcript(game.transcript(95)) == TEXT
    again = resumed(read_transcript(TEXT))
    assert again == game
    assert write_transcript(again.transcript(95)) == TEXT
    assert again.redo().state.boxes[0].markers == {3}
    assert again.undo().undo().state.boxes[0].markers == {9, 26}


@given(st.data())
def test_any_game_goes_there_and_back(data: st.DataObject) -> None:
    game = practice(data.draw(st.sampled_from(Scoring)), data.draw(st.integers(1, 99)))
    for _ in range(data.draw(st.integers(0, 25))):
        moves = ("undo", "redo", "restart", "solve", "hint", *game.view.unused_ports[:9])
        what = data.draw(st.sampled_from([*moves, "+D1", "+G1", "+B3", "/D1", "!c", game_guess]))
        try:
            if what in ("undo", "redo", "restart", "solve", "hint"):
                game = getattr(game, what)()
            else:
                game = game.play(what, 7)
        except MoveError:
            continue
    written = write_transcript(game.transcript(7))
    again = resumed(read_transcript("Hello!\n\n" + written.replace("\n", "\r\n") + "Bye\n"))
    assert again == game
    assert write_transcript(again.transcript(7)) == written


game_guess = "+D1,+G1,+B3,+F5,+D7,?"


@pytest.mark.parametrize("scoring", [Scoring.CLASSIC, Scoring.TIMED])
def test_a_scored_game_takes_back_markers_but_nothing_that_counts(scoring: Scoring) -> None:
    game = practice(scoring).play("+b2")
    assert game.restart().undo().undo().redo().state == game.state
    for counted in (game.play("a"), game.hint(), game.play("a").restart(), game.solve()):
        with pytest.raises(Illegal, match=r"blackbox\.scored"):
            counted.undo()


def refused(text: str) -> PlayerError:
    with pytest.raises((NotUnderstood, OptionError)) as caught:
        resumed(read_transcript(text))
    assert refusal_sentence(caught.value.refusal).endswith((".", ")"))
    return caught.value


@rows(
    ("old", "new", "code", "part"),
    [
        ("pbmserv transcript 1", "Dear server,", "transcript-none", "pbmserv transcript"),
        ("transcript 1", "transcript 2", "transcript-version", "2"),
        ("game: blackbox", "game: chess", "transcript-game", "chess"),
        ("game: blackbox\n", "", "transcript-missing", "game"),
        ("w8h8m5M5#", "w8h8m5M5", "id-form", "w8h8m5M5123456789012345"),
        ("game:", "game", "transcript-line", "game blackbox"),
        ("-fair", "-fairer", "transcript-option", "-fairer"),
        ("4. 9", "4. 99", "transcript-move", "99"),
        ("end\n", "", "transcript-no-end", "end"),
        ("end\n", "x" * MOST_CHARACTERS, "transcript-long", ""),
    ],
)
def test_a_broken_transcript_is_refused_by_its_fault(
    old: str, new: str, code: str, part: str
) -> None:
    assert old in TEXT
    refusal = refused(TEXT.replace(old, new, 1)).refusal
    assert (refusal.code, refusal.part) == (f"blackbox.{code}", part)


def test_no_game_is_endless() -> None:
    moves = "".join(f"{number}. +B2\n" for number in range(1, MOST_MOVES + 2))
    assert refused(TEXT.partition("1. A")[0] + moves + "end").refusal.code.endswith("-moves")
    full = resumed(
        read_transcript(TEXT.partition("1. A")[0] + moves[: -len("2001. +B2\n")] + "end")
    )
    assert full.done == MOST_MOVES
    with pytest.raises(Illegal, match="transcript-moves"):
        full.play("+b3")


@given(st.text(max_size=200))
def test_any_text_in_place_of_a_transcript_is_refused_kindly(text: str) -> None:
    refused(text)
    refused(TEXT[: len(text)] + text)
