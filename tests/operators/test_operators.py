"""What operators do: suspend, restore, reset, merge, hand over, and the audit of it all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from sqlalchemy import text

from pbmserv.errors import OperatorError
from pbmserv.service import operating_boards, operating_people, rerating
from pbmserv.service.operating import Deed, Signature
from pbmserv.service.operating_looks import board_facts, board_lines, game_lines, user_facts
from pbmserv.store import audit, operating

SIGNED = Signature("olga", "it was asked for")
ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))
SMALL = "-size=2x2 -atoms=1"


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob", "carol")
        yield server


def do(house: Indoors, deed: Callable[..., Deed], **words: Any) -> Deed:
    return house.operators.do(SIGNED, partial(deed, **words))


def begun(house: Indoors, first: str = "alice", second: str = "bob", words: str = "") -> int:
    """The number of a board on which both have hidden an atom."""
    line = f"blackbox challenge {first} {second} {SMALL} {words}"
    letters = house.send(address_of(first), line)
    number = letters[0].board
    assert number is not None
    house.send(address_of(first), f"blackbox move {number} {first} {PASSWORD} a1")
    house.send(address_of(second), f"blackbox move {number} {second} {PASSWORD} b2")
    return number


def to(letters: list[Posted], address: str) -> list[Posted]:
    return [letter for letter in letters if letter.recipient == address]


def flat(letter: Posted) -> str:
    return " ".join(letter.text.split())


def test_a_suspended_player_can_do_nothing_and_is_told_why(house: Indoors) -> None:
    number = begun(house)
    (answer,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {number}")
    do(house, operating_people.suspend, userid="alice", end_games=False)
    (told,) = house.letters()
    assert told.recipient == ALICE
    assert "suspended the account alice." in flat(told)
    assert "The reason given: it was asked for" in flat(told)

    for letters in (
        house.send(ALICE, f"blackbox move {number} alice {PASSWORD} 1"),
        house.send(ALICE, f"back alice {PASSWORD}"),
        house.reply(answer, "1"),
    ):
        (refused,) = letters
        assert 'The account "alice" is suspended' in flat(refused)
        assert PASSWORD not in refused.text
    (refused,) = house.send(BOB, "blackbox challenge bob alice")
    assert "Name 2 belongs to nobody who plays here" in flat(refused)

    do(house, operating_people.restore, userid="alice")
    again, board = house.letters()
    assert "The account alice works again." in flat(again)
    assert board.board == number
    moved = house.reply(board, "1")
    assert any("You fired port 1" in letter.text for letter in moved)


def test_running_games_of_a_suspended_player_can_be_ended(house: Indoors) -> None:
    number = begun(house)
    done = do(house, operating_people.suspend, userid="alice", end_games=True)
    assert done.facts["ended"] == [number]
    (told,) = to(house.letters(), BOB)
    assert f"have ended board {number}. It counts for nothing." in flat(told)
    facts, _ = house.operators.look(partial(board_facts, number=number))
    assert ("status", "declined") in facts


def test_a_reset_revokes_old_letters_and_mails_new_ones(house: Indoors) -> None:
    number = begun(house)
    (old,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {number}")
    do(house, operating_people.reset, userid="alice")
    reset, board = house.letters()
    (refused,) = house.reply(old, "1")
    assert "no longer" in flat(refused) or "revoked" in flat(refused)
    changed, anew = house.reply(reset, "password another-word")
    assert "password" in changed.subject
    (refused,) = house.reply(board, "1")  # whoever was in the mailbox has that one, too
    assert "no longer" in flat(refused)
    assert any("You fired port 1" in letter.text for letter in house.reply(anew, "1"))


def test_two_accounts_become_one(house: Indoors) -> None:
    first = begun(house, "alice", "carol")
    house.send(ALICE, f"blackbox resign {first} alice {PASSWORD}")
    second = begun(house, "bob", "carol")
    do(house, operating_people.merge, userid="alice", into="bob")
    letters = house.letters()
    assert {letter.recipient for letter in letters} == {BOB}
    assert "The account alice was made part of your account bob" in flat(letters[0])
    users = house.operators.look(lambda desk: operating.users(desk.connection, None, "", 100))
    assert [user.userid for user in users if user.state == "active"] == ["bob", "carol"]
    lines = house.operators.look(partial(board_lines, player="bob", status="", game="", most=9))
    assert [line.id for line in lines] == [second, first]
    (answer,) = house.send(ALICE, f"blackbox showas bob {PASSWORD} {second}")
    assert answer.board == second, "a letter from the other address is bob's now"
    compared = rerating.check(house.server.database)
    assert compared.differences == 0


def test_players_of_one_board_cannot_be_merged(house: Indoors) -> None:
    number = begun(house)
    with pytest.raises(OperatorError, match=f"board {number}"):
        do(house, operating_people.merge, userid="alice", into="bob")
    with pytest.raises(OperatorError, match="into itself"):
        do(house, operating_people.merge, userid="alice", into="alice")


def test_a_board_is_handed_over(house: Indoors) -> None:
    number = begun(house)
    do(house, operating_boards.hand_over, number=number, old="alice", new="carol")
    letters = house.letters()
    (news,) = to(letters, BOB)
    assert f"On board {number} carol plays in place of alice from now on." in flat(news)
    (farewell,) = to(letters, ALICE)
    assert f"Your seat at board {number} was given to another player." in flat(farewell)
    (hers,) = to(letters, CAROL)
    moved = house.reply(hers, "1")
    assert any("You fired port 1" in letter.text for letter in moved)
    (refused,) = house.send(ALICE, f"blackbox move {number} alice {PASSWORD} 2")
    assert "Not done" in refused.text
    facts, entries = house.operators.look(partial(board_facts, number=number))
    assert ("rated", "no") in facts
    assert [(e.operator, e.action, e.why) for e in entries] == [
        ("olga", "hand-over", "it was asked for")
    ]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("carol", "bob", "does not sit"),
        ("alice", "bob", "already"),
        ("alice", "zed", "no active player"),
    ],
)
def test_a_board_is_handed_over_only_to_somebody_who_can_take_it(
    house: Indoors, old: str, new: str, why: str
) -> None:
    number = begun(house)
    with pytest.raises(OperatorError, match=why):
        do(house, operating_boards.hand_over, number=number, old=old, new=new)


def test_a_new_deadline_counts_from_now(house: Indoors) -> None:
    number = begun(house)
    house.live(days=8)
    house.letters()
    times = ["--nagtime=5", "--forfeittime=40"]
    do(house, operating_boards.set_deadline, number=number, times=times)
    (told, _) = house.letters()
    assert "a reminder after 5 days without a move, the game lost after 40 days." in flat(told)
    assert house.live(days=4) == []
    (reminder,) = house.live(days=2)
    assert reminder.kind == "reminder"
    for _ in range(12):
        assert not [x for x in house.live(days=2) if x.kind == "result"]
    with pytest.raises(OperatorError, match="does not fit"):
        do(house, operating_boards.set_deadline, number=number, times=["--nagtime=41", *times[1:]])


def test_a_board_is_left_out_of_the_ratings_and_taken_back_in(house: Indoors) -> None:
    house.send(ALICE, "blackbox challenge alice bob")
    house.send(ALICE, f"blackbox move 1 alice {PASSWORD} a1,b2,c3,d4")
    house.send(BOB, f"blackbox move 1 bob {PASSWORD} a1,b2,c3,d4")
    house.send(BOB, f"blackbox resign 1 bob {PASSWORD}")
    (table,) = house.send(ALICE, "blackbox standings")
    assert "alice" in table.text
    do(house, operating_boards.set_rated, number=1, rated=False)
    assert len(house.letters()) == 2
    (empty,) = house.send(ALICE, "blackbox standings")
    assert "alice" not in empty.text
    assert rerating.check(house.server.database).differences == 0
    with pytest.raises(OperatorError, match="already"):
        do(house, operating_boards.set_rated, number=1, rated=False)
    do(house, operating_boards.set_rated, number=1, rated=True)
    house.letters()
    (again,) = house.send(ALICE, "blackbox standings")
    assert again.text == table.text


def test_a_closed_game_begins_no_boards_and_those_that_run_go_on(house: Indoors) -> None:
    number = begun(house)
    do(house, operating_boards.close_game, game="blackbox")
    for line in ("blackbox challenge alice bob", f"blackbox seek alice {PASSWORD}"):
        (refused,) = house.send(ALICE, line)
        assert "No new boards of Blackbox are made at present." in flat(refused)
    assert house.send(ALICE, f"blackbox move {number} alice {PASSWORD} 1")
    assert house.operators.look(game_lines) == [("blackbox", "1", "closed", "0", "1", "0", "0")]
    do(house, operating_boards.open_game, game="blackbox")
    assert len(house.send(ALICE, "blackbox challenge alice bob")) == 2


def test_nothing_is_done_without_a_reason(house: Indoors) -> None:
    for why in ("", "  \n", "x" * 501):
        with pytest.raises(OperatorError, match="reason"):
            house.operators.do(
                Signature("olga", why),
                partial(operating_people.suspend, userid="alice", end_games=False),
            )
    assert house.operators.look(lambda desk: audit.entries(desk.connection, None, 9)) == []
    facts, _ = house.operators.look(partial(user_facts, userid="alice"))
    assert ("state", "active") in facts


def test_what_cannot_be_done_changes_nothing(house: Indoors) -> None:
    for deed, words in (
        (operating_people.restore, {"userid": "alice"}),
        (operating_people.suspend, {"userid": "nobody", "end_games": True}),
        (operating_boards.withdrawn, {"number": 99}),
        (operating_boards.open_game, {"game": "blackbox"}),
        (operating_boards.close_game, {"game": "chess"}),
    ):
        with pytest.raises(OperatorError):
            do(house, deed, **words)
    assert house.letters() == []
    assert house.operators.look(lambda desk: audit.entries(desk.connection, None, 9)) == []


def test_a_player_reads_in_the_export_what_operators_did(house: Indoors) -> None:
    do(house, operating_people.reset, userid="alice")
    house.letters()
    (export,) = house.send(ALICE, f"export alice {PASSWORD}")
    (attached,) = export.message.iter_attachments()
    kept = json.loads(attached.get_content())
    assert [entry["why"] for entry in kept["done_by_operators"]] == ["it was asked for"]


def test_the_audit_forgets_a_player_who_is_deleted(house: Indoors) -> None:
    do(house, operating_people.reset, userid="alice")
    house.letters()
    (asked,) = house.send(ALICE, f"delete alice {PASSWORD}")
    house.reply(asked, "yes")
    with house.server.database.reading.connect() as connection:
        (row,) = connection.execute(text("SELECT target, why FROM audit")).all()
    assert "alice" not in row.target
    assert row.why == ""
