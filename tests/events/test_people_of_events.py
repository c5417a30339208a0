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
