"""Every registered game: play ends, records replay, canonical text is stable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contract_play import CASE_NAMES, CASES, EVERY, GAMES, SEED, play_randomly, sentence
from examples import DEEP
from rows import rows

from pbmserv.engine.position import advance, notes_for, replay
from pbmserv.engine.protocol import Racing
from pbmserv.engine.record import WITHDRAW, Ply
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move, Seat
from pbmserv.errors import MoveError

every_case = rows(("game", "words"), CASES, ids=CASE_NAMES)
every_game = rows("game", GAMES, ids=lambda game: game.info.key)


@every_game
def test_the_facts_about_a_game_are_usable(game: AnyGame) -> None:
    info = game.info
    assert info.key.isidentifier()
    assert info.key == info.key.lower()
    assert 1 <= info.min_seats <= info.max_seats <= 8
    assert "\n" not in info.summary
    assert info.rules_version >= 1
    assert all(word.startswith("-") for word, _ in info.options)


@every_case
def test_described_options_are_read_back(game: AnyGame, words: tuple[str, ...]) -> None:
    seats = game.info.max_seats
    options = game.options(words, seats)
    assert game.options(game.describe(options), seats) == options
    assert isinstance(game.rated(options), bool)


@every_game
def test_the_classic_game_has_no_option_words(game: AnyGame) -> None:
    assert game.describe(game.options((), game.info.min_seats)) == ()


@every_case
def test_random_legal_play_ends(game: AnyGame, words: tuple[str, ...]) -> None:
    seeds = (SEED, *(bytes([number]) * 32 for number in range(1, 20 if DEEP else 1)))
    for played in (play_randomly(game, words, seed) for seed in seeds):
        outcome = game.outcome(played.states[-1])
        assert outcome is not None
        assert len(outcome.places) == played.record.seats
        assert min(outcome.places) == 1
        assert outcome.reason


@every_case
def test_somebody_is_to_act_exactly_until_the_outcome(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    for state in play_randomly(game, words).states:
        assert bool(game.to_act(state)) == (game.outcome(state) is None)


@every_case
def test_a_turn_number_names_one_turn(game: AnyGame, words: tuple[str, ...]) -> None:
    played = play_randomly(game, words)
    numbers: dict[int, list[int]] = {}
    for state, ply in zip(played.states, played.record.plies, strict=False):
        numbers.setdefault(ply.seat, []).append(game.turn(state, ply.seat))
    for used in numbers.values():
        assert used == sorted(set(used))


@every_case
def test_a_record_replays_to_the_same_position(game: AnyGame, words: tuple[str, ...]) -> None:
    played = play_randomly(game, words)
    assert tuple(replay(game, played.record)) == played.steps
    beginning = replace(played.record, plies=played.record.plies[:3])
    assert tuple(replay(game, beginning)) == played.steps[:4]


@every_case
def test_canonical_text_is_read_as_itself(game: AnyGame, words: tuple[str, ...]) -> None:
    played = play_randomly(game, words)
    for state, ply in list(zip(played.states, played.record.plies, strict=False))[::EVERY]:
        view = game.view(state, ply.seat)
        move = Move(ply.text, ply.free)
        assert game.parse(view, ply.text) == move
        assert game.parse(view, ply.text.lower()) == move


@every_case
def test_every_note_is_one_sentence(game: AnyGame, words: tuple[str, ...]) -> None:
    played = play_randomly(game, words)
    for step in played.steps:
        for you in played.readers:
            for note in notes_for(game, step, you):
                _assert_sentence(sentence(game, note, played.names, you))


@every_case
def test_each_seat_can_withdraw_at_any_time_and_then_it_is_over(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    played = play_randomly(game, words)
    for number, state in list(enumerate(played.states[:-1], 1))[::EVERY]:
        apart = isinstance(game, Racing) and game.apart(state)
        for seat in game.to_act(state) | (set() if apart else {Seat(0)}):
            step = game.withdraw(state, seat, Rng(played.record.seed, number))
            assert step == advance(
                game, played.record.seed, state, Ply(number, seat, WITHDRAW, False)
            )
            outcome = game.outcome(step.state)
            if outcome is not None and not apart:  # the places of a race go by scores
                assert (outcome.reason, outcome.seat) == ("resigned", seat)
                assert outcome.places[seat] == max(outcome.places)
    with pytest.raises(MoveError):
        game.withdraw(played.states[-1], Seat(0), Rng(played.record.seed, 0))


@every_case
def test_a_turn_is_refused_to_a_seat_that_is_not_to_act(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    played = play_randomly(game, words)
    for state, ply in zip(played.states, played.record.plies, strict=False):
        for seat in set(map(Seat, range(played.record.seats))) - game.to_act(state):
            with pytest.raises(MoveError):
                game.apply(state, seat, Move(ply.text), Rng(SEED, ply.number))


def _assert_sentence(text: str) -> None:
    assert text.strip() == text
    assert "\n" not in text
    assert text.endswith(".")
    assert text[0].isupper() or text.startswith("player")
