"""Answers and changes for the operators' pages, by the functions that the command line uses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Protocol, TypeVar

from pbmserv.clock import Clock
from pbmserv.errors import OperatorError, StillWorking
from pbmserv.mail.envelope import Envelope
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.services import Services
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.service.operators import correspondence
from pbmserv.service.operators.correspondence import Correspondent
from pbmserv.service.operators.deeds import LONGEST_WHY, Signature, look
from pbmserv.service.operators.form_actions import ACTIONS, Fields, number_in
from pbmserv.service.operators.kept_mails import KeptMail, KeptMailsView
from pbmserv.service.operators.orders import Order
from pbmserv.service.operators.server_status import ServerStatus
from pbmserv.store.core.database import Database

T = TypeVar("T")

AT_ONCE = 4
"""Largest number of changes that are carried out at a time."""

ANSWER_S = 5.0
"""Seconds that a page waits for a change."""

log = logging.getLogger("pbmserv.service")


class OrderTaker(Protocol):
    """Carries out orders of operators, in this process or another one."""

    def do(self, by: Signature, order: Order) -> str:
        """Carry out an order; return a sentence for the operator.

        Raises:
            OperatorError: the order is impossible; nothing has changed.
        """
        ...

    def retry(self, number: int, by: Signature) -> str:
        """Carry a kept mail out again; return a sentence for the operator.

        Raises:
            OperatorError: the mail is not kept.
        """
        ...


class OperatorPages:
    """Answers questions of the operators' pages, and carries out their changes.

    Args:
        read: reads the envelope of a kept mail, as play does.
        orders: carries out the changes.
        status: returns the status of the server.
        mail_store: the database in which the door stores mails.
    """

    def __init__(
        self,
        services: Services,
        database: Database,
        clock: Clock,
        read: Callable[[Envelope], IncomingMail],
        orders: OrderTaker,
        status: Callable[[], ServerStatus],
        mail_store: Database,
    ) -> None:
        self._mail_store = mail_store
        self._services = services
        self._database = database
        self._clock = clock
        self._orders = orders
        self._mails = KeptMailsView(database, read)
        self._status = status
        # A deed may take minutes (to rebuild the ratings). The threads of web are watched, so it
        # must not block one of them.
        self._deeds = ThreadPoolExecutor(AT_ONCE, "deed")

    # -- questions -------------------------------------------------------------------------

    async def status(self) -> tuple[ServerStatus, Sequence[str]]:
        """Return the status of the server, and sentences about it."""
        status = await asyncio.to_thread(self._status)
        return status, [*status.sentences(self._clock.now())]

    async def mails(self) -> tuple[Sequence[KeptMail], int]:
        """Return the first kept mails (see `KeptMailsView.list`), and the number of all."""
        mails = await asyncio.to_thread(self._mails.list)
        return mails, await asyncio.to_thread(self._mails.count)

    async def mail(self, number: int) -> tuple[str, bool]:
        """Return a mail's text, and whether it is kept.

        Raises:
            OperatorError: there is no such mail.
        """
        text = await asyncio.to_thread(self._mails.show, number)
        if text is None:
            raise OperatorError(f"there is no mail {number}")
        return text, await asyncio.to_thread(self._mails.is_kept, number)

    async def waiting(self, person: Correspondent) -> Sequence[tuple[int, datetime]]:
        """Return the arrivals of a correspondent that are not carried out yet."""
        return await asyncio.to_thread(
            correspondence.waiting, self._mail_store, self._database, person
        )

    async def look(self, question: Callable[[CommandContext], T]) -> T:
        """Return the answer of the database to a question, see `deeds.look`."""
        return await asyncio.to_thread(look, self._services, self._database, self._clock, question)

    # -- changes ---------------------------------------------------------------------------

    async def do(self, command: str, fields: Fields, by: Signature) -> str:
        """Carry out one of `ACTIONS`; return a sentence for the operator.

        Raises:
            OperatorError: the action is impossible; nothing has changed.
            StillWorking: the action takes longer than `ANSWER_S`, and goes on.
        """
        if not by.why.strip() or len(by.why) > LONGEST_WHY:
            raise OperatorError(f"give a reason, of at most {LONGEST_WHY} characters")
        loop = asyncio.get_running_loop()
        change = loop.run_in_executor(self._deeds, self._do, command, fields, by)
        done, _ = await asyncio.wait({change}, timeout=ANSWER_S)
        if not done:
            change.add_done_callback(_log_failure)
            raise StillWorking("an operator's change is still worked on")
        return change.result()

    def _do(self, command: str, fields: Fields, by: Signature) -> str:
        action = ACTIONS[command]
        if action.order is None:
            return self._orders.retry(number_in(fields, "numbers"), by)
        return self._orders.do(by, action.order(fields))


def _log_failure(change: asyncio.Future[str]) -> None:
    """Log an unexpected error of a change whose page has stopped waiting."""
    error = change.exception()
    if error is not None and not isinstance(error, OperatorError):
        log.error("an operator's change failed", exc_info=error)
