"""The scheduler: carries out due clocks and digests, and records that the server is up.

Due times are in the database, so nothing is lost when a scheduler dies, and several may run in
several processes: a board or digest is carried out by the process that locks its row, after another
look under the lock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.job_result import Done
from pbmserv.service.core.outbox_rows import queue_letters
from pbmserv.service.core.outcome import Notification
from pbmserv.service.core.services import Services
from pbmserv.service.events import course, team_captains
from pbmserv.service.ladder import settling
from pbmserv.service.rounds import Rounds
from pbmserv.service.schedule import deadlines, due_digests
from pbmserv.service.schedule.retention import Expiry
from pbmserv.service.solo import daily_box
from pbmserv.store import clocks, heartbeats, teams
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Closed, Writer
from pbmserv.store.delivery import digests
from pbmserv.store.events import events
from pbmserv.store.ladders import ladder_challenges, ladders
from pbmserv.store.shared_boxes import daily_readers

log = logging.getLogger("pbmserv.service")

POLL_S = 30.0
"""Seconds between two looks; after more than `heartbeats.GAP` there was an outage."""

BATCH = 50
"""Boards or digests in a batch; between two batches the scheduler beats."""

PUT_OFF = timedelta(hours=1)
"""Time after which a failed board or digest is tried again, behind the others."""

EXPIRY_EVERY = timedelta(hours=6)
"""Time between two rounds of expiry."""

EXPIRY_MOST = 200
"""Most batches in a round of expiry; the rest waits for the next round."""

Find = Callable[[Connection, datetime, int], Sequence[int]]
"""Returns the numbers of up to so many rows that are due at a time."""
PutOff = Callable[[Connection, int, datetime], None]
"""Makes a row due later."""
Do = Callable[[CommandContext, int], Sequence[Notification] | None]
"""Carries out a due row and returns its letters; `None` if another process has it."""


def _no_time() -> datetime | None:
    return None


class Scheduler(Rounds):
    """The scheduler of one process, in a thread; tests call `run_once` instead.

    Args:
        wake: called after a commit that queued letters.
        expiry: drops expired texts.
        oldest: returns the arrival time of the oldest pending mail.
        door_beat: returns the last beat of the door; `None`: the door is part of this process.
    """

    def __init__(
        self,
        services: Services,
        database: Database,
        writer: Writer,
        clock: Clock,
        wake: Callable[[], None],
        *,
        expiry: Expiry,
        oldest: Callable[[], datetime | None] = _no_time,
        door_beat: Callable[[], datetime | None] | None = None,
    ) -> None:
        self._services = services
        self._database = database
        self._writer = writer
        self._clock = clock
        self._wake = wake
        self._expiry = expiry
        self._oldest = oldest
        self._door_beat = door_beat or _no_time
        self._expired_at: datetime | None = None
        super().__init__(self.run_once, "scheduler", POLL_S, "the clocks could not be looked at")

    def run_once(self) -> None:
        """Carry out everything that is due now."""
        self.note_up()
        now = self._time_of_clocks()
        self._drain(now, clocks.due, deadlines.handle_due_board, clocks.put_off)
        self._drain(now, digests.due, due_digests.handle_due_digest, digests.put_off)
        self._drain(now, daily_readers.due, daily_box.give_due_boxes, daily_readers.put_off)
        self._drain(
            now, ladder_challenges.due, settling.carry_out_result, ladder_challenges.put_off
        )
        self._drain(now, ladders.due, settling.check_ladder, ladders.put_off)
        self._drain(now, teams.due, team_captains.check_team, teams.put_off)
        # Each step of an event may make the next one due.
        while self._drain(now, events.due, course.handle_due_event, events.put_off):
            self.note_up()
            now = self._time_of_clocks()
        self._expire()

    def begin(self) -> None:
        """Record that the server is up again.

        This comes before anything else, since the outage must be known before clocks are read.
        """
        self._record_up(self._clock.now())

    def note_up(self) -> None:
        """Record that the server is up: the door accepts mails, and play keeps up with them.

        An interruption of more than `heartbeats.GAP` is an outage.
        """
        self.beat()
        now = self._clock.now()
        late = [
            at for at in (self._oldest(), self._door_beat()) if at and now - at > heartbeats.GAP
        ]
        self._record_up(min((now, *late)))

    def _record_up(self, moment: datetime) -> None:
        """Record that the server was up at a moment, and log the outage before it."""
        present = self._clock.now()
        outage = self._writer.submit(lambda c: heartbeats.beat(c, moment, present)).result()
        if outage is None:
            return
        begun, ended = outage
        if ended < begun:
            log.error("the clock was put back", extra={"was": begun, "present": ended})
            return
        log.warning("the server was down; no clock ran", extra={"begun": begun, "ended": ended})

    def _time_of_clocks(self) -> datetime:
        """Return the time for clocks: now, but at most the arrival of the oldest pending mail,
        which may be the awaited move, and at most the last beat of a door that is down.

        It stays right for a while, since mails that come later are newer.
        """
        now, oldest, door = self._clock.now(), self._oldest(), self._door_beat()
        is_shut = door is not None and now - door > heartbeats.GAP
        return min((now, *(at for at in (oldest, door if is_shut else None) if at is not None)))

    def _expire(self) -> None:
        """Drop expired texts, and texts for which there is no room."""
        while self._expiry.make_room() and not self.ending:
            pass
        now = self._clock.now()
        if self._expired_at is not None and now < self._expired_at + EXPIRY_EVERY:
            return
        for _ in range(EXPIRY_MOST):
            if self.ending:
                return
            self.beat()
            if not self._expiry.step():
                self._expired_at = now
                return

    def _drain(self, now: datetime, find: Find, do: Do, put_off: PutOff) -> bool:
        """Call *do* for each row that *find* returns, in a transaction of its own.

        Args:
            now: the time of clocks; between two batches it is read again.

        Returns:
            Whether a row was carried out.
        """
        has_carried_out = False
        taken: set[int] = set()  # rows that other processes have
        more = True
        while more and not self.ending:
            most = BATCH + len(taken)
            with self._database.reading.connect() as connection:
                due = find(connection, now, most)
            more = len(due) == most
            futures = {
                number: self._writer.submit(partial(self._handle_row, do, number, now))
                for number in due
                if number not in taken
            }
            for number, future in futures.items():
                if self._put_off_if_failed(number, future, put_off):
                    continue
                done = future.result()
                if done is None:
                    taken.add(number)
                else:
                    has_carried_out = True
                    self._after_commit(done)
            if more:
                self.note_up()
                now = self._time_of_clocks()
        return has_carried_out and not self.ending

    def _handle_row(
        self, do: Do, number: int, now: datetime, connection: Connection
    ) -> Done | None:
        """Call *do* and queue its letters; return `None` if another process has the row."""
        context = CommandContext(self._services, connection, NOBODY, now)
        notifications = do(context, number)
        if notifications is None:
            return None
        return Done(context.effects.positions, queue_letters(context, notifications))

    def _put_off_if_failed(self, number: int, future: Future[Done | None], put_off: PutOff) -> bool:
        """Wait for a job, and make its row due later if it failed.

        Returns:
            Whether it failed.
        """
        try:
            future.result()
        except Closed:
            raise
        except Exception:  # one board must not stop the others
            log.exception("a clock could not be looked at; it is put off", extra={"row": number})
            until = self._clock.now() + PUT_OFF
            self._writer.submit(lambda c: put_off(c, number, until)).result()
            return True
        return False

    def _after_commit(self, done: Done) -> None:
        self._services.positions.remember(done.played)
        if done.letters:
            self._wake()
