"""The SMTP and LMTP listeners: policy at the door, then every mail to the intake."""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
from dataclasses import replace

from aiosmtpd.smtp import SMTP, Envelope, Session, TLSSetupException

from pbmserv import __version__
from pbmserv.mail import envelope as mail
from pbmserv.mail.reply_address import MailDomain
from pbmserv.net.connection_limits import ConnectionLimits, Stage
from pbmserv.net.listening import AT_ONCE, Listening
from pbmserv.smtpd.session import (
    SESSION_TIMEOUT,
    TOO_MANY,
    TRY_LATER,
    Door,
    FewNames,
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
"""Seconds after which a mail's other recipients are put off with the one that had to be. A
database that is locked takes half a minute to say so, and a client does not wait for ever."""
LAST_WORDS = 10.0
"""Seconds that mails under way have when the server stops."""

_HELLO = re.compile(r"[!-~]{1,255}")
"""A domain, an address literal, or the odd name that a misconfigured machine gives itself."""


class SmtpHandler(FewNames):
    """What aiosmtpd asks at each step of a session."""

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
        """Any name without blanks; nothing is decided by it (RFC 5321 section 4.1.4)."""
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
        """As `handle_HELO`, with what aiosmtpd offers, less AUTH: nobody logs in here."""
        if not _HELLO.fullmatch(hostname):
            return [_BAD_HELLO]
        session.host_name = hostname
        return [one for one in responses if not one.startswith("250-AUTH")]

    async def handle_VRFY(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,  # noqa: ARG002
        envelope: Envelope,  # noqa: ARG002
        address: str,  # noqa: ARG002
    ) -> str:
        """Who is here is nobody's business (RFC 5321 section 7.3)."""
        return "252 2.5.2 send a mail and see"

    async def handle_MAIL(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SmtpSession,
        session: Session,  # noqa: ARG002
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        """Any sender that can be written down (RFC 5321 section 4.5.3.1.3)."""
        if not address.isprintable() or len(address.encode()) > LONGEST_ADDRESS:
            return "553 5.1.7 this is no address that mail can go to"
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
        """Only our own addresses: this is never a relay (RFC 5321 section 3.6.2)."""
        if not self._mail_domain.knows(address):
            return "550 5.1.1 no such address here"
        if len(envelope.rcpt_tos) >= MOST_RECIPIENTS:
            return "452 4.5.3 too many recipients"
        sender = "" if envelope.mail_from in {None, "<>"} else str(envelope.mail_from)
        hello, handed_on = str(session.host_name or ""), self._lmtp or server.is_ours
        one = mail.Envelope(sender, address, b"", server.peer, hello, handed_on)
        if self._door.is_over(one):
            return TOO_MANY
        server.mails[address] = one
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 2.1.5 ok"

    async def handle_DATA(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SmtpSession,
        session: Session,  # noqa: ARG002
        envelope: Envelope,
    ) -> str:
        """250 only after the commit; one reply for each recipient in LMTP (RFC 2033, 4.2)."""
        raw = envelope.content
        assert isinstance(raw, bytes)
        server.place.stage = Stage.SERVED  # nobody takes its client's place
        replies: dict[str, str] = {}
        clock = asyncio.get_running_loop().time
        patience_ends = clock() + PATIENCE
        for recipient, one in server.mails.items():
            if clock() > patience_ends and TRY_LATER in replies.values():
                replies[recipient] = TRY_LATER  # whatever keeps us waiting, it does so still
                continue
            replies[recipient] = await self._door.arrives(replace(one, raw=raw))
        server.is_noted = True
        # The client can only be told one thing: the worst, and a temporary failure so that it tries
        # again. A mail that was carried out for one recipient already changes nothing there.
        worst = [one for sign in "452" for one in replies.values() if one.startswith(sign)]
        if worst[-1].startswith("2"):
            server.renew()
        if self.closing:  # this was the session's last mail
            asyncio.get_running_loop().call_soon(server.leave)
        if self._lmtp:
            return "\r\n".join(replies[recipient] for recipient in envelope.rcpt_tos)
        return worst[0]

    async def handle_exception(self, error: Exception) -> str:
        """Our own failure: temporary, and without any detail (aiosmtpd would name the error)."""
        if not isinstance(error, TLSSetupException):
            log.error("an SMTP session failed", exc_info=error)
        return TRY_LATER


class Listener:
    """One listening socket.

    Args:
        lmtp: the protocol; SMTP otherwise.
        crowd: the connections that may be open at a time.
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
        self.door = SmtpHandler(mail_domain, door, lmtp=lmtp)
        self.sessions = Sessions(limits)
        self._visit = LmtpSession if lmtp else SmtpSession
        self._domain = mail_domain.domain
        self._certificate = certificate
        self._tls_at_once = tls_at_once
        self._server: asyncio.Server | None = None

    async def start(self, listening: Listening) -> None:
        """Accept sessions on a bound socket."""
        listening.limits = self.sessions.limits
        listening.farewell = _in_tls if self._tls_at_once else _farewell
        self.sessions.listening = listening
        context = self._context() if self._tls_at_once else None
        self._server = await asyncio.get_running_loop().create_server(
            self._session, sock=listening, ssl=context, backlog=AT_ONCE
        )

    async def stop(self) -> None:
        """Accept nothing more, let mails under way finish, then close every session."""
        if self._server is None:
            return
        self.door.closing = True
        self._server.close()
        sessions = self.sessions.sessions
        for session in list(sessions):
            if session.place.stage is Stage.IDLE:
                session.leave()
        if sessions:
            await asyncio.wait([session.gone for session in sessions], timeout=LAST_WORDS)
        for session in list(sessions):
            session.leave()

    def _context(self) -> ssl.SSLContext | None:
        return self._certificate.context() if self._certificate else None

    def _session(self) -> asyncio.BaseProtocol:
        context = self._context()  # also for TLS at once: it is renewed in place
        session: asyncio.BaseProtocol = self._visit(
            self.door,
            self.sessions,
            data_size_limit=LARGEST_MAIL,
            enable_SMTPUTF8=True,
            hostname=self._domain,
            ident=f"pbmserv {__version__}",
            tls_context=None if self._tls_at_once else context,
            auth_exclude_mechanism=("LOGIN", "PLAIN"),
            timeout=SESSION_TIMEOUT,
            loop=asyncio.get_running_loop(),
        )
        return session


def _farewell(reason: str) -> bytes:
    """What a client is told that there is no place for (RFC 5321 section 3.1 allows 421)."""
    return f"421 4.3.2 {reason}, please try again later\r\n".encode()


def _in_tls(_reason: str) -> bytes:
    """Nothing: before the handshake no words can be said."""
    return b""


_BAD_HELLO = "501 5.5.4 that is no name that a machine can have"
