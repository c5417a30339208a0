"""Carries out writing jobs: group commit on SQLite, parallel transactions on PostgreSQL.

A job is a function of an open connection. Its future is resolved only after the commit that
holds its effects; a job that raises leaves nothing behind and only its own future fails.

Who has nothing else to do hands its jobs in together. On SQLite that thread carries them out
itself: two that take the interpreter from each other cost a fifth more (docs/decisions/0054).
"""

from __future__ import annotations

import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import monotonic, thread_time
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from pbmserv.errors import StoreAway
from pbmserv.monitoring.metrics import Pulse, Vital
from pbmserv.store.core import database as stores
from pbmserv.store.core.database import Database
from pbmserv.store.core.statements import Savepoint

UNAVAILABLE = (OperationalError, InterfaceError, PoolTimeout)
"""The database cannot work now. Any other error it reports is a fault in our statements."""
T = TypeVar("T")
Job = Callable[[Connection], Any]

log = logging.getLogger("pbmserv.store")

BATCH = 200
"""Most jobs in one SQLite transaction; bounds how long the first of them waits."""
WRITERS = 4
"""Threads on PostgreSQL; more than ten only wait for each other (design/performance.md)."""
LONGEST_S = 120.0
"""Seconds after which a thread at work is stuck: no lock and no commit is waited for so long."""
ATTEMPTS = 3
"""Tries of one job when PostgreSQL gives way to another transaction (deadlock)."""
AGAIN_S = 5.0
"""A job that took longer until PostgreSQL hung up is not tried again: a client waits for it."""
QUEUED_S = 30.0
"""Longest wait of a job for one of PostgreSQL's threads, whose jobs may all get no answer."""
QUICK_S, SLOW_FOR_S = 0.005, 1.0
"""Seconds that an event loop may stand still for a commit, and pause after one that took longer."""
LOG_PAGES, MOST_PAGES = 1_000, 4_000
"""Pages of SQLite's log after which a commit brings them to their places: of the thread's commits,
and of those that an event loop waits for."""

_JOB = Savepoint("job")


class Closed(StoreAway):
    """The writer has been closed; nothing was written."""


class Writer(Protocol):
    """Where everything that changes the database goes."""

    def submit(self, job: Callable[[Connection], T]) -> Future[T]:
        """Run *job*; the future has its result once that is committed."""
        ...

    def submit_between(
        self, job: Callable[[Connection], T], *, is_synced: bool = True
    ) -> Future[T]:
        """As `submit`, for a short job that another process waits for: on SQLite it is done now, or
        by whoever is carrying out a group, between two of its jobs.

        Args:
            is_synced: false for one that can be done once more: the disk is not waited for, and a
                power failure, but no crash of this process, may take it back.
        """
        ...

    def submit_at_once(self, job: Callable[[Connection], T]) -> Future[T] | None:
        """Do a job now, for an event loop with nothing else to do; its future, which is done.
        ``None``, and nothing was done, where that may take long: somebody else writes, the disk has
        been slow lately, or this is no SQLite."""
        ...

    def submit_all(self, jobs: Sequence[Job], most_s: float = math.inf) -> list[Future[Any]]:
        """As `submit` does each. On SQLite they are done when this comes back, as many as were
        begun within *most_s* of processor time, and one at least: so many futures there are."""
        ...

    def close(self) -> None:
        """Finish every job already submitted, then stop."""
        ...

    def vitals(self) -> list[Vital]:
        """How its threads are."""
        ...


def open_writer(database: Database) -> Writer:
    """The writer that fits the database."""
    return GroupWriter(database) if database.is_sqlite else PoolWriter(database)


@dataclass(slots=True, eq=False)
class _Order:
    """A job and the future that its submitter waits for."""

    job: Job
    is_synced: bool = field(kw_only=True)
    queued_at: float = field(default_factory=monotonic)
    future: Future[Any] = field(default_factory=Future)
    result: Any = None
    fault: Exception | None = None


