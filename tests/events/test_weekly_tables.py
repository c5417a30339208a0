"""The table in the digest: on Mondays, for those who want news of the event."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from indoors import address_of, indoors
from seasons import GAME, PAWNS, ROOKS, Field, gather_two

from pbmserv.store.tables.events import EventStatus


def test_the_digest_of_a_monday_has_the_table(season: Field) -> None:
    players = season  # it has begun on a Monday
    players.says("bob", "event letters 1 off")
    players.give_up(1, losers=["eve"])
    letters = [letter for _ in range(8) for letter in players.live(1)]
    digests = [letter for letter in letters if letter.kind == "tray"]
    assert len(digests) > 10
    tables = [letter for letter in digests if "the table of group 1" in letter.text]
    assert [table.recipient for table in tables] == [*map(address_of, ("ann", "cleo", "dan"))]
    lines = [line.split() for line in tables[0].text.split("\n")]
    assert ["5", "eve", "0", "0", "0", "4", "0"] in lines
    assert "event letters 1 off" in tables[0].one_line


def test_a_table_without_a_result_is_no_news(season: Field) -> None:
    season.live(6)
    digests = [letter for letter in season.live(1) if letter.kind == "tray"]  # of a Monday
    assert digests
    assert not any("the table of group 1" in digest.text for digest in digests)


def test_a_monthly_cup_has_a_table_while_it_takes_entries(field: Callable[[int], Field]) -> None:
    players = field(5)
    players.says("ann", "prefs digest=daily@07:30")
    players.all_say(f"cup join {GAME}")
    players.live(0.1)
    players.give_up(1, losers=["eve"])
    letters = [letter for _ in range(8) for letter in players.live(1)]
    assert players.event(1)["status"] == EventStatus.OPEN
    tables = [
        letter
        for letter in letters
        if "Monthly cup 1 of Connect Four: the table" in letter.one_line
    ]
    assert {letter.recipient for letter in tables} == {address_of("ann")}


def test_a_match_of_teams_has_a_table_of_teams(tmp_path: Path) -> None:
    rooks = ROOKS[:4]
    with indoors(tmp_path) as server:
        players = Field(server, (*rooks, *PAWNS))
        gather_two(players, rooks)
        for captain in ("ann", "finn"):
            players.says(captain, f"team enter {GAME}")
        players.says("ann", "prefs digest=daily@07:30")
        players.until(1, EventStatus.RUNNING)
        players.give_up(1, losers=["ivy"])
        letters = [letter for _ in range(8) for letter in players.live(1)]
        digests = [letter for letter in letters if letter.kind == "tray"]
        tables = [letter for letter in digests if ": the table" in letter.text]
        assert {letter.recipient for letter in tables} == {address_of("ann")}
        lines = [line.split() for line in tables[0].text.split("\n")]
        assert ["1", "Rooks", "0", "2", "3"] in lines
        assert ["2", "Pawns", "0", "0", "3"] in lines
