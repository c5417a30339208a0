"""The one mail a day: what is in it, when it comes, and the one reply that answers it."""

from __future__ import annotations

import pytest
from running import Correspondence
from sqlalchemy import select

from pbmserv.store.tables.mail import outbox

SMALL = "-size=2x2 -atoms=1"


@pytest.fixture
def server(handed_in: Correspondence) -> Correspondence:
    return handed_in


def states(server: Correspondence, letter: str) -> list[str]:
    with server.server.database.reading.connect() as connection:
        states_stored = connection.execute(
            select(outbox.c.state).where(outbox.c.letter == letter).order_by(outbox.c.id)
        )
        return list(states_stored.scalars())


def three_boards(server: Correspondence) -> tuple[str, str]:
    """Boards 1 to 3 of alice and bob, who gets a digest at 07:30 in Berlin; now it is noon."""
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    server.send(bob, "prefs bob secret digest=daily@07:30 tz=Europe/Berlin")
    server.letters()
    for _ in range(3):
        server.send(alice, f"blackbox challenge alice bob {SMALL}")
    return alice, bob


def test_a_digest_has_all_boards_and_one_reply_answers_them(server: Correspondence) -> None:
    alice, bob = three_boards(server)
    assert len(server.letters(alice)) == 3
    assert server.letters(bob) == []
    server.live(hours=18, minutes=29)
    assert server.letters(bob) == []
    server.live(minutes=1)  # 06:30 UTC is 07:30 in Berlin
    tray = server.letter(bob)
    assert tray.subject == "3 boards waiting for you"
    assert "3 boards wait for you" in tray.text
    places = [tray.text.index(f"Blackbox {n} with alice: a challenge") for n in (3, 2, 1)]
    assert places == sorted(places)
    assert "1: accept" in tray.text
    assert states(server, "challenge") == ["folded"] * 3

    server.reply(tray, "1: accept\n2: reject\n3: b2\n7: accept\nsomething else")
    report = server.letter(bob)
    assert "3 of 5" in report.subject
    text = report.one_line
    assert "1. done: 1: accept" in text
    assert "2. done: 2: reject" in text
    assert "3. done: 3: " in text
    assert "4. refused: 7: accept" in text
    assert "It was about: 1, 2, 3." in text
    assert len(server.letters(alice)) == 3

    for board in (1, 3):
        server.send(alice, f"blackbox move {board} alice secret a1", "Good luck!")
    server.letters(alice)
    server.send(bob, "blackbox move 1 bob secret b2")
    server.letters()
    for board in (1, 3):
        server.send(alice, f"blackbox move {board} alice secret 1", f"words about {board}")
    server.letters(alice)
    server.live(days=1)
    tray = server.letter(bob)
    assert tray.subject == "2 boards waiting for you"
    text = tray.one_line
    assert text.index("Blackbox 3 with alice: your move") < text.index(
        "Blackbox 1 with alice: your"
    )
    assert "* alice fired port 1" in tray.text
    assert "A message from alice (another player): words about 3" in text
    body = tray.text.partition("\n-- \n")[0]
    assert [line for line in body.splitlines() if len(line) > 76] == []
    assert "words about 1" in tray.html

    server.reply(tray, "3: 2\n1: chat Good morning\n1: 2")
    assert "Done: 3 of 3" in server.letter(bob).subject
    texts = [letter.one_line for letter in server.letters(alice)]
    assert sum("A message from bob (another player): Good morning" in text for text in texts) == 1
    server.reply(tray, "3: 4\n1: 4")  # the same letter once more: those turns are over
    report = server.letter(bob)
    assert report.subject.startswith("Not done")
    assert "You wrote this for your move" in report.one_line
    server.live(days=1)
    assert server.letters(bob) == []


def test_a_lone_line_counts_when_just_one_board_waits(server: Correspondence) -> None:
    alice, bob = three_boards(server)
    server.live(hours=18, minutes=30)
    three = server.letter(bob)
    server.reply(three, "accept this")
    assert "Which board is this for?" in server.letter(bob).one_line
    server.reply(three, "b2")
    refusal = server.letter(bob)
    assert "Which board is this for?" in refusal.one_line
    assert "3: b2" in refusal.text
    server.reply(three, "1: reject\n2: reject")
    server.letters()
    server.live(days=1)
    server.reply(server.letter(bob), "b2")
    assert "Board 3" in server.letter(bob).text
    assert "bob" in server.letters(alice)[-1].text


def test_the_digest_reminds_and_results_do_not_wait_for_it(server: Correspondence) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    server.send(bob, "prefs bob secret digest=daily@07:30")
    server.letters()
    server.live(days=3)
    assert server.letters() == []
    server.send(alice, f"blackbox challenge alice bob {SMALL} --nagtime=1 --forfeittime=2")
    server.send(alice, f"blackbox challenge alice bob {SMALL}")
    server.send(alice, "message alice secret bob", "How are you?")
    server.letters(alice)
    server.live(hours=23)
    challenge = server.letter(bob)
    assert challenge.text.index("Blackbox 1") < challenge.text.index("Blackbox 2"), "it is due"
    server.reply(challenge, "2: reject")
    server.letters(bob)
    server.letters(alice)
    assert "Board 1 has waited for your answer since 4 March 2026." in challenge.one_line
    assert "the challenge is withdrawn on Friday 6 March 2026, 12:00" in challenge.one_line
    server.reply(challenge, "1: b2")
    assert "Waiting for alice: Blackbox 1" in server.letter(bob).subject
    server.send(alice, "blackbox move 1 alice secret a1")
    server.letters(alice)
    server.send(alice, "blackbox move 1 alice secret 1")
    server.letters(alice)
    server.live(days=1)
    (digest,) = server.letters(bob)
    assert "1 board waiting for you" in digest.subject
    assert "Board 1 has waited for your move since 5 March 2026." in digest.one_line
    assert "the game is lost on Saturday 7 March 2026, 11:00" in digest.one_line
    server.live(hours=23)
    (again,) = server.letters(bob)
    assert "has waited for your move" not in again.text, "once is enough"
    server.live(hours=1)
    assert "You took too long" in server.letter(bob).text
    assert states(server, "reminder") == states(server, "reminders") == []
    assert "alice" in server.letters(alice)[-1].text


