"""A duplicate event in two worlds: nothing of a box reaches a player who has not finished it.

The worlds differ in the boxes and in what bob does with them. Told, by the rules, is only who has
finished a box.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from asgi_client import fetch, site_of
from duplicate_events import begin_duplicate
from indoors import PASSWORD, Indoors, Posted, address_of
from test_copies import solution
from test_race_worlds import indoors_drawing, without_nonces

from pbmserv.engine.rng import Rng
from pbmserv.service.events import shared_boxes

NAMES = ("alice", "bob", "carol")
BOXES = '"Same boxes" -boxes=2 -entries=3 -size=5x5'
HERS = (
    "events 1",
    f"event alice {PASSWORD} leave 2",
    "show 1",
    "show 2",
    f"showas alice {PASSWORD} 1",
    "show 1#1",
    "record 1",
    f"replay 1 alice {PASSWORD}",
    f"save 1 alice {PASSWORD}",
    f"export alice {PASSWORD}",
    f"rematch 1 alice {PASSWORD}",
    "show 3",
    "show 3#1",
    "record 3",
    "replay 4 alice",
    f"report 3 alice {PASSWORD}",
    "report 3",
    "friends bob",
    f"follow alice {PASSWORD} 4",
    "games bob",
    "history bob",
    "history",
    "scores",
    "ratings bob",
)
"""Commands that tell something of the event or its boards."""

_PLEDGE = re.compile(r"[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}")
"""The start of a salted hash of the box and the seed, which binds the server."""

PATHS = (
    *("/events", "/events/1", "/events/1.atom", "/events.atom", "/api/events/1"),
    *("/", "/players/bob", "/players/bob/games.atom", "/api/players/bob"),
    *("/api/players/bob/boards", "/games", "/games.atom", "/games/blackbox", "/sitemap.xml"),
    *("/api/boards", "/api/boards/3", "/api/boards/3?turn=1", "/standings", "/daily"),
    *("/game/1", "/game/3", "/game/3?turn=1", "/game/3.svg", "/game/3.png?turn=1", "/game/4"),
)


def _everything_read(
    folder: Path, salt: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], str]:
    """Return what alice and a stranger read before alice has finished a box, and the first box.

    Args:
        salt: changes the boxes. With an even one bob solves his, else he is wrong.
    """
    folder.mkdir()
    seen: list[str] = []

    def salted(seed: bytes, number: int) -> Rng:
        return Rng(bytes(octet ^ salt for octet in seed), number)

    with monkeypatch.context() as patch, indoors_drawing(patch, folder) as world:
        patch.setattr(shared_boxes, "Rng", salted)
        world.server.scheduler.begin()
        world.sign_up(*NAMES)
        letters = begin_duplicate(world, "blackbox", NAMES, BOXES)
        right = [solution(world, board) for board in (3, 4)]
        for board in (3, 4):
            moves = [right[board - 3]] if salt % 2 == 0 else ["3", "7", _wrong(right[board - 3])]
            for move in moves:
                line = f"blackbox move {board} bob {PASSWORD} {move}"
                answers = world.send(address_of("bob"), line)
                assert not any(answer.kind == "refusal" for answer in answers), move
                letters += [answer for answer in answers if answer.recipient != address_of("bob")]
        for command in HERS:
            letters += world.send(address_of("alice"), command)
        seen += [asyncio.run(fetch(site_of(world.server), path)).body.decode() for path in PATHS]
        letters += world.live(days=1)
        seen += [
            without_nonces(letter) for letter in letters if letter.recipient != address_of("bob")
        ]
        if not salt:
            _check_the_end(world)
    return [_PLEDGE.sub("PLEDGE", text) for text in seen], right[0]


def _wrong(right: str) -> str:
    """Return a guess of as many atoms elsewhere."""
    atoms = right.split(",")[:-1]
    others = [f"+{column}{row}" for column in "abcde" for row in range(1, 6)]
    free = [cell for cell in others if cell not in atoms]
    return ",".join((*free[: len(atoms)], "?"))


def _check_the_end(world: Indoors) -> None:
    """See that the box opens as soon as all have finished it, and only then."""
    shows = (f"showas alice {PASSWORD} 1", "show 3")
    for line in (f"blackbox solve 1 alice {PASSWORD}", *shows):
        assert not shows_atoms(world.send(address_of("alice"), line))
    world.send(address_of("carol"), f"blackbox solve 5 carol {PASSWORD}")
    for line in shows:
        assert shows_atoms(world.send(address_of("alice"), line))


def shows_atoms(letters: list[Posted]) -> bool:
    return any("@|" in letter.text for letter in letters)


def test_nothing_of_a_box_reaches_who_may_still_play_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, box = _everything_read(tmp_path / "first", 0, monkeypatch)
    second, other_box = _everything_read(tmp_path / "second", 1, monkeypatch)
    assert box != other_box
    assert len(first) > 20
    assert any("finished" in text for text in first)
    for text, other in zip(first, second, strict=True):
        assert text == other
