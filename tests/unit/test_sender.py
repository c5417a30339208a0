"""The sender: batches, failures, pauses, and its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from migrated import BEGINNING
from running import MovableClock

from pbmserv.errors import (
    GameAway,
    RelayDown,
    RelayPermanent,
    RelayRefusesUs,
    RelayTemporary,
)
from pbmserv.log import TextFormatter
from pbmserv.outbound.breaker import FAILURES, SHORTEST_PAUSE
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.outbound.results import Failed, Later, Result, Sent, Untried
from pbmserv.outbound.sender import Sender
from pbmserv.store.delivery.letter_claims import HEAVY, ClaimedLetter

LEASE = timedelta(minutes=5)
PATIENCE_S = 60


@dataclass
class Row:
    id: int
    created_at: datetime
    due: datetime | None
    attempts: int = 0
    letter: OutgoingLetter | None = None
    result: Result | None = None
    effort: int = 1
    claimed: bool = False


@dataclass
class MemoryOutbox:
    """The outbox as a list; tests can make it fail, and can wait for its changes.

    Attributes:
        broken: calls that fail once; "claimed" and "settled" are answers that are lost.
        before: called before letters are made.
    """

    clock: MovableClock
    rows: list[Row] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    before: Callable[[Sequence[ClaimedLetter]], object] = lambda _: None
    claims: list[int] = field(default_factory=list)
    idle: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)

    def add(self, count: int, like: Row | None = None) -> None:
        """Queue letters, due now if they are not *like* another."""
        with self.changed:
            for _ in range(count):
                row = like or Row(0, self.clock.now(), self.clock.now())
                self.rows.append(replace(row, id=len(self.rows)))

    def claim(self, most: int) -> list[ClaimedLetter]:
        with self.changed:
            self._maybe_break("claim")
            now = self.clock.now()
            due = [row for row in self.rows if row.due and row.due <= now]
            del due[most:]
            for row in due:
                row.due = now + LEASE
                row.claimed = True
            if due:
                self.idle = False
                self.claims.append(len(due))
                self._maybe_break("claimed")
            return [queued(row) for row in due]

    def release_lost(self, in_hand: Collection[int]) -> None:
        with self.changed:
            for row in self.rows:
                if row.claimed and row.id not in in_hand:
                    row.due = self.clock.now()
                    row.claimed = False

    def make(self, rows: Sequence[ClaimedLetter]) -> list[OutgoingLetter]:
        self.before(rows)
        return [letter(row.id) for row in rows]

    def game_of(self, row: ClaimedLetter) -> str:
        return ""

    def settle(self, results: Sequence[Result]) -> None:
        with self.changed:
            self._maybe_break("settle")
            for result in results:
                row = self.rows[result.id]
                row.result = result
                row.claimed = False
                row.due = result.at if isinstance(result, Later | Untried) else None
                row.attempts += isinstance(result, Later)
            self.changed.notify_all()
            self._maybe_break("settled")

    def renew(self, ids: Sequence[int]) -> None:
        with self.changed:
            self._maybe_break("renew")
            for number in ids:
                self.rows[number].due = self.clock.now() + LEASE
            self.changed.notify_all()

    def next_due(self) -> datetime | None:
        with self.changed:
            self.idle = True
            self.changed.notify_all()
            return min((row.due for row in self.rows if row.due), default=None)

    def _maybe_break(self, what: str) -> None:
        if what in self.broken:
            self.broken.discard(what)
            self.changed.notify_all()
            raise OSError(f"{what}: the database went away")

    def wait_for(self, happened: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(happened, PATIENCE_S)

    def wait_until_settled(self) -> list[Result]:
        self.wait_for(lambda: all(row.result is not None for row in self.rows))
        return [row.result for row in self.rows if row.result is not None]

    def wait_until_idle(self) -> None:
        """Wait until a thread has nothing to do."""
        self.wait_for(lambda: self.idle)

    def wait_until_idle_again(self, sender: Sender) -> None:
        """Wake the sender, and wait until it is idle again."""
        with self.changed:
            self.idle = False
        sender.wake()
        self.wait_until_idle()


class TestRelay(Relay):
    """A relay that accepts letters, or raises the errors that a test has set."""

    __test__ = False

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.errors: dict[int, Exception] = {}
        self.always: Exception | None = None
        self.before: Callable[[OutgoingLetter], object] = lambda _: None

    def deliver(self, letter: OutgoingLetter) -> None:
        self.before(letter)
        error = self.errors.get(letter.id, self.always)
        if error is not None:
            raise error
        self.taken.append(letter.id)

    def close(self) -> None:
        """Holds nothing."""


def queued(row: Row) -> ClaimedLetter:
    octets = letter(row.id)
    return ClaimedLetter(
        "welcome",
        octets.recipient,
        {},
        octets.message_id,
        id=row.id,
        attempts=row.attempts,
        created_at=row.created_at,
        effort=row.effort,
    )


def letter(number: int) -> OutgoingLetter:
    return OutgoingLetter(
        number, f"<{number}@play.example>", "b@play.example", "a@x.example", b"Subject: x\r\n\r\n"
    )


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def outbox(clock: MovableClock) -> MemoryOutbox:
    return MemoryOutbox(clock)


@pytest.fixture
def relay() -> TestRelay:
    return TestRelay()


Begin = Callable[..., Sender]


@pytest.fixture
def begin(outbox: MemoryOutbox, relay: TestRelay, clock: MovableClock) -> Iterator[Begin]:
    """Return a function that starts senders; they stop after the test."""
    started: list[Sender] = []

    def start(
        threads: int = 1,
        poll_s: float = 30.0,
        renewal_s: float = 60.0,
    ) -> Sender:
        sender = Sender(
            outbox,
            relay,
            clock,
            lambda: 0.5,
            threads=threads,
            poll_s=poll_s,
            renewal_s=renewal_s,
        )
        sender.start()
        started.append(sender)
        return sender

    yield start
    for sender in started:
        assert sender.stop(PATIENCE_S)


def test_a_refusal_for_now_waits_and_one_for_good_fails(
    outbox: MemoryOutbox, relay: TestRelay, begin: Begin
) -> None:
    outbox.add(3)
    relay.errors = {0: RelayTemporary("451 greylisted"), 1: RelayPermanent("550 no such user")}
    begin()
    assert outbox.wait_until_settled() == [
        Later(0, BEGINNING + timedelta(minutes=1), "451 greylisted"),
        Failed(1, "550 no such user"),
        Sent(2),
    ]


def test_later_attempts_wait_longer_and_after_five_days_it_is_over(
    outbox: MemoryOutbox, relay: TestRelay, begin: Begin
) -> None:
    outbox.add(1, Row(0, BEGINNING, BEGINNING, attempts=3))
    outbox.add(1, Row(0, BEGINNING - timedelta(days=5), BEGINNING, attempts=33))
    relay.always = RelayTemporary("452 full")
    begin()
    assert outbox.wait_until_settled() == [
        Later(0, BEGINNING + timedelta(hours=1), "452 full"),
        Failed(1, "given up after 5 days: 452 full"),
    ]


@pytest.mark.parametrize("call", ["claim", "claimed", "settle", "settled"])
def test_a_database_that_goes_away_for_a_moment_loses_and_doubles_nothing(
    outbox: MemoryOutbox, relay: TestRelay, begin: Begin, call: str
) -> None:
    outbox.add(2)
    outbox.broken.add(call)
    begin(poll_s=0.01)
    assert outbox.wait_until_settled() == [Sent(0), Sent(1)]
    assert relay.taken == [0, 1]


def test_a_relay_that_is_down_is_left_alone_and_letters_are_not_charged(
    outbox: MemoryOutbox, relay: TestRelay, begin: Begin
) -> None:
    outbox.add(20)
    relay.always = RelayDown("no connection")
    sender = begin()
    outbox.wait_for(lambda: outbox.rows[FAILURES - 1].result is not None)
    outbox.wait_until_idle_again(sender)
    assert [row.attempts for row in outbox.rows] == [1] * FAILURES + [0] * (20 - FAILURES)
    assert not any(row.claimed for row in outbox.rows)


def test_when_the_pause_is_over_one_letter_goes_first(
    outbox: MemoryOutbox, relay: TestRelay, clock: MovableClock, begin: Begin
) -> None:
    def tried() -> int:
        return sum(row.attempts for row in outbox.rows)

    outbox.add(20)
    relay.always = RelayDown("no connection")
    sender = begin(threads=2)
    outbox.wait_for(lambda: tried() >= FAILURES and not any(row.claimed for row in outbox.rows))
    outbox.wait_until_idle_again(sender)
    before = tried()
    outbox.claims.clear()

    clock.moment += SHORTEST_PAUSE
    sender.wake()
    outbox.wait_for(lambda: tried() == before + 1)
    outbox.wait_until_idle_again(sender)
    assert outbox.claims == [1]

    clock.moment += SHORTEST_PAUSE
    outbox.wait_until_idle_again(sender)
    assert outbox.claims == [1]  # the second pause is twice as long

    relay.always = None
    clock.moment += SHORTEST_PAUSE
    sender.wake()
    outbox.wait_for(lambda: all(isinstance(row.result, Sent) for row in outbox.rows))
    assert outbox.claims[:2] == [1, 1]


def test_a_letter_in_hand_whose_lease_has_ended_is_sent_once(
    outbox: MemoryOutbox,
    relay: TestRelay,
    clock: MovableClock,
    begin: Begin,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No lease could be renewed while the store was away, so the letter looks due again."""
    senders: list[Sender] = []

    def slow(_: OutgoingLetter) -> None:
        relay.before = lambda _: None
        with outbox.changed:
            clock.moment += LEASE
        senders[0].wake()
        outbox.wait_for(lambda: len(outbox.claims) == 2)

    relay.before = slow
    senders.append(begin(threads=2, renewal_s=1000.0))
    outbox.add(1)
    senders[0].wake()
    assert outbox.wait_until_settled() == [Sent(0)]
    outbox.add(1)
    senders[0].wake()
    assert outbox.wait_until_settled() == [Sent(0), Sent(1)]
    assert relay.taken == [0, 1]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_relay_that_refuses_us_keeps_its_letters_and_the_operator_is_told_once(
    outbox: MemoryOutbox, relay: TestRelay, begin: Begin, caplog: pytest.LogCaptureFixture
) -> None:
    outbox.add(9)
    relay.always = RelayRefusesUs("RCPT TO: 554 5.7.1 Relay access denied")
    sender = begin()
    outbox.wait_for(lambda: outbox.rows[FAILURES - 1].result is not None)
    outbox.wait_until_idle_again(sender)
    assert [row.attempts for row in outbox.rows] == [1] * FAILURES + [0] * (9 - FAILURES)
    [error_record] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert "PBMSERV_RELAY, PBMSERV_ADDRESS" in error_record.getMessage()
    assert "Relay access denied" in TextFormatter().format(error_record)


