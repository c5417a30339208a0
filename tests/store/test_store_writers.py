"""Jobs of writers: complete or without effect, and no success before the commit."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import thread_time

import pytest
from migrated import migrated
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import OperationalError

from pbmserv.errors import ServerFault
from pbmserv.store.accounts import players
from pbmserv.store.core import database as session
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import (
    ATTEMPTS,
    BATCH,
    GROUP_S,
    Closed,
    GroupWriter,
    PoolWriter,
    open_writer,
)
from pbmserv.store.tables.accounts import players as players_table

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PATIENCE_S = 60


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Database]:
    opened = Database(migrated(tmp_path / "group.sqlite3"))
    yield opened
    opened.close()


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    opened = Database(postgres_url)
    yield opened
    opened.close()


def joins(userid: str) -> Callable[[Connection], int]:
    """Return a job that creates a player and returns its id."""

    def job(connection: Connection) -> int:
        player = players.create(connection, userid, "hash", f"{userid}@players.example", NOW)
        assert player is not None
        return player.id

    return job


def userids(database: Database) -> set[str]:
    with database.reading.connect() as connection:
        return set(connection.execute(select(players_table.c.userid)).scalars())


class Gate:
    """A job that keeps its writer thread busy until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._opened = threading.Event()

    def __call__(self, connection: Connection) -> None:
        self.reached.set()
        assert self._opened.wait(PATIENCE_S)

    def open(self) -> None:
        self._opened.set()


def test_a_job_that_raises_has_no_effect_and_fails_alone(database: Database) -> None:
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


def test_system_exit_does_not_end_the_writer(
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


def test_a_resolved_future_is_committed(database: Database) -> None:
    """Other connections see the result at once."""
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


def test_closing_finishes_submitted_jobs_and_accepts_no_more(database: Database) -> None:
    writer = open_writer(database)
    count = BATCH + 10  # more than one group
    futures = [writer.submit(joins(f"u{n}")) for n in range(count)]
    writer.close()
    assert all(future.done() for future in futures)
    assert len(userids(database)) == count
    with pytest.raises(Closed):
        writer.submit(joins("late"))
    writer.close()  # twice does no harm


def test_a_cancelled_job_is_not_run(database: Database) -> None:
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
    for n in range(5):
        writer.submit(joins(f"u{n}"))

    def look(connection: Connection) -> tuple[int, set[str]]:
        query = select(func.count()).select_from(players_table)
        return connection.execute(query).scalar_one(), userids(sqlite)

    seen = writer.submit(look)
    gate.open()
    assert seen.result(PATIENCE_S) == (5, set())  # none of them is committed yet
    writer.close()
    assert len(userids(sqlite)) == 5


def test_a_heavy_job_does_not_delay_the_commit_of_those_behind_it(sqlite: Database) -> None:
    writer = GroupWriter(sqlite)
    gate = Gate()
    writer.submit(gate)
    assert gate.reached.wait(PATIENCE_S)

    def heavy(connection: Connection) -> None:
        end = thread_time() + GROUP_S
        while thread_time() < end:
            pass
        joins("heavy")(connection)

    def committed(_: Connection) -> set[str]:
        return userids(sqlite)

    jobs = [writer.submit(job) for job in (joins("light"), heavy, committed)]
    gate.open()
    assert jobs[2].result(PATIENCE_S) == {"light", "heavy"}
    writer.close()


def test_a_group_that_cannot_be_committed_fails_as_a_whole(sqlite: Database) -> None:
    """SQLite checks a constraint only at the commit; then no job of the group has succeeded."""

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


def test_a_locked_database_fails_the_group_and_then_works_again(
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


def crossing(
    first: int,
    second: int,
    meet: threading.Barrier,
    one_is_done: threading.Event,
    tries: list[int],
) -> Callable[[Connection], str]:
    """Return a job that locks two players.

    It locks the second one only after another job has locked its first one. When it is tried
    again, the other job has ended.
    """

    def job(connection: Connection) -> str:
        tries.append(first)
        if tries.count(first) > 1:
            assert one_is_done.wait(PATIENCE_S)
        players.change(connection, first, {"password_hash": f"by {first}"})
        if tries.count(first) == 1:
            meet.wait(PATIENCE_S)
        players.change(connection, second, {"password_hash": f"by {first}"})
        return "done"

    return job


def test_two_jobs_that_deadlock_are_both_done(postgres: Database) -> None:
    writer = PoolWriter(postgres, threads=2)
    first, second = (writer.submit(joins(userid)).result(PATIENCE_S) for userid in ("one", "two"))
    meet = threading.Barrier(2)
    one_is_done = threading.Event()
    tries: list[int] = []
    futures = [
        writer.submit(crossing(first, second, meet, one_is_done, tries)),
        writer.submit(crossing(second, first, meet, one_is_done, tries)),
    ]
    for future in futures:
        future.add_done_callback(lambda _: one_is_done.set())
    assert [future.result(PATIENCE_S) for future in futures] == ["done", "done"]
    assert len(tries) == 3  # PostgreSQL gave one of them up, and that one was run again
    with postgres.reading.connect() as connection:
        hashes = connection.execute(select(players_table.c.password_hash)).scalars().all()
    assert len(set(hashes)) == 1  # both rows by the same job, the one that came last
    writer.close()


def test_a_job_that_always_deadlocks_fails(postgres: Database) -> None:
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
        result = joins("one")(connection)
        if len(tries) == 1:
            with postgres.reading.connect() as other:
                pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
                other.exec_driver_sql(f"SELECT pg_terminate_backend({pid}, 5000)")
            joins("two")(connection)
        return result

    writer = PoolWriter(postgres, threads=1)
    assert writer.submit(cut).result(PATIENCE_S)
    assert len(tries) == 2
    assert userids(postgres) == {"one"}
    writer.close()


def test_waiting_for_a_lock_has_an_end(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_error_of_the_database_quotes_no_values(database: Database) -> None:
    writer = open_writer(database)

    def breaks_a_rule(connection: Connection) -> None:
        connection.execute(players_table.insert().values(userid="zz", password_hash="argon2-of-it"))

    error = writer.submit(breaks_a_rule).exception(PATIENCE_S)
    assert "argon2-of-it" not in str(error).partition("DETAIL")[0]
    writer.close()
