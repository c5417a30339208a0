"""Events in two worlds: tables, letters and pages of an event do not depend on hidden boxes."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from asking_pages import asked, site_of
from indoors import PASSWORD, address_of
from test_race_worlds import indoors_drawing, without_nonces

from pbmserv.service.operators import events
from pbmserv.service.operators.deeds import Signature

NAMES = ("alice", "bob", "carol", "dave")
PATHS = ("/events", "/events/1", "/events/1.atom", "/events.atom", "/api/events/1")
OF_EVENTS = {"event", "events", "event-entry", "event-news"}


def _told(folder: Path, secret: str, wrong: str) -> list[str]:
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
            letters += world.send(address_of(name), f"league {name} {PASSWORD} join blackbox")
        for _ in range(16):
            letters += world.live(days=1)

        def plays(name: str, board: int, *moves: str) -> None:
            for move in moves:
                line = f"blackbox move {board} {name} {PASSWORD} {move}"
                answers = world.send(address_of(name), line)
                assert not any("Not done" in one.subject for one in answers), (name, move)
                letters.extend(answers)

        plays("bob", 4, secret)  # against carol
        plays("carol", 4, "b2,c3,d4,e5")
        plays("bob", 4, "3")
        plays("carol", 4, "5")
        plays("bob", 4, f"guess {wrong}")
        plays("bob", 5, secret)  # against dave, who never plays
        letters += world.send(address_of("alice"), "events 1")
        seen += _pages(world.server)
        signed = Signature("olga", "Both asked for it.")
        world.operators.do(signed, partial(events.remove, number=1, userid="dave"))
        letters += world.live(days=1)
        letters += world.send(address_of("alice"), f"event alice {PASSWORD} leave 1")
        letters += world.live(days=1)
        letters += world.send(address_of("alice"), "events 1")
        seen += _pages(world.server)
        for letter in letters:
            if letter.recipient == address_of("alice") and letter.kind in OF_EVENTS:
                seen.append(without_nonces(letter))
    return seen


def _pages(server: object) -> list[str]:
    return [asyncio.run(asked(site_of(server), path)).body.decode() for path in PATHS]


def test_nothing_of_an_event_depends_on_a_hidden_box(tmp_path: Path) -> None:
    first = _told(tmp_path / "first", "b2,b3,c5,d6", "b2,b3,b4,b5")
    second = _told(tmp_path / "second", "d4,d5,e4,e5", "c2,c3,c4,c5")
    assert len(first) > 10
    for one, other in zip(first, second, strict=True):
        assert one == other
