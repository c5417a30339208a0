"""Writing jobs: all of one or nothing of it, and nobody hears of success before the commit."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import OperationalError

from pbmserv.errors import ServerFault
from pbmserv.store.accounts import players
from pbmserv.store.core import database as session
from pbmserv.store.core import schema
from pbmserv.store.core import writer as writers
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import ATTEMPTS, BATCH, Closed, GroupWriter, PoolWriter, open_writer
from pbmserv.store.tables.accounts import players as players_table

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PATIENCE_S = 20


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path}/group.sqlite3")
    schema.prepare(opened)
    yield opened
    opened.close()


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    opened = Database(postgres_url)
    yield opened
    opened.close()


def joins(userid: str) -> Callable[[Connection], int]:
    """A job that makes a player and tells its id."""

    def job(connection: Connection) -> int:
        player = players.create(connection, userid, "hash", f"{userid}@players.example", NOW)
        assert player is not None
        return player.id

    return job


def userids(database: Database) -> set[str]:
    with database.reading.connect() as connection:
        return set(connection.execute(select(players_table.c.userid)).scalars())


class Gate:
    """A job that holds its writer thread until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._opened = threading.Event()

    def __call__(self, connection: Connection) -> None:
        self.reached.set()
        assert self._opened.wait(PATIENCE_S)

    def open(self) -> None:
        self._opened.set()


def test_a_job_that_raises_leaves_nothing_behind_and_fails_alone(database: Database) -> None:
    def breaks(connection: Connection) -> None:
        joins("half")(connection)
        raise LookupError("in the middle")

    def breaks_a_rule(connection: Connection) -> None:
        joins("twice")(connection)
        connection.execute(players_table.insert().values(userid="twice"))

    writer = open_writer(database)
    futures = [writer.submit(job) for job in (joins("one"), breaks, breaks_a_rule, joins("two"))]
    wait(futures, PATIENCE_S)
    assert isinstance(futures[0].result(), int)
    assert str(futures[1].exception()) == "in the middle"
    assert futures[2].exception() is not None
    assert isinstance(futures[3].result(), int)
    assert userids(database) == {"one", "two"}
    writer.close()


def test_even_an_exception_that_is_no_exception_does_not_end_the_writer(
    database: Database,
) -> None:
    def leaves(connection: Connection) -> None:
        joins("gone")(connection)
        raise SystemExit(3)

    writer = open_writer(database)
    futures = [writer.submit(leaves) for _ in range(5)]
    for future in futures:
        fault = future.exception(PATIENCE_S)
        assert isinstance(fault, ServerFault)
        assert isinstance(fault.__cause__, SystemExit)
    assert writer.submit(joins("stays")).result(PATIENCE_S)
    assert userids(database) == {"stays"}
    writer.close()


def test_what_a_future_promises_is_committed(database: Database) -> None:
    """Whoever hears of a result sees it with other eyes at once."""
    writer = open_writer(database)
    seen: list[bool] = []

    def look(userid: str, _: Future[int]) -> None:
        seen.append(userid in userids(database))

    futures = []
    for n in range(30):
        future = writer.submit(joins(f"u{n}"))
        future.add_done_callback(partial(look, f"u{n}"))
        futures.append(future)
    writer.close()
    assert len({future.result() for future in futures}) == 30
    assert seen == [True] * 30


def test_closing_finishes_what_was_submitted_and_takes_no_more(database: Database) -> None:
    writer = open_writer(database)
    count = BATCH + 50  # more than one group
    futures = [writer.submit(joins(f"u{n}")) for n in range(count)]
    writer.close()
    assert all(future.done() for future in futures)
    assert len(userids(database)) == count
    with pytest.raises(Closed):
        writer.submit(joins("late"))
    writer.close()  # twice does no harm


def test_jobs_that_are_handed_in_together_fail_one_by_one(database: Database) -> None:
    def fault(connection: Connection) -> None:
        players.create(connection, "half", "hash", "half@players.example", NOW)
        raise LookupError("my own")

    writer = open_writer(database)
    futures = writer.submit_all([joins("one"), fault, joins("two")])
    if database.is_sqlite:  # by the thread that handed them in
        assert all(future.done() for future in futures)
    wait(futures, PATIENCE_S)
    assert [type(future.exception()) for future in futures] == [type(None), LookupError, type(None)]
    assert userids(database) == {"one", "two"}
    writer.close()
    with pytest.raises(Closed):
        writer.submit_all([joins("late")])