def test_a_letter_that_is_put_off_holds_up_no_other_and_is_sent_later(
    outbox: MemoryOutbox, relay: TestRelay, clock: MovableClock, begin: Begin
) -> None:
    """A relay passes on that a provider throttles us or greylists some readers."""
    put_off = RelayTemporary("RCPT TO: 451 4.7.1 greylisted")
    relay.errors = dict.fromkeys(range(0, 40, 2), put_off)
    outbox.add(40)
    sender = begin(threads=4)
    results = outbox.wait_until_settled()
    assert results[1::2] == [Sent(number) for number in range(1, 40, 2)]
    in_a_minute = BEGINNING + timedelta(minutes=1)
    assert results[::2] == [Later(number, in_a_minute, str(put_off)) for number in range(0, 40, 2)]

    relay.errors.clear()
    clock.moment = in_a_minute
    sender.wake()
    outbox.wait_for(lambda: all(isinstance(row.result, Sent) for row in outbox.rows))
    assert sorted(relay.taken) == list(range(40))


def test_a_delivery_that_hangs_holds_up_no_other_letter(
    outbox: MemoryOutbox, relay: TestRelay, begin: Begin
) -> None:
    hangs = threading.Event()
    relay.before = lambda letter: letter.id or hangs.wait(PATIENCE_S)
    outbox.add(200)
    begin(threads=2)
    outbox.wait_for(lambda: all(row.result for row in outbox.rows[1:]))
    assert outbox.rows[0].result is None
    hangs.set()
    assert outbox.wait_until_settled()[0] == Sent(0)


