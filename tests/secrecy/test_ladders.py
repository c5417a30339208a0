"""No page of a ladder and no letter about one depends on a box that somebody still plays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from asgi_client import Answer, load_all, site_of
from indoors import PASSWORD
from test_hidden_atoms import quiet_world
from worlds import HIDER, SOLVER, WATCHER, Sent, World, board_of, letters_to, tell

PATHS = (
    *("/ladder", "/ladder/blackbox", "/ladder/blackbox/ladder.atom"),
    *("/api/ladders", "/api/ladders/blackbox", "/game/1", "/api/boards/1"),
)


def story(atoms: str, seal: str) -> list[Sent]:
    """A ladder game in which the hider hides some atoms and seals a cell."""
    joins = [
        Sent(userid, f"ladder join {userid} {PASSWORD} blackbox")
        for userid in (HIDER, SOLVER, WATCHER)
    ]
    return [
        *joins,
        Sent(SOLVER, f"ladder challenge {SOLVER} {PASSWORD} {HIDER}"),
        Sent(SOLVER, f"blackbox move 1 {SOLVER} {PASSWORD} b2,f4,c7,g2"),
        Sent(HIDER, f"blackbox move 1 {HIDER} {PASSWORD} SECRET", secret=atoms),
        Sent(HIDER, f"blackbox move 1 {HIDER} {PASSWORD} SECRET", secret=seal),
        Sent(WATCHER, "ladder blackbox"),
        Sent(SOLVER, f"ladder blackbox {SOLVER} {PASSWORD}"),
        Sent(WATCHER, f"ladder challenge {WATCHER} {PASSWORD}"),
    ]


def all_along(world: World, mails: list[Sent]) -> tuple[list[dict[str, Answer]], list[bytes]]:
    """Return the pages after each secret and at the end, and the letters to all but the hider."""
    site, pages = site_of(world.server), []
    for number, mail in enumerate(mails):
        tell(world, mail)
        if mail.secret or number == len(mails) - 1:
            pages.append(load_all(site, *PATHS))
    return pages, [*letters_to(world, SOLVER), *letters_to(world, WATCHER)]


@pytest.mark.slow
def test_other_atoms_and_seals_change_no_octet(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("random.SystemRandom.shuffle", lambda self, items: items.reverse())
    with quiet_world(tmp_path / "one") as world:
        seen = all_along(world, story("a1,b5,c3,d4", "!b2"))
        assert board_of(world).status == "active"
    with quiet_world(tmp_path / "other") as world:
        others = all_along(world, story("e1,f6,g7,d2", "!c3"))
    for number, (answers, other) in enumerate(zip(seen[0], others[0], strict=True)):
        for path in PATHS:
            assert answers[path] == other[path], (number, path)
    assert seen[1] == others[1]
    assert any(re.search(rb"Rank +Player", letter) for letter in seen[1])
