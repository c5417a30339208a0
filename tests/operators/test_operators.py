"""Deeds of operators: suspend, restore, reset, deadlines, ratings, games, and the audit."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from deeds import ALICE, BOB, do, start_board, to
from indoors import PASSWORD, Indoors, indoors
from seating import begin_board
from sqlalchemy import Connection, text

from pbmserv.errors import OperatorError
from pbmserv.service.operators import boards, games, people, ratings
from pbmserv.service.operators.overviews import board_facts, game_lines
from pbmserv.service.ratings import rebuilding
from pbmserv.store import audit
from pbmserv.store.accounts import players
from pbmserv.store.boards import player_boards


def test_a_suspended_player_can_do_nothing_and_gets_the_reason(house: Indoors) -> None:
    number = start_board(house)
    (answer,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {number}")
    do(house, people.suspend, userid="alice", end_games=False)
    (notice,) = house.letters()
    assert notice.recipient == ALICE
    assert "suspended the account alice." in notice.one_line
    assert "The reason given: it was asked for" in notice.one_line

    for letters in (
        house.send(ALICE, f"blackbox move {number} alice {PASSWORD} 1"),
        house.send(ALICE, f"back alice {PASSWORD}"),
        house.reply(answer, "1"),
    ):
        (refused,) = letters
        assert 'have suspended the account "alice"' in refused.one_line
        assert PASSWORD not in refused.text
    (refused,) = house.send(BOB, "blackbox challenge bob alice")
    assert "Nobody here has name 2 of those you wrote" in refused.one_line

    do(house, people.restore, userid="alice")
    again, board = house.letters()
    assert "The account alice works again." in again.one_line
    assert board.board == number
    moved = house.reply(board, "1")
    assert any("You fired port 1" in letter.text for letter in moved)


def test_a_letter_that_waits_for_a_suspended_player_fails_for_that_reason(house: Indoors) -> None:
    start_board(house)
    house.letters()
    do(house, people.reset, userid="alice")
    do(house, people.suspend, userid="alice", end_games=False)
    with house.server.database.reading.connect() as connection:
        query = text("SELECT error FROM outbox WHERE state = 'failed'")
        assert set(connection.execute(query).scalars()) == {"the player is suspended"}


def test_running_games_of_a_suspended_player_can_be_ended(house: Indoors) -> None:
    number = start_board(house)
    done = do(house, people.suspend, userid="alice", end_games=True)
    assert done.facts["ended"] == [number]
    (letter,) = to(house.letters(), BOB)
    assert f"have ended board {number}. It counts for nothing." in letter.one_line
    facts, _ = house.look(partial(board_facts, number=number))
    assert ("status", "declined") in facts


def test_a_reset_revokes_old_letters_and_mails_new_ones(house: Indoors) -> None:
    number = start_board(house)
    (old,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {number}")
    do(house, people.reset, userid="alice")
    reset, board = house.letters()
    (refused,) = house.reply(old, "1")
    assert "no longer" in refused.one_line or "revoked" in refused.one_line
    # Whoever has the old letter may have written this, so its own words do not go to alice.
    assert refused.message["In-Reply-To"] is None
    changed, board_again = house.reply(reset, "password another-word")
    assert "password" in changed.subject
    (refused,) = house.reply(board, "1")  # whoever was in the mailbox has that one, too
    assert "no longer" in refused.one_line
    assert any("You fired port 1" in letter.text for letter in house.reply(board_again, "1"))


def test_a_reset_sends_every_board_again(house: Indoors) -> None:
    start_board(house)
    many = 61  # more than a player who changes the address gets

    def begin_many(connection: Connection) -> None:
        alice, bob = (players.account_of(connection, name) for name in ("alice", "bob"))
        assert alice is not None
        assert bob is not None
        for _ in range(many - 1):
            begin_board(house.server, connection, (alice, bob))

    house.server.writer.submit(begin_many).result()
    do(house, people.reset, userid="alice")
    numbers = {letter.board for letter in to(house.letters(), ALICE)}
    assert numbers >= set(range(1, many + 1))


def test_a_new_deadline_counts_from_now(house: Indoors) -> None:
    number = start_board(house)
    house.live(days=8)
    house.letters()
    times = ["--nagtime=5", "--forfeittime=40"]
    do(house, boards.set_deadline, number=number, times=times)
    (letter, _) = house.letters()
    assert (
        "Board 1 has new times. You get a reminder after 5 days without a move and another "
        "a day before the end; after 40 days you lose the game. Players whose turn it "
        "is have the full time, starting now."
    ) in letter.one_line
    assert house.live(days=4) == []
    (reminder,) = house.live(days=2)
    assert reminder.kind == "reminder"
    for _ in range(12):
        assert not [x for x in house.live(days=2) if x.kind == "result"]
    with pytest.raises(OperatorError, match="does not fit"):
        do(house, boards.set_deadline, number=number, times=["--nagtime=41", *times[1:]])


def times_of(house: Indoors, number: int) -> str:
    facts, _ = house.look(partial(board_facts, number=number))
    return dict(facts)["times"]


def test_unnamed_times_stay(house: Indoors) -> None:
    number = start_board(
        house, words="-size=2x2 -atoms=1 --nagtime=3 --forfeittime=10 --totaltime=60"
    )
    for time, expected in (
        ("--forfeittime=40", "nagtime 3, forfeittime 40, totaltime 60"),
        ("--nagtime=5", "nagtime 5, forfeittime 40, totaltime 60"),
        ("--totaltime=0", "nagtime 5, forfeittime 40, totaltime none"),
        ("--forfeittime=1", "nagtime 0, forfeittime 1, totaltime none"),
    ):
        do(house, boards.set_deadline, number=number, times=[time])
        assert times_of(house, number) == expected


def test_a_board_without_a_forfeit_is_described_so(house: Indoors) -> None:
    number = start_board(house)
    house.letters()
    done = do(house, boards.set_deadline, number=number, times=["--forfeittime=0"])
    assert "reminder after 7 days, forfeit never" in done.summary
    for letter in house.letters():
        assert "You get a reminder after 7 days without a move. Players" in letter.one_line
        assert " 0 days" not in letter.one_line


def test_a_board_is_excluded_from_the_ratings_and_included_again(house: Indoors) -> None:
    house.send(ALICE, "blackbox challenge alice bob")
    house.send(ALICE, f"blackbox move 1 alice {PASSWORD} a1,b2,c3,d4")
    house.send(BOB, f"blackbox move 1 bob {PASSWORD} a1,b2,c3,d4")
    house.open_up(1, "alice", "bob")
    house.send(BOB, f"blackbox resign 1 bob {PASSWORD}")
    (table,) = house.send(ALICE, "blackbox standings")
    assert "alice" in table.text
    do(house, ratings.set_rated, number=1, rated=False)
    assert len(house.letters()) == 2
    (empty,) = house.send(ALICE, "blackbox standings")
    assert "alice" not in empty.text
    assert rebuilding.check(house.server.database).differences == 0
    with pytest.raises(OperatorError, match="already"):
        do(house, ratings.set_rated, number=1, rated=False)
    do(house, ratings.set_rated, number=1, rated=True)
    house.letters()
    (again,) = house.send(ALICE, "blackbox standings")
    assert again.text == table.text


def test_a_board_without_a_result_cannot_be_rated(house: Indoors) -> None:
    house.begin(ALICE, "blackbox solo alice -practice")
    house.send(ALICE, "blackbox challenge alice bob")
    house.send(BOB, f"blackbox decline 2 bob {PASSWORD}")
    do(house, boards.end_board, number=start_board(house))
    house.letters()
    house.send(ALICE, f"blackbox resign {start_board(house)} alice {PASSWORD}")
    with house.server.database.writing.begin() as connection:
        change = "UPDATE seats SET accepted_at = NULL WHERE board_id = 4 AND seat = 1"
        connection.execute(text(change))
        player_boards.refresh(connection, 4)
    house.letters()
    for number, why in (
        (1, "that takes two players or more"),
        (2, "it was declined or called off"),
        (3, "it was declined or called off"),
        (4, "it ended before bob had accepted it"),
    ):
        for rated in (True, False):
            with pytest.raises(OperatorError, match=f"board {number} counts for no ratings: {why}"):
                do(house, ratings.set_rated, number=number, rated=rated)
    assert house.letters() == []


@pytest.mark.both_databases
def test_a_closed_game_has_no_new_boards_and_running_ones_go_on(house: Indoors) -> None:
    number = start_board(house)
    do(house, games.close_game, game="blackbox")
    for line in ("blackbox challenge alice bob", f"blackbox seek alice {PASSWORD}"):
        (refused,) = house.send(ALICE, line)
        assert "No new board of Blackbox can begin at the moment." in refused.one_line
    assert house.send(ALICE, f"blackbox move {number} alice {PASSWORD} 1")
    assert house.look(game_lines) == [("blackbox", "1", "closed", "0", "1", "0", "0")]
    do(house, games.open_game, game="blackbox")
    assert len(house.send(ALICE, "blackbox challenge alice bob")) == 2


def test_an_impossible_deed_changes_nothing(house: Indoors) -> None:
    for deed, words in (
        (people.restore, {"userid": "alice"}),
        (people.suspend, {"userid": "nobody", "end_games": True}),
        (boards.end_board, {"number": 99}),
        (games.open_game, {"game": "blackbox"}),
        (games.close_game, {"game": "chess"}),
    ):
        with pytest.raises(OperatorError):
            do(house, deed, **words)
    assert house.letters() == []
    assert house.look(lambda context: audit.entries(context.connection, None, 9)) == []


def test_the_export_includes_deeds_of_operators(house: Indoors) -> None:
    do(house, people.reset, userid="alice")
    house.letters()
    (export,) = house.send(ALICE, f"export alice {PASSWORD}")
    (attached,) = export.message.iter_attachments()
    kept = json.loads(attached.get_content())
    assert [entry["why"] for entry in kept["done_by_operators"]] == ["it was asked for"]


def test_the_audit_forgets_a_player_who_is_deleted(house: Indoors) -> None:
    do(house, people.reset, userid="alice")
    house.letters()
    (letter,) = house.send(ALICE, f"delete alice {PASSWORD}")
    house.reply(letter, "yes")
    with house.server.database.reading.connect() as connection:
        (row,) = connection.execute(text("SELECT target, why FROM audit")).all()
    assert "alice" not in row.target
    assert row.why == ""


def test_the_yes_to_a_broadcast_counts_only_while_its_writer_is_an_operator(
    tmp_path: Path,
) -> None:
    with indoors(tmp_path, operators="alice") as house:
        house.sign_up("alice", "bob")
        house.send(BOB, f"prefs bob {PASSWORD} broadcast=on")
        (question,) = house.send(ALICE, f"broadcast alice {PASSWORD}", "The server moves.")
    with indoors(tmp_path) as house:
        house.mails = 100  # no number of a mail to the first server
        (refused,) = house.reply(question, "yes")
    assert (refused.recipient, refused.kind) == (ALICE, "refusal")
    assert "Only the people who run this server can write to everybody." in refused.one_line
