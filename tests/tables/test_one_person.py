"""Names whose addresses lead to one mailbox are one person: ratings, scores, seeks, daily boxes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from running import add_player
from solutions import box_of, solution
from sqlalchemy import create_engine, insert, select

from pbmserv.mail.mailboxes import mailbox_of
from pbmserv.store.accounts import persons, players
from pbmserv.store.operators.merging import boards_of_both
from pbmserv.store.shared_boxes.shared_boxes import GIVEN_UP, SOLVED
from pbmserv.store.tables.accounts import addresses
from pbmserv.store.tables.boards import boards as board_table
from pbmserv.store.tables.boxes import shared_boards as board_rows
from pbmserv.store.tables.ratings import scores

pytestmark = pytest.mark.slow

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALICE, BOB = address_of("alice"), address_of("bob")
OTHER = "alice+second@players.example"


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    """A server at noon, UTC, with alice (who is second, too) and bob."""
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob")
        add_player(server.server, "second", PASSWORD, OTHER)
        yield server


HOMES = {"alice": ALICE, "bob": BOB, "second": OTHER}


def id_of(house: Indoors, userid: str) -> int:
    with house.server.database.reading.connect() as connection:
        player = players.account_of(connection, userid)
    assert player is not None
    return player.id


# -- mailboxes and persons -------------------------------------------------------------------


def test_spellings_of_a_mailbox() -> None:
    same = (
        ("a@b.example", "A@B.Example"),
        ("a@b.example", "a+x@b.example"),
        ("a@b.example", "a+x+y@b.EXAMPLE"),
        ("john.smith@gmail.com", "johnsmith+games@googlemail.com"),
        ("a@bücher.example", "a@xn--bcher-kva.example"),
    )
    for address, other in same:
        assert mailbox_of(address) == mailbox_of(other), (address, other)
    different = (
        ("a@b.example", "a.b@b.example"),
        ("a.b@b.example", "ab@b.example"),
        ("a@b.example", "a@c.example"),
        ("+x@b.example", "+y@b.example"),
    )
    for address, other in different:
        assert mailbox_of(address) != mailbox_of(other), (address, other)


OWNED = st.lists(
    st.tuples(st.integers(1, 12), st.sampled_from(["a@x.example", *"bcdefgh"])), max_size=30
)


@given(OWNED, st.sets(st.integers(1, 14), min_size=1))
def test_persons_are_the_connected_parts(owned: list[tuple[int, str]], players: set[int]) -> None:
    """Compared with merging sets until nothing changes."""
    pairs = {(player, name if "@" in name else f"{name}@x.example") for player, name in owned}
    groups = [{player} for player in range(1, 15)]
    for _, address in pairs:
        owners = {player for player, other in pairs if other == address}
        joined = [group for group in groups if group & owners]
        groups = [group for group in groups if not group & owners]
        groups.append(set().union(*joined))
    expected = {player: group for group in groups for player in group}
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        addresses.create(connection)
        for player, address in sorted(pairs):
            row = {"player_id": player, "address": address, "confirmed_at": NOW}
            connection.execute(insert(addresses).values(row))
        connected = persons.persons_of(connection, players)
        for player in players:
            assert connected.ids_of_person(player) == expected[player]
    engine.dispose()


# -- ratings, scores, seeks ------------------------------------------------------------------


def begun(house: Indoors, challenger: str, opponent: str, options: str = "") -> int:
    """A board of two players that both have agreed to."""
    letters = house.send(
        HOMES[challenger],
        f"blackbox challenge {challenger} {PASSWORD} {opponent} {options}".strip(),
    )
    challenge = next(letter for letter in letters if letter.kind == "challenge")
    assert challenge.board is not None
    house.send(HOMES[opponent], f"blackbox accept {challenge.board} {opponent} {PASSWORD}")
    return challenge.board


def is_rated(house: Indoors, board: int) -> bool:
    with house.server.database.reading.connect() as connection:
        rated: bool = connection.execute(
            select(board_table.c.rated).where(board_table.c.id == board)
        ).scalar_one()
    return rated


def test_a_board_of_two_names_is_unrated(house: Indoors) -> None:
    assert not is_rated(house, begun(house, "alice", "second"))
    assert is_rated(house, begun(house, "alice", "bob"))


def test_names_that_become_one_person_while_they_play_are_not_rated(house: Indoors) -> None:
    board = begun(house, "alice", "bob")
    assert is_rated(house, board)
    for userid, cells in (("alice", "b3,d3,f6,g7"), ("bob", "a1,c4,e5,g2")):
        house.send(HOMES[userid], f"blackbox move {board} {userid} {PASSWORD} {cells}")
    house.open_up(board, "alice", "bob")
    move_in(house, "bob", "alice+third@players.example")
    house.send(ALICE, f"blackbox resign {board} alice {PASSWORD}")
    assert not is_rated(house, board)
    (letter,) = house.send(BOB, "blackbox standings")
    assert "bob" not in letter.text


def move_in(house: Indoors, userid: str, address: str) -> None:
    """Add a confirmed address."""
    number, now = id_of(house, userid), house.server.clock.now()
    house.server.writer.submit(lambda c: players.add_address(c, number, address, now)).result()


def scored(house: Indoors) -> dict[int, set[str]]:
    """Userids with scores, by board."""
    by_board: dict[int, set[str]] = {}
    with house.server.database.reading.connect() as connection:
        for row in connection.execute(select(scores.c.board_id, scores.c.player_id)):
            name = players.by_id(connection, row.player_id)
            assert name is not None
            by_board.setdefault(row.board_id, set()).add(name.userid)
    return by_board


def test_a_race_of_two_names_brings_scores_to_others_only(house: Indoors) -> None:
    for names in (("alice", "second"), ("alice", "second", "bob"), ("alice", "bob")):
        line = f"blackbox challenge alice {PASSWORD} {' '.join(names[1:])} -race"
        challenge = next(letter for letter in house.send(ALICE, line) if letter.kind == "challenge")
        board = challenge.board
        assert board is not None
        for userid in names[1:]:
            house.send(HOMES[userid], f"blackbox accept {board} {userid} {PASSWORD}")
        for userid in names:
            move = solution(box_of(house.server, board))
            house.send(HOMES[userid], f"blackbox move {board} {userid} {PASSWORD} {move}")
        expected = {"alice", "bob"} if "second" not in names else {"bob"} & set(names)
        assert scored(house).get(board, set()) == expected, names


def test_seeks_never_pair_two_names(house: Indoors) -> None:
    for userid in ("alice", "second"):
        (letter,) = house.send(HOMES[userid], f"blackbox seek {userid} {PASSWORD}")
        assert letter.kind == "seek"
    with house.server.database.reading.connect() as connection:
        ids = id_of(house, "alice"), id_of(house, "second")
        assert boards_of_both(connection, *ids) == []
    letters = house.send(BOB, f"blackbox seek bob {PASSWORD}")
    assert {letter.kind for letter in letters} == {"started"}


def test_a_list_names_a_person_once(house: Indoors) -> None:
    for userid in ("alice", "second"):
        board = begun(house, userid, "bob")
        for name, cells in ((userid, "b3,d3,f6,g7"), ("bob", "a1,c4,e5,g2")):
            house.send(HOMES[name], f"blackbox move {board} {name} {PASSWORD} {cells}")
        house.open_up(board, userid, "bob")
        house.send(BOB, f"blackbox resign {board} bob {PASSWORD}")
    (letter,) = house.send(BOB, "blackbox standings")
    named = [name for name in ("alice", "second") if f" {name} " in letter.text]
    assert len(named) == 1
    assert " bob " in letter.text


# -- the box of the day ----------------------------------------------------------------------


def daily(house: Indoors, userid: str, home: str = "") -> tuple[Posted, list[Posted]]:
    """Subscribe at an hour that is over: the answer, and today's box if it came."""
    letters = house.send(home or HOMES[userid], f"blackbox daily {userid} {PASSWORD} 07:30")
    return letters[0], [letter for letter in letters if letter.kind == "daily"]


