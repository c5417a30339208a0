"""Checks of passwords: for which account, from where, and how many after wrong ones."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from indoors import PASSWORD, Indoors
from running import MovableClock
from sqlalchemy import func, select

from pbmserv.clock import Clock
from pbmserv.mail.envelope import Source
from pbmserv.service.auth import lockout as rules
from pbmserv.store.accounts import lockouts
from pbmserv.store.core.database import Database
from pbmserv.store.tables.accounts import password_sources, wrong_passwords

ALICE, THIEF = "alice@players.example", "thief@elsewhere.example"
HOME, STRANGE = Source("192.0.2.0/24", ALICE), Source("198.51.100.0/24", THIEF)


@dataclass
class Lockout:
    """A host that is sent passwords, with its own memory."""

    database: Database
    clock: Clock

    def may_try(self, userid: str, source: Source) -> bool:
        with self.database.reading.connect() as connection:
            return rules.may_try(connection, userid, source, self.clock.now())

    def wrong(self, userid: str, source: Source) -> None:
        with self.database.writing.begin() as connection:
            rules.note_wrong(connection, userid, source, self.clock.now())

    def right(self, userid: str, source: Source) -> None:
        with self.database.writing.begin() as connection:
            rules.note_right(connection, userid, source, self.clock.now())

    def rows(self) -> int:
        with self.database.reading.connect() as connection:
            return sum(
                connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in (wrong_passwords, password_sources)
            )


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def lockout(database: Database, clock: MovableClock) -> Lockout:
    return Lockout(database, clock)


def guess(lockout: Lockout, userid: str, source: Source, times: int) -> None:
    for _ in range(times):
        lockout.wrong(userid, source)


def test_five_wrong_ones_in_ten_minutes_close_the_door(
    lockout: Lockout, clock: MovableClock
) -> None:
    guess(lockout, "alice", STRANGE, 4)
    clock.move(minutes=11)
    guess(lockout, "alice", STRANGE, 4)
    assert lockout.may_try("alice", STRANGE)
    guess(lockout, "alice", STRANGE, 1)
    assert not lockout.may_try("alice", STRANGE)
    clock.move(minutes=10)
    assert lockout.may_try("alice", STRANGE)


def test_each_time_it_stays_closed_for_twice_as_long(lockout: Lockout, clock: MovableClock) -> None:
    for minutes in (10, 20, 40, 80):
        guess(lockout, "alice", STRANGE, 5)
        clock.move(minutes=minutes, seconds=-1)
        assert not lockout.may_try("alice", STRANGE)
        clock.move(seconds=1)
        assert lockout.may_try("alice", STRANGE)
    clock.move(hours=25)
    guess(lockout, "alice", STRANGE, 5)
    clock.move(minutes=10)
    assert lockout.may_try("alice", STRANGE)


def test_it_never_stays_closed_for_more_than_a_day(lockout: Lockout, clock: MovableClock) -> None:
    for _ in range(12):
        guess(lockout, "alice", STRANGE, 5)
        clock.move(hours=24)
        assert lockout.may_try("alice", STRANGE)


def test_a_stranger_does_not_lock_the_player_out(lockout: Lockout) -> None:
    lockout.right("alice", HOME)
    guess(lockout, "alice", STRANGE, 5)
    assert lockout.may_try("alice", HOME)
    for number in range(60):
        lockout.wrong("alice", Source(f"203.0.{number}.0/24", THIEF))
    assert not lockout.may_try("alice", Source("203.0.99.0/24", THIEF))  # a botnet's fresh network
    assert lockout.may_try("alice", HOME)


def test_one_network_cannot_go_through_all_userids(lockout: Lockout) -> None:
    lockout.right("dora", STRANGE)
    for number in range(30):
        lockout.wrong(f"player{number}", STRANGE)
    assert not lockout.may_try("somebody-else", STRANGE)
    assert lockout.may_try("dora", STRANGE)
    assert lockout.may_try("somebody-else", HOME)


def test_rows_are_removed_when_they_no_longer_matter(
    lockout: Lockout, database: Database, clock: MovableClock
) -> None:
    def prune() -> None:
        with database.writing.begin() as connection:
            lockouts.prune(connection, clock.now())

    lockout.right("alice", HOME)
    guess(lockout, "alice", STRANGE, 4)
    clock.move(minutes=61)
    prune()
    assert lockout.rows() == 1  # the source from which she was right
    guess(lockout, "alice", STRANGE, 5)
    clock.move(hours=24)
    prune()
    guess(lockout, "alice", STRANGE, 5)
    clock.move(minutes=19)
    assert not lockout.may_try("alice", STRANGE)  # the second lock is longer, so it is remembered
    clock.move(days=30)
    prune()
    assert lockout.rows() == 0


def test_no_row_shows_a_userid_a_network_or_an_address(
    lockout: Lockout, database: Database
) -> None:
    guess(lockout, "alice", STRANGE, 5)
    lockout.right("alice", HOME)
    with database.reading.connect() as connection:
        rows = str(
            [connection.execute(select(t)).all() for t in (wrong_passwords, password_sources)]
        )
    for part in ("alice", "198.51", "192.0.2", "thief", "example"):
        assert part not in rows


@pytest.mark.both_databases
def test_hosts_share_locks_and_a_restart_forgets_nothing(
    lockout: Lockout, database_url: str, clock: MovableClock
) -> None:
    for _ in range(5):
        restarted = Database(database_url)
        assert Lockout(restarted, clock).may_try("alice", STRANGE)
        Lockout(restarted, clock).wrong("alice", STRANGE)
        restarted.close()
    assert not lockout.may_try("alice", STRANGE)
    lockout.right("alice", HOME)
    other = Database(database_url)
    guess(lockout, "alice", HOME, 4)
    Lockout(other, clock).right("alice", HOME)
    guess(lockout, "alice", HOME, 4)
    assert lockout.may_try("alice", HOME)
    other.close()


def test_a_guesser_in_the_player_s_network_has_a_door_of_his_own(lockout: Lockout) -> None:
    lockout.right("alice", HOME)
    for number in range(40):
        lockout.wrong("alice", Source(HOME.network, f"{number}@elsewhere.example"))
    assert not lockout.may_try("alice", Source(HOME.network, THIEF))
    assert lockout.may_try("alice", HOME)


def test_where_nothing_tells_them_apart_it_is_slow_but_never_shut_for_long(
    lockout: Lockout, clock: MovableClock
) -> None:
    """The guesser forges her envelope sender, in her network."""
    source = HOME
    lockout.right("alice", source)
    looks = 0
    for _ in range(24):
        clock.move(hours=1)
        while lockout.may_try("alice", source):
            lockout.wrong("alice", source)
            looks += 1
    assert 12 <= looks <= 150
    clock.move(hours=1)
    assert lockout.may_try("alice", source)


def test_a_network_that_nobody_knows_is_the_sender_s_domain(lockout: Lockout) -> None:
    for number in range(31):
        lockout.wrong(f"u{number}", Source("", f"evil{number}@evil.example"))
    assert not lockout.may_try("alice", Source("", "evil99@evil.example"))
    assert lockout.may_try("alice", Source("", ALICE))


def test_a_mail_with_the_right_password_forgets_the_wrong_ones(house: Indoors) -> None:
    for number in range(10):  # the fifth wrong one would lock the account
        word = f"wrong{number}" if number % 5 else PASSWORD
        house.send(ALICE, f"prefs alice {word}")
    (letter,) = house.send(ALICE, f"prefs alice {PASSWORD}")
    assert letter.kind == "prefs"