def test_messages_and_news_of_other_boards_stand_below(server: Correspondence) -> None:
    alice, bob = three_boards(server)
    server.letters()
    server.send(alice, "message alice secret bob", "How are you?")
    server.send(alice, "blackbox reject 2 alice secret", "Too many games.")
    server.send(alice, "blackbox chat 1 alice secret", "Take your time.")
    server.letters(alice)
    server.live(hours=19)
    text = server.letter(bob).one_line
    order = [
        "Blackbox 1 with alice",
        "Blackbox 3 with alice",
        "Board 2 will not be played",
        "How are you?",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert "A message from alice (another player): Take your time." in text


def test_after_an_outage_a_digest_comes_once_and_not_at_night(server: Correspondence) -> None:
    _, bob = three_boards(server)
    server.live(hours=18)
    server.sleep(hours=1)
    assert len(server.letters(bob)) == 1
    server.live(hours=23, minutes=30)
    assert len(server.letters(bob)) == 1
    server.live(hours=23)
    server.sleep(hours=16)  # past 07:30, until 22:30 in Berlin
    assert server.letters(bob) == []
    server.live(hours=8, minutes=59)
    assert server.letters(bob) == []
    server.live(minutes=1)
    assert len(server.letters(bob)) == 1


def test_without_a_digest_what_waited_goes_out_and_letters_come_at_once(
    server: Correspondence,
) -> None:
    alice, bob = three_boards(server)
    assert server.letters(bob) == []
    server.send(bob, "prefs bob secret digest=off")
    assert len(server.letters(bob)) == 4
    server.send(alice, "blackbox chat 1 alice secret", "Hello!")
    assert "Hello!" in server.letter(bob).text
    server.live(days=1)
    assert server.letters(bob) == []


def test_a_digest_that_an_outage_held_up_at_night_comes_in_the_morning(
    server: Correspondence,
) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    server.send(bob, "prefs bob secret digest=daily@00:30")
    server.send(alice, f"blackbox challenge alice bob {SMALL}")
    server.letters()
    server.live(hours=12)
    server.sleep(hours=2)
    assert server.letters(bob) == []
    server.live(hours=4, minutes=59)
    assert server.letters(bob) == []
    server.live(minutes=1)
    assert len(server.letters(bob)) == 1


def test_other_commands_in_a_line_of_a_digest_reply(server: Correspondence) -> None:
    alice, bob = three_boards(server)
    mine = server.letters(alice)
    server.reply(mine[0], "1: a1")  # the number in front does no harm in its own board's thread
    assert "Board 1: bob to accept" in server.letter(alice).text
    server.reply(mine[0], "2: a1")
    assert "It was about: 1." in server.letter(alice).one_line
    server.send(alice, "prefs alice secret")
    report = server.letter(alice)
    server.reply(report, "1: show")
    assert "Board 1" in server.letter(alice).text  # any letter to her alone will do
    server.reply(report, "7: show")
    assert "It was about: 1, 2, 3." in server.letter(alice).one_line
    server.live(hours=19)
    tray = server.letter(bob)
    server.reply(tray, "1: show\n2: yes\n3: help\n1: move b2")
    report = server.letter(bob)
    assert "4 of 4" in report.subject
    assert "Help" in report.text
    server.letters()
    server.send(alice, "blackbox chat 1 alice secret", "Are you there?")
    server.send(alice, "blackbox move 1 alice secret 1")
    server.letters()
    server.reply(tray, "1: 2")
    server.letters()


def test_words_about_boards_that_wait_for_others_or_are_over(server: Correspondence) -> None:
    alice, bob = three_boards(server)
    server.live(hours=19)
    server.reply(server.letter(bob), "1: b2\n2: b2\n3: b2")
    server.letters()
    server.send(alice, "blackbox chat 1 alice secret", "A moment, please.")
    server.send(alice, "blackbox move 2 alice secret a1")
    server.send(alice, "blackbox chat 2 alice secret", "It was fun.")
    server.send(alice, "blackbox resign 2 alice secret")
    server.send(alice, "blackbox move 3 alice secret a1")
    server.send(alice, "blackbox resign 3 alice secret")
    assert len(server.letters(bob)) == 2  # the results
    server.live(days=1)
    text = server.letter(bob).one_line
    assert "News of your games" in text
    assert "Blackbox 1 with alice: alice to move" in text
    assert "A moment, please." in text
    assert "Blackbox 2 with alice: it is over" in text
    assert "It was fun." in text
    assert "Blackbox 3" not in text
