"""The second stage: carries out what has arrived, and is the only one that changes a game.

`lanes` decides whose mail comes next. One thread reads mails and submits a job for each to the
writer; of each lane one mail is under way. Passwords, and the senders of replies with commands, are
checked in other threads meanwhile. The job's transaction also settles the arrival, so a mail is
carried out exactly once, whatever dies at whatever moment.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import perf_counter, thread_time

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.log import reason
from pbmserv.monitoring.vitals import Pulse, Vital
from pbmserv.service.auth.passwords import Outdated
from pbmserv.service.core.job_result import Done, Job
from pbmserv.stages.arrival_queue import ArrivalQueue
from pbmserv.stages.current_work import CurrentWork
from pbmserv.stages.lanes import Lanes
from pbmserv.stages.rings import Rings
from pbmserv.stages.tasks import MOST_DEATHS, Check, Task, Tasks
from pbmserv.stages.watched_writer import WatchedWriter
from pbmserv.store.boards.positions import Positions
from pbmserv.store.core.writer import UNAVAILABLE, Closed
from pbmserv.store.delivery.arrivals import OF_PAGES
from pbmserv.store.delivery.settled_arrivals import Gone

POLL_S = 1.0
"""Seconds between two looks for arrivals that no ring has announced."""
AGAIN_S = 2.0
"""Seconds until a mail is tried again that the database could not take."""
IN_FLIGHT = 16
"""Most mails at the writer: post's questions to it wait behind them."""
FEW = IN_FLIGHT // 2
"""Most mails at the writer while play reads others. Python runs one thread at a time, so to read
mails beside a busy writer would take longer than to read them afterwards."""
READING_S = 0.02
"""Seconds of reading after which mails are submitted, so that they do not wait for slow ones."""
LONGEST_S = 300.0
"""Seconds of silence after which the thread counts as stuck."""

log = logging.getLogger("pbmserv.play")


