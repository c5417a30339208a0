"""Games that preview, judge conditions or check markers do so by the view alone."""

from __future__ import annotations

import pytest
from contract_play import (
    CASE_NAMES,
    CASES,
    hook,
    play_randomly,
    rendered,
    sentence,
)

from pbmserv.engine.protocol import Aided, Conditional, Previewing
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Note, Seat
from pbmserv.errors import MoveError

pytestmark = pytest.mark.slow

every_case = pytest.mark.parametrize(("game", "words"), CASES, ids=CASE_NAMES)
TEXTS = ("a", "1,+b2", "+a1", "/a1", "?", "+a1,+b2,?", "what?", "!1", "a1", "pass", "accept")


def moves(game: AnyGame, view: object) -> list[str]:
    return [*(game.legal(view) or ())][:4] + list(TEXTS)


def tried(game: AnyGame, view: object, seat: Seat, text: str) -> object:
    """A preview as its reader gets it, or the refusal."""
    assert isinstance(game, Previewing)
    try:
        return game.preview(view, seat, text)
    except MoveError as error:
        return error.refusal


@every_case
def test_a_preview_is_what_a_move_would_do_and_never_more_than_the_view_tells(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    if not isinstance(game, Previewing):
        assert game.info.key == "heaps"
        return
    found = hook(game)
    played = play_randomly(game, words, b"preview")
    for state in played.states[::2]:
        for you in played.readers:
            view = game.view(state, you)
            mover = you if you is not None else Seat(0)
            others = list(found.alternatives(state, you))[:2] if found and game.info.hidden else []
            for text in moves(game, view):
                preview = tried(game, view, mover, text)
                for other in others:
                    assert tried(game, game.view(other, you), mover, text) == preview
                if not hasattr(preview, "notes"):
                    continue
                if you is not None:
                    assert preview.move == game.parse(view, text)
                assert preview.view.seat == you
                assert rendered(game, preview.view, played.names, you)
                _said(game, preview.notes, played.names, you)


@every_case
def test_a_free_move_does_what_its_preview_shows(game: AnyGame, words: tuple[str, ...]) -> None:
    if not isinstance(game, Previewing):
        return
    played = play_randomly(game, words, b"preview")
    seen = 0
    for state in played.states[1:]:
        for you in map(Seat, range(played.record.seats)):
            view = game.view(state, you)
            for text in TEXTS:
                preview = tried(game, view, you, text)
                if not hasattr(preview, "notes") or not preview.move.free:
                    continue
                step = game.apply(state, you, preview.move, None)  # a free move draws no lots
                assert preview.view == game.view(step.state, you)
                seen += 1
    assert seen


@every_case
def test_conditions_are_stable_and_answered_by_the_view(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    if not isinstance(game, Conditional):
        return
    found = hook(game)
    played = play_randomly(game, words, b"condition")
    for state in played.states[::3]:
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
                for other in list(found.alternatives(state, you))[:2] if found else []:
                    assert game.holds(game.view(other, you), condition) == holds


@every_case
def test_an_expected_view_is_one_to_go_on_from(game: AnyGame, words: tuple[str, ...]) -> None:
    if not isinstance(game, Conditional):
        return
    played = play_randomly(game, words, b"expect")
    for state in played.states[:-1:5]:
        for you in sorted(game.to_act(state)):
            view = game.view(state, you)
            for text in game.legal(view) or ():
                expected = game.expect(view, game.parse(view, text))
                assert rendered(game, expected, played.names, you)


@every_case
def test_a_check_tells_only_what_the_view_does(game: AnyGame, words: tuple[str, ...]) -> None:
    if not isinstance(game, Aided):
        return
    found = hook(game)
    played = play_randomly(game, words, b"check")
    for state in played.states:
        for you in map(Seat, range(played.record.seats)):
            notes = game.check(game.view(state, you))
            assert all(note.audience == frozenset({you}) for note in notes)
            _said(game, notes, played.names, you)
            for other in list(found.alternatives(state, you))[:2] if found else []:
                assert game.check(game.view(other, you)) == notes


def _said(game: AnyGame, notes: tuple[Note, ...], names: tuple[str, ...], you: Seat | None) -> None:
    for note in notes:
        text = sentence(game, note, names, you)
        assert text.endswith(".")
        assert text == text.strip()
        assert "\n" not in text
