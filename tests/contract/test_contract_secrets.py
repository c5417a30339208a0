"""Every registered game: the letters of a seat do not depend on facts that it cannot know."""

from __future__ import annotations

from contract_play import (
    CASE_NAMES,
    CASES,
    GAMES,
    Played,
    alternatives,
    hook,
    play_randomly,
    public_for,
    rendered,
    texts,
)
from rows import rows

from pbmserv.engine.position import notes_for
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.errors import MoveError

HIDDEN = [(case, name) for case, name in zip(CASES, CASE_NAMES, strict=True) if case[0].info.hidden]
every_hidden_case = rows(
    ("game", "words"), [case for case, _ in HIDDEN], ids=[name for _, name in HIDDEN]
)


@rows("game", GAMES, ids=lambda game: game.info.key)
def test_a_game_with_secrets_says_how_to_change_them(game: AnyGame) -> None:
    assert not game.info.hidden or hasattr(hook(game), "alternatives")


@every_hidden_case
def test_another_secret_shows_the_same_view_and_letters(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    played = play_randomly(game, words)
    compared = 0
    for state in played.some_states:
        for you in played.readers:
            view = game.view(state, you)
            for other in alternatives(game, state, you):
                assert other != state
                seen = game.view(other, you)
                assert seen == view
                assert repr(seen) == repr(view)
                assert game.to_act(other) == game.to_act(state)
                if compared % 8 == 0:  # equal views render equally, so that only some are rendered
                    assert _shown(played, seen, you) == _shown(played, view, you)
                compared += 1
    assert compared > 5


@every_hidden_case
def test_another_secret_leads_to_the_same_refusals_and_free_moves(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    played = play_randomly(game, words)
    for state in played.some_states:
        for you in map(Seat, range(played.record.seats)):
            if others := alternatives(game, state, you)[:3]:
                answers = _tried(game, state, you)
                assert all(_tried(game, other, you) == answers for other in others)


def _shown(played: Played, view: object, you: Seat | None) -> str:
    return rendered(played.game, view, played.names, you)


def _tried(game: AnyGame, state: object, you: Seat) -> dict[str, object]:
    """Return the answers to texts that a seat types; for turns, only how they are read."""
    view = game.view(state, you)
    return {text: _answer(game, state, you, view, text) for text in texts(game)}


def _answer(game: AnyGame, state: object, you: Seat, view: object, text: str) -> object:
    try:
        move = game.parse(view, text)
    except MoveError as error:
        return error.refusal
    if not move.free:
        return move
    step = game.apply(state, you, move, Rng(b"secret", 1))
    return move, public_for(step, you), list(notes_for(game, step, you)), game.view(step.state, you)
