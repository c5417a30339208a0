"""No page of a team and no words to one depend on a box that somebody still plays."""

from __future__ import annotations

from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest
from asgi_client import load_all, site_of
from indoors import PASSWORD, address_of
from test_hidden_atoms import quiet_world
from worlds import HIDER, SOLVER, WATCHER, Sent, World, letters_to, tell

PATHS = ("/teams", "/teams/rooks", "/api/teams", "/api/teams/rooks")


def story(atoms: str) -> list[Sent]:
    """A team of the hider and the watcher; the hider plays against the solver."""
    return [
        Sent(HIDER, f"blackbox solo {HIDER} {PASSWORD} -size=4x4 -atoms=1 -seed=monday"),
        Sent(HIDER, f"blackbox move 1 {HIDER} {PASSWORD} a"),
        Sent(HIDER, f"blackbox resign 1 {HIDER} {PASSWORD}"),
        Sent(HIDER, f"team {HIDER} {PASSWORD} create Rooks"),
        Sent(HIDER, f"team {HIDER} {PASSWORD} invite {WATCHER}"),
        Sent(WATCHER, f"team {WATCHER} {PASSWORD} join Rooks"),
        Sent(HIDER, f"blackbox challenge {HIDER} {PASSWORD} {SOLVER}"),
        Sent(SOLVER, f"blackbox move 2 {SOLVER} {PASSWORD} b2,f4,c7,g2"),
        Sent(HIDER, f"blackbox move 2 {HIDER} {PASSWORD} SECRET", secret=atoms),
        Sent(HIDER, f"blackbox showas {HIDER} {PASSWORD} 2"),
    ]


def all_along(world: World, mails: list[Sent]) -> tuple[list[object], list[bytes]]:
    """Return the pages from the first secret on, and the letters to all but the hider.

    At the end the hider writes to the team below a copy of the own board.
    """
    site, pages = site_of(world.server), []
    for number, mail in enumerate(mails):
        tell(world, mail)
        if any(earlier.secret for earlier in mails[: number + 1]):
            pages.append(load_all(site, *PATHS))
    newest = message_from_bytes(letters_to(world, HIDER)[-1], policy=default)
    body = newest.get_body(("plain",))
    assert body is not None
    words = f"Look at my board!\n\n{body.get_content()}"
    world.send(address_of(HIDER), f"team chat {HIDER} {PASSWORD}", words, "")
    return pages, [*letters_to(world, SOLVER), *letters_to(world, WATCHER)]


@pytest.mark.slow
def test_a_board_that_is_quoted_to_the_team_stays_secret(tmp_path: Path) -> None:
    with quiet_world(tmp_path / "one") as world:
        seen = all_along(world, story("a1,b5,c3,d4"))
    with quiet_world(tmp_path / "other") as world:
        others = all_along(world, story("e1,f6,g7,d2"))
    assert seen == others
    assert any(b"Look at my board!" in letter for letter in seen[1])
