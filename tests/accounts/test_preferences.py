"""Preferences of players: `prefs`, `away`, `back`, and their effects on letters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from indoors import HandedIn, indoors
from running import Correspondence, Letter, MovableClock
from sqlalchemy import func, select

from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.tables.accounts import absences
from pbmserv.store.tables.accounts import players as table

pytestmark = pytest.mark.slow


def player(server: Correspondence, userid: str) -> Player:
    row = server.server.read(players.account_of, userid)
    assert row is not None
    return row


def answer_to(server: Correspondence, address: str, command: str) -> Letter:
    server.send(address, command)
    return server.letter(address)


@pytest.mark.both_databases
def test_preferences_are_shown_and_changed_all_at_once(server: Correspondence) -> None:
    alice, _ = server.sign_up("alice"), server.sign_up("bob")
    shown = answer_to(server, alice, "prefs alice secret")
    for line in ("format:    html", "digest:    off", "tz:        UTC", "remind:    off"):
        assert line in shown.text
    assert "it is 12:00 there" in shown.text

    changed = answer_to(
        server,
        alice,
        "prefs alice secret digest=daily@07:30 tz=europe/berlin remind=6h,2d,night accept=auto "
        "block=bob broadcast=on",
    )
    assert "Your preferences are changed" in changed.text
    for line in (
        "digest:    daily@07:30",
        "tz:        Europe/Berlin      it is 13:00 there",
        "remind:    2d,6h,night",
        "accept:    auto               challenges start at once",
        "block:     bob",
    ):
        assert line in changed.text
    assert ">Europe/Berlin<" in changed.html
    now = player(server, "alice")
    assert (now.digest_minute, now.tz, now.remind) == (450, "Europe/Berlin", "2d,6h,night")
    assert due(server) == datetime(2026, 3, 2, 6, 30, tzinfo=UTC)

    # Another zone moves the digest with it; a reply needs no password.
    server.reply(changed, "prefs tz=America/New_York unblock=bob")
    assert "block:     nobody" in server.letter(alice).text
    assert due(server) == datetime(2026, 3, 1, 12, 30, tzinfo=UTC)

    # One wrong value, and none of them is taken.
    before = player(server, "alice")
    refused = answer_to(server, alice, "prefs alice secret format=text digest=daily@25:00")
    assert "00:00 to 23:59" in refused.text
    assert "prefs digest=VALUE" in refused.text
    assert player(server, "alice") == before
    answer_to(server, alice, "prefs alice secret digest=off remind=off")
    assert due(server) is None


def away_until(server: Correspondence) -> datetime | None:
    with server.server.database.reading.connect() as connection:
        last_day: datetime | None = connection.execute(select(func.max(absences.c.ends))).scalar()
    return last_day


def due(server: Correspondence) -> datetime | None:
    with server.server.database.reading.connect() as connection:
        moment: datetime | None = connection.execute(
            select(table.c.digest_due).where(table.c.userid == "alice")
        ).scalar()
    return moment


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Correspondence]:
    with indoors(tmp_path, operators="olga") as house:
        yield HandedIn(house)


def test_each_wrong_value_is_told_with_one_that_works(embedded: Correspondence) -> None:
    alice = embedded.sign_up("alice")
    for wrong, allowed, example in (
        ("format=pdf", "html (text and HTML), text, spoken", "format=VALUE"),
        ("digest=weekly", "off, or daily at a time of day", "digest=VALUE"),
        ("digest=daily@\u0660\u0667:\u0663\u0660", "not a time of day", "digest=VALUE"),
        ("tz=berlinn", "Did you mean Europe/Berlin?", "tz=Europe/Berlin"),
        ("tz=nowhere-at-all", "named by continent and a large city", "tz=ZONE"),
        ("remind=soon", '"soon" is not a time', "remind=VALUE"),
        ("tz=UTC+2", "does not tell when your clocks change", "tz=VALUE"),
        ("remind=1d,2d,3d,4d,5d", "at most 4", "remind=VALUE"),
        ("accept=maybe", "ask you first (ask)", "accept=VALUE"),
        ("broadcast=loud", "on or off", "broadcast=VALUE"),
        ("block=nobody-here", "Nobody plays here", "block=VALUE"),
        ("block=alice", "cannot block yourself", "block=VALUE"),
    ):
        letter = answer_to(embedded, alice, f"prefs alice secret {wrong}")
        assert allowed in letter.one_line, wrong
        assert f"prefs {example}" in letter.text, wrong
        assert "othing" in letter.text


def digests(server: Correspondence, hours: int) -> list[datetime]:
    """Return the times at which alice's digests of some hours were made."""
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    moments = []
    for _ in range(hours):
        server.live(hours=1)
        moments += [clock.moment for letter in server.letters() if "waiting" in letter.subject]
    return moments


