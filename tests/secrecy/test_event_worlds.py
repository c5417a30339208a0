"""Events in two worlds: tables, letters and pages of an event do not depend on hidden boxes."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from asgi_client import fetch, site_of
from indoors import PASSWORD, Posted, address_of
from seating import gather_team
from test_race_worlds import indoors_drawing, without_nonces

from pbmserv.service.operators import events
from pbmserv.service.operators.deeds import Signature

NAMES = ("alice", "bob", "carol", "dave")
PATHS = ("/events", "/events/1", "/events/1.atom", "/events.atom", "/api/events/1")
OF_EVENTS = {"event", "events", "event-entry", "event-invited", "event-news"}


def _everything_read(folder: Path, secret: str, wrong: str) -> list[str]:
    """Return what alice, a stranger and a program read of a season while bob hides *secret*.

    Args:
        wrong: bob's guess of alice's box.
    """
    folder.mkdir()
    seen: list[str] = []
    with pytest.MonkeyPatch.context() as patch, indoors_drawing(patch, folder) as world:
        world.server.scheduler.begin()
        world.sign_up(*NAMES)
        letters = []
        for name in NAMES:
            line = f"league {name} {PASSWORD} join blackbox"
            letters += _of_events(world.send(address_of(name), line))
        for _ in range(4):
            letters += _of_events(world.live(days=4))

        def plays(name: str, board: int, *moves: str) -> None:
            for move in moves:
                line = f"blackbox move {board} {name} {PASSWORD} {move}"
                answers = world.send(address_of(name), line)
                assert not any(letter.kind == "refusal" for letter in answers), (name, move)
                letters.extend(_of_events(answers))

        plays("bob", 4, secret)  # against carol
        plays("carol", 4, "b2,c3,d4,e5")
        plays("bob", 4, "3")
        plays("carol", 4, "5")
        plays("bob", 4, f"guess {wrong}")
        plays("bob", 5, secret)  # against dave, who never plays
        letters += _of_events(world.send(address_of("alice"), "events 1"))
        seen += _pages(world.server)
        signed = Signature("olga", "Both asked for it.")
        world.operators.do(signed, partial(events.remove, number=1, userid="dave"))
        letters += _of_events(world.live(days=1))
        line = f"event alice {PASSWORD} leave 1"
        letters += _of_events(world.send(address_of("alice"), line))
        letters += _of_events(world.live(days=1))
        letters += _of_events(world.send(address_of("alice"), "events 1"))
        seen += _pages(world.server)
        seen += map(without_nonces, letters)
    return seen


def _of_events(letters: list[Posted]) -> list[Posted]:
    """Return the letters to alice about events and teams; others are not made."""
    return [
        letter
        for letter in letters
        if letter.recipient == address_of("alice")
        and (letter.kind in OF_EVENTS or letter.kind.startswith("team"))
    ]


TEAM_PATHS = (*PATHS, "/teams", "/teams/rooks", "/api/teams/rooks")
ROOKS, PAWNS = NAMES, ("erin", "fred", "gus", "hal")


def _everything_read_of_teams(folder: Path, secret: str) -> list[str]:
    """Return what alice and a stranger read of a match of teams while her partner bob hides."""
    folder.mkdir()
    seen: list[str] = []
    with pytest.MonkeyPatch.context() as patch, indoors_drawing(patch, folder) as world:
        world.server.scheduler.begin()
        world.sign_up(*ROOKS, *PAWNS)
        gather_team(world.server, "Rooks", range(1, 5))
        gather_team(world.server, "Pawns", range(5, 9))
        letters = []
        for captain in ("alice", "erin"):
            line = f"team {captain} {PASSWORD} enter blackbox"
            letters += _of_events(world.send(address_of(captain), line))
        for _ in range(8):
            letters += _of_events(world.live(days=4))
        for name, move in (("bob", secret), ("fred", "b2,c3,d4,e5"), ("fred", "5"), ("bob", "3")):
            line = f"blackbox move 2 {name} {PASSWORD} {move}"
            answers = world.send(address_of(name), line)
            assert not any(letter.kind == "refusal" for letter in answers), (name, move)
        chat = world.send(address_of("bob"), f"team chat bob {PASSWORD}", "I have begun.")
        letters += _of_events(chat)
        letters += _of_events(world.send(address_of("alice"), "events 1"))
        letters += _of_events(world.send(address_of("alice"), f"team alice {PASSWORD}"))
        site = site_of(world.server)
        seen += [asyncio.run(fetch(site, path)).body.decode() for path in TEAM_PATHS]
        seen += map(without_nonces, letters)
    return seen


def test_nothing_of_a_match_of_teams_depends_on_a_hidden_box(tmp_path: Path) -> None:
    first = _everything_read_of_teams(tmp_path / "first", "b2,b3,c5,d6")
    second = _everything_read_of_teams(tmp_path / "second", "d4,d5,e4,e5")
    assert first == second
    assert sum("I have begun." in text for text in first) == 1


def _pages(server: object) -> list[str]:
    return [asyncio.run(fetch(site_of(server), path)).body.decode() for path in PATHS]


def test_nothing_of_an_event_depends_on_a_hidden_box(tmp_path: Path) -> None:
    first = _everything_read(tmp_path / "first", "b2,b3,c5,d6", "b2,b3,b4,b5")
    second = _everything_read(tmp_path / "second", "d4,d5,e4,e5", "c2,c3,c4,c5")
    assert len(first) > 10
    for text, other in zip(first, second, strict=True):
        assert text == other
