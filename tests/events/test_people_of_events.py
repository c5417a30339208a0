"""Accounts that are merged, exported or deleted take their entries along."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from headers import read
from seasons import GAME, Field

from pbmserv.service.operators import people
from pbmserv.service.operators.deeds import Signature

OLGA = Signature("olga", "Both asked for it.")


def test_a_merged_account_plays_on(season: Field) -> None:
    players = season
    players.server.sign_up("finn")
    players.server.operators.do(OLGA, partial(people.merge, userid="bob", into="finn"))
    players.live(1)
    players.give_up(1)
    players.live(1)
    assert players.table(1) == [("ann", 8), ("cleo", 6), ("dan", 4), ("eve", 2), ("finn", 0)]


def test_an_export_has_the_entries(field: Callable[[int], Field]) -> None:
    players = field(1)
    players.says("ann", f"league join {GAME}")
    (letter,) = players.says("ann", "export")
    (part,) = read(letter.raw).iter_attachments()
    data = json.loads(part.get_content())
    assert data["events"][0]["status"] == "entered"
    assert data["leagues_entered_each_season"][0]["game"] == GAME


def test_a_deleted_owner_leaves_no_name_behind(field: Callable[[int], Field]) -> None:
    players = field(2)
    players.server.send("ann@players.example", f"{GAME} challenge ann bob")
    players.says("bob", "league leave chess")
    players.server.send("bob@players.example", f"{GAME} accept 1 bob wonder-land")
    for name, move in (("ann", "d"), ("bob", "c")):
        line = f"{GAME} move 1 {name} wonder-land {move}"
        players.server.send(f"{name}@players.example", line)
    players.server.send("bob@players.example", f"{GAME} resign 1 bob wonder-land")
    players.says("ann", f'event create {GAME} cup "Ann and friends" -entries=4')
    assert "Ann and friends" in players.event(1)["name"]
    (question,) = players.says("ann", "delete")
    players.server.reply(question, "yes")
    assert "Ann" not in players.event(1)["name"]
