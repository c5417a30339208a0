"""A duplicate event with dice in two worlds: no later roll reaches a player who has not come to it.

The worlds have the same first rolls, and other ones later. Bob plays his game to its end, in each
world as its dice want. By the rules, players learn only who has finished a game.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from asgi_client import fetch, site_of
from blackbox_alone import every_game
from duplicate_events import begin_duplicate, board_and_position, play_as_bot
from examples import DEEP
from indoors import PASSWORD, Indoors, Posted, address_of
from test_race_worlds import indoors_drawing, without_nonces

from pbmserv.engine import registry
from pbmserv.engine.position import Position
from pbmserv.engine.rng import Rng
from pbmserv.engine.table import DealtRng

NAMES = ("alice", "bob", "carol")
SEEN_AT_FIRST = {"backgammon": 8, "liar": 6}
"""Draws before alice's first move, by game."""

OPTIONS = {"backgammon": "", "liar": "-dice=3"}
MOVES = {"backgammon": 4, "liar": 100}
"""Moves of bob in his first game, which he then gives up."""

HERS = (
    "events 1",
    f"event alice {PASSWORD} leave 2",
    "GAME show 1",
    f"GAME showas alice {PASSWORD} 1",
    f"GAME showas alice {PASSWORD} 1#1",
    "GAME record 1",
    f"GAME replay 1 alice {PASSWORD}",
    f"GAME save 1 alice {PASSWORD}",
    f"export alice {PASSWORD}",
    f"GAME rematch 1 alice {PASSWORD}",
    f"GAME chat 1 alice {PASSWORD} hello",
    "GAME show 3",
    "show 3",
    "GAME show 3#1",
    "GAME show 3#2",
    "GAME show 4",
    "GAME show 4#1",
    f"GAME showas alice {PASSWORD} 3",
    "GAME record 3",
    f"GAME record 3 alice {PASSWORD}",
    "GAME replay 3 alice",
    "GAME preview 3 13/8",
    "GAME preview 4 13/8",
    "GAME preview 4 1 six",
    f"GAME preview 4 alice {PASSWORD} 13/8",
    f"GAME report 3 alice {PASSWORD}",
    f"GAME rematch 3 alice {PASSWORD}",
    f"follow alice {PASSWORD} 3",
    f"follow alice {PASSWORD} 4",
    f"subscribe 4 alice {PASSWORD}",
    "friends bob",
    "games bob",
    "games house",
    "GAME history bob",
    "history house",
    "GAME history",
    "GAME scores",
    "GAME standings",
    "GAME ratings bob",
)
"""Commands that tell something of the event or its boards."""

PATHS = (
    *("/events", "/events/1", "/events/1.atom", "/events.atom", "/api/events/1"),
    *("/", "/players/bob", "/players/bob/games.atom", "/api/players/bob"),
    *("/api/players/bob/boards", "/games", "/games.atom", "/games/backgammon", "/sitemap.xml"),
    *("/api/boards", "/api/boards/3", "/api/boards/3?turn=1", "/api/boards/4", "/standings"),
    *("/players/house", "/api/players/house", "/game/1", "/game/3", "/game/3?turn=1", "/game/4"),
    *("/game/3.svg", "/game/3.png?turn=1", "/game/4?turn=2", "/game/4.svg"),
)


def commands_about(game: str) -> list[str]:
    """Return all commands for one game, and those that show a game for the other one."""
    return [
        command.replace("GAME", game)
        for command in HERS
        if game == "backgammon" or command.startswith("GAME")
    ]


def _everything_read(
    folder: Path, game: str, salt: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], Position]:
    """Return what alice and a stranger read before alice has finished a game, and bob's first one
    at its end.

    Args:
        salt: changes the later draws.
    """
    folder.mkdir()
    rest = f'"Same dice" -boxes=2 -entries=3 {OPTIONS[game]}'
    play = partial(play_as_bot, to=address_of("alice"))

    def salted(self: DealtRng) -> Rng:
        deal, draws = self.dealt
        self.drawn, self.dealt = True, (deal, draws + 1)
        seed = self._rng.seed
        if deal or draws >= SEEN_AT_FIRST[game]:
            seed = bytes(octet ^ salt for octet in seed)
        return Rng(seed, deal * 2**32 + draws)

    with monkeypatch.context() as patch:
        patch.setattr(registry, "announced", every_game)
        with indoors_drawing(patch, folder) as world:
            patch.setattr(DealtRng, "_next", salted)
            world.server.scheduler.begin()
            world.sign_up(*NAMES)
            letters = begin_duplicate(world, game, NAMES, rest)
            letters += play(world, "bob", 3, most=MOVES[game])
            given_up = world.send(address_of("bob"), f"{game} resign 3 bob {PASSWORD}")
            letters += [letter for letter in given_up if letter.recipient != address_of("bob")]
            end = board_and_position(world, 3)[1]
            letters += play(world, "bob", 4, most=3)
            for command in commands_about(game):
                letters += world.send(address_of("alice"), command)
            site = site_of(world.server)
            answers = [
                asyncio.run(fetch(site, path))
                for path in PATHS
                if game == "backgammon" or "/game/" in path
            ]
            assert not [answer for answer in answers if answer.status >= 500]
            seen = [answer.body.decode() for answer in answers]
            letters += world.live(days=1)
            letters += world.live(days=3)
            seen += [
                without_nonces(letter)
                for letter in letters
                if letter.recipient != address_of("bob")
            ]
            if not salt:
                _check_the_end(world, game)
    return seen, end


def _check_the_end(world: Indoors, game: str) -> None:
    """See that a game opens as soon as all have finished it, and only then."""
    shows = (f"{game} show 3", f"{game} record 3", f"{game} record 3 bob {PASSWORD}")
    for number, name in ((1, "alice"), (5, "carol")):
        for line in shows:
            assert not _is_open(world.send(address_of("bob"), line)), line
        world.send(address_of(name), f"{game} resign {number} {name} {PASSWORD}")
    for line in shows:
        assert _is_open(world.send(address_of("bob"), line)), line


def _is_open(letters: list[Posted]) -> bool:
    """Return whether an answer shows the end of the game."""
    return any("won board 3" in letter.text or "seed: " in letter.text for letter in letters)


@pytest.mark.parametrize("game", SEEN_AT_FIRST if DEEP else ["liar"])
def test_no_later_draw_reaches_a_player_who_may_still_play_it(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Play an event twice with other draws later on; a usual run does so in Liar's dice alone."""
    first, end = _everything_read(tmp_path / "first", game, 0, monkeypatch)
    second, other_end = _everything_read(tmp_path / "second", game, 1, monkeypatch)
    assert end.state != other_end.state
    if game == "liar":
        assert end.outcome is not None
        assert other_end.outcome is not None
        assert end.outcome.places != other_end.outcome.places
    assert any("finished" in text for text in first)
    for text, other in zip(first, second, strict=True):
        assert text == other
