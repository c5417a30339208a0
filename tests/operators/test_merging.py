"""Merging two accounts of one person: what moves, and what stays."""

from __future__ import annotations

import json
from functools import partial

import pytest
from deeds import ALICE, BOB, CAROL, do, start_board
from indoors import PASSWORD, Indoors, address_of
from migrated import game_tables
from sqlalchemy import select, text, update

from pbmserv.errors import OperatorError
from pbmserv.service.operators import people
from pbmserv.service.operators.overviews import board_lines, user_lines
from pbmserv.service.ratings import rebuilding
from pbmserv.store.accounts import players as player_rows
from pbmserv.store.events import regulars
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow


def test_two_accounts_become_one(house: Indoors) -> None:
    first = start_board(house, "alice", "carol")
    house.send(ALICE, f"blackbox resign {first} alice {PASSWORD}")
    second = start_board(house, "bob", "carol")
    do(house, people.merge, userid="alice", into="bob")
    letters = house.letters()
    assert {letter.recipient for letter in letters} == {BOB}
    assert "The account alice is now part of your account bob" in letters[0].one_line
    users = house.look(partial(user_lines, state="", like="", most=100))
    assert [user.userid for user in users if user.state == "active"] == ["bob", "carol"]
    lines = house.look(partial(board_lines, player="bob", status="", game="", most=9))
    assert [line.id for line in lines] == [second, first]
    (answer,) = house.send(ALICE, f"blackbox showas bob {PASSWORD} {second}")
    assert answer.board == second, "a letter from the other address is bob's now"
    compared = rebuilding.check(house.server.database)
    assert compared.differences == 0


def test_players_of_one_board_cannot_be_merged(house: Indoors) -> None:
    number = start_board(house)
    with pytest.raises(OperatorError, match=f"board {number}"):
        do(house, people.merge, userid="alice", into="bob")
    with pytest.raises(OperatorError, match="with itself"):
        do(house, people.merge, userid="alice", into="alice")


def test_the_ratings_are_those_of_one_person(house: Indoors) -> None:
    for number, (first, second) in enumerate((("alice", "carol"), ("bob", "carol")), 1):
        house.send(address_of(first), f"blackbox challenge {first} {second}")
        for userid in (first, second):
            line = f"blackbox move {number} {userid} {PASSWORD} a1,b2,c3,d4"
            house.send(address_of(userid), line)
        house.open_up(number, first, second)
        house.send(address_of(first), f"blackbox resign {number} {first} {PASSWORD}")
    (table,) = house.send(BOB, "blackbox ratings bob")
    assert "1 rated game:" in table.one_line
    do(house, people.merge, userid="alice", into="bob")
    assert rebuilding.check(house.server.database).differences == 0
    house.letters()
    (table,) = house.send(BOB, "blackbox standings")
    assert "alice" not in table.text
    (mine,) = house.send(BOB, "blackbox ratings bob")
    assert "2 rated games:" in mine.one_line


def test_scores_and_boxes_of_the_day_move_and_no_box_comes_twice(house: Indoors) -> None:
    for userid in ("alice", "carol"):
        house.send(f"{userid}@players.example", f"blackbox daily {userid} {PASSWORD} 07:30")
    boxes = house.live(hours=20)
    assert {letter.recipient for letter in boxes} == {ALICE, "carol@players.example"}
    do(house, people.merge, userid="alice", into="bob")
    house.letters()
    again = house.send(BOB, f"blackbox daily bob {PASSWORD} 09:00")
    assert [letter.kind for letter in [*again, *house.live(hours=3)]] == ["daily-set"]
    (tomorrow,) = [x for x in house.live(hours=23) if x.recipient == BOB]
    assert tomorrow.board is not None

    do(house, people.merge, userid="carol", into="bob")
    assert {x.recipient for x in house.letters()} == {BOB}
    later = [x for hours in range(24) for x in house.live(hours=1) if x.recipient == BOB]
    assert len([x for x in later if x.kind == "daily" or "daily" in x.inside]) <= 1


