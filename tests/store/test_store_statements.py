"""Statements about boards, letters and accounts do the same on both databases.

Dialogs and stories on SQLite alone say what they are for.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, address_of, indoors
from sqlalchemy import Connection, select

from pbmserv.engine.clocks import Terms
from pbmserv.engine.types import Seat
from pbmserv.store import bots, ratings, scores
from pbmserv.store.accounts import address_changes, blocks, players, signups
from pbmserv.store.boards import (
    boards,
    challenges,
    followers,
    histories,
    moves,
    unconfirmed_boards,
)
from pbmserv.store.delivery import bounces, inbox, mail_stores, outbox, unsent_letters
from pbmserv.store.ladders import ladder_challenges, ladder_places
from pbmserv.store.operators import boards as boards_of_operators
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.store.tables.boards import boards as board_rows
from pbmserv.store.tables.mail import outbox as letters

ALICE, BOB = address_of("alice"), address_of("bob")


@pytest.fixture
def house(tmp_path: Path, database_url: str) -> Iterator[Indoors]:
    """A server with a board of alice and bob, and a challenge that waits for bob."""
    with indoors(tmp_path, database_url) as server:
        server.sign_up("alice", "bob")
        for subject in (
            f"blackbox challenge alice {PASSWORD} bob -size=2x2 -atoms=1",
            f"blackbox challenge alice {PASSWORD} bob -size=4x4 -atoms=1",
        ):
            server.send_unread(ALICE, subject)
        server.send_unread(BOB, f"blackbox accept 1 bob {PASSWORD}")
        yield server


def test_statements_about_boards(house: Indoors) -> None:
    def ask(connection: Connection) -> None:
        now = house.server.clock.now()
        assert histories.running_with(connection, 1) == {"bob": 2}
        assert players.seated_like(connection, "bbo") == ["bob"]
        assert challenges.waiting_for(connection, 2, "blackbox", ("-size=3x3",), (1, 2)) is None
        assert [
            line.id for line in boards_of_operators.board_lines(connection, None, "blackbox", 1, 5)
        ] == [2, 1]
        assert boards.of_events(connection, 1) == []

        followers.follow(connection, 1, 1, "end")
        followers.follow(connection, 1, 1, "all")
        assert followers.boards_of(connection, 1) == [(1, "all")]
        assert followers.count(connection, 1) == 1
        assert followers.unfollow(connection, 1, 1)
        assert not followers.unfollow(connection, 1, 1)

        for text in ("1", "2"):
            moves.submit(connection, 1, Seat(0), 3, text, now)
        assert moves.submitted(connection, 1, Seat(0)) == (3, "2")
        moves.drop_submitted(connection, 1, Seat(0))
        assert moves.submitted(connection, 1, Seat(0)) is None
        moves.drop_plans(connection, 1)

        boards.keep_note(connection, 1, Seat(0), "bob likes corners")
        board = boards.load(connection, 1)
        assert board is not None
        assert board.sitters[0].note == "bob likes corners"
        boards_of_operators.set_terms(connection, 1, Terms(3, 9))
        boards.finish(connection, 1, {}, now)
        boards.reopen(connection, 1)
        board = boards.load(connection, 1)
        assert board is not None
        assert (board.terms, board.status) == (Terms(3, 9), BoardStatus.ACTIVE)
        assert ratings.of_boards(connection, [1]) == {}
        assert scores.best(connection, "blackbox", "2x2/1", 5) == []
        assert scores.kinds(connection, "blackbox", 5) == []

    house.server.writer.submit(ask).result()


def test_statements_that_find_no_row_change_nothing(house: Indoors) -> None:
    def ask(connection: Connection) -> None:
        now = house.server.clock.now()
        before = connection.execute(select(board_rows)).all()
        unconfirmed_boards.drop(connection, 77)
        bots.put_off(connection, 77, now)
        ladder_challenges.put_off(connection, 77, now)
        assert not ladder_places.set_news(connection, 77, 1, wanted=False)
        address_changes.forget(connection, 77)
        signups.forget_challenge(connection, "zoe@far.example")
        assert signups.challenge_of(connection, "zoe@far.example", now) is None
        assert connection.execute(select(board_rows)).all() == before

    house.server.writer.submit(ask).result()


def test_statements_about_letters_and_mails(house: Indoors) -> None:
    def ask(connection: Connection) -> None:
        now = house.server.clock.now()
        assert blocks.by_mailbox(connection, [1, 2]) == []
        assert inbox.heard_from(connection, 1, [ALICE], now - timedelta(days=1))
        assert not inbox.heard_from(connection, 2, [ALICE], now + timedelta(days=1))
        assert inbox.count_kept(connection) == 0
        first, second = (
            connection.execute(select(letters.c.id).order_by(letters.c.id)).scalars().all()[-2:]
        )
        bounces.redirect(connection, 1, ALICE, "alice@far.example")
        bounces.send_again(connection, [first], "alice@near.example", now)
        letter = outbox.lock(connection, first)
        assert letter is not None
        assert letter.recipient == "alice@near.example"
        bounces.fail_outdated(connection, [first])
        unsent_letters.drop(
            connection,
            [
                unsent_letters.Unsent(first, 1, begun=False, has_words=True),
                unsent_letters.Unsent(second, 2, begun=False, has_words=False),
            ],
        )
        assert outbox.lock(connection, second) is None

    house.server.writer.submit(ask).result()
    with house.server.base.mail.reading.connect() as connection:
        assert mail_stores.beat_at(connection) is None
