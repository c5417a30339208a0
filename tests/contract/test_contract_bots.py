"""Every bot of every registered game plays legal moves to the end, by its seat's view alone."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from contract_play import CASE_NAMES, CASES, GAMES, alternatives, seats_for
from examples import DEEP
from rows import rows

from pbmserv.engine.position import Position, bot_move, opening
from pbmserv.engine.protocol import Bot, races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import AnyGame, check_agreement
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import BOT_USERIDS, Seat, Step
from pbmserv.errors import OptionError, Refusal
from pbmserv.views.texts import refusal_sentence

LONGEST = 600
MOST, MOST_OF_OPTIONS = (LONGEST, LONGEST) if DEEP else (100, 24)
"""Moves that bots make in a usual game, and in one with options: most games are over by then."""
RACES = [(game, words) for game, words in CASES if races(game)]
"""Boards whose options hide something that is drawn when they begin."""
every_case = pytest.mark.parametrize(("game", "words"), CASES, ids=CASE_NAMES)


def levels_of(game: AnyGame, words: tuple[str, ...]) -> list[str]:
    """Return the levels that play with these options."""
    return [level for level in game.bots if agrees(game, words, level)]


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
@every_case
def test_bots_play_to_the_end_by_what_their_seats_may_know(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    """All levels in turn in one game; in a deep run, also each level alone.

    Long games are played to their ends in a deep run alone (`MOST`, `MOST_OF_OPTIONS`).
    """
    assert {*game.bots} <= {*BOT_USERIDS}
    levels = levels_of(game, words)
    for playing in [levels, *([level] for level in levels if DEEP)]:
        if playing:
            play_to_the_end(game, words, playing)


def play_to_the_end(game: AnyGame, words: tuple[str, ...], levels: list[str]) -> None:
    position = begun(game, words)
    compared = set()
    most = MOST_OF_OPTIONS if words else MOST
    while position.outcome is None and (DEEP or position.number < most):
        assert position.number < LONGEST
        seat = min(position.game.to_act(position.state))
        turns, level = divmod(position.number // 2, len(levels))
        move = bot_move(position, seat, levels[level])
        assert not move.free
        if turns % 10 == 0:  # the first moves of each level, and then every tenth
            assert bot_move(position, seat, levels[level]) == move
            for other in alternatives(game, position.state, seat)[:1]:
                hidden = replace(position, step=Step(other, {None: ""}))
                assert bot_move(hidden, seat, levels[level]) == move
                compared.add(level)
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


@rows(("game", "words"), RACES, ids=[f"{game.info.key} {' '.join(words)}" for game, words in RACES])
def test_a_bot_is_handed_nothing_that_its_seat_cannot_know(
    game: AnyGame, words: tuple[str, ...]
) -> None:
    """Hand it the same board in worlds in which something else was hidden at random or by name."""
    seats = seats_for(game, words)
    for level in levels_of(game, words):
        listener = Listener(game.bots[level])
        kinds = set()
        for world in range(6 if DEEP else 2):
            chosen = game.fixed(game.options(words, seats), Rng(bytes([world]) * 32, 0))
            options = game.describe(chosen)
            listener.handed.clear()
            with pytest.MonkeyPatch.context() as heard:
                heard.setattr(game, "bots", {level: listener})
                check_agreement(game, level, options, seats)
                position = begun(game, options)
                bot_move(position, min(game.to_act(position.state)), level)
            kinds.add(tuple(listener.handed))
        assert len(kinds) == 1


@rows("game", GAMES, ids=lambda game: game.info.key)
def test_where_something_is_hidden_another_seed_gives_other_moves(game: AnyGame) -> None:
    for level in game.bots if game.info.hidden else ():
        position = begun(game, ())
        heads = [replace(position.head, seed=bytes([n]) * 32) for n in range(4)]
        moves = {bot_move(replace(position, head=head), Seat(0), level) for head in heads}
        assert len(moves) == 4
