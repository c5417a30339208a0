"""Banks of time as players meet them: the letters of a whole game, claims and absences."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from running import Correspondence
from sqlalchemy import update
from test_stories import begun

from pbmserv.engine.clocks import EVENT_CLOCK
from pbmserv.store.boards import boards
from pbmserv.store.tables.boards import boards as boards_table

pytestmark = pytest.mark.slow

ALICE, BOB = "alice@players.example", "bob@players.example"


@pytest.fixture
def server(handed_in: Correspondence) -> Correspondence:
    return handed_in


def row(server: Correspondence):
    with server.server.database.reading.connect() as connection:
        return boards.load(connection, 1)


def of_event(server: Correspondence) -> None:
    """Give board 1 the clock of events."""
    with server.server.database.writing.begin() as connection:
        connection.execute(
            update(boards_table).values(
                nag_days=EVENT_CLOCK.nag,
                forfeit_days=EVENT_CLOCK.forfeit,
                total_days=EVENT_CLOCK.total,
                cap_days=EVENT_CLOCK.cap,
                away_days=EVENT_CLOCK.away,
                due_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
            )
        )


def test_a_bank_runs_out_on_the_day_that_the_letters_name(server: Correspondence) -> None:
    begun(server, "-time=5d+1d")
    server.send(ALICE, "prefs alice secret tz=America/New_York")
    server.letters()
    server.send(ALICE, "showas alice secret")
    shown = server.letter(ALICE)
    assert "runs until Friday 6 March 2026, 07:00 (America/New_York)" in shown.one_line
    server.live(days=3, hours=14)
    reminder = server.letter(ALICE)  # 34 hours before, when it was day
    assert "the game is lost on Friday 6 March 2026, 07:00" in reminder.one_line
    server.live(days=1, hours=9, minutes=59)
    assert server.letters() == []
    server.live(minutes=1)
    mine, theirs = server.letters()
    assert "Your clock has run out. A reminder went out on 4 March 2026." in mine.one_line
    assert "alice took too long: you won board 1" in theirs.one_line


def test_each_move_adds_a_day_and_weekends_do_not_count(server: Correspondence) -> None:
    begun(server, "-time=5d+1d/weekdays")  # a Sunday noon
    server.send(ALICE, "showas alice secret")
    text = server.letter(ALICE).one_line
    assert "5 days left: it runs until Saturday 7 March 2026, 00:00 (UTC)" in text
    server.live(days=1)
    turn = server.letters()
    assert turn == []
    server.send(ALICE, "blackbox move 1 alice secret 1")
    own = server.letter(ALICE)
    assert "Your clock stands, with 5 days and 12 hours left." in own.one_line


def test_time_away_stops_a_bank(server: Correspondence) -> None:
    begun(server, "-time=5d+1d")
    server.send(ALICE, "away alice secret until 5 March 2026")
    server.letters()
    server.send(ALICE, "showas alice secret")
    text = server.letter(ALICE).one_line
    assert "5 days left: it runs until Wednesday 11 March 2026, 00:00 (UTC)" in text


def test_a_draw_may_be_claimed_where_the_game_has_none_it_is_explained(
    server: Correspondence,
) -> None:
    begun(server, "--nagtime=0 --forfeittime=10")
    server.live(days=5)
    server.send(BOB, "blackbox claim 1 bob secret draw")
    text = server.letter(BOB).one_line
    assert "Blackbox has no draws. If the other player does not move in time, you win." in text


def test_in_an_event_nobody_gives_time_or_claims(server: Correspondence) -> None:
    begun(server)
    of_event(server)
    server.send(BOB, "blackbox give 1 bob secret 3d")
    assert "belongs to an event, which ends on its day" in server.letter(BOB).one_line
    server.live(days=9)
    server.letters()
    server.send(BOB, "blackbox claim 1 bob secret")
    assert "you win there without a claim" in server.letter(BOB).one_line


def test_in_an_event_a_long_absence_ends_the_game_all_the_same(server: Correspondence) -> None:
    begun(server)
    of_event(server)
    server.send(ALICE, "away alice secret until 20 March 2026")
    warned = server.letter(ALICE).one_line
    assert "Board 1 belongs to an event, which must end: there only the first 14 days" in warned
    server.live(days=14 + 10, minutes=-1)
    assert row(server).status == "active"
    server.live(minutes=1)
    assert row(server).status == "finished"
    assert any(
        "alice took too long: you won board 1" in letter.one_line for letter in server.letters()
    )


def test_in_an_event_a_player_who_never_moves_loses(server: Correspondence) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    server.send(alice, "blackbox challenge alice bob -size=2x2 -atoms=1")
    mine, theirs = server.letter(alice), server.letter(bob)
    server.reply(theirs, "accept")
    server.reply(mine, "a1")
    of_event(server)
    server.letters()
    server.live(days=11)
    assert row(server).status == "finished"
    assert row(server).outcome["reason"] == "forfeit"
    assert not row(server).rated, "nobody's rating changes without a move"


def test_a_reader_of_digests_hears_of_a_short_clock_at_once(server: Correspondence) -> None:
    begun(server, "-time=1d")
    server.send(BOB, "prefs bob secret digest=daily@07:30")
    server.live(hours=2)
    server.letters()
    server.send(ALICE, "blackbox move 1 alice secret 1")
    assert server.letters(BOB) == [], "the news waits for the digest"
    server.live(minutes=1)
    (reminder,) = server.letters(BOB)
    assert "the game is lost on Monday 2 March 2026, 14:00 (UTC)" in reminder.one_line
    server.live(hours=20)
    (digest,) = server.letters(BOB)
    assert (
        "Your clock has 3 hours left: it runs until Monday 2 March 2026, 14:00" in digest.one_line
    )
    server.live(hours=4)
    assert row(server).status == "finished"


def test_a_digest_in_time_is_the_reminder_of_a_clock(server: Correspondence) -> None:
    begun(server, "-time=3d")
    server.send(BOB, "prefs bob secret digest=daily@07:30")
    server.letters()
    server.send(ALICE, "blackbox move 1 alice secret 1")
    kinds = []
    for _ in range(3 * 8):
        server.live(hours=3)
        kinds += [letter.subject for letter in server.letters(BOB)]
    assert not [subject for subject in kinds if subject.startswith("Reminder")]
    assert row(server).status == "finished"
