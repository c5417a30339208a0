"""The SMTP and LMTP listeners: policy at the door, then every mail to the intake."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from dataclasses import replace

from aiosmtpd.smtp import SMTP, Envelope, Session, TLSSetupException

from pbmserv import __version__
from pbmserv.mail import envelope as mail
from pbmserv.mail.reply_address import MailDomain
from pbmserv.net.connection_limits import ConnectionLimits, Place, Stage
from pbmserv.net.listening import ACCEPTED_AT_ONCE, QUEUE
from pbmserv.smtpd.gate import Gate
from pbmserv.smtpd.session import (
    SESSION_TIMEOUT,
    TOO_MANY,
    TRY_LATER,
    Door,
    LmtpSession,
    Sessions,
    SmtpSession,
)
from pbmserv.smtpd.tls import Certificate

log = logging.getLogger("pbmserv.receive")

MOST_RECIPIENTS = 5
LARGEST_MAIL = 1_048_576
"""Octets (SIZE, RFC 1870)."""
LONGEST_ADDRESS = 254
"""Octets (RFC 5321 section 4.5.3.1.3, less the brackets)."""
PATIENCE = 10.0
"""Seconds after which a mail's other recipients are put off, too, once one had to be. A locked
database takes half a minute to say so, and a client does not wait for ever."""
LAST_WORDS = 10.0
"""Seconds that mails under way have when the server stops."""

_HELLO = re.compile(r"[!-~]{1,255}")
"""A domain, an address literal, or the odd name of a misconfigured machine."""


class SmtpHandler:
    """Decides about each step of a session."""

    def __init__(self, mail_domain: MailDomain, door: Door, *, lmtp: bool) -> None:
        self._mail_domain = mail_domain
        self._door = door
        self._lmtp = lmtp
        self.closing = False

    async def handle_HELO(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,  # noqa: ARG002
        hostname: str,
    ) -> str:
        """Accept any name without blanks; nothing depends on it (RFC 5321 section 4.1.4)."""
        if not _HELLO.fullmatch(hostname):
            return _BAD_HELLO
        session.host_name = hostname
        return f"250 {server.hostname}"

    async def handle_EHLO(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,
        envelope: Envelope,  # noqa: ARG002
        hostname: str,
        responses: list[str],
    ) -> list[str]:
        """Accept a name, and offer the extensions of aiosmtpd except AUTH: nobody logs in here."""
        if not _HELLO.fullmatch(hostname):
            return [_BAD_HELLO]
        session.host_name = hostname
        return [line for line in responses if not line.startswith("250-AUTH")]

    async def handle_MAIL(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SmtpSession,
        session: Session,  # noqa: ARG002
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        """Accept any sender that can be written down (RFC 5321 section 4.5.3.1.3)."""
        if not address.isprintable() or len(address.encode()) > LONGEST_ADDRESS:
            return "553 5.1.7 mail cannot go to this address"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        server.mails = {}
        return "250 2.1.0 ok"

    async def handle_RCPT(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SmtpSession,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        """Accept only our own addresses: this is never a relay (RFC 5321 section 3.6.2)."""
        if not self._mail_domain.knows(address):
            return "550 5.1.1 no such address here"
        if len(envelope.rcpt_tos) >= MOST_RECIPIENTS:
            return "452 4.5.3 too many recipients"
        sender = "" if envelope.mail_from in {None, "<>"} else str(envelope.mail_from)
        hello, handed_on = str(session.host_name or ""), self._lmtp or server.is_ours
        announced = mail.Envelope(sender, address, b"", server.peer, hello, handed_on)
        if self._door.is_over(announced):
            return TOO_MANY
        server.mails[address] = announced
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 2.1.5 ok"

    async def handle_DATA(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SmtpSession,
        session: Session,  # noqa: ARG002
        envelope: Envelope,
    ) -> str:
        """Reply 250 only after the commit; in LMTP once for each recipient (RFC 2033, 4.2)."""
        raw = envelope.content
        assert isinstance(raw, bytes)
        server.place.stage = Stage.SERVED  # so that the client keeps its place
        replies: dict[str, str] = {}
        clock = asyncio.get_running_loop().time
        patience_ends = clock() + PATIENCE
        for recipient, announced in server.mails.items():
            if clock() > patience_ends and TRY_LATER in replies.values():
                replies[recipient] = TRY_LATER
                continue
            replies[recipient] = await self._door.arrives(replace(announced, raw=raw))
        server.is_noted = True
        # SMTP has one reply for all recipients: a temporary failure first, so that the client tries
        # again. A mail that was carried out for one recipient already changes nothing there.
        worst = [reply for code in "452" for reply in replies.values() if reply.startswith(code)]
        if worst[-1].startswith("2"):
            server.renew()
        if self.closing:  # this is the last mail of the session
            asyncio.get_running_loop().call_soon(server.leave)
        if self._lmtp:
            return "\r\n".join(replies[recipient] for recipient in envelope.rcpt_tos)
        return worst[0]

    async def handle_exception(self, error: Exception) -> str:
        """Reply to a failure of ours without any detail (aiosmtpd would name the error)."""
        if not isinstance(error, TLSSetupException):
            log.error("an SMTP session failed", exc_info=error)
        return TRY_LATER


class Listener:
    """One listening socket.

    Args:
        limits: the connections that may be open at a time.
        lmtp: the protocol; SMTP otherwise.
        certificate: STARTTLS is offered with it.
        tls_at_once: TLS begins with the first octet (RFC 8314 section 3.3) instead.
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
        self.handler = SmtpHandler(mail_domain, door, lmtp=lmtp)
        self.sessions = Sessions(limits)
        self._session_class = LmtpSession if lmtp else SmtpSession
        self._domain = mail_domain.domain
        self._certificate = certificate
        self._tls_at_once = tls_at_once
        self._server: asyncio.Server | None = None

    async def start(self, bound: socket.socket) -> None:
        """Accept sessions on a bound socket."""
        self._server = await asyncio.get_running_loop().create_server(
            self.make_gate, sock=bound, backlog=ACCEPTED_AT_ONCE
        )
        bound.listen(QUEUE)

    async def stop(self) -> None:
        """Accept nothing more, let mails under way finish, then close every session."""
        if self._server is None:
            return
        self.handler.closing = True
        self._server.close()
        for session in list(self.sessions.open):
            if session.place.stage is Stage.IDLE:
                session.leave()
        if self.sessions.open:
            await asyncio.wait([session.gone for session in self.sessions.open], timeout=LAST_WORDS)
        for session in list(self.sessions.open):
            session.leave()

    def make_gate(self) -> Gate:
        """Return the protocol of a new connection."""
        certificate = self._certificate if self._tls_at_once else None
        context = certificate.context if certificate is not None else None
        return Gate(self.sessions.limits, self._session, context)

    def _session(self, place: Place) -> SmtpSession:
        offers_tls = self._certificate is not None and not self._tls_at_once
        return self._session_class(
            self.handler,
            self.sessions,
            place,
            timeout=SESSION_TIMEOUT,
            data_size_limit=LARGEST_MAIL,
            enable_SMTPUTF8=True,
            hostname=self._domain,
            ident=f"pbmserv {__version__}",
            tls_context=self._certificate.context()
            if self._certificate is not None and offers_tls
            else None,
            auth_exclude_mechanism=("LOGIN", "PLAIN"),
            loop=asyncio.get_running_loop(),
        )


_BAD_HELLO = "501 5.5.4 that is not a name that a machine can have"
