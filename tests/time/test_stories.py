"""Time as players meet it in their mail, on a whole server."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from running import Correspondence, Letter
from sqlalchemy import Connection, select

from pbmserv.service.time.time_options import read_times
from pbmserv.store.accounts import absences as absence_rows
from pbmserv.store.boards import boards
from pbmserv.store.tables.downtime import heartbeats, outages

pytestmark = pytest.mark.slow


@pytest.fixture
def server(handed_in: Correspondence) -> Correspondence:
    return handed_in


def challenge(server: Correspondence, words: str = "") -> tuple[Letter, Letter]:
    """Board 1 of alice and bob: the letters that tell them of it."""
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    server.send(alice, f"blackbox challenge alice bob -size=2x2 -atoms=1 {words}".strip())
    return server.letter(alice), server.letter(bob)


def begun(server: Correspondence, words: str = "") -> None:
    """Board 1, both atoms hidden; alice is to fire."""
    mine, theirs = challenge(server, words)
    server.reply(mine, "a1")
    server.reply(theirs, "b2")
    server.letters()


def status(server: Correspondence, board: int = 1) -> str:
    with server.server.database.reading.connect() as connection:
        row = boards.load(connection, board)
    assert row is not None
    return row.status


def leave(server: Correspondence, begins: datetime, ends: datetime) -> None:
    """What `away from` of alice writes."""

    def write(connection: Connection) -> None:
        row = boards.load(connection, 1)
        assert row is not None
        absence_rows.add(connection, row.sitters[0].player_id, begins, ends)

    server.server.writer.submit(write).result()


def test_a_player_who_does_not_move_is_reminded_and_loses_in_the_end(
    server: Correspondence,
) -> None:
    begun(server)
    server.live(days=6, hours=23)
    assert server.letters() == []
    server.live(hours=1)
    reminder = server.letter("alice@players.example")
    assert "Reminder: your move on board 1" in reminder.text
    assert "waited for your move since 1 March 2026" in reminder.text
    assert "the game is lost on Sunday 22 March 2026, 12:00 (UTC)" in reminder.one_line
    assert "2x2" not in reminder.subject
    server.live(days=13, minutes=-1)
    assert server.letters() == []
    server.live(minutes=1)
    assert "Reminder: your move on board 1" in server.letter("alice@players.example").text
    server.live(days=1, minutes=-1)
    assert server.letters() == []
    server.live(minutes=1)
    to_alice, to_bob = server.letters()
    assert "You took too long: bob won board 1" in to_alice.text
    assert "Your reminder" not in to_alice.text
    text = to_alice.one_line
    assert "a reminder went out on 8 March 2026" in text
    assert 'When you cannot play for a while, reply "away until DATE"' in text
    assert "alice took too long: you won board 1" in to_bob.text
    assert "* alice took too long." in to_bob.text
    assert "resigned" not in to_bob.text + to_alice.text
    server.live(days=100)
    assert server.letters() == []
    server.send("bob@players.example", "blackbox show 1")
    assert "alice took too long: bob won board 1" in server.letter("bob@players.example").text


def test_a_wish_for_an_earlier_reminder_holds_for_boards_that_have_begun(
    server: Correspondence,
) -> None:
    begun(server)
    server.live(days=1)
    server.send("alice@players.example", "prefs alice secret remind=18d")
    server.letters()
    server.live(days=2, minutes=-1)
    assert server.letters() == []
    server.live(minutes=1)
    assert "Reminder: your move on board 1" in server.letter("alice@players.example").text


def test_a_reminder_can_be_answered_and_the_clock_starts_again(server: Correspondence) -> None:
    begun(server)
    server.live(days=7)
    reminder = server.letter("alice@players.example")
    server.live(days=1)
    server.reply(reminder, "1")
    server.letters()
    server.live(days=7)
    assert "Reminder: your move" in server.letter("bob@players.example").text
    server.live(days=13)
    assert status(server) == "active"


def test_reminders_of_one_evening_are_one_letter_and_one_reply_answers_them(
    server: Correspondence,
) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    for hours, words in ((1, ""), (4, "--forfeittime=20"), (0, "--nagtime=5")):
        server.send(alice, f"blackbox challenge alice bob -size=2x2 -atoms=1 {words}".strip())
        server.live(hours=hours)
    server.letters()
    server.live(days=5, hours=-5)
    server.live(hours=7)  # the one with --nagtime=5 is alone
    reminder = server.letter(bob)
    assert "alice waits for you on board 3" in reminder.text
    server.live(days=1, hours=17)
    together = server.letter(bob)
    assert together.subject == "Reminder: 2 boards wait for you"
    text = together.one_line
    assert text.count("has waited for your answer since 1 March 2026.") == 2
    places = [text.index(f"Blackbox {board} with alice: a challenge") for board in (2, 1)]
    assert places == sorted(places), "the one that is lost first stands first"
    assert together.html.count("Without one the challenge is withdrawn on") == 2
    server.reply(together, "2: reject\n1: b2")
    assert "Done: 2 of 2" in server.letter(bob).subject
    server.live(days=1)
    assert server.letters(bob) == [], "each was reminded of once"


def test_a_board_without_a_waiting_opponent_ends_quietly(server: Correspondence) -> None:
    alice = server.sign_up("alice")
    server.send(alice, "blackbox challenge alice house -size=2x2 -atoms=1")
    server.reply(server.letter(alice), "yes")
    server.reply(server.letter(alice), "b2")
    server.letters()
    server.send(alice, "blackbox daily alice secret 12:00")
    server.live(days=1)
    words = (
        "Nobody is waiting here, so nobody gets a reminder; "
        "after 21 days without a move the board ends."
    )
    server.send(alice, "blackbox show 1")
    letters = server.letters(alice)
    assert words in letters[-1].one_line
    server.send(alice, "blackbox daily alice secret off")
    server.send(alice, "prefs alice secret digest=daily@07:30")
    server.letters()
    for _ in range(5):
        server.live(days=5)
    assert server.letters() == [], "no reminder, no result, no digest of nothing else"
    assert [status(server, board) for board in (1, 2)] == ["finished", "declined"]


def test_a_challenge_that_nobody_answers_is_withdrawn(server: Correspondence) -> None:
    mine, theirs = challenge(server, "--nagtime=2 --forfeittime=4 --totaltime=3")
    for letter in (mine, theirs):
        words = letter.one_line
        assert (
            "You get a reminder after 2 days without a move and another a day before the "
            "end; after 4 days you lose the game" in words
        )
        assert "Each player has 3 days for the whole game." in words
    server.live(days=2)
    reminder = server.letter("bob@players.example")
    assert "alice waits for you on board 1" in reminder.text
    assert "withdrawn on Thursday 5 March 2026, 12:00" in reminder.one_line
    server.live(days=2)
    first, second = server.letters()
    assert "bob did not answer the challenge in time" in first.text
    assert "Board 1 will not be played" in second.text
    assert status(server) == "declined"


def test_an_acceptance_starts_the_clock_of_a_player_who_must_hide(server: Correspondence) -> None:
    _, theirs = challenge(server, "--nagtime=2 --forfeittime=4")
    server.live(days=1)
    server.reply(theirs, "accept")
    server.letters()
    server.live(days=1)
    assert server.letters() == []
    server.live(days=1)
    assert {str(letter.message["To"]) for letter in server.letters()} == {
        "alice@players.example",
        "bob@players.example",
    }
    server.live(days=2)
    letters = server.letters()
    words = "alice and bob did not make a first move in time"
    assert all(words in letter.one_line for letter in letters)
    assert len(letters) == 2


def test_a_reminder_of_one_player_does_not_put_off_the_other(server: Correspondence) -> None:
    _, theirs = challenge(server, "--nagtime=2 --forfeittime=10")
    server.reply(theirs, "accept")  # both are to hide
    server.letters()
    now = server.server.clock.now()
    leave(server, now, now + timedelta(days=1))
    server.live(days=2)
    assert server.letter("bob@players.example").subject.startswith("Reminder, your move")
    server.live(days=1)
    assert server.letter("alice@players.example").subject.startswith("Reminder, your move")


def test_a_player_who_never_moved_cannot_lose(server: Correspondence) -> None:
    mallory = server.sign_up("mallory")
    alice = server.sign_up("alice")
    server.send(mallory, "prefs mallory secret accept=auto")
    server.letters()
    server.send(alice, "blackbox challenge alice mallory --nagtime=1 --forfeittime=2")
    server.reply(server.letter(alice), "yes")  # since the board begins at once
    server.reply(next(f for f in server.letters() if f.message["To"] == mallory), "a1,b2,c3,d4")
    server.letters()
    server.live(days=1)
    assert "Reminder: your move" in server.letter(alice).text
    server.live(days=1)
    assert status(server) == "declined"
    for letter in server.letters():
        assert "alice did not make a first move in time" in letter.one_line
    server.send(alice, "blackbox ratings alice mallory")
    answer = server.letter(alice).one_line
    assert "alice has no Blackbox rating yet" in answer
    assert "mallory has no Blackbox rating yet" in answer


def test_while_away_and_after_it_nothing_is_lost(server: Correspondence) -> None:
    begun(server)

    begins = server.server.clock.now() + timedelta(days=5)
    leave(server, begins, begins.replace(month=4))
    server.live(days=5)
    for days in (10, 10, 11):
        server.live(days=days)
    assert server.letters() == []
    server.live(days=2)
    assert "Reminder" in server.letter("alice@players.example").text
    server.live(days=13, hours=23)
    assert status(server) == "active"
    server.live(hours=1)
    assert status(server) == "finished"


def test_an_outage_counts_against_nobody(server: Correspondence) -> None:
    begun(server)
    server.live(days=7)
    server.letters()
    server.sleep(days=30)
    assert server.letters() == []
    with server.server.database.reading.connect() as connection:
        (down,) = connection.execute(select(outages.c.begins, outages.c.ends)).all()
        assert (down.ends - down.begins).days == 30
    server.live(days=14, minutes=-1)
    assert status(server) == "active"
    server.live(minutes=1)
    assert status(server) == "finished"


def test_in_the_hour_after_an_outage_nothing_is_lost(server: Correspondence) -> None:
    begun(server)
    server.live(days=7)
    server.letters()
    server.live(days=13, hours=23)
    server.sleep(minutes=6)
    server.live(minutes=59)
    assert status(server) == "active"
    server.live(minutes=1)
    assert status(server) == "finished"


def test_a_restart_within_five_minutes_is_no_outage(server: Correspondence) -> None:
    server.sleep(minutes=5)
    with server.server.database.reading.connect() as connection:
        assert connection.execute(select(outages.c.id)).all() == []
        beat = connection.execute(select(heartbeats.c.beat_at)).scalar_one()
    assert beat == server.server.clock.now()


def test_no_total_time_is_no_bank() -> None:
    assert not read_times(["--totaltime=0"]).has_bank
    with_bank = read_times(["--time=14d+1d"])
    without = read_times(["--totaltime=0"], with_bank)
    assert (without.total, without.increment, without.cap) == (None, 0, None)


@pytest.mark.parametrize(
    ("words", "nag", "forfeit"),
    [
        ("--forfeittime=1", 0, 1),
        ("--forfeittime=2", 1, 2),
        ("--forfeittime=7", 2, 7),
        ("--forfeittime=8", 7, 8),
        ("--forfeittime=0", 7, 0),
        ("--time=5d", 1, 0),
        ("--time=14d+1d", 7, 0),
    ],
)
def test_a_short_time_alone_brings_the_reminder_nearer(words: str, nag: int, forfeit: int) -> None:
    terms = read_times([words])
    assert (terms.nag, terms.forfeit) == (nag, forfeit)
