"""Carries out mails that play has put off because of a limit, when the limit allows them."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable

from pbmserv.mail.envelope import Envelope
from pbmserv.service.auth.passwords import Outdated
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.service.operators.kept_mails import envelope_of
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import UNAVAILABLE, Closed
from pbmserv.store.delivery import inbox

MAILS = 100
"""Largest number of mails in one round."""

log = logging.getLogger("pbmserv.service")


class PutOffMails:
    """Mails over a limit that only play could check.

    Args:
        database: game store, for reading.
        read: reads an envelope, as play does.
        retry: carries out a read mail; raises `TooMany` if it must wait longer.
        keep: keeps a mail for the operator; gets its number and the fault.
    """

    def __init__(
        self,
        database: Database,
        read: Callable[[Envelope], IncomingMail],
        retry: Callable[[int, IncomingMail], bool],
        keep: Callable[[int, str], None],
    ) -> None:
        self._database = database
        self._read = read
        self._retry = retry
        self._keep = keep

    def run_once(self) -> None:
        """Carry out the mails that the limits allow now, those of each sender in their order."""
        with self._database.reading.connect() as connection:
            mails = inbox.put_off(connection, MAILS)
        waiting: set[str] = set()
        for mail in mails:
            if mail.sender in waiting:
                continue
            try:
                incoming = self._read(envelope_of(mail)).with_verdict(mail.verdict)
                self._retry(mail.id, incoming)
            except (TooMany, Outdated, *UNAVAILABLE, Closed):
                waiting.add(mail.sender)
            except Exception:
                log.exception("a mail that was put off is kept", extra={"mail": mail.id})
                self._keep(mail.id, traceback.format_exc())
