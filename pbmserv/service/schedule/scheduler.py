"""The keeper: the thread that looks at due clocks and digests, and says that the server lives.

Everything that is due stands in the database, so nothing is lost when a keeper dies, and any
number of them may run in any number of processes: each board and each digest is done by whoever
gets the lock on its row, and looked at again under that lock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.monitoring.vitals import Vital
from pbmserv.service.core.actor import CLOCK
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.core.outcome import Done, Notification
from pbmserv.service.delivery import digest
from pbmserv.service.schedule import deadlines
from pbmserv.service.schedule.retention import Expiry
from pbmserv.service.solo import daily_box
from pbmserv.service.time.rounds import Rounds
from pbmserv.store import clocks, solo
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Closed, Writer
from pbmserv.store.delivery import outbox

log = logging.getLogger("pbmserv.service")

POLL_S = 30.0
"""Seconds between two looks; an outage is one of more than `clocks.GAP`."""

BATCH = 50
"""Boards or digests at once; between two batches the keeper says again that it lives."""

PUT_OFF = timedelta(hours=1)
"""When something that failed is tried again, so that it does not stand in others' way."""

FORGET_EVERY = timedelta(hours=6)
"""How often mails and letters are emptied whose time is over."""

FORGET_MOST = 200
"""Batches of them in a round; what is left then is left to the next one."""


Find = Callable[[Connection, datetime, int], Sequence[int]]
PutOff = Callable[[Connection, int, datetime], None]
Do = Callable[[CommandContext, int], Sequence[Notification] | None]


def _digest(context: CommandContext, player_id: int) -> Sequence[Notification] | None:
    return digest.make(context, player_id, deadlines.remind_in_digest)


def _nothing() -> datetime | None:
    return None


class Scheduler:
    """One process's keeper; `start` and `stop`, or `run_once` where somebody else has the time.

    Args:
        wake: called after a commit that queued letters.
        expiry: drops what was kept long enough.
        oldest: when the oldest mail came that is not carried out.
        door_beat: when the door said last that it takes mail in; ``None``: it lives and dies with
            this process.
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
        oldest: Callable[[], datetime | None] = _nothing,
        door_beat: Callable[[], datetime | None] | None = None,
    ) -> None:
        self._services = services
        self._database = database
        self._writer = writer
        self._clock = clock
        self._wake = wake
        self._expiry = expiry
        self._oldest = oldest
        self._door_beat = door_beat or _nothing
        self._forgot_at: datetime | None = None
        self._rounds = Rounds(self.run_once, "keeper", POLL_S, "the clocks could not be looked at")

    def start(self) -> None:
        """Begin to look, at once and then every `POLL_S` seconds."""
        self._rounds.start()

    def stop(self, timeout: float) -> bool:
        """Finish the batch in hand and end; whether that took at most *timeout* seconds."""
        return self._rounds.stop(timeout)

    def vital(self) -> Vital:
        """How the thread is."""
        return self._rounds.vital()

    def run_once(self) -> None:
        """Do all that is due now."""
        self.beat()
        self._drain(clocks.due, deadlines.look, clocks.put_off)
        self._drain(clocks.due_digests, _digest, clocks.put_off_digest)
        self._drain(solo.due_dailies, daily_box.make, solo.put_off_dailies)
        self._forget()

    def begin(self) -> None:
        """Say that the server lives again. Before anything else: what comes next must not be
        charged with the outage that this brings to light."""
        self._beat(self._clock.now())

    def beat(self) -> None:
        """Say that the server lives: that its door takes mail in, and that play keeps up with it.
        What is not so for more than `clocks.GAP` is an outage when it is over."""
        self._rounds.beat()
        now = self._clock.now()
        late = [at for at in (self._oldest(), self._door_beat()) if at and now - at > clocks.GAP]
        self._beat(min((now, *late)))

    def _beat(self, moment: datetime) -> None:
        present = self._clock.now()
        down = self._writer.submit(lambda c: clocks.beat(c, moment, present)).result()
        if down is None:
            return
        if down[1] < down[0]:
            log.error("the clock was put back", extra={"was": down[0], "present": down[1]})
            return
        log.warning("the server was down; no clock ran", extra={"begun": down[0], "ended": down[1]})

    def _present(self) -> datetime:
        """Now, but not later than the oldest mail that waits: it may be the move in question; and
        while no mail can come in, not later than when it could."""
        now, oldest, door = self._clock.now(), self._oldest(), self._door_beat()
        is_shut = door is not None and now - door > clocks.GAP
        return min((now, *(at for at in (oldest, door if is_shut else None) if at is not None)))

    def _forget(self) -> None:
        """Empty mails and letters that were over long ago, and what there is no room for."""
        while self._expiry.makes_room() and not self._rounds.ending:
            pass
        now = self._clock.now()
        if self._forgot_at is not None and now < self._forgot_at + FORGET_EVERY:
            return
        for _ in range(FORGET_MOST):
            if self._rounds.ending:
                return
            self._rounds.beat()
            if not self._expiry.step():
                self._forgot_at = now
                return

    def _drain(self, find: Find, do: Do, put_off: PutOff) -> None:
        """Carry out *do* for everything that *find* finds, each in a transaction of its own."""
        passed: set[int] = set()
        more = True
        while more and not self._rounds.ending:
            most = BATCH + len(passed)
            with self._database.reading.connect() as connection:
                found = find(connection, self._present(), most)
            more = len(found) == most
            batch = [one for one in found if one not in passed]
            futures = [(one, self._writer.submit(partial(self._job, do, one))) for one in batch]
            for one, future in futures:
                if not self._settled(one, future, put_off):
                    passed.add(one)
            if more:
                self.beat()

    def _job(self, do: Do, number: int, connection: Connection) -> Done | None:
        """Do it; ``None`` when it was not ours to do."""
        now = self._present()
        context = CommandContext(self._services, connection, CLOCK, now)
        told = do(context, number)
        letters = [outbox_row(context, one) for one in told or () if one.recipient]
        if letters:
            outbox.add(connection, letters, now)
        return None if told is None else Done(context.played, len(letters))

    def _settled(self, number: int, future: Future[Done | None], put_off: PutOff) -> bool:
        """Take note of what became of a job; False = it is still due."""
        try:
            done = future.result()
        except Closed:
            raise
        except Exception:  # one board must not stop the others
            log.exception("a clock could not be looked at; it is put off", extra={"row": number})
            until = self._clock.now() + PUT_OFF
            self._writer.submit(lambda c: put_off(c, number, until)).result()
            return True
        if done is None:
            return False
        self._services.positions.remember(done.played)
        if done.letters:
            self._wake()
        return True
