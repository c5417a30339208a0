"""Reloads keys and certificates on SIGHUP. A file that cannot be used leaves the old one in force.

Open sessions keep their certificate, and finished letters keep their signature. All other settings
are read only when the server starts.
"""

from __future__ import annotations

import asyncio
import logging

from sqlalchemy.exc import SQLAlchemyError

from pbmserv.errors import ConfigError
from pbmserv.log import reason
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.dkim_keys import Key, KeyFile, load_key
from pbmserv.smtpd.tls import Certificate
from pbmserv.stages import reply_keys
from pbmserv.stages.base import Base

ASKED = "SIGHUP"

log = logging.getLogger("pbmserv.app")


class Reload:
    """Reloads the keys and the certificate of one process; each process does so for itself.

    Args:
        stage: name of the process in log lines.
        base: the keys of reply addresses, in the database and in memory, and the settings.
        signer: signs letters with DKIM; `None`: this process sends none.
        certificate: for TLS in mail sessions; `None`: this process has no such sessions.
    """

    def __init__(
        self,
        stage: str,
        base: Base,
        signer: Signer | None,
        certificate: Certificate | None,
    ) -> None:
        self._facts = {"asked": ASKED, "stage": stage}
        self._base = base
        self._signer = signer
        self._certificate = certificate
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Request a reload. Requests before it begins count as one."""
        self._asked.set()

    async def run(self) -> None:
        """Carry out requests until cancelled, in the event loop of the mail sessions."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            try:
                if self._certificate is not None:
                    self._certificate.reload(ASKED)
                await asyncio.to_thread(self._read_keys)
            except Exception:  # the server continues with the old ones
                log.exception(
                    "not everything could be read again; what was not stays as it was",
                    extra=self._facts,
                )

    def _read_keys(self) -> None:
        key_files = self._base.settings.dkim_keys
        if self._signer is not None and key_files:
            keys_or_none = [self._signing_key(self._signer, named) for named in key_files]
            self._signer.keys = [key for key in keys_or_none if key is not None]
            names = ", ".join(f"{key.selector} ({key.kind})" for key in self._signer.keys)
            log.info("letters are signed", extra=self._facts | {"keys": names})
        ring = self._base.mail_domain.ring
        try:
            reply_keys.read_again(ring, self._base.game)
        except (SQLAlchemyError, ConfigError) as error:
            why = reason(error) or type(error).__name__
            log.error(
                "the keys of reply addresses stay as they were", extra=self._facts | {"why": why}
            )
        else:
            ids = ", ".join(map(str, sorted(ring.keys)))
            facts = {"keys": ids, "signs": max(ring.keys)}
            log.info("the keys of reply addresses were read again", extra=self._facts | facts)

    def _signing_key(self, signer: Signer, named: KeyFile) -> Key | None:
        """Return the key in a file, or the previous key of this selector if it cannot be used."""
        try:
            key = load_key(named)
        except ConfigError as error:
            facts = self._facts | {"selector": named.selector}
            log.error("a DKIM key stays as it was", extra=facts | {"why": str(error)})
            return next((old for old in signer.keys if old.selector == named.selector), None)
        facts = self._facts | {"selector": named.selector, "file": str(named.path)}
        log.info("a DKIM key was read again", extra=facts)
        return key
