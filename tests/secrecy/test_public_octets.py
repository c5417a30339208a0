"""No octet of a public page, picture, feed or JSON, or of a seat's, depends on secrets."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path

import pytest
from asgi_client import Answer, fetch, load_all, site_of
from indoors import PASSWORD, address_of
from layouts import other_secrets
from test_hidden_atoms import quiet_world
from worlds import (
    HIDER,
    SOLVER,
    WATCHER,
    Sent,
    World,
    board_of,
    play,
    tell,
)

from pbmserv.engine.rng import Rng
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.mail.visits import page_link
from pbmserv.service.solo import daily_box
from pbmserv.store.accounts import players
from pbmserv.store.shared_boxes import daily_boxes, day_numbers

PATHS = (
    *("/", "/standings", "/seeks", "/daily", f"/players/{SOLVER}", f"/players/{HIDER}"),
    *("/game/1", "/game/1.svg", "/game/1.png", "/game/1?turn=0", "/game/1?turn=3"),
    *("/games.atom", "/daily.atom", f"/players/{HIDER}/games.atom", "/sitemap.xml", "/today"),
    *("/game/1.svg?turn=2", "/game/1.png?turn=2", "/game/1?turn=99", "/game/2"),
    *("/api/boards/1", "/api/boards/1?turn=3", "/api/boards/1?turn=99", "/api/boards"),
    *(f"/api/players/{HIDER}", f"/api/players/{HIDER}/boards", "/api/ratings", "/api/today"),
)
SEAT = "/api/seat"


LOOKS = ("", "?check=all", "?move=a,%2Bb2", "?tap=%3F", "?check=a")
"""Ways to look at the page of a board."""


def read_all_along(world: World, mails: list[Sent]) -> list[dict[str, Answer]]:
    """Return the pages of others than the hider after every sixth mail and after the last."""
    site = site_of(world.server)
    bodies = []
    for number, mail in enumerate(mails, 1):
        tell(world, mail)
        if number % 6 == 0 or number == len(mails):
            answers = load_all(site, *PATHS, *own_pages(world))
            token = token_of(world, SOLVER, Purpose.BOARD)
            answers[SEAT] = asyncio.run(fetch(site, SEAT, authorization=f"Bearer {token}"))
            bodies.append(answers)
    return bodies


def token_of(world: World, userid: str, purpose: Purpose) -> str:
    """The token of a player's seat, or page."""
    player = world.server.read(players.active_by_userid, userid)
    assert player is not None
    if purpose is Purpose.PAGE:
        address = page_link(player.id, player.reply_epoch, world.server.clock.now())
    else:
        address = ReplyAddress(purpose, player.id, 1, 1, player.reply_epoch)
    return world.server.mail_domain.ring.token(address)


def own_pages(world: World) -> list[str]:
    """Pages of those who must not know: a board's, and their own."""
    board = f"/b/{token_of(world, SOLVER, Purpose.BOARD)}"
    own = [f"/mine/{token_of(world, userid, Purpose.PAGE)}" for userid in (SOLVER, WATCHER)]
    return [*(board + look for look in LOOKS), *own]


@pytest.mark.slow
def test_other_atoms_and_seals_change_no_octet_of_what_everybody_reads(tmp_path: Path) -> None:
    dice = random.Random(6)
    with quiet_world(tmp_path / "story") as world:
        story = play(world, "-atoms=3-4 -size=5x5", 12, dice)
        mails, others = other_secrets(world, story, dice)
    assert len(mails) > 6
    assert mails != others
    with quiet_world(tmp_path / "one") as world:
        rounds = read_all_along(world, mails)
        assert board_of(world).status == "active"
    with quiet_world(tmp_path / "other") as world:
        other_rounds = read_all_along(world, others)
    for number, (answers, other) in enumerate(zip(rounds, other_rounds, strict=True)):
        assert answers.keys() == other.keys()
        for path in answers:
            assert answers[path] == other[path], (number, path)
    assert rounds[-1]["/game/1.png"].body.startswith(b"\x89PNG")
    for path in ("/game/1", "/api/boards/1", SEAT):
        assert len({answers[path].header("etag") for answers in rounds}) > 1
    own = {path for path in rounds[-1] if path.startswith((SEAT, "/b/", "/mine/"))}
    assert len(own) == 8
    assert all(answers[path].status == 200 for answers in rounds for path in own)


@pytest.mark.slow
def test_another_box_of_the_day_changes_no_octet_while_it_is_shut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results of other players in their own boxes stay secret."""
    seen: list[list[dict[str, Answer]]] = []
    boxes = []
    for name in ("one", "other"):
        monkeypatch.setattr(daily_box, "Rng", lambda _seed, day, name=name: Rng(name.encode(), day))
        with quiet_world(tmp_path / name) as world:
            site, bodies = site_of(world.server), []
            solver, hider = address_of(SOLVER), address_of(HIDER)
            for number, (sender, subject) in enumerate(
                (
                    (solver, f"blackbox daily {SOLVER} {PASSWORD}"),
                    (solver, f"blackbox move 1 {SOLVER} {PASSWORD} a,+b2"),
                    (hider, f"blackbox daily {HIDER} {PASSWORD}"),
                    (solver, f"blackbox move 1 {SOLVER} {PASSWORD} 3,c"),
                    (solver, f"blackbox resign 1 {SOLVER} {PASSWORD}"),
                )
            ):
                world.send(sender, subject, "", "")
                if number % 2:
                    continue
                numbers = re.findall(rb"/daily/(\d+)", load_all(site, "/daily")["/daily"].body)
                days = [f"/daily/{int(number)}" for number in numbers]
                assert len(days) == 1
                bodies.append(load_all(site, *PATHS, *days, "/game/2?turn=0", "/game/1?turn=2"))
            day = day_numbers.day_of_number(int(numbers[0]))
            boxes.append(world.server.read(daily_boxes.of_day, "blackbox", day))
        seen.append(bodies)
    assert boxes[0] != boxes[1]
    for number, (answers, other) in enumerate(zip(*seen, strict=True)):
        assert answers.keys() == other.keys()
        for path in answers:
            assert answers[path] == other[path], (number, path)
    assert seen[0][0][days[0]].status == 200
    assert seen[0][0][days[0]] != seen[0][-1][days[0]]  # somebody gave up: that is told
