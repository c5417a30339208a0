"""The second stage: carries out what has arrived, and is the only one that changes a game.

`lanes` decides whose mail comes next. One thread reads mails and submits a job for each to the
writer; of each lane one mail is under way. Passwords, and the senders of replies with commands, are
checked in other threads meanwhile. The job's transaction also settles the arrival, so a mail is
carried out exactly once, whatever dies at whatever moment.
"""

from __future__ import annotations

import json
import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import perf_counter, thread_time
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.commands.table.command_types import Credentials
from pbmserv.errors import GameAway, MailError
from pbmserv.inbound.auth.senders import Senders
from pbmserv.log import reason
from pbmserv.mail.envelope import BY_REPLY_ADDRESS, UNCHECKED, Verdict
from pbmserv.monitoring.vitals import Pulse, Vital
from pbmserv.service.auth.passwords import Outdated
from pbmserv.service.core.job_result import NOTHING, Done, Receipt
from pbmserv.service.limits.mails_over_limit import MailOverLimit
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.mails import log_lines
from pbmserv.service.mails.incoming import IncomingMail, MailReader, is_set_aside
from pbmserv.service.mails.mail_service import MailService, ToKeep
from pbmserv.service.mails.password_checks import PasswordChecks
from pbmserv.service.pages.forms import Form
from pbmserv.service.pages.page_requests import LINK_ENDED, PageRequests, ReadPageRequest
from pbmserv.stages.arrivals import Arrivals
from pbmserv.stages.current_work import CurrentWork
from pbmserv.stages.lanes import MOST_DEATHS, Lanes, Task
from pbmserv.stages.play_of_pages import FAILED
from pbmserv.store.core.writer import UNAVAILABLE, Closed, Writer
from pbmserv.store.delivery.arrivals import OF_PAGES
from pbmserv.store.delivery.inbox import FOR_POSTMASTER
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
MOST_CHANGES = 5
"""Times that a mail's passwords are checked again because one was changed meanwhile."""
LONGEST_S = 300.0
"""Seconds of silence after which the thread counts as stuck."""
UNREADABLE = "the mail cannot be read"

_Job: TypeAlias = Callable[[Connection], Done | tuple[Done, Any]]

T = TypeVar("T")
log = logging.getLogger("pbmserv.play")