class Play:
    """Carries out arrivals; `run` in a thread of its own, or `run_until_idle` by hand.

    Args:
        arrivals: the queue of arrivals.
        tasks: makes tasks of arrivals.
        positions: the newest positions, which each commit changes.
        writer: of the game store; shows the supervisor which mail is being carried out.
        clock: the time at which arrivals are settled.
        rings: wake other stages after a commit.
        current: tells the supervisor which mail is being read, and this process with which mails
            its predecessors died. Such a mail is carried out with nothing beside it, and not a
            third time.
    """

    def __init__(
        self,
        arrivals: ArrivalQueue,
        tasks: Tasks,
        positions: Positions,
        writer: WatchedWriter,
        clock: Clock,
        rings: Rings,
        current: CurrentWork,
    ) -> None:
        self._arrivals = arrivals
        self._tasks = tasks
        self._positions = positions
        self._writer = writer
        self._clock = clock
        self._rings = rings
        self._current = current
        self._deaths = current.killed_over()
        self._is_alone = False  # a mail is under way that play may die with
        self._to_ring: set[Callable[[], None]] = set()
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lanes = Lanes()
        self._at_writer = 0
        self._in_checks = 0
        self._is_rung = False
        self._again_at = 0.0
        self._look_at = 0.0
        self._stopping = threading.Event()
        self._pulse = Pulse(LONGEST_S)
        self._thread = threading.Thread(target=self.run, name="play", daemon=True)

    def ring(self) -> None:
        """Announce an arrival; from any thread."""
        if not self._is_rung:
            self._is_rung = True
            self._events.put(_wake)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Finish the mails under way and end; the others wait for the next start."""
        self._stopping.set()
        self._events.put(_wake)
        if self._thread.is_alive():
            self._thread.join(timeout)

    def vital(self) -> Vital:
        """Return the state of the thread."""
        return Vital.of(self._thread, self._pulse)

    def run(self) -> None:
        """Carry out arrivals until stopped."""
        while not self._stopping.is_set():
            self._pulse.beat()
            try:
                self._look()
                self._begin_ready()
                self._pulse.rest()
                self._wait(self._pause_s() or POLL_S)
            except Exception:  # the next round finds everything again
                log.exception("what has arrived could not be looked at")
                self._stopping.wait(AGAIN_S)
        while self._at_writer:
            self._wait(None)

    def run_until_idle(self) -> None:
        """Carry out everything that has arrived, in the calling thread."""
        self._look_at = 0.0
        while True:
            self._look()
            self._begin_ready()
            if not self.is_idle():
                self._wait(None)
            elif pause_s := self._pause_s():
                self._wait(pause_s)
            elif not self._lanes.ready() and not self._is_rung:
                return

    def is_idle(self) -> bool:
        """Return whether no mail is under way; mails may wait that play has not looked at yet."""
        return not (self._at_writer or self._in_checks)

    def _pause_s(self) -> float:
        """Return the seconds until a waiting mail may begin; 0 if no mail has to wait."""
        return max(self._lanes.rest_s(), self._again_at - perf_counter(), 0.0)

    def _wait(self, timeout: float | None) -> None:
        """Wait for an event, and handle all that have happened; then ring the other stages once."""
        with suppress(Empty):
            event = self._events.get(timeout=timeout)
            while True:
                event()
                event = self._events.get_nowait()
        for ring in self._to_ring:
            ring()
        self._to_ring.clear()

    def _look(self) -> None:
        """Put new arrivals into their lanes, if a ring announced some or it is time to look."""
        now = perf_counter()
        if now < self._again_at or not (self._is_rung or now >= self._look_at):
            return
        self._is_rung = False
        for arrival in self._arrivals.new():
            deaths = self._deaths.get(arrival.id, 0)
            self._lanes.add(self._tasks.task_of(arrival, deaths))
        self._look_at = 0.0 if self._arrivals.has_more else perf_counter() + POLL_S

    def _begin_ready(self) -> None:
        """Read mails and submit their jobs together, so that one transaction carries them out."""
        if perf_counter() < self._again_at or self._at_writer > FEW:
            return
        jobs = list[tuple[Task, Job]]()
        end = perf_counter() + READING_S
        for lane in self._lanes.ready():
            if self._at_writer + len(jobs) >= IN_FLIGHT or (jobs and perf_counter() > end):
                break
            if self._stopping.is_set() or self._is_alone:
                break
            if lane.waiting[0].may_kill:
                if self._at_writer or jobs:
                    break
                self._is_alone = True
            task = self._lanes.begin(lane)
            job = self._begin(task)
            if job is not None:
                jobs.append((task, job))
        for task, job in jobs:
            self._submit(task, job)

    def _begin(self, task: Task) -> Job | None:
        """Return the job of a task; `None` if a check comes first, or it cannot begin now."""
        begun = thread_time()
        try:
            with self._current.doing(task.arrival.id):
                step = task.give_up_as_deadly() if task.deaths >= MOST_DEATHS else task.begin()
        except Exception as error:  # noqa: BLE001 - given up by its task, which logs it
            self._handle_failure(task, error)
            return None
        finally:
            self._lanes.charge(task, thread_time() - begun)
        if isinstance(step, Check):
            self._await_check(task, step)
            return None
        return step

    # -- checks ----------------------------------------------------------------------------

    def _await_check(self, task: Task, check: Check) -> None:
        """Have a task begin again when a check is over; its lane waits."""
        self._in_checks += 1
        check.future.add_done_callback(
            lambda _: self._events.put(partial(self._checked, task, check))
        )

    def _checked(self, task: Task, check: Check) -> None:
        self._in_checks -= 1
        try:
            check.keep_result()
        except Exception as error:  # noqa: BLE001 - given up by its task, which logs it
            self._handle_failure(task, error)
        else:
            self._put_back(task)

    # -- the writer ------------------------------------------------------------------------

    def _submit(self, task: Task, job: Job) -> None:
        """Submit a job together with the note that its arrival is done."""
        try:
            run = partial(self._run_and_settle, task, job)
            future = self._writer.submit(run, task.arrival.id)
        except Closed:
            self._put_back(task)
            self._stopping.set()
            return
        self._at_writer += 1
        future.add_done_callback(
            lambda done: self._events.put(partial(self._committed, task, done))
        )

    def _run_and_settle(self, task: Task, job: Job, connection: Connection) -> Done:
        """Run a job, settle its arrival, and measure the time; the writer calls this."""
        begun = thread_time()
        try:
            done = job(connection)
            now = self._clock.now()
            self._arrivals.settle(connection, task.arrival, now, done.page_result)
            return done
        finally:
            task.took_s = thread_time() - begun

    def _committed(self, task: Task, future: Future[Done]) -> None:
        """Note which stages to ring after a commit, and log the task; or handle the failure."""
        self._at_writer -= 1
        self._is_alone = False
        self._lanes.charge(task, task.took_s)
        error = CancelledError() if future.cancelled() else future.exception()
        if error is not None:
            self._handle_failure(task, error)
            return
        done = future.result()
        if done.letters:
            self._to_ring.add(self._rings.post)
        if done.has_bot_work:
            self._to_ring.add(self._rings.bots)
        if task.arrival.kind in OF_PAGES:
            self._to_ring.add(self._rings.web)
        self._positions.remember(done.played)
        self._end(task)
        if done.receipt is not None:
            ms = (perf_counter() - task.begun) * 1000
            task.note_settled(done.receipt, ms)

    def _handle_failure(self, task: Task, error: BaseException) -> None:
        """Have a task begin again, now or later, or put it off, or give it up."""
        if isinstance(error, Gone):  # another process has carried it out
            self._end(task)
        elif isinstance(error, Outdated):  # raised once for each change of a password
            self._put_back(task)
        elif (waiting := task.put_off(error)) is not None:
            self._submit(task, waiting)
        elif isinstance(error, (*UNAVAILABLE, Closed, CancelledError)):
            why = reason(error) or type(error).__name__
            log.warning("the database could not take a mail", extra={"because": why})
            self._again_at = perf_counter() + AGAIN_S
            task.is_given_up = False
            self._put_back(task)
        elif not task.is_given_up:
            task.is_given_up = True
            self._submit(task, task.give_up(error, self._tasks.culprit_of(error)))
        else:
            log.critical("a mail cannot be kept; it waits for the next start", exc_info=error)
            self._lanes.end(task)

    def _end(self, task: Task) -> None:
        self._arrivals.done(task.arrival)
        self._lanes.end(task)

    def _put_back(self, task: Task) -> None:
        self._is_alone = False
        self._lanes.put_back(task)


def _wake() -> None:
    """End a wait for events; nothing else happens."""
