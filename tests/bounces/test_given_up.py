"""Letters come back, an address is given up, and its player is heard of again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of
from posting import come_back, comes_from
from prepared_servers import Prepared, prepare, start_copy
from running import add_player
from server_reports import ServerReport, multipart
from sqlalchemy import select

from pbmserv.store.tables.accounts import absences, players
from pbmserv.store.tables.mail import bounces, outbox

pytestmark = pytest.mark.slow

ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))
OTHER = "alice@work.example"
SMALL = "-size=2x2 -atoms=1"


BEGUN = 1
"""The board of alice and bob in `house`; it is her turn."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    servers: list[Prepared] = []
    with prepare(tmp_path_factory.mktemp("prepared"), servers) as server:
        server.sign_up("alice", "bob", "carol")
        assert begun(server) == BEGUN
    return servers[0]


@pytest.fixture
def house(prepared: Prepared, tmp_path: Path) -> Iterator[Indoors]:
    with start_copy(prepared, tmp_path) as server:
        yield server


def begun(house: Indoors, first: str = "alice", second: str = "bob") -> int:
    """Start a board on which *first* is to move; return its number."""
    line = f"blackbox challenge {first} {second} {SMALL}"
    number = house.send(address_of(first), line)[0].board
    assert number is not None
    house.send(address_of(first), f"blackbox move {number} {first} {PASSWORD} a1")
    house.send(address_of(second), f"blackbox move {number} {second} {PASSWORD} b2")
    return number


def chat(house: Indoors, number: int, words: str = "Hello.") -> Posted:
    """Let bob write to alice; return the letter to her."""
    letters = house.send(BOB, f"blackbox chat {number} bob {PASSWORD}", words)
    return next(letter for letter in letters if letter.kind == "chat")


def given_up(house: Indoors, number: int, kind: str = "postfix") -> list[Posted]:
    """Let a letter to alice come back on two days; return the letters that follow."""
    first = chat(house, number, "One.")
    assert come_back(house, first, kind) == []
    (again,) = to(house.live(days=1), ALICE)
    assert (again.kind, again.text, again.html) == (first.kind, first.text, first.html)
    assert again.message["Message-ID"] == first.message["Message-ID"]
    return come_back(house, again, kind)


def to(letters: list[Posted], address: str) -> list[Posted]:
    return [letter for letter in letters if letter.recipient == address]


def unreachable(house: Indoors, userid: str = "alice") -> bool:
    with house.server.database.reading.connect() as connection:
        since = connection.execute(
            select(players.c.unreachable_since).where(players.c.userid == userid)
        ).scalar()
    return since is not None


def states(house: Indoors, letter: str) -> list[str]:
    return house.server.column(
        select(outbox.c.state).where(outbox.c.letter == letter).order_by(outbox.c.id)
    )


def test_two_hard_bounces_give_an_address_up_and_each_opponent_hears_once(
    house: Indoors,
) -> None:
    first, second, third = BEGUN, begun(house), begun(house, "alice", "carol")
    letters = given_up(house, first)
    assert sorted((letter.recipient, letter.kind) for letter in letters) == [
        (BOB, "unreachable"),
        (CAROL, "unreachable"),
    ]
    (bob,) = to(letters, BOB)
    assert bob.subject == "alice cannot be reached"
    assert f"You play each other on boards {first}, {second}." in bob.one_line
    assert "Until Tuesday 17 March 2026, 00:00 (UTC) alice counts as away" in bob.one_line
    assert f"on board {third}." in to(letters, CAROL)[0].one_line
    assert "players.example" not in bob.text.replace(BOB, "")  # nobody learns the address

    house.send(BOB, f"blackbox chat {first} bob {PASSWORD}", "Still there?")
    assert states(house, "chat") == ["failed", "returned", "parked"]
    assert house.server.outbox.next_due() is None  # nothing that a sender would find again


