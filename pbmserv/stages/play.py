"""The second stage: carries out what has arrived, and is the only one that changes a game.

Lanes (`lanes`) say whose mail comes next. Passwords, and senders of replies with commands, are
checked by other threads while the lane waits. Mails are read, and then carried out as a group, by
one thread where there is one writer: each in a savepoint, and that it is done is written in the
same transaction. Whatever dies at whatever moment, a mail is carried out once.
"""

from __future__ import annotations

import json
import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from datetime import datetime
from functools import partial
from queue import Empty, SimpleQueue
from time import perf_counter, thread_time
from typing import Any, TypeVar

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.errors import MailError
from pbmserv.inbound.auth.verdict import Senders
from pbmserv.log import reason
from pbmserv.mail.envelope import BY_REPLY_ADDRESS, UNCHECKED, Verdict
from pbmserv.monitoring.metrics import Pulse, Vital
from pbmserv.service.auth.password_checks import PasswordChecks
from pbmserv.service.auth.passwords import Outdated
from pbmserv.service.core.mail_service import MailService, ToKeep
from pbmserv.service.core.results import NOTHING, Done
from pbmserv.service.delivery.incoming import IncomingMail, MailReader, is_set_aside
from pbmserv.service.limits.rates import TooMany
from pbmserv.stages.arrivals import Arrivals
from pbmserv.stages.current_work import NONE, CurrentWork
from pbmserv.stages.lanes import MOST_DEATHS, REST_S, Lane, Lanes, Task
from pbmserv.store.core.writer import UNAVAILABLE, Closed, Writer
from pbmserv.store.delivery.arrivals import Gone
from pbmserv.store.delivery.inbox import FOR_POSTMASTER

POLL_S = 1.0
"""Seconds between two looks for what no ring has told of."""
AGAIN_S = 2.0
"""Seconds until a mail is tried again that the database could not take."""
IN_FLIGHT = 128
"""Mails that are read and not committed: as many are in a group at most."""
GROUP_S = 0.2
"""Processor time after which no more mails are read for a group, and no more of it carried out: who
comes meanwhile waits for one mail of somebody else, not for all that are there. A full group of
moves takes less."""
GATHER_S, CATCH_UP_S = 0.05, 0.25
"""Seconds between two groups while mails come as others are carried out, and after a group at most
while post is far behind; one alone never waits."""
MOST_CHANGES = 5
"""Times that a mail's passwords are looked at once more, since one was changed meanwhile."""
LONGEST_S = 300.0
Form = Callable[[Mapping[str, Any], datetime, Connection], tuple[Done, Any]]
"""Carries out what a page asks for; what came of it, as JSON."""

T = TypeVar("T")
log = logging.getLogger("pbmserv.play")


