"""Carries out writing jobs: one thread that groups commits on SQLite, several on PostgreSQL.

A job is a function of an open connection. Its future is resolved after the commit that holds its
effects. If a job raises, its effects are undone and only its own future fails.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import monotonic, thread_time
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from pbmserv.errors import ServerFault, StoreAway
from pbmserv.monitoring.vitals import Pulse, Vital
from pbmserv.store.core.database import Database, was_rolled_back
from pbmserv.store.core.prepared import Savepoint

UNAVAILABLE = (OperationalError, InterfaceError, PoolTimeout)
"""The database cannot work now. Any other error that it reports is a fault in our statements."""

T = TypeVar("T")

BATCH = 200
"""Jobs in one SQLite transaction at most."""
GROUP_S = 0.05
"""Processor time in seconds after which a SQLite transaction begins no further job, so that a heavy
job does not delay the commits of those behind it."""
WRITERS = 4
"""Threads on PostgreSQL; more than ten only wait for each other."""
LONGEST_S = 120.0
"""Seconds after which a working thread counts as stuck: no lock and no commit takes so long."""
ATTEMPTS = 3
"""Attempts at a job that PostgreSQL rolled back in favour of another one (deadlock)."""
AGAIN_S = 5.0
"""A job that ran for longer before PostgreSQL hung up is not retried: a client waits for it."""
QUEUED_S = 30.0
"""Seconds that a job waits for a thread at most, if every thread waits for PostgreSQL."""

_JOB = Savepoint("job")

log = logging.getLogger("pbmserv.store")


class Closed(StoreAway):
    """The writer is closed; nothing was written."""


class Writer(Protocol):
    """The one way in which a process changes a database."""

    def submit(self, job: Callable[[Connection], T]) -> Future[T]:
        """Queue a job.

        Args:
            job: changes the database through the connection and neither commits nor rolls back.

        Returns:
            The future of the job's result, which is resolved after the commit. Until the job
            begins it can be cancelled.

        Raises:
            Closed: the writer takes no more jobs.
        """
        ...

    def close(self) -> None:
        """Finish every submitted job, then stop."""
        ...

    def vitals(self) -> list[Vital]:
        """Return the state of the threads."""
        ...


def open_writer(database: Database) -> Writer:
    """Return a writer for the database."""
    return GroupWriter(database) if database.is_sqlite else PoolWriter(database)


@dataclass(slots=True, eq=False)
class _QueuedJob:
    """A queued job and its future."""

    job: Callable[[Connection], Any]
    future: Future[Any] = field(default_factory=Future)
    queued_at: float = field(default_factory=monotonic)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result of a job that was run, or its error."""

    future: Future[Any]
    result: Any = None
    error: Exception | None = None

    def resolve(self) -> None:
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class _QueueWriter(ABC):
    """A queue of jobs and the threads that serve it."""

    def __init__(self, threads: int) -> None:
        self._queue: SimpleQueue[_QueuedJob | None] = SimpleQueue()  # None ends one thread
        self._closing = threading.Lock()
        self._is_closed = False
        self._pulses = [Pulse(LONGEST_S) for _ in range(threads)]
        self._threads = [
            threading.Thread(
                target=self._run, args=(pulse,), name=f"pbmserv-writer-{number}", daemon=True
            )
            for number, pulse in enumerate(self._pulses)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Callable[[Connection], T]) -> Future[T]:
        queued = _QueuedJob(job)
        with self._closing:
            if self._is_closed:
                raise Closed("the writer is closed")
            self._queue.put(queued)
        return queued.future

    def close(self) -> None:
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                for _ in self._threads:
                    self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def vitals(self) -> list[Vital]:
        pairs = zip(self._threads, self._pulses, strict=True)
        return [Vital.of(thread, pulse) for thread, pulse in pairs]

    def _run(self, pulse: Pulse) -> None:
        """Serve the queue until its end."""
        pulse.rest()
        while (queued := self._queue.get()) is not None:
            pulse.beat()
            if queued.future.set_running_or_notify_cancel():
                self._serve(queued)
            pulse.rest()

    @abstractmethod
    def _serve(self, queued: _QueuedJob) -> None:
        """Run a job, perhaps with others of the queue, and resolve its future."""