class _QueueWriter:
    """What both writers share: a queue, threads that serve it, and a clean end."""

    def __init__(self, threads: int, name: str) -> None:
        self._queue: SimpleQueue[_Order | None] = SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._pulses = [Pulse(LONGEST_S) for _ in range(threads)]
        self._threads = [
            threading.Thread(target=self._run, args=(pulse,), name=f"{name}-{n}", daemon=True)
            for n, pulse in enumerate(self._pulses)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Callable[[Connection], T]) -> Future[T]:
        return self._enqueue([_Order(job, is_synced=True)])[0]

    def submit_between(
        self, job: Callable[[Connection], T], *, is_synced: bool = True
    ) -> Future[T]:
        return self._enqueue([_Order(job, is_synced=is_synced)])[0]

    def submit_at_once(self, job: Callable[[Connection], T]) -> Future[T] | None:  # noqa: ARG002
        return None

    def submit_all(self, jobs: Sequence[Job], most_s: float = math.inf) -> list[Future[Any]]:  # noqa: ARG002
        return self._enqueue([_Order(job, is_synced=True) for job in jobs])

    def _enqueue(self, orders: Sequence[_Order]) -> list[Future[Any]]:
        with self._closing:
            if self._closed:
                raise Closed("the writer is closed")
            for order in orders:
                self._queue.put(order)
        return [order.future for order in orders]

    def close(self) -> None:
        with self._closing:
            if not self._closed:
                self._closed = True
                for _ in self._threads:
                    self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def vitals(self) -> list[Vital]:
        return [Vital.of(*one) for one in zip(self._threads, self._pulses, strict=True)]

    def _next(self, pulse: Pulse) -> _Order | None:
        """The next job, however long it takes to come."""
        pulse.rest()
        order = self._queue.get()
        pulse.beat()
        return order

    def _run(self, pulse: Pulse) -> None:  # noqa: ARG002 - for those who serve
        raise AssertionError("a writer says how it serves its queue")


