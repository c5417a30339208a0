"""Who may still try a password, from where, and since when."""

from __future__ import annotations

import pytest
from running import MovableClock

from pbmserv.mail.envelope import Source
from pbmserv.service.auth.passwords import Lockout
from pbmserv.service.limits import windows

ALICE, THIEF = "alice@players.example", "thief@elsewhere.example"
HOME, STRANGE = Source("192.0.2.0/24", ALICE), Source("198.51.100.0/24", THIEF)


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def lockout(clock: MovableClock) -> Lockout:
    return Lockout(clock)


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
    for _ in range(40):
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


def test_a_right_password_starts_the_count_again(lockout: Lockout) -> None:
    guess(lockout, "alice", HOME, 4)
    lockout.right("alice", HOME)
    guess(lockout, "alice", HOME, 4)
    assert lockout.may_try("alice", HOME)


def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch, lockout: Lockout) -> None:
    monkeypatch.setattr(windows, "REMEMBERED", 10)
    for number in range(50):
        guess(lockout, f"player{number}", Source(f"10.0.{number}.0/24", THIEF), 5)
        lockout.right(f"friend{number}", HOME)
    found = lockout._windows
    assert len(found._locks) == len(found._usual) == 10
    assert len(found._hits) <= 10


def test_a_guesser_in_the_player_s_network_has_a_door_of_his_own(lockout: Lockout) -> None:
    lockout.right("alice", HOME)
    for number in range(40):
        lockout.wrong("alice", Source(HOME.network, f"{number}@elsewhere.example"))
    assert not lockout.may_try("alice", Source(HOME.network, THIEF))
    assert lockout.may_try("alice", HOME)


@pytest.mark.parametrize("known", [True, False])
def test_where_nothing_tells_them_apart_it_is_slow_but_never_shut_for_long(
    lockout: Lockout, clock: MovableClock, *, known: bool
) -> None:
    """The guesser forges her envelope sender, in her network, or where nobody knows it."""
    source = HOME if known else Source("", ALICE)
    if known:
        lockout.right("alice", source)
    looks = 0
    for _ in range(24 * 60):
        clock.move(minutes=1)
        while lockout.may_try("alice", source):
            lockout.wrong("alice", source)
            looks += 1
    assert 24 <= looks <= 150
    clock.move(hours=1)
    assert lockout.may_try("alice", source)


def test_a_network_that_nobody_knows_is_the_sender_s_domain(lockout: Lockout) -> None:
    for number in range(31):
        lockout.wrong(f"u{number}", Source("", f"evil{number}@evil.example"))
    assert not lockout.may_try("alice", Source("", "evil99@evil.example"))
    assert lockout.may_try("alice", Source("", ALICE))
