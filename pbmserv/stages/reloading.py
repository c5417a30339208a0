"""Reads keys and certificates again (SIGHUP); whatever cannot be used leaves the one before it.

Nothing that is under way notices: sessions keep what they shook hands with, letters that are
made keep their signature. All other settings are read at the start alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from sqlalchemy.exc import SQLAlchemyError

from pbmserv.errors import ConfigError
from pbmserv.log import reason
from pbmserv.mail.reply_address import KeyRing
from pbmserv.outbound.dkim import Key, NamedFile, Signer, load
from pbmserv.smtpd.tls import Certificate
from pbmserv.store.accounts import players
from pbmserv.store.core.database import Database

ASKED = "SIGHUP"

log = logging.getLogger("pbmserv.app")


class Reload:
    """What one process reads again.

    Args:
        stage: who says so in the log; every stage reads them for itself.
        ring: the keys of reply addresses, which stand in the database.
        signer, named: what signs letters, and the files of its keys, where letters are sent.
        certificate: of mail sessions, where mail comes in by TLS.
    """

    def __init__(
        self,
        stage: str,
        database: Database,
        ring: KeyRing,
        signer: Signer | None,
        named: Sequence[NamedFile],
        certificate: Certificate | None,
    ) -> None:
        self._facts = {"asked": ASKED, "stage": stage}
        self._database = database
        self._ring = ring
        self._signer = signer
        self._named = named
        self._certificate = certificate
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Read everything again, soon; whoever asks twice gets what stands there then."""
        self._asked.set()

    async def run(self) -> None:
        """Do what is asked for until cancelled; in the event loop of the mail sessions."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            try:
                if self._certificate is not None:
                    self._certificate.reload(ASKED)
                await asyncio.to_thread(self._read_keys)
            except Exception:  # the server goes on with what it has
                log.exception(
                    "not everything could be read again; what was not stays as it was",
                    extra=self._facts,
                )

    def _read_keys(self) -> None:
        if self._signer is not None and self._named:
            found = [self._signing_key(self._signer, named) for named in self._named]
            self._signer.keys = [key for key in found if key is not None]
            told = ", ".join(f"{key.selector} ({key.kind})" for key in self._signer.keys)
            log.info("letters are signed", extra=self._facts | {"keys": told})
        try:
            with self._database.reading.connect() as connection:
                keys = players.signing_keys(connection)
            check_keys(keys)
        except (SQLAlchemyError, ConfigError) as error:
            why = reason(error) or type(error).__name__
            log.error(
                "the keys of reply addresses stay as they were", extra=self._facts | {"why": why}
            )
        else:
            self._ring.keys = keys
            ids = ", ".join(map(str, sorted(keys)))
            facts = {"keys": ids, "signs": max(keys)}
            log.info("the keys of reply addresses were read again", extra=self._facts | facts)

    def _signing_key(self, signer: Signer, named: NamedFile) -> Key | None:
        """The key of a file, else the one that was read there before."""
        try:
            found = load(named)
        except ConfigError as error:
            facts = self._facts | {"selector": named.selector}
            log.error("a DKIM key stays as it was", extra=facts | {"why": str(error)})
            return next((key for key in signer.keys if key.selector == named.selector), None)
        facts = self._facts | {"selector": named.selector, "file": str(named.path)}
        log.info("a DKIM key was read again", extra=facts)
        return found


def check_keys(keys: Mapping[int, bytes]) -> None:
    """Refuse keys of reply addresses with which no letter could be written.

    Raises:
        ConfigError: says why.
    """
    if not keys:
        raise ConfigError("the table of keys is empty")
    for number, secret in keys.items():
        if not 0 <= number <= 255 or len(secret) < 16:
            raise ConfigError(
                f"key {number} cannot be used; its number must be from 0 to 255, "
                "and it must have 16 octets at least"
            )