class GroupWriter(_QueueWriter):
    """One connection; all jobs that have arrived share one commit.

    While one commit waits for the disk the next jobs gather, so a slow disk makes larger groups
    instead of a longer queue. Its thread carries them out, or who hands them in.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = threading.Lock()
        self._between: deque[_Order] = deque()
        self._connection: Connection | None = None
        self._is_synced: bool | None = None
        self._is_patient: bool | None = None
        self._slow_until = 0.0
        super().__init__(1, "pbmserv-writer")

    def _run(self, pulse: Pulse) -> None:
        while (order := self._next(pulse)) is not None:
            with self._turn:
                self._commit([order])
            self._do_rest()
        with self._turn:
            self._let_go()
        self._do_rest()

    def submit_between(
        self, job: Callable[[Connection], T], *, is_synced: bool = True
    ) -> Future[T]:
        order = _Order(job, is_synced=is_synced)
        self._between.append(order)
        self._do_rest()
        return order.future

    def submit_all(self, jobs: Sequence[Job], most_s: float = math.inf) -> list[Future[Any]]:
        orders = [_Order(job, is_synced=True) for job in jobs]
        with self._turn:
            if self._closed:
                raise Closed("the writer is closed")
            self._commit(orders, end=thread_time() + most_s)
        self._do_rest()
        return [order.future for order in orders if order.future.done()]

    def submit_at_once(self, job: Callable[[Connection], T]) -> Future[T] | None:
        order = _Order(job, is_synced=True)
        if order.queued_at < self._slow_until or not self._turn.acquire(blocking=False):
            return None
        try:
            if self._closed:
                return None
            self._commit([order], self._begin(is_synced=True, is_patient=False))
            if (ended := monotonic()) > order.queued_at + QUICK_S:
                self._slow_until = ended + SLOW_FOR_S
        except (*UNAVAILABLE, DBAPIError):  # the thread waits, or says what is wrong
            self._let_go()
            return None
        finally:
            self._turn.release()
            if self._between and self._closed:
                self._do_rest()
            elif self._between:  # the thread's, not the event loop's; it looks again at its end
                self._queue.put(_Order(lambda _: None, is_synced=False))
        return order.future

    def _do_rest(self) -> None:
        """Do what was handed in while somebody had the turn, unless somebody has it: whoever ends
        a turn calls this, so nothing is left lying."""
        while self._between and self._turn.acquire(blocking=False):
            try:
                if not self._closed:
                    self._commit([])
                while self._between and self._closed:
                    order = self._between.popleft()
                    if order.future.set_running_or_notify_cancel():
                        order.future.set_exception(Closed("the writer is closed"))
            finally:
                self._turn.release()

    def _begin(self, *, is_synced: bool, is_patient: bool) -> Connection:
        """A transaction on the one connection that writes, which is kept from group to group. To
        SQLAlchemy all of them are one: what it does about each takes as long as a mail's row.

        Args:
            is_synced: commits wait for the disk; between transactions this can be changed.
            is_patient: it waits for others that write, and brings the log to its place more often.
        """
        if self._connection is None:
            self._connection = self._database.writing.connect()
            self._is_synced = self._is_patient = None
        driver: Any = self._connection.connection.dbapi_connection
        if is_synced != self._is_synced:
            driver.execute(f"PRAGMA synchronous={stores.SYNC[is_synced]}")
            self._is_synced = is_synced
        if is_patient != self._is_patient:
            driver.execute(f"PRAGMA busy_timeout={self._database.patience_ms if is_patient else 0}")
            driver.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES if is_patient else MOST_PAGES}")
            self._is_patient = is_patient
        if self._connection.in_transaction():
            stores.at_driver(stores.BEGIN_WRITING, self._connection)
        else:
            self._connection.begin()
        return self._connection

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _commit(
        self,
        handed_in: Sequence[_Order],
        begun: Connection | None = None,
        end: float = math.inf,
    ) -> None:
        """Carry out these and whatever else is there, in as many transactions as others' short jobs
        make of it; who has the turn asks. None of them can be called off any more.

        Args:
            begun: the first transaction, if that has begun.
            end: none that was handed in is begun after this `time.thread_time`, but the first.
        """
        orders = list(handed_in)
        while self._between:
            orders.append(self._between.popleft())
        with suppress(Empty):  # the thread was faster
            while len(orders) < BATCH and not self._queue.empty():
                order = self._queue.get_nowait()
                if order is None:  # the end, which is the thread's to find
                    self._queue.put(order)
                    break
                orders.append(order)
        left = deque([one for one in orders if one.future.set_running_or_notify_cancel()])
        while left:
            done = list[_Order]()
            try:
                self._transaction(left, done, begun, end)
            except Exception as fault:  # nobody of this group may hear 250
                done += left
                left.clear()
                cause = stores.cause_of(fault)
                log.error("jobs were rolled back", exc_info=cause, extra={"jobs": len(done)})
                self._let_go()  # closing it takes back whatever is half done
                for order in done:
                    order.fault = order.fault or cause
            begun = None
            if thread_time() > end:
                left, end = deque([one for one in left if one not in handed_in]), math.inf
            for order in done:
                if order.fault is not None:
                    order.future.set_exception(order.fault)
                else:
                    order.future.set_result(order.result)

    def _transaction(
        self, left: deque[_Order], done: list[_Order], begun: Connection | None, end: float
    ) -> None:
        """Carry out as many as nobody's short job comes between, then that job, and commit; fewer,
        when the time is over. One that fails leaves nothing behind."""
        is_synced = True in [one.is_synced for one in left]
        connection = begun or self._begin(is_synced=is_synced, is_patient=True)
        driver: Any = connection.connection.dbapi_connection
        is_one = len(left) == 1  # it needs no savepoint: what undoes it undoes the transaction
        while left:
            is_between = bool(done and is_synced and self._between)
            order = self._between.popleft() if is_between else left.popleft()
            if not is_between or order.future.set_running_or_notify_cancel():
                done.append(order)
                if not is_one:
                    _JOB.begin(connection)
                try:
                    order.result = order.job(connection)
                except BaseException as error:  # noqa: BLE001 - the submitter gets it
                    order.fault = stores.handed_on(error)
                    if is_one:
                        driver.rollback()
                        return
                    _JOB.undo(connection)
                if not is_one:
                    _JOB.end(connection)
            if (is_between and not self._between) or thread_time() > end:
                break
        stores.at_driver("COMMIT", connection)


class PoolWriter(_QueueWriter):
    """Several threads, a transaction for each job; PostgreSQL groups the commits itself."""

    def __init__(self, database: Database, threads: int = WRITERS) -> None:
        self._database = database
        super().__init__(threads, "pbmserv-writer")

    def _run(self, pulse: Pulse) -> None:
        while (order := self._next(pulse)) is not None:
            if not order.future.set_running_or_notify_cancel():
                continue
            try:
                result = self._attempt(order)
            except BaseException as error:  # noqa: BLE001 - the submitter gets it
                order.future.set_exception(stores.handed_on(error))
            else:
                order.future.set_result(result)

    def _attempt(self, order: _Order) -> Any:
        begun = monotonic()
        if begun > order.queued_at + QUEUED_S:
            raise PoolTimeout("the database has kept every writer busy for too long")
        for _ in range(ATTEMPTS - 1):
            try:
                return self._transaction(order)
            except DBAPIError as error:
                if not stores.gave_way(error) or monotonic() > begun + AGAIN_S:
                    raise
        return self._transaction(order)

    def _transaction(self, order: _Order) -> Any:
        with self._database.writing.begin() as connection:
            if not order.is_synced:
                connection.exec_driver_sql("SET LOCAL synchronous_commit TO OFF")
            return order.job(connection)