@pytest.mark.both_databases
def test_a_merged_player_still_enters_each_season_of_a_league(house: Indoors) -> None:
    house.send(ALICE, f"league alice {PASSWORD} join blackbox")
    do(house, people.merge, userid="alice", into="bob")
    with house.server.database.reading.connect() as connection:
        (bob,) = player_rows.listed(connection, players.c.userid == "bob")
        assert regulars.is_regular(connection, "blackbox", bob.id)


def test_only_the_retired_account_itself_stays_with_the_old_player(house: Indoors) -> None:
    house.send(ALICE, f"blackbox daily alice {PASSWORD} 07:30")
    house.live(hours=20)
    (board, *_) = house.begin(ALICE, "blackbox solo alice -size=2x2 -atoms=4")
    (solved, *_) = house.reply(board, "+a1,+a2,+b1,+b2,?")
    assert "solved" in solved.one_line
    start_board(house, "alice", "carol")
    do(house, people.merge, userid="alice", into="bob")
    house.letters()
    with house.server.database.reading.connect() as connection:
        for table in game_tables():
            if "player_id" in table.columns and table.name != "absences":
                left = connection.execute(select(table).where(table.c.player_id == 1)).all()
                assert left == [], table.name


def test_unsent_letters_to_the_old_account_are_never_sent(house: Indoors) -> None:
    number = start_board(house, "alice", "carol")
    house.send(CAROL, f"message carol {PASSWORD} alice", "Are you there?")
    with house.server.database.writing.begin() as connection:
        waits = update(outbox).where(outbox.c.letter == "message")
        connection.execute(waits.values(state="held", due_at=None))
    do(house, people.merge, userid="alice", into="bob")
    assert [(x.kind, x.board) for x in house.letters()] == [
        ("operator-account", None),
        ("board", number),
    ]
    with house.server.database.reading.connect() as connection:
        states = connection.execute(select(outbox.c.state).where(outbox.c.letter == "message"))
        assert list(states.scalars()) == ["failed"]


def test_nobody_else_gets_the_old_name(house: Indoors) -> None:
    do(house, people.merge, userid="alice", into="bob")
    house.letters()
    (refused,) = house.send("stranger@players.example", f"signup alice {PASSWORD}")
    assert 'Somebody already plays as "alice".' in refused.one_line
    for line in (f"showas alice {PASSWORD} 1", f"back alice {PASSWORD}", f"reset alice {PASSWORD}"):
        (refused,) = house.send(ALICE, line)
        assert "Not done" in refused.text


@pytest.mark.both_databases
def test_deleting_a_player_removes_the_names_of_merged_accounts(house: Indoors) -> None:
    number = start_board(house, "alice", "carol")
    house.send(ALICE, f"message alice {PASSWORD} carol", "words of mine")
    do(house, people.merge, userid="alice", into="bob")
    house.letters()
    house.send(BOB, f"blackbox resign {number} bob {PASSWORD}")
    (letter,) = house.send(BOB, f"delete bob {PASSWORD}")
    house.reply(letter, "yes")
    with house.server.database.reading.connect() as connection:
        kept = [
            (table.name, row)
            for table in game_tables()
            for row in connection.execute(text(f"SELECT * FROM {table.name}")).all()
        ]
    named = [(name, row) for name, row in kept if "alice" in json.dumps(row, default=str)]
    assert named == []
    assert not [row for _, row in kept if "words of mine" in str(row)]


def test_blocks_by_and_on_a_merged_account_hold_for_the_remaining_one(house: Indoors) -> None:
    house.sign_up("dora")
    house.send(ALICE, f"prefs alice {PASSWORD} block=carol,bob")
    house.send(address_of("dora"), f"prefs dora {PASSWORD} block=alice")
    do(house, people.merge, userid="alice", into="bob")
    house.letters()
    for sender, reader in (("carol", "bob"), ("bob", "dora")):
        line = f"message {sender} {PASSWORD} {reader}"
        (refused,) = house.send(address_of(sender), line, "Do you hear me?")
        assert refused.kind == "refusal", (sender, reader)
    letters = house.send(BOB, f"message bob {PASSWORD} carol", "Do you hear me?")
    assert {letter.kind for letter in letters} == {"message", "message-sent"}
    (preferences,) = house.send(BOB, f"prefs bob {PASSWORD}")
    assert "block: carol" in preferences.one_line, "and not bob"
