"""Every bot of every registered game plays legal moves to the end, by its seat's view alone."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from contract_play import CASE_NAMES, CASES, GAMES, alternatives, option_sets, seats_for

from pbmserv.engine.position import Position, bot_move, opening
from pbmserv.engine.protocol import Bot, races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import AnyGame, check_agreement
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import BOT_USERIDS, Seat, Step
from pbmserv.errors import OptionError, Refusal
from pbmserv.views.texts import refusal_sentence

LONGEST = 600
BOTS = [
    pytest.param(game, words, level, id=f"{name} {level}")
    for (game, words), name in zip(CASES, CASE_NAMES, strict=True)
    for level in (game.bots if words == option_sets(game)[0] else list(game.bots)[-1:])
]
"""Each bot with the first options of its game, and the best bot with all others."""
every_bot = pytest.mark.parametrize(("game", "words", "level"), BOTS)


def agrees(game: AnyGame, words: tuple[str, ...], level: str) -> bool:
    """Return whether the bot plays with these options."""
    try:
        check_agreement(game, level, words, seats_for(game, words))
    except OptionError as error:
        check_refusal(error.refusal)
        return False
    return True


def check_refusal(refusal: Refusal) -> None:
    """It names what is wrong, and there is something better."""
    sentence = refusal_sentence(refusal)
    assert refusal.part in sentence
    assert sentence.endswith(".")
    assert refusal.example


def begun(game: AnyGame, words: tuple[str, ...]) -> Position:
    info, seats = game.info, seats_for(game, words)
    return opening(game, GameRecord(info.key, info.rules_version, seats, words, b"house" * 6))


@pytest.mark.slow
@every_bot
def test_a_bot_plays_to_the_end_by_what_its_seat_may_know(
    game: AnyGame, words: tuple[str, ...], level: str
) -> None:
    assert level in BOT_USERIDS
    if not agrees(game, words, level):
        return
    position = begun(game, words)
    compared = 0
    while position.outcome is None:
        assert position.number < LONGEST
        seat = min(position.game.to_act(position.state))
        move = bot_move(position, seat, level)
        assert not move.free
        if position.number % 20 < 2:  # of each seat's moves every tenth
            assert bot_move(position, seat, level) == move
            for other in alternatives(game, position.state, seat)[:1]:
                hidden = replace(position, step=Step(other, {None: ""}))
                assert bot_move(hidden, seat, level) == move
                compared += 1
        position = position.move(seat, move)
    assert compared or not game.info.hidden


class Listener:
    """A bot that records all its arguments."""

    def __init__(self, bot: Bot[Any]) -> None:
        self.bot = bot
        self.handed: list[str] = []

    def agree(self, options: Any) -> None:
        self.handed.append(whole(options))
        self.bot.agree(options)

    def choose(self, view: Any, rng: Rng) -> str:
        self.handed.append(whole(view))
        return self.bot.choose(view, rng)


def whole(value: Any) -> str:
    """Return all values that can be reached from a value, also fields that `repr` leaves out."""
    if is_dataclass(value):
        return repr([(field.name, whole(getattr(value, field.name))) for field in fields(value)])
    if isinstance(value, list | tuple):
        return repr([whole(item) for item in value])
    return repr(sorted(value) if isinstance(value, set | frozenset) else value)


@every_bot
def test_a_bot_is_handed_nothing_that_its_seat_cannot_know(
    monkeypatch: pytest.MonkeyPatch, game: AnyGame, words: tuple[str, ...], level: str
) -> None:
    """Yield the same board in worlds in which something else was hidden at random or by name."""
    if not agrees(game, words, level):
        return
    listener = Listener(game.bots[level])
    monkeypatch.setattr(game, "bots", {level: listener})
    seats = seats_for(game, words)
    kinds = set()
    for world in range(6):
        options = words
        if races(game):
            chosen = game.fixed(game.options(words, seats), Rng(bytes([world]) * 32, 0))
            options = game.describe(chosen)
        listener.handed.clear()
        check_agreement(game, level, options, seats)
        position = begun(game, options)
        bot_move(position, min(game.to_act(position.state)), level)
        kinds.add(tuple(listener.handed))
    assert len(kinds) == 1


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.info.key)
def test_where_something_is_hidden_another_seed_gives_other_moves(game: AnyGame) -> None:
    for level in game.bots if game.info.hidden else ():
        position = begun(game, ())
        seeds = [replace(position, seed=bytes([n]) * 32) for n in range(4)]
        assert len({bot_move(seed, Seat(0), level) for seed in seeds}) == 4
