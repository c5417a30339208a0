"""Carries out mails that play has put off because of a limit or their game, when that allows it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from pbmserv.errors import GameAway
from pbmserv.mail.envelope import Envelope
from pbmserv.service.auth.passwords import Outdated
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.service.operators.kept_mails import envelope_of
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import UNAVAILABLE, Closed
from pbmserv.store.delivery import inbox
from pbmserv.store.delivery.inbox import StoredMail

MAILS = 100
"""Largest number of mails in one round."""

log = logging.getLogger("pbmserv.service")


class PutOffMails:
    """Mails over a limit that only play could check, and mails whose games could not be played.

    Args:
        database: game store, for reading.
        can_play: returns whether a game is installed and not stopped.
        read: reads an envelope, as play does.
        retry: carries out a read mail; raises `TooMany` if it must wait longer.
        keep: keeps a mail for the operator; gets its number and the fault.
    """

    def __init__(
        self,
        database: Database,
        can_play: Callable[[Connection, str], bool],
        read: Callable[[Envelope], IncomingMail],
        retry: Callable[[int, IncomingMail], bool],
        keep: Callable[[int, str], None],
    ) -> None:
        self._database = database
        self._can_play = can_play
        self._read = read
        self._retry = retry
        self._keep = keep

    def run_once(self) -> None:
        """Carry out the mails that the limits allow now, and those whose games go on."""
        with self._database.reading.connect() as connection:
            groups = [inbox.put_off(connection, MAILS)]
            groups += [
                inbox.paused(connection, game, MAILS)
                for game in sorted(inbox.awaited_games(connection))
                if self._can_play(connection, game)
            ]
        for mails in groups:
            self._retry_in_order(mails)

    def _retry_in_order(self, mails: Sequence[StoredMail]) -> None:
        """Carry out mails, those of each sender in their order."""
        waiting: set[str] = set()
        for mail in mails:
            if mail.sender in waiting:
                continue
            try:
                incoming = self._read(envelope_of(mail)).with_verdict(mail.verdict)
                self._retry(mail.id, incoming)
            except (TooMany, Outdated, GameAway, *UNAVAILABLE, Closed):
                waiting.add(mail.sender)
            except Exception:
                log.exception("a mail that was put off is kept", extra={"mail": mail.id})
                self._keep(mail.id, traceback.format_exc())