class Play:
    """Carries out arrivals; `run` in a thread of its own, or `run_until_idle` by hand.

    Args:
        arrivals: the queue of arrivals.
        reader: reads mails.
        checks: checks passwords in threads.
        mails: the jobs for mails.
        writer: of the game store.
        clock: the time at which arrivals are settled.
        forms: the jobs for forms of pages, by name.
        presses: reads and carries out commands from pages.
        ring_post: called after a commit that queued letters.
        ring_bots: called after a commit that made it a bot's turn.
        ring_web: called after a commit for which a page waits.
        current: tells the supervisor which mail is being carried out.
        suspects: how often play has died with an arrival, by its number. A suspect is carried out
            with nothing beside it, and not a third time.
        senders: checks who sent a reply with commands; `None`: no sender is ever proven.
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
        presses: PageRequests,
        *,
        ring_post: Callable[[], None],
        ring_bots: Callable[[], None],
        ring_web: Callable[[], None],
        current: CurrentWork | None = None,
        suspects: Mapping[int, int] | None = None,
        senders: Senders | None = None,
    ) -> None:
        self._arrivals = arrivals
        self._reader = reader
        self._checks = checks
        self._mails = mails
        self._writer = writer
        self._clock = clock
        self._forms = forms
        self._presses = presses
        self._ring_post = ring_post
        self._ring_bots = ring_bots
        self._ring_web = ring_web
        self._current = current or CurrentWork()
        self._suspects = suspects or {}
        self._is_alone = False  # a suspect is under way
        self._to_ring: set[Callable[[], None]] = set()
        self._senders = senders
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
        while True:
            self._look_at = 0.0
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
            deaths = self._suspects.get(arrival.id, 0)
            self._lanes.add(Task(arrival, perf_counter(), deaths=deaths))
        self._look_at = 0.0 if self._arrivals.has_more else perf_counter() + POLL_S

    def _begin_ready(self) -> None:
        """Read mails and submit their jobs together, so that one transaction carries them out."""
        if perf_counter() < self._again_at or self._at_writer > FEW:
            return
        jobs = list[tuple[Task, _Job]]()
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
            job = self._read(task)
            if job is not None:
                jobs.append((task, job))
        for task, job in jobs:
            self._submit(task, job)

    def _read(self, task: Task) -> _Job | None:
        """Return the job for an arrival; `None` if it is checked first, or is tried again later."""
        begun = thread_time()
        self._current.begin(task.arrival.id)
        try:
            job = self._job(task)
        except MailError as error:  # the door did not notice; there is no address to answer
            job = self._keeping(task, ToKeep(task.arrival.envelope, "", f"{UNREADABLE}: {error}"))
        except UNAVAILABLE as error:
            self._failed(task, error)
            return None
        except Exception as error:
            if task.arrival.kind != "mail":
                self._failed(task, error)
                return None
            log.exception("a mail could not be read; it is kept for the operator")
            fault = ToKeep.of_fault(task.arrival.envelope, None, traceback.format_exc())
            job = self._keeping(task, fault)
        finally:
            self._current.finish()
            self._lanes.charge(task, thread_time() - begun)
        return job

    def _job(self, task: Task) -> _Job | None:
        """Return the job that carries out an arrival, `None` if a check comes first."""
        arrival, now = task.arrival, task.arrival.received_at
        if task.deaths >= MOST_DEATHS:
            if arrival.kind != "mail":
                return self._giving_up(task)
            return self._keeping(task, self._deadly(task))
        if arrival.kind == "form":
            values = json.loads(arrival.body)
            return partial(self._forms[values["form"]], values, now)
        if arrival.kind == "press":
            press = self._presses.read(arrival.body)
            return self._checked(task, press) if press else lambda _: (NOTHING, LINK_ENDED)
        if arrival.kind == "over":
            mail = MailOverLimit.of_json(arrival.body)
            return partial(self._mails.tell_too_many, mail.writer, mail.over, now)
        return self._mail_job(task)

    def _mail_job(self, task: Task) -> _Job | None:
        """Return the job for a mail, `None` if that waits for a check."""
        arrival, now = task.arrival, task.arrival.received_at
        incoming = self._incoming(task)
        if incoming.mail_report is not None:
            return partial(self._mails.drop_report, incoming, now)
        is_postmaster = self._reader.mail_domain.is_postmaster(arrival.envelope.recipient)
        if incoming.reply_address is None and is_postmaster:
            digest = incoming.mail.digest
            kept = ToKeep(arrival.envelope, digest, FOR_POSTMASTER, "", arrival.verdict)
            return self._keeping(task, kept)
        if incoming.mail.automatic and is_set_aside(incoming):
            return partial(self._mails.set_aside, incoming, now)
        needs_sender = incoming.verdict == BY_REPLY_ADDRESS and not incoming.request.has_only_moves
        if self._senders is not None and needs_sender:
            verdict = self._senders.check(arrival.envelope, incoming.source.network)
            self._await_check(verdict, partial(self._sender_checked, task))
            return None
        return self._checked(task, incoming)

    def _incoming(self, task: Task) -> IncomingMail:
        """Return the mail of an arrival, which is read once.

        Raises:
            MailError: it cannot be read.
        """
        if not isinstance(task.incoming, IncomingMail):
            task.incoming = self._reader.read(task.arrival.envelope, task.arrival.verdict)
        return task.incoming

    def _checked(self, task: Task, incoming: IncomingMail | ReadPageRequest) -> _Job | None:
        """Return the job of a mail or press, `None` if that waits for a check of passwords."""
        task.incoming, request = incoming, incoming.request
        passwords = frozenset() if request.has_only_moves else self._checks.known(request)
        if passwords is None:
            self._await_check(self._checks.vet(request), partial(self._passwords_checked, task))
            return None
        return self._carrying(task, passwords)

    def _carrying(self, task: Task, passwords: frozenset[Credentials]) -> _Job:
        """Return the job that carries out a mail or press.

        Args:
            passwords: those that its commands may use.
        """
        incoming, now = task.incoming, task.arrival.received_at
        assert incoming is not None
        if isinstance(incoming, ReadPageRequest):
            return partial(self._presses.carry_out, incoming.with_passwords(passwords), now)
        return partial(self._mails.carry_out, incoming.with_passwords(passwords), now)

    def _giving_up(self, task: Task) -> _Job:
        """Return the job that settles an arrival other than a mail with which play died
        repeatedly."""
        facts = {"arrival": task.arrival.id, "deaths": task.deaths}
        log.error("a request keeps stopping the server; it is dropped", extra=facts)
        return lambda _: (NOTHING, FAILED)

    def _keeping(self, task: Task, kept: ToKeep) -> _Job:
        """Return the job that keeps a mail for the operator."""
        return partial(self._mails.keep, kept, task.arrival.received_at)

    def _deadly(self, task: Task) -> ToKeep:
        """Return the record of a mail with which play died, or had to be killed, repeatedly."""
        fault = f"the server was stopped {task.deaths} times while it carried this mail out"
        log.error("a mail is kept for the operator: %s", fault, extra={"arrival": task.arrival.id})
        if task.deaths > MOST_DEATHS:  # play died while it read the mail to tell its writer
            return ToKeep(task.arrival.envelope, "", fault)
        try:
            incoming = self._reader.read(task.arrival.envelope, task.arrival.verdict)
        except Exception:  # noqa: BLE001 - reading may be what kills
            return ToKeep(task.arrival.envelope, "", fault)
        return ToKeep.of_fault(task.arrival.envelope, incoming, fault)

    # -- checks ----------------------------------------------------------------------------

    def _await_check(self, check: Future[T], then: Callable[[Future[T]], None]) -> None:
        """Call *then* in play's thread when a check is over; the lane waits."""
        self._in_checks += 1

        def note(future: Future[T]) -> None:
            self._in_checks -= 1
            then(future)

        check.add_done_callback(lambda future: self._events.put(partial(note, future)))

    def _sender_checked(self, task: Task, check: Future[Verdict]) -> None:
        """Go on with a mail to a reply address whose sender was checked, too."""
        assert isinstance(task.incoming, IncomingMail)
        verdict = UNCHECKED if check.cancelled() else check.result()
        task.incoming = task.incoming.with_verdict(verdict)
        self._put_back(task)

    def _passwords_checked(self, task: Task, check: Future[frozenset[Credentials]]) -> None:
        """Carry out a mail or press whose passwords were checked."""
        error = CancelledError() if check.cancelled() else check.exception()
        if error is None:
            self._submit(task, self._carrying(task, check.result()))
        else:
            self._failed(task, error)

    # -- the writer ------------------------------------------------------------------------

    def _submit(self, task: Task, job: _Job) -> None:
        """Submit a job together with the note that its arrival is done."""
        try:
            future = self._writer.submit(partial(self._carry_out, task, job))
        except Closed:
            self._put_back(task)
            self._stopping.set()
            return
        self._at_writer += 1
        future.add_done_callback(
            lambda done: self._events.put(partial(self._carried_out, task, done))
        )

    def _carry_out(self, task: Task, job: _Job, connection: Connection) -> Done:
        """Run a job, settle its arrival, and measure the time; the writer calls this."""
        begun = thread_time()
        self._current.begin(task.arrival.id)
        try:
            result = job(connection)
            done, answer = result if isinstance(result, tuple) else (result, None)
            self._arrivals.settle(connection, task.arrival, self._clock.now(), answer)
            return done
        finally:
            self._current.finish()
            task.took_s = thread_time() - begun

    def _carried_out(self, task: Task, future: Future[Done]) -> None:
        """Note which stages to ring after a commit, and log the mail; or handle the failure."""
        self._at_writer -= 1
        self._is_alone = False
        self._lanes.charge(task, task.took_s)
        error = CancelledError() if future.cancelled() else future.exception()
        if error is not None:
            self._failed(task, error)
            return
        done = future.result()
        if done.letters:
            self._to_ring.add(self._ring_post)
        if done.has_bot_work:
            self._to_ring.add(self._ring_bots)
        if task.arrival.kind in OF_PAGES:
            self._to_ring.add(self._ring_web)
        self._mails.positions.remember(done.played)
        self._end(task)
        if done.receipt is not None:
            ms = (perf_counter() - task.begun) * 1000
            self._note_settled(task, done.receipt, ms)

    def _note_settled(self, task: Task, receipt: Receipt, ms: float) -> None:
        arrival, incoming = task.arrival, task.incoming
        if isinstance(incoming, ReadPageRequest):
            octets = len(arrival.body)
            log_lines.note_press(receipt, incoming.reading, arrival.id, octets, ms)
            return
        source = incoming.source if incoming else self._reader.source_of(arrival.envelope)
        domain = self._reader.mail_domain
        log_lines.note_settled(domain, arrival, incoming, source, receipt, ms)

    def _failed(self, task: Task, error: BaseException) -> None:
        """Check a mail again, try it again, tell its writer, or keep it."""
        arrival = task.arrival
        if isinstance(error, Gone):  # another process has carried it out
            self._end(task)
        elif isinstance(error, Outdated) and task.changes < MOST_CHANGES:
            task.changes += 1
            self._put_back(task)
        elif isinstance(error, TooMany) and isinstance(task.incoming, IncomingMail):
            at = arrival.received_at
            self._submit(task, partial(self._mails.put_off, task.incoming, error.over, at))
        elif isinstance(error, GameAway) and isinstance(task.incoming, IncomingMail):
            at = arrival.received_at
            self._submit(task, partial(self._mails.wait_for_game, task.incoming, error, at))
        elif isinstance(error, (*UNAVAILABLE, Closed, CancelledError, Outdated)):
            why = reason(error) or type(error).__name__
            log.warning("the database could not take a mail", extra={"because": why})
            self._again_at = perf_counter() + AGAIN_S
            self._put_back(task)
        elif arrival.kind != "mail" and not task.is_to_keep:
            task.is_to_keep = True
            log.error("what was asked for could not be done", exc_info=error)
            self._submit(task, lambda _: (NOTHING, FAILED))
        elif task.is_to_keep:
            log.critical("a mail cannot be kept; it waits for the next start", exc_info=error)
            self._lanes.end(task)
        else:
            task.is_to_keep = True
            log.error("a mail could not be carried out; it is kept", exc_info=error)
            fault = "".join(traceback.format_exception(error))
            incoming = task.incoming if isinstance(task.incoming, IncomingMail) else None
            self._submit(
                task, self._keeping(task, ToKeep.of_fault(arrival.envelope, incoming, fault))
            )

    def _end(self, task: Task) -> None:
        self._arrivals.done(task.arrival)
        self._lanes.end(task)

    def _put_back(self, task: Task) -> None:
        self._is_alone = False
        self._lanes.put_back(task)


def _wake() -> None:
    """End a wait for events; nothing else happens."""