@pytest.mark.parametrize("end", ["", "solved"])
def test_the_second_name_gets_no_box_of_that_day(house: Indoors, end: str) -> None:
    _, (first,) = daily(house, "second")
    assert first.board is not None
    if end:
        house.reply(first, solution(box_of(house.server, first.board)) if end == "solved" else end)
    refusal, none = daily(house, "alice")
    assert none == []
    assert "Another name at your address" in refusal.one_line
    assert len(daily(house, "bob")[1]) == 1
    # The next day it is whichever asks first, and again only one of them.
    letters = [letter for _ in range(3) for letter in house.live(hours=8)]
    got = [letter.recipient for letter in letters if letter.kind == "daily"]
    assert sorted(got) in ([ALICE, BOB], [OTHER, BOB], sorted([OTHER, BOB]))


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_neither_a_deleted_name_nor_a_changed_address_has_another_try(house: Indoors) -> None:
    _, (first,) = daily(house, "second")
    house.reply(first, "solve")
    (question,) = house.send(OTHER, f"delete second {PASSWORD}")
    house.reply(question, "yes")
    assert daily(house, "alice")[1] == []
    add_player(house.server, "again", PASSWORD, "alice+again@players.example")
    assert daily(house, "again", "alice+again@players.example")[1] == []
    # Bob's address goes to a new name once he has another one.
    _, (his,) = daily(house, "bob")
    house.reply(his, "solve")
    for letter in house.send(BOB, f"change address bob {PASSWORD} bob@far.example"):
        if letter.kind == "address-confirm":
            house.reply(letter, "yes")
    add_player(house.server, "bobby", PASSWORD, BOB)
    assert daily(house, "bobby", BOB)[1] == []
    house.live(hours=24)
    assert len(daily(house, "bobby", BOB)[1]) <= 1


def test_a_second_try_of_names_joined_later_does_not_count(house: Indoors) -> None:
    _, (first,) = daily(house, "alice")
    _, (his,) = daily(house, "bob")
    move_in(house, "bob", "alice+third@players.example")
    for letter in (first, his):
        assert letter.board is not None
    assert his.board is not None
    house.reply(first, "solve")
    house.reply(his, solution(box_of(house.server, his.board)))
    with house.server.database.reading.connect() as connection:
        rows = connection.execute(
            select(board_rows.c.board_id, board_rows.c.rank, board_rows.c.counts)
        ).all()
    assert sorted(map(tuple, rows)) == [
        (first.board, GIVEN_UP, True),
        (his.board, SOLVED, False),
    ]
    (week,) = house.send(BOB, "blackbox week")
    assert " bob " not in week.text
