"""What everybody may read, and a seat: no octet of page, picture, feed or JSON tells secrets."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from asking_pages import Answer, all_asked, asked, site_of
from layouts import other_secrets
from test_hidden_atoms import quiet_world
from worlds import HIDER, SOLVER, Sent, World, board_of, play, tell

from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.accounts import players

PATHS = (
    *("/", "/standings", "/seeks", "/daily", f"/players/{SOLVER}", f"/players/{HIDER}"),
    *("/game/1", "/game/1.svg", "/game/1.png", "/game/1?turn=0", "/game/1?turn=3"),
    *("/games.atom", "/daily.atom", f"/players/{HIDER}/games.atom", "/sitemap.xml", "/today"),
    *("/game/1.svg?turn=2", "/game/1.png?turn=2", "/game/1?turn=99", "/game/2"),
    *("/api/boards/1", "/api/boards/1?turn=3", "/api/boards/1?turn=99", "/api/boards"),
    *(f"/api/players/{HIDER}", f"/api/players/{HIDER}/boards", "/api/ratings", "/api/today"),
)
SEAT = "/api/seat"


def read_all_along(world: World, mails: list[Sent]) -> list[dict[str, Answer]]:
    """What strangers read after every third of these mails, and after the last."""
    site = site_of(world.server)
    found = []
    for number, mail in enumerate(mails, 1):
        tell(world, mail)
        if number % 3 == 0 or number == len(mails):
            answers = all_asked(site, *PATHS)
            token = token_of(world, SOLVER)
            answers[SEAT] = asyncio.run(asked(site, SEAT, authorization=f"Bearer {token}"))
            found.append(answers)
    return found


def token_of(world: World, userid: str) -> str:
    """The token of a player's seat."""
    with world.server.database.reading.connect() as connection:
        player = players.by_userid(connection, userid)
    assert player is not None
    told = ReplyAddress(Purpose.BOARD, player.id, 1, 1, player.reply_epoch)
    return world.server.mail_domain.ring.token(told)


def test_other_atoms_and_seals_change_no_octet_of_what_everybody_reads(tmp_path: Path) -> None:
    dice = random.Random(6)
    with quiet_world(tmp_path / "story") as world:
        story = play(world, "-atoms=3-4 -size=5x5", 12, dice)
        mails, others = other_secrets(world, story, dice)
    assert len(mails) > 6
    assert mails != others
    with quiet_world(tmp_path / "one") as world:
        here = read_all_along(world, mails)
        assert board_of(world).status == "active"
    with quiet_world(tmp_path / "other") as world:
        there = read_all_along(world, others)
    for number, (one, other) in enumerate(zip(here, there, strict=True)):
        for path in (*PATHS, SEAT):
            assert one[path] == other[path], (number, path)
    assert here[-1]["/game/1.png"].body.startswith(b"\x89PNG")
    for path in ("/game/1", "/api/boards/1", SEAT):
        assert len({one[path].header("etag") for one in here}) > 1
    assert all(one[SEAT].status == 200 for one in here)
