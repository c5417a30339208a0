"""Accounts of players and bots, what remains of erased ones, and people with several names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from pbmserv.store import bots
from pbmserv.store.accounts import absences as absence_rows
from pbmserv.store.accounts import erasing, lockouts, persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import bounces
from pbmserv.store.delivery.bounces import BounceRecord
from pbmserv.store.tables.accounts import PlayerState

pytestmark = pytest.mark.slow

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_new_account_and_an_erased_one_have_the_usual_preferences(database: Database) -> None:
    with database.writing.begin() as connection:
        alice = players.create(connection, "alice", "argon", "alice@players.example", NOW)
        assert alice is not None
        assert alice == Player(
            alice.id, "alice", "argon", "alice@players.example", 0, PlayerState.ACTIVE
        )
        neutral = erasing.erase(connection, alice)
        erased = Player(alice.id, neutral, "", "", 1, PlayerState.DELETED, accept="none")
        assert players.by_id(connection, alice.id) == erased


def test_a_bot_is_shown_before_its_first_board_as_after_it(database: Database) -> None:
    with database.writing.begin() as connection:
        shown = bots.shown_account(connection, "house")
        stored = bots.account(connection, "house", NOW)
        assert shown is not None
        assert shown.columns == stored.columns
        assert bots.account(connection, "house", NOW) == stored
        assert bots.shown_account(connection, "house") == stored


def test_an_absence_that_is_called_off_leaves_no_row(database: Database) -> None:
    with database.writing.begin() as connection:
        alice = players.create(connection, "alice", "argon", "alice@players.example", NOW)
        assert alice is not None
        for begins in (NOW - timedelta(days=2), NOW + timedelta(days=2)):
            absence_rows.add(connection, alice.id, begins, begins + timedelta(days=5))
        for absence in absence_rows.of_player(connection, alice.id):
            absence_rows.end(connection, absence, NOW)
        (ended,) = absence_rows.of_player(connection, alice.id)
        assert (ended.begins, ended.ends) == (NOW - timedelta(days=2), NOW)


def test_an_address_that_is_confirmed_again_has_no_bounces(database: Database) -> None:
    with database.writing.begin() as connection:
        alice = players.create(connection, "alice", "argon", "alice@players.example", NOW)
        assert alice is not None
        for address in ("alice@players.example", "bob@players.example"):
            bounces.store(connection, BounceRecord(address, hard=2, hard_at=NOW, suspended_at=NOW))
        players.add_address(connection, alice.id, "alice@players.example", NOW)
        addresses = ["alice@players.example", "bob@players.example"]
        left = [record.address for record in bounces.records_of(connection, addresses)]
        assert left == ["bob@players.example"]


@dataclass(frozen=True)
class Line:
    """A line of a list that is about one player."""

    player_id: int


def test_a_list_leaves_out_other_names_of_people_who_are_named_elsewhere(
    database: Database,
) -> None:
    with database.writing.begin() as connection:
        addresses = ("alice@players.example", "alice+two@players.example", "bob@players.example")
        lines = []
        for userid, address in zip(("alice", "alice2", "bob"), addresses, strict=True):
            player = players.create(connection, userid, "argon", address, NOW)
            assert player is not None
            lines.append(Line(player.id))
        alice, alice2, bob = lines
        assert persons.each_once(connection, lines) == [alice, bob]
        assert persons.each_once(connection, [alice2, bob], [alice.player_id]) == [bob]

        def first(number: int) -> list[Line]:
            return [alice2, alice, bob][:number]

        assert persons.first_each_once(connection, first, 2) == [alice2, bob]
        assert persons.first_each_once(connection, first, 2, [alice.player_id]) == [bob]


def test_a_wrong_password_after_a_lock_lets_nobody_forget_the_lock(database: Database) -> None:
    """The next lock lasts longer as long as the row remembers this one."""
    hour = timedelta(hours=1)

    def guess(at: datetime) -> lockouts.WrongPasswords:
        return lockouts.add_wrong(
            connection, "a hash", window_start=at - hour, now=at, forget_at=at + hour
        )

    with database.writing.begin() as connection:
        guess(NOW)
        lockouts.lock(connection, "a hash", NOW + hour, 1, forget_at=NOW + 24 * hour)
        assert guess(NOW + 2 * hour).wrong == 1
        assert lockouts.prune(connection, NOW + 4 * hour) == 0
        assert guess(NOW + 5 * hour).level == 1
        assert lockouts.prune(connection, NOW + 25 * hour) == 1