def test_of_jobs_that_take_long_the_rest_is_not_begun(sqlite: Database) -> None:
    """But what others have handed in meanwhile is done."""
    writer = GroupWriter(sqlite)
    short = list[Future[int]]()

    def long(connection: Connection) -> int:
        short.append(writer.submit_between(joins("short")))
        return joins("long")(connection)

    assert [one.done() for one in writer.submit_all([long, joins("never")], -1.0)] == [True]
    assert short[0].result(PATIENCE_S)
    assert userids(sqlite) == {"long", "short"}
    assert len(writer.submit_all([joins("one"), joins("two")], PATIENCE_S)) == 2
    assert userids(sqlite) == {"long", "short", "one", "two"}
    writer.close()


def test_who_hands_in_several_takes_along_what_waits(sqlite: Database) -> None:
    writer = GroupWriter(sqlite)
    gate = Gate()
    first = writer.submit(gate)
    assert gate.reached.wait(PATIENCE_S)
    waiting = writer.submit(joins("waiting"))
    handing = threading.Thread(target=writer.submit_all, args=([joins("together")],))
    handing.start()
    gate.open()
    handing.join(PATIENCE_S)
    wait([first, waiting], PATIENCE_S)
    assert userids(sqlite) == {"waiting", "together"}
    writer.close()


def test_a_short_job_is_done_between_two_of_a_long_group(sqlite: Database) -> None:
    """What post asks of play: it waits for one mail, not for all that are carried out with it."""
    writer = GroupWriter(sqlite)
    gate, later = Gate(), Gate()
    group: list[Future[object]] = []
    jobs = (gate, joins("one"), later, joins("two"))
    handing = threading.Thread(target=lambda: group.extend(writer.submit_all(jobs)))
    handing.start()
    assert gate.reached.wait(PATIENCE_S)
    asked = [
        writer.submit_between(joins("asked")),
        writer.submit_between(joins("told"), is_synced=False),
    ]
    called_off = writer.submit_between(joins("off"))
    assert called_off.cancel()
    gate.open()
    assert all(one.result(PATIENCE_S) for one in asked)
    assert later.reached.wait(PATIENCE_S)
    assert userids(sqlite) == {"asked", "told"}  # committed with what was done before them
    later.open()
    handing.join(PATIENCE_S)
    assert all(future.exception() is None for future in group)
    assert userids(sqlite) == {"one", "two", "asked", "told"}
    assert writer.submit_between(joins("alone")).done()
    writer.close()
    with pytest.raises(Closed):
        writer.submit_between(joins("late")).result(PATIENCE_S)


def test_a_short_job_between_two_others_fails_alone(sqlite: Database) -> None:
    writer = GroupWriter(sqlite)
    gate = Gate()
    handing = threading.Thread(target=writer.submit_all, args=([gate, joins("one")],))
    handing.start()
    assert gate.reached.wait(PATIENCE_S)

    def fault(connection: Connection) -> None:
        joins("half")(connection)
        raise LookupError("my own")

    asked = writer.submit_between(fault), writer.submit_between(joins("asked"))
    gate.open()
    assert str(asked[0].exception(PATIENCE_S)) == "my own"
    assert asked[1].result(PATIENCE_S)
    handing.join(PATIENCE_S)
    assert userids(sqlite) == {"asked", "one"}
    writer.close()


def test_a_job_that_was_called_off_in_time_is_not_run(database: Database) -> None:
    writer = GroupWriter(database) if database.is_sqlite else PoolWriter(database, threads=1)
    gate = Gate()
    first = writer.submit(gate)
    assert gate.reached.wait(PATIENCE_S)
    called_off, wanted = writer.submit(joins("off")), writer.submit(joins("on"))
    assert called_off.cancel()
    assert not first.cancel()  # it is under way
    gate.open()
    writer.close()
    assert first.exception() is None
    assert wanted.result()
    assert userids(database) == {"on"}


