"""Tasks: arrivals on their way through play. Each kind of arrival has a class, which says how it is
carried out and what happens if that fails.

Play carries a task out in a few steps. `begin` returns a job for the writer, or a check that comes
first; after a check the task begins again. If the job fails, `put_off` or `give_up` returns another
one. After the commit `note_settled` logs the task.
"""

from __future__ import annotations

import logging
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from pbmserv.commands.grammar.readings import Reading
from pbmserv.commands.table.command_types import Credentials
from pbmserv.engine.registry import FaultyMethod
from pbmserv.errors import GameAway, MailError
from pbmserv.inbound.auth.senders import Senders
from pbmserv.mail.envelope import BY_REPLY_ADDRESS, UNCHECKED, Verdict
from pbmserv.service.core.job_result import FAILED, Done, Job, Receipt
from pbmserv.service.core.services import Services
from pbmserv.service.core.submission import Request
from pbmserv.service.limits.mails_over_limit import MailOverLimit
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.mails import log_lines
from pbmserv.service.mails.incoming import IncomingMail, MailParser, is_set_aside
from pbmserv.service.mails.limit_letter import WaitsAt
from pbmserv.service.mails.mail_service import MailService
from pbmserv.service.mails.password_checks import PasswordChecks
from pbmserv.service.pages import forms
from pbmserv.service.pages.page_requests import LINK_ENDED, PageRequest, PageRequests
from pbmserv.store.delivery.arrivals import Arrival

MOST_DEATHS = 2
"""Deaths of play with one task after which it is given up."""
UNREADABLE = "the mail cannot be read"

log = logging.getLogger("pbmserv.play")


@dataclass(frozen=True, slots=True)
class Check:
    """A check in another thread, which comes before the job of a task.

    Attributes:
        future: ends with the check.
        keep_result: stores the result in the task, or raises the error with which the check failed.
    """

    future: Future[Any]
    keep_result: Callable[[], None]


class Task(ABC):
    """An arrival on its way through play.

    Attributes:
        deaths: how often play has died with it in hand.
        begun: when play took it (`time.perf_counter`).
        is_given_up: carrying it out failed, and its last job is that of `give_up`.
        took_s: processor time of the last attempt to carry it out.
    """

    def __init__(self, arrival: Arrival, deaths: int) -> None:
        self.arrival = arrival
        self.deaths = deaths
        self.begun = perf_counter()
        self.is_given_up = False
        self.took_s = 0.0

    @property
    def may_kill(self) -> bool:
        """Whether play may die with it and still tries it; after `MOST_DEATHS` it does not."""
        return 0 < self.deaths < MOST_DEATHS

    @abstractmethod
    def begin(self) -> Job | Check:
        """Return the job that carries it out, or a check that comes first."""

    @abstractmethod
    def put_off(self, error: BaseException) -> Job | None:
        """Return the job that has it wait, because of the error with which its job failed.

        `None`: an error like this one does not put it off.
        """

    @abstractmethod
    def give_up(self, error: BaseException, culprit: FaultyMethod | None) -> Job:
        """Return the job that settles it after a fault of ours, which is logged.

        Args:
            culprit: the method of a game in which the fault began.
        """

    def _facts_of_fault(self, culprit: FaultyMethod | None) -> dict[str, object]:
        """Return the facts for the log line of a fault."""
        facts: dict[str, object] = {"arrival": self.arrival.id}
        if culprit is not None:
            facts |= {"game": culprit.game, "method": culprit.method}
        return facts

    @abstractmethod
    def give_up_as_deadly(self) -> Job:
        """Return the job that settles it after play has died with it `MOST_DEATHS` times."""

    @abstractmethod
    def note_settled(self, receipt: Receipt, ms: float) -> None:
        """Log and count it after a commit that gave it a receipt.

        Args:
            ms: milliseconds since play took it.
        """


