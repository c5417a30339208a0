"""The SMTP and LMTP listeners: policy at the door, then every mail to the intake."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

from pbmserv import __version__
from pbmserv.capability import House
from pbmserv.receive import mail
from pbmserv.receive.intake import TRY_LATER, Intake

log = logging.getLogger("pbmserv.receive")

MOST_RECIPIENTS = 5
MOST_SESSIONS = 100
LARGEST_MAIL = 1_048_576
"""Octets (SIZE, RFC 1870)."""
SESSION_TIMEOUT = 300
"""Seconds of silence, RFC 5321 section 4.5.3.2.7."""
LAST_WORDS = 10.0
"""Seconds that mails under way have when the server stops."""


class Door:
    """What aiosmtpd asks at each step of a session."""

    def __init__(self, house: House, intake: Intake, *, lmtp: bool) -> None:
        self._house = house
        self._intake = intake
        self._lmtp = lmtp
        self.closing = False

    async def handle_RCPT(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,  # noqa: ARG002
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        """Only our own addresses: this is never a relay (RFC 5321 section 3.6.2)."""
        if not self._house.knows(address):
            return "550 5.1.1 no such address here"
        if len(envelope.rcpt_tos) >= MOST_RECIPIENTS:
            return "452 4.5.3 too many recipients"
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 2.1.5 ok"

    async def handle_DATA(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: _Visit,
        session: Session,
        envelope: Envelope,
    ) -> str:
        """250 only after the commit; one reply for each recipient in LMTP (RFC 2033, 4.2)."""
        raw = envelope.content
        assert isinstance(raw, bytes)
        peer = session.peer[0] if isinstance(session.peer, tuple) else ""
        replies = [
            await self._intake.take(
                mail.Envelope(envelope.mail_from or "", recipient, raw, str(peer))
            )
            for recipient in dict.fromkeys(envelope.rcpt_tos)
        ]
        if self.closing:  # this was the session's last mail
            asyncio.get_running_loop().call_soon(server.leave)
        if self._lmtp:
            return "\r\n".join(replies)
        # The client can only be told one thing: the worst. Sent again, a mail that was
        # carried out for one recipient already changes nothing there.
        return max(replies, key=_severity)

    async def handle_exception(self, error: Exception) -> str:
        """Our own failure: temporary, and without any detail (aiosmtpd would name the error)."""
        log.error("an SMTP session failed", exc_info=error)
        return TRY_LATER


class _Visit(SMTP):
    """One session, which knows its listener and can be asked to end."""

    def __init__(self, listener: Listener, **settings: Any) -> None:
        super().__init__(listener.door, **settings)
        self._listener = listener
        self._turned_away = False
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def in_transaction(self) -> bool:
        """Whether a mail is on its way in."""
        return self.envelope is not None and self.envelope.mail_from is not None

    def leave(self) -> None:
        """Close the connection (RFC 5321 section 3.8 lets a server do so with a 421)."""
        transport = self.transport
        if isinstance(transport, asyncio.Transport) and not transport.is_closing():
            transport.write(b"421 4.3.2 closing, please come back soon\r\n")
            transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the session, or turn it away when too many are open."""
        if len(self._listener.visits) >= MOST_SESSIONS:
            self._turned_away = True
            assert isinstance(transport, asyncio.Transport)
            transport.write(b"421 4.3.2 too many sessions, please try again later\r\n")
            transport.close()
            return
        self._listener.visits.add(self)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Forget the session."""
        if self._turned_away:
            return
        self._listener.visits.discard(self)
        if not self.gone.done():
            self.gone.set_result(None)
        super().connection_lost(error)

    def eof_received(self) -> bool | None:
        """A client that was turned away has nothing to say."""
        return None if self._turned_away else super().eof_received()


class _LocalVisit(_Visit, LMTP):
    """The same in LMTP."""


class Listener:
    """One listening socket, SMTP or LMTP."""

    def __init__(self, house: House, intake: Intake, *, lmtp: bool) -> None:
        self.door = Door(house, intake, lmtp=lmtp)
        self.visits: set[_Visit] = set()
        self._visit = _LocalVisit if lmtp else _Visit
        self._domain = house.domain
        self._server: asyncio.Server | None = None

    async def start(self, listening: socket.socket) -> None:
        """Accept sessions on a bound socket."""
        self._server = await asyncio.get_running_loop().create_server(self._session, sock=listening)

    async def stop(self) -> None:
        """Accept nothing more, let mails under way finish, then close every session."""
        if self._server is None:
            return
        self.door.closing = True
        self._server.close()
        for visit in list(self.visits):
            if not visit.in_transaction:
                visit.leave()
        if self.visits:
            await asyncio.wait([visit.gone for visit in self.visits], timeout=LAST_WORDS)
        for visit in list(self.visits):
            visit.leave()

    def _session(self) -> asyncio.BaseProtocol:
        visit: asyncio.BaseProtocol = self._visit(
            self,
            data_size_limit=LARGEST_MAIL,
            enable_SMTPUTF8=True,
            hostname=self._domain,
            ident=f"pbmserv {__version__}",
            timeout=SESSION_TIMEOUT,
            loop=asyncio.get_running_loop(),
        )
        return visit


def _severity(reply: str) -> int:
    """Temporary failures above permanent ones, so that a client tries again; 250 below both."""
    return {"2": 0, "5": 1, "4": 2}.get(reply[:1], 2)
