"""The table in the digest: on Mondays, for those who want news of the event."""

from __future__ import annotations

from pathlib import Path

import pytest
from indoors import address_of, indoors
from seasons import GAME, Field

from pbmserv.store.tables.events import EventStatus


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
def test_the_digest_of_a_monday_has_the_table(database_url: str, tmp_path: Path) -> None:
    with indoors(tmp_path, database_url) as server:
        players = Field(server, ("ann", "bob", "cleo", "dan"))
        players.all_say(f"league join {GAME}")
        players.until(1, EventStatus.RUNNING)  # on a Monday
        players.says("bob", "event letters 1 off")
        players.give_up(1, losers=["dan"])
        letters = players.live(13)
        digests = [letter for letter in letters if letter.kind == "tray"]
        assert len(digests) > 20
        tables = [letter for letter in digests if "the table of group 1" in letter.text]
        assert {one.recipient for one in tables} == {address_of("ann"), address_of("cleo")}
        assert len(tables) == 2
        lines = [line.split() for line in tables[0].text.split("\n")]
        assert ["4", "dan", "0", "0", "0", "3", "0"] in lines
        assert "event letters 1 off" in " ".join(tables[0].text.split())
