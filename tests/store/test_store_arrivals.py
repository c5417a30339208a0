"""Arrivals on PostgreSQL: several plays claim them, and each lane keeps its order."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from sqlalchemy import Connection

from pbmserv.mail.envelope import Envelope
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import arrival_claims, arrivals
from pbmserv.store.delivery.arrival_claims import Lease
from pbmserv.store.delivery.arrivals import NewArrival
from pbmserv.store.delivery.shares import SHARES

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
UNTIL = NOW + timedelta(seconds=30)
PLAYS = 4
PATIENCE_S = 60


@pytest.fixture
def store(postgres_url: str) -> Iterator[Database]:
    opened = Database(postgres_url)
    yield opened
    opened.close()


def _new(lane: str, raw: bytes = b"x") -> NewArrival:
    return NewArrival("mail", Envelope("", "", raw), lane, NOW)


def _stored(store: Database, lanes: Sequence[str]) -> list[int]:
    with store.writing.begin() as connection:
        return [arrivals.add(connection, _new(lane)) for lane in lanes]


def _claimed(connection: Connection, most: int = 100, by: str = "one") -> list[int]:
    return [
        arrival.id
        for arrival in arrival_claims.claim(
            connection, Lease(by, NOW, UNTIL), most=most, most_of_lane=most
        )
    ]


def test_two_plays_that_claim_at_once_get_different_lanes(store: Database) -> None:
    first, second, other = _stored(store, ["alice", "alice", "bob"])
    with store.writing.begin() as first_play, store.writing.begin() as second_play:
        assert _claimed(first_play, 1) == [first]  # not committed: others see a lock, and no claim
        assert _claimed(second_play, by="two") == [other]
    with store.writing.begin() as second_play:
        assert _claimed(second_play, by="two") == []  # now it sees the claim
        assert arrival_claims.take(second_play, first)
    with store.writing.begin() as second_play:
        assert _claimed(second_play, by="two") == [second]


def test_each_share_is_claimed_for_itself(store: Database) -> None:
    """A distributed PostgreSQL has each share on one node; mails of a lane stay in order."""
    numbers = _stored(store, [f"player {n % 40}" for n in range(80)])
    with store.reading.connect() as connection:
        assert arrivals.numbers(connection) == numbers
    claimed = []
    for share in range(SHARES):
        with store.writing.begin() as connection:
            of_share = arrival_claims.claim(
                connection, Lease("one", NOW, UNTIL), most=100, most_of_lane=100, share=share
            )
            assert {arrival.id % SHARES for arrival in of_share} <= {share}
            assert not arrival_claims.claim(
                connection, Lease("two", NOW, UNTIL), most=100, most_of_lane=100, share=share
            )
            claimed += of_share
    assert sorted(arrival.id for arrival in claimed) == numbers
    for lane in {arrival.lane for arrival in claimed}:
        of_lane = [arrival.id for arrival in claimed if arrival.lane == lane]
        assert of_lane == sorted(of_lane)
        assert len(of_lane) == 2


def test_a_long_lane_of_another_play_does_not_hide_other_lanes(store: Database) -> None:
    numbers = _stored(store, ["flood"] * 250 + ["bob"])
    with store.writing.begin() as connection:
        assert _claimed(connection) == numbers[:100]
    with store.writing.begin() as connection:
        assert _claimed(connection, by="two") == numbers[-1:]


def test_a_flood_in_one_lane_leaves_room_for_others_in_each_claim(store: Database) -> None:
    numbers = _stored(store, ["flood"] * 90 + ["bob", "carol"])
    with store.writing.begin() as connection:
        claimed = arrival_claims.claim(
            connection, Lease("one", NOW, UNTIL), most=32, most_of_lane=8
        )
    assert [arrival.id for arrival in claimed] == numbers[:8]
    with store.writing.begin() as connection:
        claimed = arrival_claims.claim(
            connection, Lease("two", NOW, UNTIL), most=32, most_of_lane=8
        )
    assert [arrival.lane for arrival in claimed] == ["bob", "carol"]


def test_after_a_lease_another_play_begins_with_the_first_mail(store: Database) -> None:
    numbers = _stored(store, ["alice"] * 3)
    with store.writing.begin() as connection:
        assert _claimed(connection, 2) == numbers[:2]
    with store.writing.begin() as connection:
        late = arrival_claims.claim(
            connection,
            Lease("two", UNTIL + timedelta(seconds=1), UNTIL + timedelta(minutes=1)),
            most=100,
            most_of_lane=100,
        )
    assert [arrival.id for arrival in late] == numbers


def test_a_play_that_still_works_keeps_the_mails_whose_lease_it_renews(store: Database) -> None:
    renewed, forgotten = _stored(store, ["alice", "bob"])
    after, much_later = UNTIL + timedelta(seconds=1), UNTIL + timedelta(minutes=1)
    with store.writing.begin() as connection:
        assert _claimed(connection) == [renewed, forgotten]
        arrival_claims.renew(connection, [renewed], much_later)
    with store.writing.begin() as connection:
        late = arrival_claims.claim(
            connection, Lease("two", after, much_later), most=100, most_of_lane=100
        )
    assert [arrival.id for arrival in late] == [forgotten]


def test_lost_claims_are_given_back(store: Database) -> None:
    numbers = _stored(store, [f"player {n}" for n in range(9)])
    with store.writing.begin() as connection:
        in_hand = _claimed(connection, 2)
        assert in_hand == numbers[:2]
    with store.writing.begin() as connection:
        _claimed(connection, 3)  # committed, but the process hears nothing of it
    with store.writing.begin() as connection:
        arrival_claims.release_lost(connection, by="one", in_hand=in_hand)
        assert _claimed(connection, 2) == numbers[2:4]
        assert _claimed(connection, by="two") == numbers[4:]


def test_four_plays_carry_out_each_mail_once_and_each_lane_in_order(
    store: Database,
) -> None:
    """Claims and settlements are real; the test records mails in the order of their
    transactions."""
    chance = Random(5)
    lanes: dict[int, str] = {}
    for _ in range(3):
        group = [f"lane {chance.randrange(9)}" for _ in range(40)]
        lanes.update(zip(_stored(store, group), group, strict=True))
    done: list[int] = []
    faults: list[BaseException] = []

    def play(by: str) -> None:
        try:
            while len(done) < len(lanes):
                with store.writing.begin() as connection:
                    mine = _claimed(connection, 7, by)
                for number in mine:
                    with store.writing.begin() as connection:
                        assert arrival_claims.take(connection, number)
                        done.append(number)  # before anybody can claim what follows it
        except BaseException as error:  # noqa: BLE001 - told below
            faults.append(error)

    threads = [threading.Thread(target=play, args=(f"play {n}",)) for n in range(PLAYS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert faults == []
    assert sorted(done) == sorted(lanes)
    of_each: dict[str, list[int]] = defaultdict(list)
    for number in done:
        of_each[lanes[number]].append(number)
    assert all(numbers == sorted(numbers) for numbers in of_each.values())