class GroupWriter(_QueueWriter):
    """Runs the waiting jobs in one transaction, each in a savepoint.

    While a commit waits for the disk the next jobs gather, so a slow disk makes larger groups
    instead of a longer queue.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        super().__init__(1)

    def _serve(self, queued: _QueuedJob) -> None:
        """Commit a job together with those that wait behind it."""
        outcomes: list[_Outcome] = []
        try:
            with self._database.transaction() as connection:
                self._run_group(connection, queued, outcomes)
        except Exception as error:  # nothing of the group was written
            log.error("jobs were rolled back", exc_info=error, extra={"jobs": len(outcomes)})
            futures = {outcome.future: outcome.error or error for outcome in outcomes}
            futures.setdefault(queued.future, error)  # the transaction could not begin
            outcomes = [_Outcome(future, error=why) for future, why in futures.items()]
        for outcome in outcomes:
            outcome.resolve()

    def _run_group(
        self, connection: Connection, first: _QueuedJob, outcomes: list[_Outcome]
    ) -> None:
        """Run jobs until none waits or the group is large enough; add their outcomes."""
        end = thread_time() + GROUP_S
        queued: _QueuedJob | None = first
        while queued is not None:
            outcomes.append(_Outcome(queued.future))  # should the savepoint itself fail
            outcomes[-1] = _run_in_savepoint(connection, queued)
            is_full = len(outcomes) >= BATCH or thread_time() >= end
            queued = None if is_full else self._next_waiting()

    def _next_waiting(self) -> _QueuedJob | None:
        """Take the next job that was not cancelled, `None` if no job waits."""
        while True:
            try:
                queued = self._queue.get_nowait()
            except Empty:
                return None
            if queued is None:  # the end of the queue is for `_run`
                self._queue.put(None)
                return None
            if queued.future.set_running_or_notify_cancel():
                return queued


def _run_in_savepoint(connection: Connection, queued: _QueuedJob) -> _Outcome:
    _JOB.begin(connection)
    try:
        outcome = _Outcome(queued.future, queued.job(connection))
    except BaseException as error:  # noqa: BLE001 - the submitter gets it
        outcome = _Outcome(queued.future, error=_as_exception(error))
        try:
            _JOB.undo(connection)
        except DBAPIError:
            if isinstance(error, DBAPIError):  # SQLite has rolled back, such as for a full disk
                raise error from None
            raise
    _JOB.end(connection)
    return outcome


def _as_exception(error: BaseException) -> Exception:
    """Return the error for the submitter; a job that ends the process (`SystemExit`) must not."""
    if isinstance(error, Exception):
        return error
    fault = ServerFault(f"a job ended with {type(error).__name__}")
    fault.__cause__ = error
    return fault


class PoolWriter(_QueueWriter):
    """Runs jobs in several threads, each in a transaction; PostgreSQL groups the commits."""

    def __init__(self, database: Database, threads: int = WRITERS) -> None:
        self._database = database
        super().__init__(threads)

    def _serve(self, queued: _QueuedJob) -> None:
        try:
            outcome = _Outcome(queued.future, self._attempt(queued))
        except BaseException as error:  # noqa: BLE001 - the submitter gets it
            outcome = _Outcome(queued.future, error=_as_exception(error))
        outcome.resolve()

    def _attempt(self, queued: _QueuedJob) -> Any:
        """Run a job, again if PostgreSQL rolls it back in favour of another."""
        begun = monotonic()
        if begun > queued.queued_at + QUEUED_S:
            raise PoolTimeout("the database has kept every writer busy for too long")
        for _ in range(ATTEMPTS - 1):
            try:
                return self._transaction(queued)
            except DBAPIError as error:
                if not was_rolled_back(error) or monotonic() > begun + AGAIN_S:
                    raise
        return self._transaction(queued)

    def _transaction(self, queued: _QueuedJob) -> Any:
        with self._database.writing.begin() as connection:
            return queued.job(connection)
