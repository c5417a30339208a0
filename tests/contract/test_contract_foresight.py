"""Games that preview, judge conditions or check markers do so by the view alone."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from contract_play import (
    CASE_NAMES,
    CASES,
    alternatives,
    free_texts,
    play_randomly,
    rendered,
    sentence,
    texts,
)
from examples import DEEP
from rows import rows

from pbmserv.engine.protocol import Aided, Conditional, Previewing
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Note, Preview, Seat
from pbmserv.errors import Illegal, MoveError, Refusal
from pbmserv.views.texts import refusal_sentence

pytestmark = pytest.mark.slow

every_case = pytest.mark.parametrize(("game", "words"), CASES, ids=CASE_NAMES)
every_case_together = rows(("game", "words"), CASES, ids=CASE_NAMES)


def tried(game: AnyGame, view: object, seat: Seat, text: str) -> Preview[Any] | Refusal:
    """Return a preview as its reader sees it, or the refusal."""
    assert isinstance(game, Previewing)
    try:
        return game.preview(view, seat, text)
    except MoveError as error:
        return error.refusal


def check_result(game: AnyGame, view: object) -> tuple[Note, ...] | Refusal:
    """Return the result of a check, or its refusal."""
    assert isinstance(game, Aided)
    try:
        return game.check(view)
    except Illegal as error:
        return error.refusal


@every_case
def test_a_preview_is_what_a_move_would_do_and_never_more_than_the_view_tells(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    if not isinstance(game, Previewing):
        return
    played = play_randomly(game, words)
    for state in played.some_states:
        for you in played.readers:
            view = game.view(state, you)
            mover = you if you is not None else Seat(0)
            others = alternatives(game, state, you)[:2] if game.info.hidden else ()
            views = [game.view(other, you) for other in others]
            listed = list(game.legal(view) or ())[:4]
            is_rendered = False
            for text in (*listed, *texts(game)):
                preview = tried(game, view, mover, text)
                assert all(tried(game, other, mover, text) == preview for other in views)
                if isinstance(preview, Refusal):
                    assert you not in game.to_act(state) or text not in listed
                    continue
                if you is not None:
                    assert preview.move == game.parse(view, text)
                assert getattr(preview.view, "seat", you) == you
                if DEEP or not is_rendered:  # rendering takes longest
                    is_rendered = True
                    assert rendered(game, preview.view, played.names, you)
                _check_sentences(game, preview.notes, played.names, you)


@every_case_together
def test_a_free_move_does_what_its_preview_shows(game: AnyGame, words: tuple[str, ...]) -> None:
    if not isinstance(game, Previewing) or not free_texts(game):
        return
    played = play_randomly(game, words)
    seen = 0
    for state in played.some_states[1:]:
        for you in map(Seat, range(played.record.seats)):
            view = game.view(state, you)
            for text in free_texts(game):
                preview = tried(game, view, you, text)
                if isinstance(preview, Refusal):
                    continue
                step = game.apply(
                    state, you, preview.move, None
                )  # a free move draws no random numbers
                assert preview.view == game.view(step.state, you)
                seen += 1
    assert seen


@every_case_together
def test_conditions_are_stable_and_answered_by_the_view(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    if not isinstance(game, Conditional):
        return
    played = play_randomly(game, words)
    for state in played.some_states:
        for you in map(Seat, range(played.record.seats)):
            view = game.view(state, you)
            for text, meaning in game.conditions:
                assert meaning
                try:
                    condition = game.condition(view, text)
                except MoveError:
                    continue
                assert game.condition(view, condition) == condition
                holds = game.holds(view, condition)
                for other in alternatives(game, state, you)[:2]:
                    assert game.holds(game.view(other, you), condition) == holds


@every_case_together
def test_an_expected_view_is_one_to_go_on_from(game: AnyGame, words: tuple[str, ...]) -> None:
    if not isinstance(game, Conditional):
        return
    played = play_randomly(game, words)
    for state in played.states[:-1:5]:
        for you in sorted(game.to_act(state)):
            view = game.view(state, you)
            for text in game.legal(view) or ():
                expected = game.expect(view, game.parse(view, text))
                assert rendered(game, expected, played.names, you)


@every_case_together
def test_a_check_tells_only_what_the_view_does(game: AnyGame, words: tuple[str, ...]) -> None:
    if not isinstance(game, Aided):
        return
    played = play_randomly(game, words)
    checks = 0
    for state in played.some_states:
        for you in map(Seat, range(played.record.seats)):
            for after in (state, *_after_a_free_move(game, state, you)):
                notes = check_result(game, game.view(after, you))
                for other in alternatives(game, after, you)[:2]:
                    assert check_result(game, game.view(other, you)) == notes
                if isinstance(notes, Refusal):
                    assert refusal_sentence(notes).endswith(".")
                    continue
                assert all(note.audience == frozenset({you}) for note in notes)
                _check_sentences(game, notes, played.names, you)
                checks += 1
    assert checks, "a check that is always refused; free moves of the hook come before it"


def _after_a_free_move(game: AnyGame, state: object, you: Seat) -> list[object]:
    """Return the state after the first possible free move, which gives more to check."""
    for text in free_texts(game):
        with suppress(MoveError):
            move = game.parse(game.view(state, you), text)
            return [game.apply(state, you, move, Rng(b"check", 1)).state]
    return []


def _check_sentences(
    game: AnyGame, notes: tuple[Note, ...], names: tuple[str, ...], you: Seat | None
) -> None:
    for note in notes:
        text = sentence(game, note, names, you)
        assert text.endswith(".")
        assert text == text.strip()
        assert "\n" not in text
