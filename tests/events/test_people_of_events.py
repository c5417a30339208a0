"""Accounts that are merged, exported or deleted take their entries along."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from headers import read
from indoors import Indoors
from seasons import GAME, PAWNS, ROOKS, Field, gather_two

from pbmserv.service.operators import merging
from pbmserv.service.operators.deeds import Signature
from pbmserv.store.events import event_bars, event_entries
from pbmserv.store.tables.events import EntryStatus, EventStatus

OLGA = Signature("olga", "Both asked for it.")


def test_a_merged_account_plays_on(season: Field) -> None:
    players = season
    players.server.sign_up("finn")
    players.server.operators.do(OLGA, partial(merging.merge, userid="bob", into="finn"))
    players.live(1)
    players.give_up(1)
    players.live(1)
    assert players.table(1) == [("ann", 8), ("cleo", 6), ("dan", 4), ("eve", 2), ("finn", 0)]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_merged_account_plays_where_the_other_one_is_only_invited(either: Indoors) -> None:
    players = Field(either, ("ann", "bob", "cleo"))
    with either.server.database.writing.begin() as connection:
        event_bars.bar(connection, 2, either.server.clock.now() + timedelta(days=9))
    players.says("ann", f"league join {GAME}")
    event = 1
    with either.server.database.writing.begin() as connection:
        event_entries.enter(
            connection, event, [2, 3], either.server.clock.now(), EntryStatus.INVITED
        )
    merge = partial(merging.merge, into="cleo")
    either.operators.do(OLGA, partial(merge, userid="bob"))
    either.operators.do(OLGA, partial(merge, userid="ann"))
    with either.server.database.reading.connect() as connection:
        entries = event_entries.of_event(connection, event)
        assert event_bars.barred_until(connection, [3], either.server.clock.now()) is not None
    assert [(entry.userid, entry.status) for entry in entries] == [("cleo", EntryStatus.ENTERED)]


@pytest.mark.parametrize("into", ["zoe", "bob"])
def test_a_merged_member_plays_for_the_team(server: Indoors, into: str) -> None:
    players = Field(server, (*ROOKS, *PAWNS, "zoe"))
    gather_two(players)
    for captain in ("ann", "finn"):
        players.says(captain, f"team enter {GAME}")
    server.operators.do(OLGA, partial(merging.merge, userid="ann", into=into))
    players.until(1, EventStatus.RUNNING)
    (group,) = players.event(1)["groups"]
    (match,) = group["matches"]
    playing = {name for game in match["boards"] for name in (game["first"], game["second"])}
    fourth = "eve" if into == "bob" else into  # the reserve
    assert playing == {"bob", "cleo", "dan", fourth, *PAWNS}


def test_an_export_has_the_entries(field: Callable[[int], Field]) -> None:
    players = field(1)
    players.says("ann", f"league join {GAME}")
    (letter,) = players.says("ann", "export")
    (part,) = read(letter.raw).iter_attachments()
    data = json.loads(part.get_content())
    assert data["events"][0]["status"] == "entered"
    assert data["leagues_entered_each_season"][0]["game"] == GAME