class Play:
    """Carries out arrivals; `run` in a thread of its own, or `run_until_idle` by hand.

    Args:
        arrivals: where they come from.
        writer: of the game store.
        forms: what pages can ask for, by name.
        ring_post, ring_bots: called after a commit that queued letters, or made it a bot's turn.
        current: tells the supervisor which mail is being carried out.
        suspects: arrivals with which play has died, and how often: such a one is carried out
            with nothing beside it, and not a third time.
        keeps_order: whether the writer carries jobs out in the order in which they are handed in.
        senders: checks who sent a reply with commands; ``None``: no sender is ever proven.
    """

    def __init__(
        self,
        arrivals: Arrivals,
        reader: MailReader,
        checks: PasswordChecks,
        mails: MailService,
        writer: Writer,
        clock: Clock,
        forms: Mapping[str, Form],
        *,
        ring_post: Callable[[], None],
        ring_bots: Callable[[], None],
        current: CurrentWork | None = None,
        suspects: Mapping[int, int] | None = None,
        keeps_order: bool = True,
        senders: Senders | None = None,
    ) -> None:
        self._arrivals = arrivals
        self._reader = reader
        self._checks = checks
        self._mails = mails
        self._writer = writer
        self._clock = clock
        self._forms = forms
        self._ring_post = ring_post
        self._ring_bots = ring_bots
        self._current = current or CurrentWork()
        self._suspects = suspects or {}
        self._is_alone = False
        self._keeps_order = keeps_order
        self._senders = senders
        self._events: SimpleQueue[Future[Any] | None] = SimpleQueue()  # what others have ready
        self._awaited: dict[Future[Any], Callable[[Future[Any]], None]] = {}
        self._lanes = Lanes()
        self._read: list[tuple[Lane, Task, Callable[[Connection], Done]]] = []
        self._in_flight = 0
        self._checked = 0
        self._is_rung = self._has_rung = self._are_several = False
        self._again_at = self._look_at = self._handed_in = 0.0
        self._stopping = threading.Event()
        self._pulse = Pulse(LONGEST_S)
        self._thread = threading.Thread(target=self.run, name="play", daemon=True)

    def ring(self) -> None:
        """Something has arrived."""
        if not self._is_rung:
            self._is_rung = True
            self._events.put(None)

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Finish what is in hand and end; the rest waits for the next start."""
        self._stopping.set()
        self._events.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout)

    def vital(self) -> Vital:
        """How the thread is."""
        return Vital.of(self._thread, self._pulse)

    def run(self) -> None:
        """Carry out what arrives until stopped."""
        self._lanes.rest_s = REST_S if self._keeps_order else 0.0
        while not self._stopping.is_set():
            self._pulse.beat()
            try:
                if self._are_several:  # one in a larger group takes a quarter less than one alone
                    self._stopping.wait(self._handed_in + GATHER_S - perf_counter())
                self._begin_some()
                self._hand_in()
                self._pulse.rest()
                self._wait(self._lanes.pause(POLL_S))
            except Exception:  # whatever ails the database, the next step finds it all again
                log.exception("what has arrived could not be looked at")
                self._stopping.wait(AGAIN_S)
        while self._in_flight:
            self._hand_in()
            self._wait(None)

    def run_until_idle(self) -> None:
        """Carry out all that has arrived, and come back."""
        while True:
            self._look_at = 0.0
            self._begin_some()
            self._hand_in()
            if self._in_flight or self._checked:
                self._wait(None)
            elif next(self._lanes.in_turn(), None) is None and not self._is_rung:
                return

    def is_idle(self) -> bool:
        """Whether nothing is in hand (what waits may not have been looked at yet)."""
        return not (self._in_flight or self._checked)

    def _wait(self, timeout: float | None) -> None:
        """Until something happens, and take note of all that has."""
        try:
            event = self._events.get(timeout=timeout)
        except Empty:
            return
        self._has_rung = False
        for left in range(self._events.qsize(), -1, -1):
            if event is not None:  # else it only woke us: what has happened is in the database
                self._awaited.pop(event)(event)
            if left:
                event = self._events.get_nowait()

    def _begin_some(self) -> None:
        """Take what has arrived, and begin as much as may be begun. When that was all, the next
        look waits for a ring."""
        if perf_counter() < self._again_at:
            return
        if self._is_rung or perf_counter() >= self._look_at:
            self._is_rung = False
            for arrival in self._arrivals.new():
                deaths = self._suspects.get(arrival.id, 0)
                self._lanes.add(Task(arrival, perf_counter(), deaths=deaths))
            self._look_at = 0.0 if self._arrivals.has_more else perf_counter() + POLL_S
        end = thread_time() + GROUP_S
        for lane in self._lanes.in_turn():
            if self._in_flight >= IN_FLIGHT or self._stopping.is_set() or self._is_alone:
                return
            if self._read and thread_time() > end:
                return
            if self._suspects and lane.waiting[0].may_kill:
                if self._in_flight:
                    return
                self._is_alone = True
            self._begin(lane, lane.waiting.popleft())

    def _begin(self, lane: Lane, task: Task) -> None:
        """Read a mail, and have its passwords looked at or hand it to the writer."""
        arrival, mails, begun = task.arrival, self._mails, thread_time()
        envelope, now = arrival.envelope, arrival.received_at
        job: Callable[[Connection], Any]
        self._current.at(arrival.id)
        try:
            if arrival.kind != "mail" or task.deaths >= MOST_DEATHS:
                job = self._unread(task)
            else:
                incoming = task.incoming or self._reader.read(envelope, arrival.verdict)
                task.incoming = incoming
                is_postmaster = self._reader.mail_domain.is_postmaster
                if incoming.reply_address is None and is_postmaster(envelope.recipient):
                    digest, why = incoming.mail.digest, FOR_POSTMASTER
                    kept = ToKeep(envelope, digest, why, "", arrival.verdict)
                    job = partial(mails.keep, kept, now)
                elif incoming.mail.automatic and is_set_aside(incoming):
                    job = partial(mails.set_aside, incoming, now)
                elif incoming.only_moves:
                    job = partial(mails.carry_out, incoming, now)
                elif self._senders is not None and incoming.verdict == BY_REPLY_ADDRESS:
                    checked = self._senders.check(envelope, incoming.source.network)
                    self._hold(lane, checked, partial(self._sender_is_checked, lane, task))
                    return
                elif (known := self._checks.known(incoming)) is not None:
                    job = partial(mails.carry_out, known, now)
                else:
                    looked = self._checks.vet(incoming)
                    self._hold(lane, looked, partial(self._is_checked, lane, task))
                    return
        except MailError as error:  # which the door has not refused: nobody can be answered
            kept = ToKeep(envelope, "", f"the mail cannot be read: {error}")
            job = partial(mails.keep, kept, now)
        except Exception:
            log.exception("a mail could not be read; it is kept for the operator")
            kept = ToKeep.of_fault(envelope, None, traceback.format_exc())
            job = partial(mails.keep, kept, now)
        finally:
            self._current.at(NONE)
            lane.used_s += thread_time() - begun
        self._submit(lane, task, job)

    def _unread(self, task: Task) -> Callable[[Connection], Any]:
        """What is to be done about an arrival that is no mail, or with which play has died."""
        arrival = task.arrival
        if task.deaths >= MOST_DEATHS:
            return partial(self._mails.keep, self._deadly(task), arrival.received_at)
        if arrival.kind == "form":
            return partial(self._form, json.loads(arrival.envelope.raw), arrival.received_at)
        # A mail that was put off: its writer is told why, unless it is a machine.
        writer, over = self._reader.put_off(arrival.envelope)
        if not writer:
            return lambda _: NOTHING
        return partial(self._mails.tell_too_many, writer, over, arrival.received_at)

    def _deadly(self, task: Task) -> ToKeep:
        """What is kept of a mail with which play has died, or had to be killed, more than once."""
        fault = f"the server was stopped {task.deaths} times while it carried this mail out"
        log.error("a mail is kept for the operator: %s", fault, extra={"arrival": task.arrival.id})
        if task.deaths > MOST_DEATHS:  # it died of reading it only to tell its writer
            return ToKeep(task.arrival.envelope, "", fault)
        try:
            incoming = self._reader.read(task.arrival.envelope, task.arrival.verdict)
        except Exception:  # noqa: BLE001 - that may be what ails it
            return ToKeep(task.arrival.envelope, "", fault)
        return ToKeep.of_fault(task.arrival.envelope, incoming, fault)

    def _form(self, values: dict[str, Any], now: datetime, connection: Connection) -> Any:
        return self._forms[values["form"]](values, now, connection)

    def _hold(self, lane: Lane, future: Future[T], then: Callable[[Future[T]], None]) -> None:
        """Have a lane wait for what a thread finds out about its first mail."""
        lane.is_held = True
        self._checked += 1
        self._awaited[future] = then
        future.add_done_callback(self._events.put)

    def _sender_is_checked(self, lane: Lane, task: Task, future: Future[Verdict]) -> None:
        """Go on with a mail to a reply address whose sender was checked, too."""
        self._checked -= 1
        lane.is_held = False
        self._is_alone = False
        assert task.incoming is not None
        verdict = UNCHECKED if future.cancelled() else future.result()
        task.incoming = replace(task.incoming, verdict=verdict)
        self._lanes.put_back(task)

    def _is_checked(self, lane: Lane, task: Task, looked: Future[IncomingMail]) -> None:
        """A mail's passwords were looked at."""
        self._checked -= 1
        lane.is_held = False
        error = CancelledError() if looked.cancelled() else looked.exception()
        if error is None:
            at = task.arrival.received_at
            self._submit(lane, task, partial(self._mails.carry_out, looked.result(), at))
        else:
            self._failed(lane, task, error)

    def _submit(self, lane: Lane, task: Task, job: Callable[[Connection], Any]) -> None:
        """Have a job handed in, with the note that this arrival is done."""
        self._in_flight += 1
        if not self._keeps_order:
            lane.is_held = True
        self._read.append((lane, task, partial(self._carry_out, task, job)))

    def _hand_in(self) -> None:
        """Hand the writer all that was read."""
        read, self._read = self._read, []
        if not read:
            return
        self._handed_in = perf_counter()
        try:
            futures = self._writer.submit_all([job for _, _, job in read], GROUP_S)
        except Closed:
            self._in_flight -= len(read)
            for _, task, _ in read:
                self._put_back(task)
            self._stopping.set()
            return
        self._are_several = self._keeps_order and (len(read) > 1 or self._is_rung)
        begun, left = read[: len(futures)], read[len(futures) :]
        self._in_flight -= len(left)
        for _, task, _ in left:  # whose turn it is now, others may have come first
            self._lanes.put_back(task)
        for (lane, task, _), future in zip(begun, futures, strict=True):
            self._awaited[future] = partial(self._is_done, lane, task)
            future.add_done_callback(self._events.put)

    def _carry_out(
        self, task: Task, job: Callable[[Connection], Any], connection: Connection
    ) -> Done:
        """Do a job and note that its arrival is done, with a look at the time that takes."""
        begun = thread_time()
        self._current.at(task.arrival.id)
        try:
            found = job(connection)
            done: Done
            done, result = found if isinstance(found, tuple) else (found, None)
            self._arrivals.settle(connection, task.arrival, self._clock.now(), result)
            return done
        finally:
            self._current.at(NONE)
            task.took_s = thread_time() - begun

    def _is_done(self, lane: Lane, task: Task, future: Future[Done]) -> None:
        """The writer has come back to a job: tell others, and log it with the time since its
        arrival was taken up."""
        try:
            self._is_alone = False
            lane.used_s += task.took_s
            lane.heaviest_s = max(task.took_s, lane.heaviest_s / 2)
            if not self._keeps_order:
                lane.is_held = False
            error = future.exception() if not future.cancelled() else CancelledError()
            if error is not None:
                self._failed(lane, task, error)
                return
            done = future.result()
            if done.letters and not self._has_rung:  # what this round takes note of is committed
                self._has_rung = True
                self._ring_post()
            if done.bots:
                self._ring_bots()
            self._arrivals.done(task.arrival)
            self._mails.positions.remember(done.played)
            if task.arrival.kind == "mail" and done.receipt is not None:
                ms = (perf_counter() - task.begun) * 1000
                self._reader.note_done(task.arrival, task.incoming, done.receipt, ms)
            self._lanes.over(lane)
        finally:
            self._in_flight -= 1

    def _failed(self, lane: Lane, task: Task, error: BaseException) -> None:
        """A mail was not carried out: look again, try again, tell its writer, or keep it."""
        arrival = task.arrival
        if isinstance(error, Gone):  # somebody else has carried it out
            self._arrivals.done(arrival)
            self._lanes.over(lane)
        elif isinstance(error, Outdated) and task.changes < MOST_CHANGES:
            task.changes += 1
            self._lanes.put_back(task)
        elif isinstance(error, TooMany):
            assert task.incoming is not None  # a password of it was right
            at = arrival.received_at
            self._submit(lane, task, partial(self._mails.put_off, task.incoming, error.over, at))
        elif isinstance(error, (*UNAVAILABLE, Closed, CancelledError, Outdated)):
            why = reason(error) or type(error).__name__
            log.warning("the database could not take a mail", extra={"because": why})
            self._put_back(task)
        elif arrival.kind != "mail" and not task.is_to_keep:
            task.is_to_keep = True
            log.error("what was asked for could not be done", exc_info=error)
            self._submit(lane, task, lambda _: NOTHING)
        elif task.is_to_keep:
            log.critical("a mail cannot be kept; it waits for the next start", exc_info=error)
        else:
            task.is_to_keep = True
            log.error("a mail could not be carried out; it is kept", exc_info=error)
            fault = "".join(traceback.format_exception(error))
            kept = ToKeep.of_fault(arrival.envelope, task.incoming, fault)
            self._submit(lane, task, partial(self._mails.keep, kept, arrival.received_at))

    def _put_back(self, task: Task) -> None:
        self._lanes.put_back(task)
        self._again_at = perf_counter() + AGAIN_S