def test_jobs_that_gather_behind_one_commit_share_the_next_one(sqlite: Database) -> None:
    writer = GroupWriter(sqlite)
    gate = Gate()
    writer.submit(gate)
    assert gate.reached.wait(PATIENCE_S)
    commits = []
    for n in range(20):
        writer.submit(joins(f"u{n}"))

    def note(connection: Connection) -> None:
        commits.append(connection.exec_driver_sql("SELECT count(*) FROM players").scalar())

    counted = writer.submit(note)
    gate.open()
    counted.result(PATIENCE_S)
    assert commits == [20]  # the same transaction: it sees what none of them has committed
    writer.close()


def test_a_group_that_cannot_be_committed_fails_as_a_whole(sqlite: Database) -> None:
    """A job breaks a rule that SQLite checks only at the commit: nobody of the group hears 250."""

    def owes(connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        players.add_address(connection, 999, "nobody@players.example", NOW)

    def own_fault(connection: Connection) -> None:
        raise LookupError("my own")

    writer = GroupWriter(sqlite)
    gate = Gate()
    writer.submit(gate)
    assert gate.reached.wait(PATIENCE_S)
    group = [writer.submit(job) for job in (joins("one"), owes, own_fault, joins("two"))]
    gate.open()
    wait(group, PATIENCE_S)
    assert [type(future.exception()).__name__ for future in group] == [
        "IntegrityError",
        "IntegrityError",
        "LookupError",
        "IntegrityError",
    ]
    assert userids(sqlite) == set()
    assert writer.submit(joins("next")).result(PATIENCE_S)
    writer.close()


def test_a_database_that_somebody_else_holds_fails_the_group_and_then_works_again(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(session, "BUSY_TIMEOUT_MS", 50)
    database = Database(sqlite.url)
    other = sqlite3.connect(tmp_path / "group.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer = GroupWriter(database)
    refused = writer.submit(joins("one"))
    assert isinstance(refused.exception(PATIENCE_S), OperationalError)
    other.execute("ROLLBACK")
    assert writer.submit(joins("two")).result(PATIENCE_S)
    assert userids(sqlite) == {"two"}
    other.close()
    writer.close()
    database.close()


def test_what_an_event_loop_hands_in_is_done_at_once_unless_that_would_take_long(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    who: list[str] = []

    def joined(userid: str) -> Callable[[Connection], int]:
        def job(connection: Connection) -> int:
            who.append(threading.current_thread().name)
            return joins(userid)(connection)

        return job

    here = threading.current_thread().name
    monkeypatch.setattr(writers, "QUICK_S", 60.0)
    writer = GroupWriter(sqlite)
    done = writer.submit_at_once(joined("one"))
    assert done is not None
    assert done.done()
    assert userids(sqlite) == {"one"}
    failed = writer.submit_at_once(joins("one"))
    assert failed is not None
    assert failed.done()
    assert isinstance(failed.exception(), AssertionError)
    other = sqlite3.connect(tmp_path / "group.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert writer.submit_at_once(joined("two")) is None  # somebody else writes
    waits = writer.submit(joined("two"))
    other.execute("ROLLBACK")
    other.close()
    assert waits.result(PATIENCE_S)
    monkeypatch.setattr(writers, "QUICK_S", -1.0)
    assert writer.submit_at_once(joined("three"))
    assert writer.submit_at_once(joined("four")) is None  # the disk was slow
    assert who == [here, "pbmserv-writer-0", here]
    monkeypatch.setattr(writer, "_slow_until", 0.0)
    writer.close()
    assert writer.submit_at_once(joins("five")) is None
    assert userids(sqlite) == {"one", "two", "three"}


def test_what_comes_while_an_event_loop_commits_is_the_threads(sqlite: Database) -> None:
    writer = GroupWriter(sqlite)
    told: list[Future[str]] = []

    def name(connection: Connection) -> str:
        return threading.current_thread().name

    def loops(connection: Connection) -> None:
        told.append(writer.submit_between(name))

    assert writer.submit_at_once(loops)
    assert told[0].result(PATIENCE_S) == "pbmserv-writer-0"
    writer.close()


def is_closed(writer: GroupWriter) -> bool:
    try:
        writer.submit(lambda _: None)
    except Closed:
        return True
    return False


def test_what_comes_while_the_last_one_is_committed_hears_that_it_is_closed(
    sqlite: Database,
) -> None:
    writer = GroupWriter(sqlite)
    closing = threading.Thread(target=writer.close)
    told: list[Future[object]] = []

    def last(_: Connection) -> None:
        closing.start()
        while not is_closed(writer):
            pass
        told.append(writer.submit_between(joins("late")))

    assert writer.submit_at_once(last)
    assert isinstance(told[0].exception(PATIENCE_S), Closed)
    closing.join(PATIENCE_S)
    assert "late" not in userids(sqlite)


def crossing(
    first: int,
    second: int,
    meet: threading.Barrier,
    one_is_done: threading.Event,
    tries: list[int],
) -> Callable[[Connection], str]:
    """Locks two players; the first time only after the other job has locked its first one.

    When it is tried again the other one has come to its end.
    """

    def job(connection: Connection) -> str:
        tries.append(first)
        if tries.count(first) > 1:
            assert one_is_done.wait(PATIENCE_S)
        players.set_password(connection, first, f"by {first}")
        if tries.count(first) == 1:
            meet.wait(PATIENCE_S)
        players.set_password(connection, second, f"by {first}")
        return "done"

    return job


def test_two_jobs_that_lock_each_other_out_are_both_done(postgres: Database) -> None:
    writer = PoolWriter(postgres, threads=2)
    one, two = (writer.submit(joins(userid)).result(PATIENCE_S) for userid in ("one", "two"))
    meet = threading.Barrier(2)
    one_is_done = threading.Event()
    tries: list[int] = []
    futures = [
        writer.submit(crossing(one, two, meet, one_is_done, tries)),
        writer.submit(crossing(two, one, meet, one_is_done, tries)),
    ]
    for future in futures:
        future.add_done_callback(lambda _: one_is_done.set())
    assert [future.result(PATIENCE_S) for future in futures] == ["done", "done"]
    assert len(tries) == 3  # PostgreSQL gave one of them up, and that one was run again
    with postgres.reading.connect() as connection:
        found = connection.execute(select(players_table.c.password_hash)).scalars().all()
    assert len(set(found)) == 1  # both rows by the same job, the one that came last
    writer.close()


def test_a_job_that_always_gives_way_is_given_up(postgres: Database) -> None:
    tries = []

    def gives_way(connection: Connection) -> None:
        tries.append(1)
        connection.exec_driver_sql(
            "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40P01'; END $$"
        )

    writer = PoolWriter(postgres, threads=1)
    assert isinstance(writer.submit(gives_way).exception(PATIENCE_S), OperationalError)
    assert len(tries) == ATTEMPTS
    writer.close()


def test_a_connection_that_was_cut_is_replaced_and_the_job_done_once(postgres: Database) -> None:
    tries = []

    def cut(connection: Connection) -> int:
        tries.append(1)
        made = joins("one")(connection)
        if len(tries) == 1:
            with postgres.reading.connect() as other:
                pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
                other.exec_driver_sql(f"SELECT pg_terminate_backend({pid}, 5000)")
            joins("two")(connection)
        return made

    writer = PoolWriter(postgres, threads=1)
    assert writer.submit(cut).result(PATIENCE_S)
    assert len(tries) == 2
    assert userids(postgres) == {"one"}
    writer.close()


def test_a_lock_that_somebody_holds_is_not_waited_for_without_end(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "BUSY_TIMEOUT_MS", 50)
    database = Database(postgres_url)
    writer = PoolWriter(database, threads=1)
    with database.reading.connect() as holder:
        holder.exec_driver_sql("LOCK TABLE players")
        refused = writer.submit(joins("one"))
        assert isinstance(refused.exception(PATIENCE_S), OperationalError)
    assert writer.submit(joins("two")).result(PATIENCE_S)
    with database.reading.connect() as connection:
        assert connection.execute(select(func.count()).select_from(players_table)).scalar() == 1
    writer.close()
    database.close()


def test_an_error_of_the_database_quotes_nothing_that_it_was_given(database: Database) -> None:
    writer = open_writer(database)

    def breaks_a_rule(connection: Connection) -> None:
        connection.execute(players_table.insert().values(userid="zz", password_hash="argon2-of-it"))

    error = writer.submit(breaks_a_rule).exception(PATIENCE_S)
    assert "argon2-of-it" not in str(error).partition("DETAIL")[0]
    writer.close()
