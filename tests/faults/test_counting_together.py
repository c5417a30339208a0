"""Several processes over one PostgreSQL count mails and wrong passwords as one would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from limits import RateLimitItemPerHour
from processes import Process, wait_until
from running import MovableClock, Running, start
from sqlalchemy import event, func, select
from sqlalchemy.exc import OperationalError
from wire import Wire, mail

from pbmserv.clock import SystemClock
from pbmserv.mail.envelope import Source
from pbmserv.service.auth.passwords import Lockout
from pbmserv.service.limits import shared_counts as module
from pbmserv.service.limits import windows
from pbmserv.service.limits.rates import Rates, Traffic
from pbmserv.service.limits.shared_counts import Book
from pbmserv.store.core import counted as rows
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer, open_writer
from pbmserv.store.tables import counted
from pbmserv.store.tables.mail import counting

OURS = "pbmserv@games.example"
ALICE, THIEF = "alice@players.example", "thief@elsewhere.example"
PASSWORD = "wonder-land"
HOME, STRANGE = Source("192.0.2.0/24", ALICE), Source("198.51.100.0/24", THIEF)
RATES = Rates("", "6/hour", "", "", "", "", "")


class Counter:
    """What counts in one process."""

    def __init__(self, database: Database, writer: Writer, clock: MovableClock) -> None:
        self.passwords = Book("passwords", database, writer, clock)
        self.mails = Book("mails", database, writer, clock)
        self.lockout = Lockout(clock, self.passwords.windows, self.passwords.exchange)
        self.traffic = Traffic(RATES, clock, self.mails.windows)

    def takes(self, source: Source = HOME) -> bool:
        self.mails.exchange()
        taken = self.traffic.arrives(source, 0, direct=True) is None
        self.mails.exchange()
        return taken

    def may_try(self, source: Source = STRANGE) -> bool:
        self.lockout.catch_up()
        return self.lockout.may_try("alice", source)


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def writer(database: Database) -> Iterator[Writer]:
    opened = open_writer(database)
    yield opened
    opened.close()


@pytest.fixture
def both(database: Database, writer: Writer, clock: MovableClock) -> tuple[Counter, Counter]:
    return Counter(database, writer, clock), Counter(database, writer, clock)


def number_of(database: Database, table: object = counted) -> int:
    with database.reading.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def test_a_limit_holds_in_all(both: tuple[Counter, Counter], clock: MovableClock) -> None:
    one, other = both
    assert [both[n % 2].takes() for n in range(10)] == [True] * 6 + [False] * 4
    clock.move(hours=1)
    assert one.takes()
    assert other.takes()


def test_what_is_not_exchanged_yet_is_the_overrun(both: tuple[Counter, Counter]) -> None:
    """Between two exchanges each process takes what one would; after the next one nothing."""
    for one in both:
        assert all(one.traffic.arrives(HOME, 0, direct=True) is None for _ in range(6))
    for one in (*both, *both):
        one.mails.exchange()
    assert not any(one.takes() for one in both)


def test_a_door_that_one_closes_is_closed_in_the_other(
    both: tuple[Counter, Counter], clock: MovableClock
) -> None:
    one, other = both
    for n in range(5):
        assert both[n % 2].may_try()
        both[n % 2].lockout.wrong("alice", STRANGE)
    assert not one.may_try()
    assert not other.may_try()
    clock.move(minutes=10)
    assert one.may_try()
    assert other.may_try()
    # The next one lasts twice as long, whoever closes it.
    for n in range(5):
        both[n % 2].lockout.wrong("alice", STRANGE)
    clock.move(minutes=19)
    assert not one.may_try()
    assert not other.may_try()


def test_a_right_password_opens_it_everywhere(both: tuple[Counter, Counter]) -> None:
    one, other = both
    for _ in range(4):
        one.lockout.wrong("alice", HOME)
    assert other.may_try(HOME)
    other.lockout.right("alice", HOME)
    other.passwords.exchange()
    for _ in range(4):
        one.lockout.catch_up()
        one.lockout.wrong("alice", HOME)
    assert one.may_try(HOME)
    # It is usual there, and no stranger can close it, in either of them.
    for number in range(60):
        one.lockout.wrong("alice", Source(f"203.0.{number}.0/24", THIEF))
    assert not other.may_try()
    assert other.may_try(HOME)
    assert one.may_try(HOME)


def test_a_restart_forgets_nothing_and_counts_nothing_twice(
    database: Database, writer: Writer, clock: MovableClock
) -> None:
    for _ in range(3):
        one = Counter(database, writer, clock)
        one.mails.exchange()
        one.lockout.catch_up()
        assert one.takes()
        one.lockout.wrong("alice", STRANGE)
    last = Counter(database, writer, clock)
    last.mails.exchange()
    last.mails.exchange()
    assert [last.takes() for _ in range(4)] == [True, True, True, False]
    assert last.may_try()
    last.lockout.wrong("alice", STRANGE)
    assert last.may_try()
    last.lockout.wrong("alice", STRANGE)
    assert not Counter(database, writer, clock).may_try()


def test_a_batch_whose_commit_was_never_heard_of_counts_once(
    postgres_url: str, clock: MovableClock
) -> None:
    database = Database(postgres_url)
    writer = open_writer(database)
    one, other = Counter(database, writer, clock), Counter(database, writer, clock)
    told = one.mails._told_and_learned

    def torn(connection: object) -> list[rows.Told]:
        told(connection)
        connection.commit()
        raise OperationalError("COMMIT", None, ConnectionError("gone"))

    one.mails._told_and_learned = torn
    assert one.traffic.arrives(HOME, 0, direct=True) is None
    with pytest.raises(OperationalError):
        one.mails.exchange()
    one.mails._told_and_learned = told
    assert one.traffic.arrives(HOME, 0, direct=True) is None
    one.mails.exchange()  # the same batch again
    one.mails.exchange()  # what came meanwhile
    other.mails.exchange()
    assert [other.takes() for _ in range(5)] == [True] * 4 + [False]
    writer.close()
    database.close()


def test_without_its_database_each_counts_for_itself_and_says_so_once(
    database: Database,
    writer: Writer,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "pbmserv")
    one = Counter(database, writer, clock)
    both = module.Counting([one.mails])

    def gone(*_: object) -> None:
        raise OperationalError("SELECT", None, ConnectionError("gone"))

    with monkeypatch.context() as broken:
        broken.setattr(rows, "news", gone)
        for _ in range(3):
            assert one.traffic.arrives(HOME, 0, direct=True) is None
            both.run_once()
    both.run_once()
    both.run_once()
    assert [record.message.partition(" ")[0] for record in caplog.records] == ["each", "all"]
    other = Counter(database, writer, clock)
    other.mails.exchange()
    assert [other.takes() for _ in range(4)] == [True] * 3 + [False]


def test_no_address_stands_there_in_clear_and_all_of_it_has_an_end(
    database: Database, writer: Writer, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MOST_OCTETS", 8 * 135)
    one = Counter(database, writer, clock)
    for n in range(20):
        clock.move(seconds=1)
        one.takes(Source(f"10.0.{n}.0/24", f"sender{n}@players.example"))
    clock.move(minutes=10)
    one.mails.prune()
    assert number_of(database) == 8
    with database.reading.connect() as connection:
        kept = b"".join(connection.execute(select(counted.c.events)).scalars())
    assert len(kept) == 8 * 35
    assert b"sender" not in kept
    assert b"10.0." not in kept
    clock.move(hours=2)
    one.mails.prune()
    assert number_of(database) == 0
    clock.move(days=41)
    one.mails.prune()
    assert number_of(database, counting) == 0


def test_news_that_come_late_and_those_of_a_later_version(clock: MovableClock) -> None:
    found = windows.Windows(clock)
    now = clock.now().timestamp()
    limit = RateLimitItemPerHour(4)
    key = windows.name(limit.key_for("x"))

    def hit(at: float, level: int = 1) -> windows.Event:
        return windows.Event(windows.Kind.HIT, key, at, at + 3600, level)

    found.learn([hit(now - 10, 2)])
    found.learn([hit(now - 30), hit(now - 4000)])
    assert found.again_at(limit, "x").timestamp() == pytest.approx(now - 30 + 3600)
    assert found.has_room(limit, "x")
    assert not found.has_room(limit, "x", cost=2)
    newer = bytearray(windows.packed([hit(now)]))
    newer[0] = 99
    assert list(windows.unpacked(bytes(newer) + windows.packed([hit(now)]))) == [hit(now)]


@pytest.fixture
def two(postgres_url: str, tmp_path: Path) -> Iterator[tuple[Running, Running]]:
    with ExitStack() as stack:
        yield (
            stack.enter_context(
                start(postgres_url, tmp_path / "1", signup="open", rate_address="6/hour")
            ),
            stack.enter_context(
                start(postgres_url, tmp_path / "2", signup="open", rate_address="6/hour")
            ),
        )


def test_mails_sent_to_two_servers_in_turn(two: tuple[Running, Running]) -> None:
    codes = []
    for n in range(9):
        codes.append(two[n % 2].send("stranger@players.example", f"list {n}")[:3])
        for server in (*two, *two):
            server.server.door_stage.counting.run_once()
    assert codes == ["250"] * 6 + ["451"] * 3


def test_rcpt_waits_for_no_database(two: tuple[Running, Running]) -> None:
    """The event loop asks memory, also where all processes count together."""
    asked: list[str] = []
    database = two[0].server.database
    two[0].server.door_stage.counting._rounds.stop(20)
    event.listen(database.reading, "before_cursor_execute", lambda *a: asked.append(a[2]))
    counts = [
        two[0].server.door_stage.traffic.is_over(HOME, 7, direct=True),
        two[0].server.door_stage.traffic.arrives(HOME, 7, direct=True),
    ]
    assert counts == [False, None]
    assert [statement for statement in asked if "count" in statement] == []


def guess(process: Process, word: str) -> None:
    with Wire(process.port) as wire:
        raw = mail(THIEF, f"prefs alice {word}", Message_ID=f"<{word}@elsewhere.example>")
        assert wire.mail(THIEF, OURS, raw).startswith("250")


class Now(MovableClock):
    """A moment after now, for whoever looks at what processes with a real clock have counted."""

    def __init__(self) -> None:
        self.moment = SystemClock().now() + timedelta(seconds=1)


def answers_in(folder: Path) -> int:
    """Letters to the thief that have gone out."""
    letters = b"".join(one.read_bytes() for one in folder.rglob("mail/*/new/*"))
    return letters.count(b"To: thief@elsewhere.example")


@pytest.mark.slow
def test_guessing_at_two_processes_in_turn_closes_both(postgres_url: str, tmp_path: Path) -> None:
    folders = [tmp_path / "1", tmp_path / "2"]
    for folder in folders:
        folder.mkdir()
    direct = {"mail_servers": "192.0.2.1"}
    processes = [Process(folder, postgres_url, **direct) for folder in folders]
    # At the one that will be killed, so that the other has no password in its memory.
    with Wire(processes[1].port) as wire:
        raw = mail(ALICE, f"signup alice {PASSWORD}")
        assert wire.mail(ALICE, OURS, raw).startswith("250")
    for n in range(4):
        guess(processes[n % 2], f"wrong-{n}")
    # The one that looked last is killed: what it had counted stands, and stands once.
    wait_until(lambda: answers_in(tmp_path) == 4, "the answers to be on their way")
    processes[1].kill()
    processes[1] = Process(folders[1], postgres_url, **direct)
    database = Database(postgres_url)
    writer = open_writer(database)
    looker = Counter(database, writer, Now())
    source = Source("127.0.0.0/24", THIEF)
    assert looker.may_try(source)
    guess(processes[1], "wrong-4")
    wait_until(lambda: not looker.may_try(source), "the fifth to be counted")
    guess(processes[0], PASSWORD)  # it is right, and nobody looks at it any more
    assert not looker.may_try(source)
    wait_until(lambda: answers_in(tmp_path) >= 6, "the last answers")
    assert [process.stop() for process in processes] == [0, 0]
    writer.close()
    database.close()
    assert answers_in(tmp_path) == 6