class MailTask(Task):
    """A mail.

    Args:
        parser: reads it.
        checks: checks its passwords.
        mails: its jobs.
        senders: checks the sender of a reply with commands; `None`: no sender is ever proven.
    """

    def __init__(
        self,
        arrival: Arrival,
        deaths: int,
        parser: MailParser,
        checks: PasswordChecks,
        mails: MailService,
        senders: Senders | None,
    ) -> None:
        super().__init__(arrival, deaths)
        self._parser = parser
        self._mails = mails
        self._senders = senders
        self._passwords = _Passwords(checks)
        self._incoming: IncomingMail | None = None  # until it is read

    def begin(self) -> Job | Check:
        arrival, now = self.arrival, self.arrival.received_at
        try:
            incoming = self._read()
        except MailError as error:  # the door did not notice; there is no address to answer
            return self._keep(f"{UNREADABLE}: {error}")
        if incoming.mail_report is not None:
            return partial(self._mails.drop_report, incoming, now)
        if self._parser.mail_domain.is_postmaster(arrival.envelope.recipient):
            return partial(self._mails.keep_for_postmaster, incoming, now)
        if incoming.mail.automatic and is_set_aside(incoming):
            return partial(self._mails.set_aside, incoming, now)
        request = incoming.request
        if (
            self._senders is not None
            and incoming.verdict == BY_REPLY_ADDRESS
            and not request.has_only_moves
        ):
            verdict = self._senders.check(arrival.envelope, incoming.source.network)
            return Check(verdict, partial(self._keep_verdict, incoming, verdict))
        passwords = self._passwords.usable_in(request)
        if passwords is None:
            return self._passwords.check(request)
        return partial(self._mails.carry_out_mail, incoming.with_passwords(passwords), now)

    def _read(self) -> IncomingMail:
        """Return the mail, which is read once.

        Raises:
            MailError: it cannot be read.
        """
        if self._incoming is None:
            self._incoming = self._parser.parse(self.arrival.envelope, self.arrival.verdict)
        return self._incoming

    def _keep_verdict(self, incoming: IncomingMail, check: Future[Verdict]) -> None:
        verdict = UNCHECKED if check.cancelled() else check.result()
        self._incoming = incoming.with_verdict(verdict)

    def put_off(self, error: BaseException) -> Job | None:
        incoming, now = self._incoming, self.arrival.received_at
        if incoming is None:
            return None
        if isinstance(error, TooMany):
            return partial(self._mails.put_off, incoming, error.over, now)
        if isinstance(error, GameAway):
            return partial(self._mails.wait_for_game, incoming, error, now)
        return None

    def give_up(self, error: BaseException, culprit: FaultyMethod | None) -> Job:
        """Keep the mail for the operator."""
        facts = self._facts_of_fault(culprit)
        log.error("a mail could not be carried out; it is kept", exc_info=error, extra=facts)
        fault = "".join(traceback.format_exception(error))
        return self._keep(fault)

    def give_up_as_deadly(self) -> Job:
        """Keep the mail for the operator."""
        fault = f"the server was stopped {self.deaths} times while it carried this mail out"
        log.error("a mail is kept for the operator: %s", fault, extra={"arrival": self.arrival.id})
        if self.deaths == MOST_DEATHS:  # after more, play died while it read the mail here
            with suppress(Exception):  # reading may be what kills
                self._read()
        return self._keep(fault)

    def _keep(self, fault: str) -> Job:
        arrival = self.arrival
        return partial(
            self._mails.keep, arrival.envelope, self._incoming, fault, arrival.received_at
        )

    def note_settled(self, receipt: Receipt, ms: float) -> None:
        incoming, parser = self._incoming, self._parser
        source = incoming.source if incoming else parser.source_of(self.arrival.envelope)
        domain = parser.mail_domain
        log_lines.note_settled(domain, self.arrival, incoming, source, receipt, ms)


class _RequestTask(Task):
    """A request that is not a mail: after a fault it is dropped, and a page that waits is told."""

    def put_off(self, _: BaseException) -> None:
        """Return `None`: such a request waits for no limit and no game."""

    def give_up(self, error: BaseException, culprit: FaultyMethod | None) -> Job:
        facts = self._facts_of_fault(culprit)
        log.error("what was asked for could not be done", exc_info=error, extra=facts)
        return _job_without_effect(FAILED)

    def give_up_as_deadly(self) -> Job:
        facts = {"arrival": self.arrival.id, "deaths": self.deaths}
        log.error("a request keeps stopping the server; it is dropped", extra=facts)
        return _job_without_effect(FAILED)

    def note_settled(self, receipt: Receipt, ms: float) -> None:
        """Only presses have receipts."""


