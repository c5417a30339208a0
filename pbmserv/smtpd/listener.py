"""Listens for SMTP or LMTP connections on one socket, and makes their sessions."""

from __future__ import annotations

import asyncio
import socket

from pbmserv import __version__
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.net.connection_limits import ConnectionLimits, Place, Stage
from pbmserv.net.listening import ACCEPTED_AT_ONCE, QUEUE
from pbmserv.smtpd.dialog import Dialog, Door
from pbmserv.smtpd.gate import Gate
from pbmserv.smtpd.session import SESSION_TIMEOUT_S, LmtpSession, Sessions, SmtpSession
from pbmserv.smtpd.tls import Certificate

LARGEST_MAIL = 1_048_576
"""Octets (SIZE, RFC 1870)."""
FINISH_S = 10.0
"""Seconds that open mails have to finish when the server stops."""


class Listener:
    """One listening socket.

    Args:
        limits: the connections that may be open at a time.
        lmtp: speak LMTP instead of SMTP.
        certificate: the certificate for TLS; `None` for no TLS.
        tls_at_once: TLS begins with the first octet (RFC 8314 section 3.3) instead of STARTTLS.
    """

    def __init__(
        self,
        mail_domain: MailDomain,
        door: Door,
        *,
        limits: ConnectionLimits,
        lmtp: bool,
        certificate: Certificate | None,
        tls_at_once: bool,
    ) -> None:
        self.sessions = Sessions(limits)
        self._dialog = Dialog(mail_domain, door, lmtp=lmtp)
        self._session_class = LmtpSession if lmtp else SmtpSession
        self._domain = mail_domain.domain
        self._tls = certificate if tls_at_once else None
        self._starttls = None if tls_at_once else certificate
        self._server: asyncio.Server | None = None

    async def start(self, bound: socket.socket) -> None:
        """Accept connections on a bound socket."""
        self._server = await asyncio.get_running_loop().create_server(
            self.make_gate, sock=bound, backlog=ACCEPTED_AT_ONCE
        )
        bound.listen(QUEUE)

    async def stop(self) -> None:
        """Accept nothing more, let open mails finish, then close every session."""
        if self._server is None:
            return
        self._dialog.closing = True
        self._server.close()
        for session in list(self.sessions.open):
            if session.place.stage is Stage.IDLE:
                session.leave()
        if self.sessions.open:
            await asyncio.wait([session.gone for session in self.sessions.open], timeout=FINISH_S)
        for session in list(self.sessions.open):
            session.leave()

    def make_gate(self) -> Gate:
        """Return the first protocol of a new connection."""
        context = self._tls.context if self._tls is not None else None
        return Gate(self.sessions.limits, self._session, context)

    def _session(self, place: Place) -> SmtpSession:
        return self._session_class(
            self._dialog,
            self.sessions,
            place,
            timeout=SESSION_TIMEOUT_S,
            data_size_limit=LARGEST_MAIL,
            enable_SMTPUTF8=True,
            hostname=self._domain,
            ident=f"pbmserv {__version__}",
            tls_context=self._starttls.context() if self._starttls is not None else None,
            auth_exclude_mechanism=("LOGIN", "PLAIN"),
            loop=asyncio.get_running_loop(),
        )
