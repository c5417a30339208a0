"""Every registered game: any text is a move or gets a kind refusal."""

from __future__ import annotations

import pytest
from contract_play import CASE_NAMES, CASES, GAMES, Played, hook, play_randomly
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.errors import MoveError, NotUnderstood, OptionError, PlayerError
from pbmserv.views.texts import refusal_sentence

every_case = pytest.mark.parametrize(("game", "words"), CASES, ids=CASE_NAMES)
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.info.key)

SENTENCES = [
    "Hi Bob, nice game",
    "Thanks!",
    "ok",
    "OK, thanks",
    "a, b, and then we'll see",
    "Good luck",
    "Hello",
    "resign",
    "show",
    "See you on the 2nd",
    "-- ",
    "- Bob",
    "On 3 May 2024, Alice wrote:",
    "",
    "   ",
    ",,;",
    "What do you think? g",
    "Sent from my phone",
    "Well played; g is next, is it?",
    "b2, bye",
    "Straße ①, ½",
]


def check_refusal(game: AnyGame, error: PlayerError) -> None:
    """Check that a refusal belongs to the game and has a sentence."""
    assert error.refusal.code.startswith(f"{game.info.key}.")
    assert refusal_sentence(error.refusal).endswith(".")


def check(game: AnyGame, played: Played, number: int, text: str) -> None:
    """Check that a text is refused kindly, or is a move with a stable canonical text."""
    state = played.states[number]
    for you in played.readers:
        view = game.view(state, you)
        try:
            move = game.parse(view, text)
        except MoveError as error:
            check_refusal(game, error)
            if error.refusal.example:
                game.parse(view, error.refusal.example)
        else:
            assert you is not None
            assert game.parse(view, move.text) == move
            if move.free or you in game.to_act(state):
                step = game.apply(state, you, move, Rng(b"garbage", number))
                assert None in step.public


@pytest.mark.slow
@every_case
@examples(3)
@given(data=st.data())
def test_anything_typed_is_a_move_or_refused(
    game: AnyGame, words: tuple[str, ...], data: st.DataObject
) -> None:
    played = play_randomly(game, words)
    near = st.text(getattr(hook(game), "GARBAGE", "abc123,"), max_size=40)
    text = data.draw(near | st.text(max_size=60) | st.text("ab1,", min_size=950, max_size=1100))
    check(game, played, data.draw(st.integers(0, len(played.states) - 1)), text)


@rows("game", GAMES, ids=lambda game: game.info.key)
def test_sentences_are_no_moves(game: AnyGame) -> None:
    played = play_randomly(game, ())
    for state in played.some_states:
        for you in played.readers:
            view = game.view(state, you)
            for text in SENTENCES:
                with pytest.raises(NotUnderstood):
                    assert not game.parse(view, text), text


@every_game
@examples(4)
@given(word=st.text(max_size=20) | st.from_regex(r"-[a-z]{1,9}(=[0-9x-]{0,6})?", fullmatch=True))
def test_any_option_word_is_read_or_refused(game: AnyGame, word: str) -> None:
    seats = game.info.max_seats
    try:
        options = game.options([word], seats)
    except OptionError as error:
        check_refusal(game, error)
        if error.refusal.example:
            game.options([error.refusal.example], seats)
    else:
        assert game.options(game.describe(options), seats) == options
