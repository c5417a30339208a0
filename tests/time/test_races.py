"""Races and the clock: who is late drops out alone, and the others are compared at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors

pytestmark = pytest.mark.slow

ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob", "carol")
        words = "-race -size=4x4 -atoms=1 -seed=monday"
        server.send(ALICE, f"blackbox challenge alice bob carol {words}")
        yield server


def wait(house: Indoors, days: int) -> list[Posted]:
    """Let so many days or one or two more pass, with a look of the scheduler every three days."""
    return [letter for _ in range(0, days, 3) for letter in house.live(days=3)]


def test_a_late_racer_is_out_and_the_others_go_on(house: Indoors) -> None:
    for userid in ("bob", "carol"):
        house.send(address_of(userid), f"blackbox accept 1 {userid} {PASSWORD}")
    house.send(BOB, f"blackbox move 1 bob {PASSWORD} 1,+a4,?")
    new_letters = wait(house, 15)
    house.send(ALICE, f"blackbox move 1 alice {PASSWORD} 1")
    new_letters += wait(house, 12)
    assert not [letter for letter in new_letters if letter.kind == "result"], "alice is still at it"
    assert all("A4" not in letter.text for letter in new_letters if letter.recipient != BOB)
    letters = house.send(ALICE, f"blackbox move 1 alice {PASSWORD} +d1,?")
    results = {letter.recipient: letter.one_line for letter in letters if letter.kind == "result"}
    assert "You won the race on board 1" in results[BOB]
    assert "3 carol took too long 0 0 0 - -" in results[ALICE]


def test_a_race_that_nobody_plays_to_its_end_is_won_by_nobody(house: Indoors) -> None:
    for userid in ("bob", "carol"):
        house.send(address_of(userid), f"blackbox accept 1 {userid} {PASSWORD}")
    house.send(ALICE, f"blackbox move 1 alice {PASSWORD} 2")
    house.send(BOB, f"blackbox move 1 bob {PASSWORD} 1")
    house.send(CAROL, f"blackbox prefs carol {PASSWORD} format=spoken")
    house.send(CAROL, f"blackbox move 1 carol {PASSWORD} 3")
    house.send(BOB, f"blackbox resign 1 bob {PASSWORD}")
    results = {letter.recipient: letter for letter in wait(house, 25) if letter.kind == "result"}
    assert results.keys() == {ALICE, BOB, CAROL}
    for result in results.values():
        text = result.one_line
        assert result.subject.startswith("Not solved: Blackbox 1")
        assert "Nobody solved board 1" in text
        assert " won" not in text
    words = results[BOB].one_line
    assert "Player Result" in words  # and no place
    assert "bob gave up 0 0 1 - -" in words
    assert "alice took too long 0 0 1 - -" in words
    read = results[CAROL].one_line
    assert "bob gave up." in read
    assert "alice took too long." in read
    assert "came first" not in read
    (history,) = house.send(ALICE, "blackbox history alice")
    assert "nobody solved it" in history.text
    (report,) = house.send(BOB, "blackbox report 1")
    assert "alice took too long, after 1 probe" in report.text


def test_nobody_loses_a_race_in_which_nobody_has_moved(house: Indoors) -> None:
    letters = wait(house, 25)
    assert {letter.kind for letter in letters} <= {"reminder", "unanswered"}
    notice = next(letter for letter in letters if letter.kind == "unanswered")
    line = "blackbox challenge alice bob carol -race -size=4x4 -atoms=1"
    assert f'write "{line}"' in notice.one_line
    assert f"subject={quote(line)}" in notice.html  # the same by a tap
    (games,) = house.send(ALICE, "blackbox games alice")
    assert "No Blackbox games" in games.text or "no" in games.text.lower()


def test_a_player_who_declines_a_race_is_not_said_to_wait_for_the_others(house: Indoors) -> None:
    """When the last one lets the challenge lapse, nobody is left to race with alice."""
    house.send(BOB, f"blackbox reject 1 bob {PASSWORD}")
    reminder = next(letter for letter in wait(house, 9) if letter.kind == "reminder")
    house.send(CAROL, f"blackbox prefs carol {PASSWORD} digest=daily")
    letters = wait(house, 15)
    digest = next(letter for letter in letters if letter.kind == "tray")
    for letter in (reminder, digest):
        assert "alice wants to play Blackbox with you" in letter.one_line
    notice = next(letter for letter in letters if letter.kind == "unanswered")
    assert "carol did not answer the challenge in time" in notice.one_line