def test_a_reply_address_is_enough_and_the_move_counts(house: Indoors) -> None:
    number = BEGUN
    (mine,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {number}")
    given_up(house, number)
    letters = house.reply(mine, "1")
    assert [letter.kind for letter in to(letters, ALICE)] == ["board", "came-back", "tray"]
    assert [letter.kind for letter in to(letters, BOB)] == ["unreachable", "board"]


def test_a_from_address_proves_nothing(house: Indoors) -> None:
    given_up(house, BEGUN)
    house.send(ALICE, f"blackbox challenge alice carol {SMALL}")
    assert states(house, "challenged")[-1] == "parked"
    assert unreachable(house)


def test_results_come_as_they_were_and_reminders_do_not(house: Indoors) -> None:
    number = begun(house)
    given_up(house, number)
    house.send(BOB, f"blackbox resign {number} bob {PASSWORD}")
    letters = house.send(ALICE, f"prefs alice {PASSWORD}")
    assert [letter.kind for letter in to(letters, ALICE)] == [
        "result",
        "prefs",
        "came-back",
        "tray",
    ]
    assert "Another letter that came back or was kept follows." in to(letters, ALICE)[2].one_line


def test_bounces_within_an_hour_count_once(house: Indoors) -> None:
    number = BEGUN
    letters = [chat(house, number, f"{n}.") for n in range(5)]
    for letter in letters:
        assert come_back(house, letter) == []
    assert come_back(house, letters[0]) == []
    house.live(hours=17)
    assert come_back(house, chat(house, number)) == []
    assert not unreachable(house)
    again = [letter.text for letter in house.live(hours=7)]
    assert again == [letter.text for letter in letters]  # each comes once more


def test_a_month_between_them_is_forgotten(house: Indoors) -> None:
    number = BEGUN
    for _ in range(3):
        assert come_back(house, chat(house, number)) == []
        assert "chat" in [
            letter.kind for letter in house.live(days=31)
        ]  # once more, and it arrives
    assert not unreachable(house)


def test_a_full_mailbox_is_given_up_after_ten_days(house: Indoors) -> None:
    number = BEGUN
    letter = chat(house, number)
    for _ in range(9):
        assert come_back(house, letter, "postfix-full") == []
        (letter,) = (letter for letter in house.live(days=1) if letter.kind == "chat")
    assert not unreachable(house)
    letters = come_back(house, letter, "postfix-full")
    assert [letter.kind for letter in letters] == ["unreachable"]


@pytest.mark.parametrize(
    "kind",
    ["postfix-filter", "receipt"],
)
def test_reports_without_proof_do_not_count(house: Indoors, kind: str) -> None:
    number = BEGUN
    for _ in range(3):
        assert come_back(house, chat(house, number), kind) == []
        house.live(days=1)
    assert house.server.rows(select(bounces)) == []


def test_other_addresses_come_first(house: Indoors) -> None:
    number = begun(house)
    questions = house.send(ALICE, f"change address alice {PASSWORD} {ALICE} {OTHER}")
    house.reply(to(questions, OTHER)[0], "yes")
    new_letters = given_up(house, number)
    assert [(letter.recipient, letter.kind) for letter in new_letters] == [
        (OTHER, "came-back"),
        (OTHER, "tray"),
    ]
    moved, tray = new_letters
    assert moved.subject == "Your letters come here now"
    assert f"change address alice PASSWORD {ALICE} {OTHER}" in moved.one_line
    assert "One." in tray.text
    assert chat(house, number).recipient == OTHER
    assert not unreachable(house)

    # The other one dies as well; then a mail from the first is a sign that it lives.
    house.live(days=1)
    come_back(house, chat(house, number))
    (again,) = house.live(days=1)
    new_letters = come_back(house, again)
    assert [(letter.recipient, letter.kind) for letter in new_letters] == [(BOB, "unreachable")]
    letters = house.send(ALICE, f"prefs alice {PASSWORD}")
    assert {letter.recipient for letter in letters if letter.kind != "unreachable"} == {ALICE}
    back = next(letter for letter in letters if letter.kind == "came-back")
    assert OTHER in back.text
    assert f"go to {ALICE} again" in back.one_line
    assert chat(house, number).recipient == ALICE


def test_time_stands_still_for_a_while_and_then_runs(house: Indoors) -> None:
    number = BEGUN
    given_up(house, number)
    (away,) = house.server.rows(select(absences))
    assert (away.ends - away.begins).days == 14
    for _ in range(13):
        house.live(days=1)
    assert states(house, "reminder") == []
    letters = house.send(ALICE, f"prefs alice {PASSWORD}")
    assert "you counted as away" in to(letters, ALICE)[1].one_line
    (away,) = house.server.rows(select(absences))
    assert away.ends == house.server.clock.now()


def test_an_unreachable_player_loses_in_the_end(house: Indoors) -> None:
    number = BEGUN
    given_up(house, number)
    for _ in range(40):
        letters = house.live(days=1)
        if letters:
            break
    (result,) = letters
    assert (result.recipient, result.kind) == (BOB, "result")
    assert states(house, "reminder") == ["parked", "parked"]  # two for each turn


def test_opponents_hear_of_it_once_a_week(house: Indoors) -> None:
    number = BEGUN
    given_up(house, number)
    letters = house.send(ALICE, f"prefs alice {PASSWORD}")
    assert len(to(letters, BOB)) == 1
    house.live(days=1)
    assert given_up(house, number) == []
    assert unreachable(house)
    assert to(house.send(ALICE, f"prefs alice {PASSWORD}"), BOB) == []


def test_a_digest_waits_as_a_whole(house: Indoors) -> None:
    number = BEGUN
    house.send(ALICE, f"prefs alice {PASSWORD} digest=daily@07:30")
    house.send(BOB, f"blackbox chat {number} bob {PASSWORD}", "One.")
    (tray,) = house.live(days=1)
    come_back(house, tray)
    again, tray = house.live(days=1)
    assert again.kind == tray.kind == "tray"
    assert [letter.kind for letter in come_back(house, again)] == ["unreachable"]
    assert come_back(house, tray) == []
    for day in range(3):
        house.send(BOB, f"blackbox chat {number} bob {PASSWORD}", f"Later {day}.")
        assert to(house.live(days=1), ALICE) == []
    assert states(house, "tray") == ["failed", "returned", "returned"]
    house.send(ALICE, f"prefs alice {PASSWORD}")
    (tray,) = house.live(days=1)
    assert "Later 0." in tray.text
    assert "Later 2." in tray.text


def test_letters_that_let_somebody_back_in_are_always_tried(house: Indoors) -> None:
    given_up(house, begun(house))
    (reset,) = house.send(ALICE, "forgot alice")
    assert (reset.recipient, reset.kind) == (ALICE, "reset")
    come_back(house, reset)
    letters = house.reply(reset, "password another-word")
    kinds = {"password-changed", "board", "came-back", "tray", "unreachable"}
    assert {letter.kind for letter in letters} == kinds


def test_a_new_address_can_be_reached(house: Indoors) -> None:
    number = begun(house)
    given_up(house, number)
    questions = house.send(BOB, f"change address alice {PASSWORD} {OTHER}")
    confirm = next(question for question in questions if question.kind == "address-confirm")
    letters = house.reply(confirm, "yes")
    assert not unreachable(house)
    assert {letter.recipient for letter in letters} >= {OTHER}
    assert chat(house, number).recipient == OTHER
    assert house.server.rows(select(bounces)) == []


def test_a_player_who_comes_back_gets_letters(house: Indoors) -> None:
    given_up(house, BEGUN)
    (question,) = (
        letter
        for letter in house.send(ALICE, f"signoff alice {PASSWORD}")
        if letter.kind == "signoff-asked"
    )
    come_back(house, question)
    (again,) = (letter for letter in house.live(days=1) if letter.kind == "signoff-asked")
    come_back(house, again)
    assert unreachable(house)
    house.reply(again, "yes")
    assert not unreachable(house)
    (back,) = house.send(ALICE, f"back alice {PASSWORD}")
    assert back.recipient == ALICE


def test_players_who_share_the_address_can_be_reached_again_too(house: Indoors) -> None:
    add_player(house.server, "anna", PASSWORD, ALICE)
    given_up(house, BEGUN)
    assert unreachable(house, "anna")
    letters = house.send(ALICE, f"prefs alice {PASSWORD}")
    assert [letter.kind for letter in to(letters, ALICE)].count("came-back") == 2
    assert not unreachable(house, "anna")


def test_nobody_gets_an_unreachable_opponent(house: Indoors) -> None:
    house.send(ALICE, f"prefs alice {PASSWORD} accept=auto")
    house.send(ALICE, f"blackbox seek alice {PASSWORD}")
    given_up(house, BEGUN)
    (waits,) = house.send(CAROL, f"blackbox seek carol {PASSWORD}")
    assert waits.kind == "seek"
    (letter,) = house.send(CAROL, f"blackbox challenge carol alice {SMALL}")
    assert letter.kind == "challenged"
    assert "Letters to alice are coming back" in letter.one_line
    letters = house.send(ALICE, f"prefs alice {PASSWORD}")
    assert len([letter for letter in letters if letter.kind == "unreachable"]) == 2
    assert "started" in [letter.kind for letter in house.send(BOB, f"blackbox seek bob {PASSWORD}")]


# -- what has no effect ----------------------------------------------------------------------


def test_reports_by_somebody_and_of_long_ago_prove_nothing(house: Indoors) -> None:
    number = BEGUN
    for _ in range(3):
        letter = chat(house, number)
        assert come_back(house, letter, sender="mallory@players.example") == []
        house.live(days=1)
    old = chat(house, number)
    house.live(days=31)
    assert come_back(house, old) == []
    assert house.server.rows(select(bounces)) == []


FORWARDED = "alice@gmail.example"


def test_a_forwarded_letter_comes_back_under_another_name(house: Indoors) -> None:
    number, elsewhere, kind = BEGUN, FORWARDED, "qmail"
    assert come_back(house, chat(house, number), kind, to=elsewhere) == []
    assert not unreachable(house)
    (again,) = house.live(days=1)
    new_letters = come_back(house, again, kind, to=elsewhere)
    assert [(letter.recipient, letter.kind) for letter in new_letters] == [(BOB, "unreachable")]
    assert house.server.column(select(bounces.c.address)) == [ALICE]
    letters = house.send(ALICE, f"prefs alice {PASSWORD}")
    assert "came-back" in [letter.kind for letter in to(letters, ALICE)]


def test_one_of_two_mailboxes_behind_an_address_may_be_dead(house: Indoors) -> None:
    """Answered letters are read, even if others come back."""
    number = BEGUN
    elsewhere = FORWARDED
    for _ in range(3):
        letter = chat(house, number)
        house.live(hours=1)
        house.send(ALICE, f"blackbox chat {number} alice {PASSWORD}", "I am here.")
        assert come_back(house, letter, to=elsewhere) == []
        house.live(days=1)
    # Nor between the first that counted and the second.
    assert come_back(house, chat(house, number), to=elsewhere) == []
    (mine,) = to(house.live(days=1), ALICE)
    house.live(hours=1)
    house.send("alice@work.example", "Re: board", "chat\nStill here.", mine.reply_to)
    assert come_back(house, mine, to=elsewhere) == []
    assert not unreachable(house)
    # Her own name is another matter.
    letters = come_back(house, chat(house, number))
    assert [(letter.recipient, letter.kind) for letter in letters] == [(BOB, "unreachable")]


def test_a_report_about_several_others_says_nothing_of_this_letter(house: Indoors) -> None:
    number = BEGUN
    for _ in range(2):
        letter = chat(house, number)
        status = "\n\n".join(
            f"Final-Recipient: rfc822; {name}@gmail.example\nAction: failed\nStatus: 5.1.1"
            for name in ("alice", "carol")
        )
        mail = multipart(
            "From: MAILER-DAEMON@mx.example", "Sorry.", f"Reporting-MTA: dns; mx\n\n{status}"
        )
        about = ServerReport("several", None, "", "", mail)
        assert come_back(house, letter, about) == []
        house.live(days=1)
    assert house.server.rows(select(bounces)) == []


def test_commands_to_a_bounce_address_are_refused_with_advice(house: Indoors) -> None:
    number = BEGUN
    letter = chat(house, number)
    address = comes_from(house, letter)
    line = f"blackbox resign {number} alice {PASSWORD}"
    (refusal,) = house.send(ALICE, line, line, address)
    assert (refusal.recipient, refusal.kind) == (ALICE, "astray")
    assert "so nothing has changed" in refusal.one_line
    assert PASSWORD not in refusal.text
    assert house.send(ALICE, line, "once more", address) == []  # at most once a day
    assert house.send(BOB, line, line, address) == []
    (shown,) = house.send(BOB, f"blackbox show {number}")
    assert "resign" not in shown.one_line.split("--")[0]


def test_letters_to_strangers_and_former_players_do_not_count(house: Indoors) -> None:
    (refusal,) = house.send("zoe@players.example", "nonsense")
    assert come_back(house, refusal) == []
    number = BEGUN
    letter = chat(house, number)
    (question,) = house.send(ALICE, f"signoff alice {PASSWORD}")
    house.reply(question, "yes")
    assert come_back(house, letter) == []
    assert house.server.rows(select(bounces)) == []


def test_a_member_of_a_team_learns_that_words_wait_for_one_who_was_given_up(house: Indoors) -> None:
    house.send(ALICE, f"blackbox resign {begun(house)} alice {PASSWORD}")  # founders have played
    house.send(ALICE, f"team alice {PASSWORD} create Rooks")
    house.send(ALICE, f"team alice {PASSWORD} invite bob")
    house.send(BOB, f"team bob {PASSWORD} join Rooks")
    given_up(house, BEGUN)
    letters = house.send(BOB, f"team chat bob {PASSWORD}", "See you.")
    (answer,) = to(letters, BOB)
    assert answer.kind == "message-sent"
    assert "Letters to alice are coming back" in " ".join(answer.text.split())
