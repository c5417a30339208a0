"""Carries out writing jobs: group commit on SQLite, parallel transactions on PostgreSQL.

A job is a function of an open connection. Its future is resolved only after the commit that
holds its effects; a job that raises leaves nothing behind and only its own future fails.

Who has nothing else to do hands its jobs in together. On SQLite that thread carries them out
itself: two that take the interpreter from each other cost a fifth more (docs/decisions/0054).
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Protocol, TypeAlias, TypeVar

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

    def submit_between(self, job: Callable[[Connection], T]) -> Future[T]:
        """As `submit`, for a short job that another process waits for: on SQLite it is done now, or
        by whoever is carrying out a group, between two of its jobs."""
        ...

    def submit_unsynced(self, job: Callable[[Connection], T]) -> Future[T]:
        """As `submit_between` one that can be done once more, without waiting for the disk: a power
        failure, but no crash of this process, may take it back."""
        ...

    def submit_at_once(self, job: Callable[[Connection], T]) -> Future[T]:
        """As `submit`, for an event loop with nothing else to do: on SQLite done when this comes
        back, unless somebody else writes, or the disk has been slow lately."""
        ...

    def submit_all(self, jobs: Sequence[Job]) -> list[Future[Any]]:
        """As `submit` does each; on SQLite they are all done when this comes back."""
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


_Failed: TypeAlias = dict[_Order, Exception]


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

    def submit_between(self, job: Callable[[Connection], T]) -> Future[T]:
        return self.submit(job)

    def submit_unsynced(self, job: Callable[[Connection], T]) -> Future[T]:
        return self._enqueue([_Order(job, is_synced=False)])[0]

    def submit_at_once(self, job: Callable[[Connection], T]) -> Future[T]:
        return self.submit(job)

    def submit_all(self, jobs: Sequence[Job]) -> list[Future[Any]]:
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
                self._commit(self._gather([order]))
            self._do_rest()
        with self._turn:
            self._let_go()
        self._do_rest()

    def submit_between(self, job: Callable[[Connection], T]) -> Future[T]:
        return self._do_between(_Order(job, is_synced=True))

    def submit_unsynced(self, job: Callable[[Connection], T]) -> Future[T]:
        return self._do_between(_Order(job, is_synced=False))

    def submit_all(self, jobs: Sequence[Job]) -> list[Future[Any]]:
        orders = [_Order(job, is_synced=True) for job in jobs]
        with self._turn:
            if self._closed:
                raise Closed("the writer is closed")
            self._commit(self._gather(orders))
        self._do_rest()
        return [order.future for order in orders]

    def _do_between(self, order: _Order) -> Future[Any]:
        """Have whoever is at work do it, or do it."""
        self._between.append(order)
        self._do_rest()
        return order.future

    def _do_rest(self) -> None:
        """Do what was handed in while somebody had the turn, unless somebody has it: whoever ends
        a turn calls this, so nothing is left lying."""
        while self._between and self._turn.acquire(blocking=False):
            try:
                orders = self._gather()
                if self._closed:
                    for order in orders:
                        order.future.set_exception(Closed("the writer is closed"))
                else:
                    self._commit(orders)
            finally:
                self._turn.release()

    def submit_at_once(self, job: Callable[[Connection], T]) -> Future[T]:
        order = _Order(job, is_synced=True)
        if order.queued_at >= self._slow_until and self._turn.acquire(blocking=False):
            try:
                if not self._closed:
                    begun = self._begin(is_synced=True, is_patient=False)
                    self._commit(self._gather([order]), begun)
                    if (ended := monotonic()) > order.queued_at + QUICK_S:
                        self._slow_until = ended + SLOW_FOR_S
                    return order.future
            except (*UNAVAILABLE, DBAPIError):  # the thread waits, or says what is wrong
                self._let_go()
            finally:
                self._turn.release()
                if self._between and self._closed:
                    self._do_rest()
                elif self._between:  # the thread's, not the event loop's; it looks again at its end
                    self._queue.put(_Order(lambda _: None, is_synced=False))
        return self._enqueue([order])[0]

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
            stores.at_driver(driver, stores.BEGIN_WRITING)
        else:
            self._connection.begin()
        return self._connection

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _gather(self, orders: Sequence[_Order] = ()) -> list[_Order]:
        """These, and whatever else is there; who has the turn asks. None of them can be called off
        any more."""
        orders = list(orders)
        while self._between:
            orders.append(self._between.popleft())
        while len(orders) < BATCH and not self._queue.empty():
            try:
                order = self._queue.get_nowait()
            except Empty:  # the thread was faster
                break
            if order is None:  # the end, which is the thread's to find
                self._queue.put(order)
                break
            orders.append(order)
        return [one for one in orders if one.future.set_running_or_notify_cancel()]

    def _commit(self, orders: list[_Order], begun: Connection | None = None) -> None:
        """Carry out a group, in as many transactions as others' short jobs make of it."""
        left = deque(orders)
        while left:
            done, failed = list[_Order](), _Failed()
            try:
                self._transaction(left, done, failed, begun)
            except Exception as fault:  # nobody of this group may hear 250
                done += left
                cause = stores.cause_of(fault)
                log.error("jobs were rolled back", exc_info=cause, extra={"jobs": len(done)})
                self._let_go()  # closing it takes back whatever is half done
                for order in done:
                    order.future.set_exception(failed.get(order, cause))
                return
            begun = None
            for order in done:
                if error := failed.get(order):
                    order.future.set_exception(error)
                else:
                    order.future.set_result(order.result)

    def _transaction(
        self, left: deque[_Order], done: list[_Order], failed: _Failed, begun: Connection | None
    ) -> None:
        """Carry out as many as nobody's short job comes between, then that job, and commit."""
        is_synced = True in [one.is_synced for one in left]
        connection = begun or self._begin(is_synced=is_synced, is_patient=True)
        driver: Any = connection.connection.dbapi_connection
        if len(left) == 1:
            done.append(left.popleft())
            _carry_out(done[0], connection, failed, driver.rollback)
            if failed:
                return
        while left:
            is_between = bool(done and is_synced and self._between)
            order = self._between.popleft() if is_between else left.popleft()
            if not is_between or order.future.set_running_or_notify_cancel():
                done.append(order)
                _JOB.begin(connection)
                _carry_out(order, connection, failed, partial(_JOB.undo, connection))
                _JOB.end(connection)
            if is_between and not self._between:
                break
        stores.at_driver(driver, "COMMIT")


def _carry_out(
    order: _Order, connection: Connection, failed: _Failed, undo: Callable[[], None]
) -> None:
    """Do a job; if it fails, leave nothing of it behind, and note why."""
    try:
        order.result = order.job(connection)
    except BaseException as error:  # noqa: BLE001 - the submitter gets it
        failed[order] = stores.handed_on(error)
        undo()


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