class PressTask(_RequestTask):
    """A player's command from a page.

    Args:
        checks: checks its passwords.
        presses: reads it, and carries it out.
    """

    def __init__(
        self, arrival: Arrival, deaths: int, checks: PasswordChecks, presses: PageRequests
    ) -> None:
        super().__init__(arrival, deaths)
        self._presses = presses
        self._passwords = _Passwords(checks)
        self._reading = Reading(())

    def begin(self) -> Job | Check:
        stored = PageRequest.of_json(self.arrival.body)
        request = self._presses.read(stored)
        if request is None:
            return _job_without_effect(LINK_ENDED)
        self._reading = request.submission.reading
        passwords = self._passwords.usable_in(request)
        if passwords is None:
            return self._passwords.check(request)
        checked, now = request.with_passwords(passwords), self.arrival.received_at
        return partial(self._presses.carry_out_press, stored, checked, now)

    def note_settled(self, receipt: Receipt, ms: float) -> None:
        octets = len(self.arrival.body)
        log_lines.note_press(receipt, self._reading, self.arrival.id, octets, ms)


class JobTask(_RequestTask):
    """A form of a page, or a mail over a limit: it needs no check.

    Args:
        make_job: returns its job.
    """

    def __init__(self, arrival: Arrival, deaths: int, make_job: Callable[[Arrival], Job]) -> None:
        super().__init__(arrival, deaths)
        self._make_job = make_job

    def begin(self) -> Job:
        return self._make_job(self.arrival)


@dataclass(frozen=True, slots=True)
class Tasks:
    """Makes tasks of arrivals.

    Attributes:
        parser: reads mails.
        checks: checks passwords in threads.
        mails: the jobs for mails.
        services: shared by all forms of pages.
        presses: reads and carries out commands from pages.
        senders: checks who sent a reply with commands; `None`: no sender is ever proven.
    """

    parser: MailParser
    checks: PasswordChecks
    mails: MailService
    services: Services
    presses: PageRequests
    senders: Senders | None = None

    def task_of(self, arrival: Arrival, deaths: int) -> Task:
        """Return the task of an arrival, with which play has died so often."""
        if arrival.kind == "mail":
            return MailTask(arrival, deaths, self.parser, self.checks, self.mails, self.senders)
        if arrival.kind == "press":
            return PressTask(arrival, deaths, self.checks, self.presses)
        return JobTask(arrival, deaths, self._form if arrival.kind == "form" else self._over_limit)

    def _form(self, arrival: Arrival) -> Job:
        return forms.job_of(self.services, arrival.body, arrival.received_at)

    def _over_limit(self, arrival: Arrival) -> Job:
        """Return the job that tells the writer of a mail which the door has not taken."""
        mail = MailOverLimit.of_json(arrival.body)
        tell = self.mails.tell_too_many
        return partial(tell, mail.writer, mail.over, WaitsAt.SENDER, arrival.received_at)

    def culprit_of(self, error: BaseException) -> FaultyMethod | None:
        """Return the method of a game in which a fault began; `None` if it is not a game's."""
        return self.services.registry.faulty_method(error)


class _Passwords:
    """The passwords that a task may use. The result of a check is good for one attempt, since a
    password may have changed when that fails."""

    def __init__(self, checks: PasswordChecks) -> None:
        self._checks = checks
        self._checked: frozenset[Credentials] | None = None

    def usable_in(self, request: Request) -> frozenset[Credentials] | None:
        """Return the passwords that a request may use; `None` if they must be checked first."""
        if request.has_only_moves:
            return frozenset()
        checked, self._checked = self._checked, None
        return self._checks.known(request) if checked is None else checked

    def check(self, request: Request) -> Check:
        """Return the check of a request's passwords."""
        vetted = self._checks.vet(request)
        return Check(vetted, partial(self._keep, vetted))

    def _keep(self, vetted: Future[frozenset[Credentials]]) -> None:
        self._checked = vetted.result()


def _job_without_effect(page_result: Any) -> Job:
    """Return a job that changes nothing, and gives a page this result."""
    return lambda _: Done(page_result=page_result)
