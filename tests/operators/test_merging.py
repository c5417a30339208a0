"""Merging two accounts of one person: what moves, and what stays."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial

import pytest
from deeds import ALICE, BOB, CAROL, do, start_board, to
from indoors import PASSWORD, Indoors, address_of
from migrated import game_tables
from running import add_player
from sqlalchemy import select, text, update

from pbmserv.errors import OperatorError
from pbmserv.service.operators import merging
from pbmserv.service.operators.overviews import board_lines, user_lines
from pbmserv.service.ratings import rebuilding
from pbmserv.store.accounts import absences
from pbmserv.store.accounts import players as player_rows
from pbmserv.store.boards import boards as board_rows
from pbmserv.store.boards import followers, seeks
from pbmserv.store.core.statements import has_row
from pbmserv.store.events import regulars
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.mail import LetterState, outbox

pytestmark = pytest.mark.slow


def test_two_accounts_become_one(house: Indoors) -> None:
    first = start_board(house, "alice", "carol")
    house.send(ALICE, f"blackbox resign {first} alice {PASSWORD}")
    second = start_board(house, "bob", "carol")
    do(house, merging.merge, userid="alice", into="bob")
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
        do(house, merging.merge, userid="alice", into="bob")
    with pytest.raises(OperatorError, match="with itself"):
        do(house, merging.merge, userid="alice", into="alice")


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
    do(house, merging.merge, userid="alice", into="bob")
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
    do(house, merging.merge, userid="alice", into="bob")
    house.letters()
    again = house.send(BOB, f"blackbox daily bob {PASSWORD} 09:00")
    assert [letter.kind for letter in [*again, *house.live(hours=3)]] == ["daily-set"]
    (tomorrow,) = [x for x in house.live(hours=23) if x.recipient == BOB]
    assert tomorrow.board is not None

    do(house, merging.merge, userid="carol", into="bob")
    assert {x.recipient for x in house.letters()} == {BOB}
    later = [x for hours in range(24) for x in house.live(hours=1) if x.recipient == BOB]
    assert len([x for x in later if x.kind == "daily" or "daily" in x.inside]) <= 1


@pytest.mark.both_databases
def test_a_merged_player_still_enters_each_season_of_a_league(house: Indoors) -> None:
    house.send(ALICE, f"league alice {PASSWORD} join blackbox")
    do(house, merging.merge, userid="alice", into="bob")
    with house.server.database.reading.connect() as connection:
        (bob,) = player_rows.listed(connection, players.c.userid == "bob")
        assert regulars.is_regular(connection, "blackbox", bob.id)


@pytest.mark.both_databases
def test_only_the_retired_account_itself_stays_with_the_old_player(house: Indoors) -> None:
    house.sign_up("dora")
    house.send(ALICE, f"blackbox daily alice {PASSWORD} 07:30")
    house.live(hours=20)
    (board, *_) = house.begin(ALICE, "blackbox solo alice -size=2x2 -atoms=4")
    (solved, *_) = house.reply(board, "+a1,+a2,+b1,+b2,?")
    assert "solved" in solved.one_line
    start_board(house, "alice", "carol")
    own = start_board(house, "bob", "carol")
    watched = start_board(house, "carol", "dora")
    for line in (
        f"subscribe {own} alice {PASSWORD}",
        f"subscribe {watched} alice {PASSWORD}",
        f"blackbox seek alice {PASSWORD}",
        f"prefs alice {PASSWORD} block=carol",
        f"away alice {PASSWORD} until tomorrow",
        f"ladder join alice {PASSWORD} blackbox",
    ):
        house.send(ALICE, line)
    owned = columns_with(house, 1)
    assert {"absences", "blocks", "followers", "ladder_places", "seats", "seeks"} <= owned.keys()
    do(house, merging.merge, userid="alice", into="bob")
    house.letters()
    assert columns_with(house, 1) == {"ladder_moves": {"player_id"}}, "a ladder keeps its history"
    with house.server.database.reading.connect() as connection:
        followed = followers.boards_of(connection, 2)
        assert followed == [(watched, "all")], "nobody follows an own board"
        assert [seek.player_id for seek in seeks.of_player(connection, 2)] == [2]


def columns_with(house: Indoors, player_id: int) -> dict[str, set[str]]:
    """Return the columns that refer to a player and contain this one, by table."""
    columns: dict[str, set[str]] = {}
    with house.server.database.reading.connect() as connection:
        for table in game_tables():
            for column in table.columns:
                is_reference = column.references(players.c.id) or column.name == "player_id"
                if is_reference and has_row(connection, table, column == player_id):
                    columns.setdefault(table.name, set()).add(column.name)
    return columns


@pytest.mark.both_databases
def test_of_two_seeks_for_the_same_one_is_left(house: Indoors) -> None:
    with house.server.database.writing.begin() as connection:
        for player, size in ((1, "4x4"), (1, "5x5"), (2, "5x5")):
            words, now = (f"-size={size}",), house.server.clock.now()
            seeks.add(connection, player, "blackbox", 2, words, b"seed", now)
    do(house, merging.merge, userid="alice", into="bob")
    with house.server.database.reading.connect() as connection:
        (first, second) = seeks.of_player(connection, 2)
        assert (first.options, second.options) == (("-size=4x4",), ("-size=5x5",))
        assert seeks.of_player(connection, 1) == []


def test_queued_moves_and_notes_stay_with_their_seat(house: Indoors) -> None:
    number = start_board(house, "carol", "alice")
    house.send(ALICE, f"blackbox note {number} alice {PASSWORD} She likes corners")
    house.send(ALICE, f"blackbox queue {number} alice {PASSWORD} 3")
    do(house, merging.merge, userid="alice", into="bob")
    (board,) = [letter for letter in house.letters() if letter.board == number]
    assert "Your note: She likes corners" in board.one_line
    letters = house.send(CAROL, f"blackbox move {number} carol {PASSWORD} 1")
    (moved,) = to(letters, BOB)
    assert "Played from your plan: 3" in moved.one_line


def test_the_player_who_chose_a_box_is_still_named(house: Indoors) -> None:
    number = start_board(house, "alice", "carol")
    with house.server.database.writing.begin() as connection:
        connection.execute(update(boards).values(chosen_by=1))
    do(house, merging.merge, userid="alice", into="bob")
    with house.server.database.reading.connect() as connection:
        board = board_rows.load(connection, number)
    assert board is not None
    assert board.chooser == "bob"


def test_an_invitation_by_mail_still_begins_a_board(house: Indoors) -> None:
    line = f"blackbox challenge alice {PASSWORD} frida friend@far.example"
    invitation = next(x for x in house.send(ALICE, line) if x.recipient == "friend@far.example")
    do(house, merging.merge, userid="alice", into="bob")
    house.letters()
    letters = house.reply(invitation, "yes")
    assert {letter.recipient for letter in letters} >= {BOB, "friend@far.example"}


@pytest.mark.both_databases
def test_time_without_a_mailbox_still_counts_as_away(house: Indoors) -> None:
    gone_at = house.server.clock.now()
    with house.server.database.writing.begin() as connection:
        player_rows.change(connection, 1, {"unreachable_since": gone_at})
        absences.add(connection, 1, gone_at, gone_at + timedelta(days=14))
    house.move_clock(days=10)
    do(house, merging.merge, userid="alice", into="bob")
    with house.server.database.reading.connect() as connection:
        (absence,) = absences.of_player(connection, 2)
    assert (absence.begins, absence.ends) == (gone_at, house.server.clock.now())


# -- letters -----------------------------------------------------------------------------------


def put_aside(house: Indoors, state: LetterState) -> None:
    """Put all letters aside that were not read."""
    with house.server.database.writing.begin() as connection:
        waits = update(outbox).where(outbox.c.state == LetterState.QUEUED)
        connection.execute(waits.values(state=state, due_at=None))


@pytest.mark.both_databases
@pytest.mark.parametrize("state", [LetterState.DIGEST, LetterState.PARKED, LetterState.RETURNED])
def test_unsent_words_of_others_reach_the_remaining_account(
    house: Indoors, state: LetterState
) -> None:
    house.sign_up("dora")
    number = start_board(house, "alice", "carol")
    house.send(BOB, f"prefs bob {PASSWORD} block=dora")
    house.send_unread(CAROL, f"message carol {PASSWORD} alice", "Are you there?")
    house.send_unread(CAROL, f"blackbox move {number} carol {PASSWORD} 1", "\n# My best move.\n")
    dora = address_of("dora")
    add_player(house.server, "another-dora", PASSWORD, dora)
    for name in ("dora", "another-dora"):
        house.send_unread(dora, f"message {name} {PASSWORD} alice", "Play with me!")
    house.send_unread(ALICE, f"reset alice {PASSWORD}")
    put_aside(house, state)
    do(house, merging.merge, userid="alice", into="bob")
    letters = to(house.letters(), BOB)
    assert [letter.kind for letter in letters] == ["message", "operator-account", "board"]
    assert "Are you there?" in letters[0].text
    assert house.letters() == []


@pytest.mark.parametrize("state", [LetterState.HELD, LetterState.COMING])
def test_a_letter_that_an_operator_holds_or_a_bot_delays_still_waits(
    house: Indoors, state: LetterState
) -> None:
    house.send_unread(CAROL, f"message carol {PASSWORD} alice", "Are you there?")
    put_aside(house, state)
    do(house, merging.merge, userid="alice", into="bob")
    assert [letter.kind for letter in house.letters()] == ["operator-account"]
    with house.server.database.reading.connect() as connection:
        waiting = select(outbox.c.recipient).where(outbox.c.state == state)
        assert sorted(connection.execute(waiting).scalars()) == [BOB, CAROL]


def test_nobody_else_gets_the_old_name(house: Indoors) -> None:
    do(house, merging.merge, userid="alice", into="bob")
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
    do(house, merging.merge, userid="alice", into="bob")
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
    do(house, merging.merge, userid="alice", into="bob")
    house.letters()
    for sender, reader in (("carol", "bob"), ("bob", "dora")):
        line = f"message {sender} {PASSWORD} {reader}"
        (refused,) = house.send(address_of(sender), line, "Do you hear me?")
        assert refused.kind == "refusal", (sender, reader)
    letters = house.send(BOB, f"message bob {PASSWORD} carol", "Do you hear me?")
    assert {letter.kind for letter in letters} == {"message", "message-sent"}
    (preferences,) = house.send(BOB, f"prefs bob {PASSWORD}")
    assert "block: carol" in preferences.one_line, "and not bob"
