"""Every bot of every registered game: legal moves to the end, and by what its seat may know."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contract_play import CASE_NAMES, CASES, GAMES, hook, seats_for

from pbmserv.engine.bots import house_move
from pbmserv.engine.record import GameRecord
from pbmserv.engine.referee import Position, opening
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import HOUSE, Seat, Step
from pbmserv.errors import OptionError, Refusal
from pbmserv.render.environment import environment

LONGEST = 300
BOTS = [
    pytest.param(game, words, level, id=f"{name} {level}")
    for (game, words), name in zip(CASES, CASE_NAMES, strict=True)
    for level in game.bots
]
every_bot = pytest.mark.parametrize(("game", "words", "level"), BOTS)


def agrees(game: AnyGame, words: tuple[str, ...], level: str) -> bool:
    """Whether the bot plays with these options."""
    try:
        game.bots[level].agree(game.options(words, seats_for(game, words)))
    except OptionError as error:
        check_said(game, error.refusal)
        return False
    return True


def check_said(game: AnyGame, refusal: Refusal) -> None:
    """It names what is wrong, and there is something better."""
    template = environment().get_template(f"games/{game.info.key}/refusals.j2")
    said = template.render(refusal=refusal)
    assert refusal.part in said
    assert said.endswith(".")
    assert refusal.example


def begun(game: AnyGame, words: tuple[str, ...]) -> Position:
    info, seats = game.info, seats_for(game, words)
    return opening(game, GameRecord(info.key, info.rules_version, seats, words, b"house" * 6))


@every_bot
def test_a_bot_plays_to_the_end_by_what_its_seat_may_know(
    game: AnyGame, words: tuple[str, ...], level: str
) -> None:
    assert level in HOUSE
    if not agrees(game, words, level):
        return
    found = hook(game)
    position = begun(game, words)
    compared = 0
    while position.outcome is None:
        assert position.number < LONGEST
        seat = min(position.game.to_act(position.state))
        move = house_move(position, seat, level)
        assert not move.free
        if position.number % 6 < 2:
            assert house_move(position, seat, level) == move
            for other in list(found.alternatives(position.state, seat))[:1] if found else ():
                hidden = replace(position, step=Step(other, {None: ""}))
                assert house_move(hidden, seat, level) == move
                compared += 1
        position = position.move(seat, move)
    assert compared or not game.info.hidden


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.info.key)
def test_where_something_is_hidden_another_seed_gives_other_moves(game: AnyGame) -> None:
    for level in game.bots if game.info.hidden else ():
        position = begun(game, ())
        seeds = [replace(position, seed=bytes([n]) * 32) for n in range(4)]
        assert len({house_move(one, Seat(0), level) for one in seeds}) == 4
