"""The SMTP and LMTP listeners: policy at the door, then every mail to the intake."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections.abc import Sequence
from typing import Any, AnyStr

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

from pbmserv import __version__
from pbmserv.capability import House
from pbmserv.receive import mail
from pbmserv.receive.data import MailAtOnce
from pbmserv.receive.intake import TRY_LATER, Intake

log = logging.getLogger("pbmserv.receive")

MOST_RECIPIENTS = 5
MOST_SESSIONS = 100
LARGEST_MAIL = 1_048_576
"""Octets (SIZE, RFC 1870)."""
LONGEST_ADDRESS = 254
"""Octets (RFC 5321 section 4.5.3.1.3, less the brackets)."""
LONGEST_LINE = LARGEST_MAIL
"""Octets without a line end after which a session is ended: aiosmtpd gathers them in memory.
Lines over 998 octets are refused politely, once they have come to their end."""
SESSION_TIMEOUT = 300
"""Seconds of silence, RFC 5321 section 4.5.3.2.7."""
LAST_WORDS = 10.0
"""Seconds that mails under way have when the server stops."""

_WORD = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9-]+"
_PLAIN_PATH = re.compile(rf"<({_WORD}(?:\.{_WORD})*@{_LABEL}(?:\.{_LABEL})*)>([ -~]*)")
"""A dot-atom in angle brackets and parameters (RFC 5321 section 4.1.2): nearly every one."""


class Door:
    """What aiosmtpd asks at each step of a session."""

    def __init__(self, house: House, intake: Intake, *, lmtp: bool) -> None:
        self._house = house
        self._intake = intake
        self._lmtp = lmtp
        self.closing = False

    async def handle_MAIL(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SMTP,  # noqa: ARG002
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
        return "250 2.1.0 ok"

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
        sender = "" if envelope.mail_from in {None, "<>"} else envelope.mail_from
        replies = {
            recipient: await self._intake.take(mail.Envelope(sender, recipient, raw, str(peer)))
            for recipient in dict.fromkeys(envelope.rcpt_tos)
        }
        if self.closing:  # this was the session's last mail
            asyncio.get_running_loop().call_soon(server.leave)
        if self._lmtp:
            return "\r\n".join(replies[recipient] for recipient in envelope.rcpt_tos)
        # The client can only be told one thing: the worst. Sent again, a mail that was
        # carried out for one recipient already changes nothing there.
        return max(replies.values(), key=_severity)

    async def handle_exception(self, error: Exception) -> str:
        """Our own failure: temporary, and without any detail (aiosmtpd would name the error)."""
        log.error("an SMTP session failed", exc_info=error)
        return TRY_LATER


class _Visit(MailAtOnce):
    """One session, which knows its listener and can be asked to end."""

    def __init__(self, listener: Listener, **settings: Any) -> None:
        super().__init__(listener.door, **settings)
        self._listener = listener
        self._turned_away = False
        self._line = 0
        self._last = b""
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def in_transaction(self) -> bool:
        """Whether a mail is on its way in."""
        return self.envelope is not None and self.envelope.mail_from is not None

    def leave(self) -> None:
        """Close the connection (RFC 5321 section 3.8 lets a server do so with a 421)."""
        self._part(b"421 4.3.2 closing, please come back soon\r\n")

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

    def data_received(self, data: bytes) -> None:
        """Hand octets on, unless they belong to a line that has no end."""
        seen = self._last + data
        end = seen.rfind(b"\r\n")
        self._line = self._line + len(data) if end < 0 else len(seen) - end - 2
        self._last = data[-1:]
        if self._line > LONGEST_LINE:
            self._part(b"500 5.5.6 this line has no end, goodbye\r\n")
        else:
            super().data_received(data)

    def eof_received(self) -> bool | None:
        """A client that was turned away has nothing to say."""
        return None if self._turned_away else super().eof_received()

    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        """The address of MAIL and RCPT; the parser below raises whatever odd input makes it."""
        if plain := _PLAIN_PATH.fullmatch(arg):  # the parser takes longer than a mail's text does
            return plain[1], plain[2].strip()
        try:
            found: tuple[str | None, str | None] = super()._getaddr(arg)
        except Exception:  # noqa: BLE001 - a stranger's typing is no fault of ours
            return None, None
        return found

    def _getparams(self, params: Sequence[str]) -> dict[str, str | bool] | None:
        """What follows an address; in other alphabets there are digits that are no numbers."""
        if not all(param.isascii() for param in params):
            return None
        found: dict[str, str | bool] | None = super()._getparams(params)
        return found

    def _part(self, words: bytes) -> None:
        transport = self.transport
        if isinstance(transport, asyncio.Transport) and not transport.is_closing():
            transport.write(words)
            transport.close()


class _LocalVisit(_Visit, LMTP):
    """The same in LMTP."""

    _owed = 1

    async def smtp_DATA(self, arg: str | None) -> None:  # noqa: N802 - aiosmtpd looks it up
        """Take a mail; from here on each recipient is owed a reply (RFC 2033 section 4.2)."""
        self._owed = len(self.envelope.rcpt_tos) if self.envelope else 1
        await super().smtp_DATA(arg)

    async def push(self, status: AnyStr) -> None:
        """Reply; the handler knows of the recipients, who turns a mail away before it does not."""
        turned_away = isinstance(status, str) and status.startswith(_TURNED_AWAY)
        for _ in range(self._owed if turned_away else 1):
            await super().push(status)


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


_TURNED_AWAY = ("500 Line too long", "552 Error: Too much mail data")
"""How the replies begin when a mail's octets are not handed on."""


def _severity(reply: str) -> int:
    """Temporary failures above permanent ones, so that a client tries again; 250 below both."""
    return {"2": 0, "5": 1, "4": 2}.get(reply[:1], 2)