def test_no_day_has_two_digests_however_often_their_hour_is_changed(
    embedded: Correspondence,
) -> None:
    alice, bob = embedded.sign_up("alice"), embedded.sign_up("bob")
    answer_to(embedded, alice, "prefs alice secret digest=daily@13:00 tz=UTC")
    embedded.send(bob, "blackbox challenge bob alice")
    embedded.letters()
    assert digests(embedded, 2) == [datetime(2026, 3, 1, 13, tzinfo=UTC)]
    for wish in ("digest=daily@16:00", "tz=America/New_York digest=daily@12:00", "digest=off"):
        answer_to(embedded, alice, f"prefs alice secret {wish}")
    answer_to(embedded, alice, "prefs alice secret digest=daily@13:00")
    # 13:00 in New York would come four hours later, on a day that has had one.
    assert digests(embedded, 29) == [datetime(2026, 3, 2, 18, tzinfo=UTC)]


def test_no_day_of_the_old_time_zone_has_two_digests(embedded: Correspondence) -> None:
    alice, bob = embedded.sign_up("alice"), embedded.sign_up("bob")
    answer_to(embedded, alice, "prefs alice secret digest=daily@01:00 tz=Asia/Tokyo")
    embedded.send(bob, "blackbox challenge bob alice")
    embedded.letters()
    assert digests(embedded, 5) == [datetime(2026, 3, 1, 16, tzinfo=UTC)]  # 2 March in Tokyo
    answer_to(embedded, alice, "prefs alice secret digest=daily@06:00 tz=UTC")
    assert digests(embedded, 40) == [datetime(2026, 3, 3, 6, tzinfo=UTC)]


def test_a_year_has_as_many_days_away_as_the_operator_says(tmp_path: Path) -> None:
    with indoors(tmp_path, away_days="10") as house:
        running = HandedIn(house)
        alice = running.sign_up("alice")
        refused = answer_to(running, alice, "away alice secret until in 12 days")
        assert "10 days are left to you" in refused.one_line
        assert (
            "1 is left" in answer_to(running, alice, "away alice secret until in 8 days").one_line
        )


def test_an_absence_that_is_ended_and_begun_again_costs_its_own_days_once(
    embedded: Correspondence,
) -> None:
    """The days of a running absence count against its new end, too."""
    clock = embedded.server.clock
    assert isinstance(clock, MovableClock)
    alice = embedded.sign_up("alice")
    answer_to(embedded, alice, "away alice secret until in 19 days")
    clock.move(days=15)
    refused = answer_to(embedded, alice, "away alice secret until in 20 days")
    assert "The latest day possible is 2026-03-30." in refused.one_line
    later = answer_to(embedded, alice, "away alice secret until 2026-03-30")
    assert "none is left" in later.one_line


def test_plain_text_and_spoken_boards(server: Correspondence) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    letter = answer_to(server, alice, "prefs alice secret format=spoken")
    assert letter.message.get_content_type() == "text/plain"
    assert answer_to(server, bob, "prefs bob secret format=text").message.get_content_type() == (
        "text/plain"
    )
    server.send(alice, "blackbox challenge alice bob")
    _, his = server.letters()
    hers = answer_to(server, alice, "blackbox showas alice secret 1")
    assert (
        "Your box, 7 columns by 7 rows: you have 3 guesses left.\nNo atoms are hidden" in hers.text
    )
    assert "|--|" not in hers.text
    assert "|--|" in his.text or "accept" in his.text
    server.reply(hers, "a1,c4,e5,g2")
    server.reply(his, "b3,d3,a1,f2", sender=bob)
    server.letters(bob)
    hers = server.letters(alice)[-1]
    assert "atom at A1.\n" in hers.text
    server.reply(hers, "b,+b3,!c3")
    text = server.letter(alice).text
    assert "Along the top, from the left: port B " in text
    assert "Row 3: marker on B3; sealed C3.\n" in text
    assert "|" not in text


def test_away_has_a_yearly_budget_and_back_gives_days_back(server: Correspondence) -> None:
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    alice = server.sign_up("alice")
    answer_to(server, alice, "prefs alice secret tz=Europe/Berlin")

    too_long = answer_to(server, alice, "away alice secret until 24 Dec")
    assert "30 days are left to you. The latest day possible is 2026-03-30." in too_long.one_line
    assert "away until 2026-03-30" in too_long.text
    assert (
        "year-month-day" in answer_to(server, alice, "away alice secret until the rain stops").text
    )
    assert "has passed" in answer_to(server, alice, "away alice secret until 2026-02-01").text
    assert "not away" in answer_to(server, alice, "back alice secret").text

    away = answer_to(server, alice, "away alice secret until 2026-03-10")
    assert "Of your 30 days away in 2026, 20 are left." in away.one_line
    assert away_until(server) == datetime(2026, 3, 10, 23, tzinfo=UTC)
    # A second one moves the end; nothing counts twice.
    assert "18 are left" in answer_to(server, alice, "away alice secret until 12.3.").one_line

    clock.move(days=3)
    back = answer_to(server, alice, "back alice secret")
    assert "Of your 30 days away in 2026, 26 are left." in back.one_line
    assert away_until(server) == clock.now()
    assert "25 are left" in answer_to(server, alice, "away alice secret until tomorrow").one_line
    assert len(server.server.rows(select(absences.c.id))) == 2

    # Every year has its own days, and an absence over New Year takes of both.
    clock.moment = datetime(2026, 12, 20, 12, tzinfo=UTC)
    over = answer_to(server, alice, "away alice secret until 2027-01-20")
    assert "Of your 30 days away in 2027, 10 are left." in over.one_line
