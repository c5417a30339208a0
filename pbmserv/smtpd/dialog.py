"""Decides at each step of an SMTP session whether the door takes a mail.

A client says its name (HELO, EHLO or LHLO), its sender (MAIL), one or more recipients (RCPT), and
sends the mail (DATA). `StrictSmtp` reads the last three and calls a method for each; aiosmtpd calls
those named ``handle_COMMAND``. The reply to DATA comes from `Door.receive`, which `stages.door`
implements.
"""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Protocol

from aiosmtpd.smtp import SMTP, Session, TLSSetupException
from aiosmtpd.smtp import Envelope as SmtpEnvelope

from pbmserv.mail.envelope import Envelope
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.net.connection_limits import Stage
from pbmserv.smtpd.arguments import NULL_SENDER
from pbmserv.smtpd.replies import TRY_LATER
from pbmserv.smtpd.session import SmtpSession

MOST_RECIPIENTS = 5
LONGEST_ADDRESS = 254
"""Octets (RFC 5321 section 4.5.3.1.3, less the brackets)."""
PATIENCE_S = 10.0
"""Seconds for all recipients of a mail. After them and a temporary failure, the other recipients
get a temporary failure, too: a locked database needs half a minute for each, which is longer than
clients wait."""

BAD_HELLO = "501 5.5.4 that is not a name that a machine can have"

# A domain, an address literal, or any other name that a misconfigured machine may have.
_HELLO = re.compile(r"[!-~]{1,255}")

log = logging.getLogger("pbmserv.receive")


class Door(Protocol):
    """Stores mails."""

    def early_refusal(self, envelope: Envelope) -> str:
        """Return the reply to a mail that would not be taken; ``""`` for other mails.

        Its text need not be sent, so the envelope has none. Counts nothing.
        """
        ...

    async def receive(self, envelope: Envelope) -> str:
        """Count a mail, then store or refuse it; return the SMTP reply."""
        ...


class Dialog:
    """Decides at each step of a listener's sessions.

    Attributes:
        closing: the server stops, so each session ends after the mail that it is sending.
    """

    def __init__(self, mail_domain: MailDomain, door: Door, *, lmtp: bool) -> None:
        self._mail_domain = mail_domain
        self._door = door
        self._lmtp = lmtp
        self.closing = False

    async def handle_HELO(  # noqa: N802 - named by aiosmtpd
        self,
        server: SMTP,
        session: Session,
        envelope: SmtpEnvelope,  # noqa: ARG002
        hostname: str,
    ) -> str:
        """Accept any name without blanks; nothing depends on it (RFC 5321 section 4.1.4)."""
        if not _HELLO.fullmatch(hostname):
            return BAD_HELLO
        session.host_name = hostname
        return f"250 {server.hostname}"

    async def handle_EHLO(  # noqa: N802 - named by aiosmtpd
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,
        envelope: SmtpEnvelope,  # noqa: ARG002
        hostname: str,
        responses: list[str],
    ) -> list[str]:
        """Accept a name, and offer the extensions of aiosmtpd except AUTH: nobody logs in here."""
        if not _HELLO.fullmatch(hostname):
            return [BAD_HELLO]
        session.host_name = hostname
        return [line for line in responses if not line.startswith("250-AUTH")]

    def begin_mail(self, envelope: SmtpEnvelope, sender: str) -> str:
        """Accept any sender that can be stored and answered (RFC 5321 section 4.5.3.1.3)."""
        if not sender.isprintable() or len(sender.encode()) > LONGEST_ADDRESS:
            return "553 5.1.7 mail cannot go to this address"
        envelope.mail_from = sender
        return "250 2.1.0 ok"

    def add_recipient(self, server: SmtpSession, envelope: SmtpEnvelope, recipient: str) -> str:
        """Accept only our own addresses (this is never a relay), within the sender's limits."""
        if not self._mail_domain.knows(recipient):
            if self._mail_domain.is_retired(recipient):
                own = self._mail_domain.address
                return f"550 5.1.6 that letter is too old to be answered; write to {own}"
            return "550 5.1.1 no such address here"
        if len(envelope.rcpt_tos) >= MOST_RECIPIENTS:
            return "452 4.5.3 too many recipients"
        refusal = self._door.early_refusal(self._envelope(server, envelope, recipient, b""))
        if refusal:
            return refusal
        envelope.rcpt_tos.append(recipient)
        return "250 2.1.5 ok"

    async def store_mail(self, server: SmtpSession, envelope: SmtpEnvelope) -> str:
        """Store the mail for each recipient, and reply only after the commits.

        LMTP has a reply for each recipient (RFC 2033 section 4.2). SMTP has one for all: a
        temporary failure if there is one, so that the client tries again, else a refusal. A mail
        that is stored for one recipient already changes nothing when it comes again.
        """
        server.place.stage = Stage.SERVED  # so that the client keeps its place
        replies = await self._store(server, envelope)
        server.is_logged = True
        if any(reply.startswith("2") for reply in replies.values()):
            server.renew()
        if self.closing:
            asyncio.get_running_loop().call_soon(server.leave)
        if self._lmtp:
            return "\r\n".join(replies[recipient] for recipient in envelope.rcpt_tos)
        return min(replies.values(), key=lambda reply: "452".index(reply[0]))

    async def _store(self, server: SmtpSession, mail: SmtpEnvelope) -> dict[str, str]:
        """Hand a mail to the door once for each recipient; return the replies by recipient."""
        assert isinstance(mail.content, bytes)
        replies: dict[str, str] = {}
        clock = asyncio.get_running_loop().time
        patience_ends = clock() + PATIENCE_S
        for recipient in dict.fromkeys(mail.rcpt_tos):
            if clock() > patience_ends and TRY_LATER in replies.values():
                replies[recipient] = TRY_LATER
            else:
                envelope = self._envelope(server, mail, recipient, mail.content)
                replies[recipient] = await self._door.receive(envelope)
        return replies

    def _envelope(
        self, server: SmtpSession, mail: SmtpEnvelope, recipient: str, raw: bytes
    ) -> Envelope:
        """Return the envelope of a mail for one of its recipients."""
        return Envelope(
            "" if mail.mail_from in {None, NULL_SENDER} else str(mail.mail_from),
            recipient,
            raw,
            peer=server.peer,
            hello=server.hello,
            handed_on=self._lmtp or server.is_ours,
        )

    async def handle_exception(self, error: Exception) -> str:
        """Reply to a failure of ours without details (aiosmtpd would name the error)."""
        if not isinstance(error, TLSSetupException):
            log.error("an SMTP session failed", exc_info=error)
        return TRY_LATER