@pytest.mark.parametrize("error", [RuntimeError("broken"), SystemExit()])
def test_a_letter_that_cannot_be_made_holds_up_no_other(
    outbox: MemoryOutbox, begin: Begin, error: BaseException
) -> None:
    def fail(rows: Sequence[ClaimedLetter]) -> None:
        if any(row.id == 3 for row in rows):
            raise error

    outbox.before = fail
    outbox.add(20)
    begin(threads=8)
    results = outbox.wait_until_settled()
    in_a_minute = BEGINNING + timedelta(minutes=1)
    assert results.pop(3) == Later(3, in_a_minute, f"not made: {type(error).__name__}")
    assert {type(result) for result in results} == {Sent}


def test_a_letter_whose_game_cannot_be_played_waits_and_is_not_charged(
    outbox: MemoryOutbox, begin: Begin
) -> None:
    error = GameAway("go", is_stopped=True)

    def fail(_: object) -> None:
        raise error

    outbox.before = fail
    outbox.add(1)
    begin()
    at = BEGINNING + timedelta(minutes=2)
    assert outbox.wait_until_settled() == [Untried(0, at, f"waits: {error}")]


def test_heavy_letters_are_made_after_the_others_have_gone_out(
    outbox: MemoryOutbox, relay: TestRelay, begin: Begin
) -> None:
    taken = threading.Semaphore(0)

    def wait_for_others(rows: Sequence[ClaimedLetter]) -> None:
        if any(row.is_heavy for row in rows):
            assert len(rows) == 1
            for _ in range(6):
                assert taken.acquire(timeout=PATIENCE_S)

    outbox.before = wait_for_others
    relay.before = lambda _: taken.release()
    outbox.add(1, Row(0, BEGINNING, BEGINNING, effort=HEAVY + 1))
    outbox.add(6)
    begin(threads=8)
    assert outbox.wait_until_settled() == [Sent(number) for number in range(7)]


def test_claimed_letters_that_are_not_under_way_at_a_stop_are_given_back(
    outbox: MemoryOutbox, relay: TestRelay, begin: Begin
) -> None:
    is_stopping = threading.Event()

    def stop_now(_: object) -> None:
        stopping = threading.Thread(target=senders[0].stop, args=(0.0,))
        stopping.start()
        stopping.join(PATIENCE_S)
        is_stopping.set()

    outbox.before = stop_now
    senders = [begin(threads=4)]
    outbox.add(3, Row(0, BEGINNING, BEGINNING, effort=HEAVY + 1))
    senders[0].wake()
    assert is_stopping.wait(PATIENCE_S)
    assert senders[0].stop(PATIENCE_S)
    assert relay.taken == []
    assert [(row.claimed, row.due) for row in outbox.rows] == [(False, BEGINNING)] * 3
