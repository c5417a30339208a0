"""One SMTP or LMTP connection, with limits on its client's time, commands and errors.

`dialog` decides about mails; this module decides when a session must end.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress
from typing import Any, AnyStr

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import TLSSetupException, syntax

from pbmserv.net.connection_limits import ConnectionLimits, Place, Stage, peer_of
from pbmserv.smtpd.arguments import LONGEST_COMMAND
from pbmserv.smtpd.protocol import Handler, StrictSmtp
from pbmserv.smtpd.refusal_log import note_refusal

SESSION_TIMEOUT_S = 300
"""Seconds for a command, or for a whole mail, to arrive (RFC 5321 section 4.5.3.2.7)."""
LONGEST_SESSION_S = 3600
"""Seconds after which a session is closed between two mails."""
LINGER_S = 10.0
"""Seconds that a client has to read our last reply."""
MOST_ERRORS = 20
"""Refused commands since the last stored mail."""
MOST_COMMANDS = 100
"""Commands since the last stored mail."""


class Sessions:
    """The sessions of one listener.

    Attributes:
        open: sessions that have begun and not ended.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.open: set[SmtpSession] = set()


class SmtpSession(StrictSmtp):
    """An SMTP session with limits.

    Attributes:
        peer: the client's network address; ``""`` on a Unix socket.
        is_ours: the client is one of our own servers, which hands on mails of others.
        place: its place among the connections of the listener.
        is_logged: the next reply is to a mail that the door has logged already.
        gone: done when the connection has ended.
    """

    def __init__(
        self, handler: Handler, sessions: Sessions, place: Place, *, timeout: float, **settings: Any
    ) -> None:
        # aiosmtpd's own timer closes without a reply. It is a reserve behind `_check_silence`.
        super().__init__(handler, timeout=2 * timeout + LINGER_S, **settings)
        # aiosmtpd's sessions share one table, which each new session clears.
        self.command_size_limits = defaultdict(
            lambda: self.command_size_limit, MAIL=LONGEST_COMMAND, RCPT=LONGEST_COMMAND
        )
        self._sessions = sessions
        self._timeout_s = timeout
        self.place = place
        self.peer = ""
        self.is_ours = False
        self.is_logged = False
        self.gone: asyncio.Future[None] = self.loop.create_future()
        self._began = self.loop.time()
        self._replied_at = self._began
        self._silence_check: asyncio.TimerHandle | None = None
        self._errors = 0
        self._commands = 0

    @property
    def hello(self) -> str:
        """The name that the client has given, ``""`` for none."""
        return str(self.session.host_name or "") if self.session is not None else ""

    def renew(self) -> None:
        """Reset the limits after a mail was stored."""
        self._errors = 0
        self._commands = 0
        self._sessions.limits.renew(self.place)

    def leave(self) -> None:
        """Close the connection (RFC 5321 section 3.8 lets a server do so with a 421)."""
        self._close(b"421 4.3.2 closing, please come back soon\r\n")

    # -- the connection ------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the session; aiosmtpd calls this again when STARTTLS has succeeded."""
        if self not in self._sessions.open:
            self._sessions.open.add(self)
            self.peer = peer_of(transport.get_extra_info("peername"))
            self.is_ours = self._sessions.limits.is_ours(self.peer)
            self.place.end = self._give_way
            self._replied_at = self.loop.time()
            self._silence_check = self.loop.call_later(self._timeout_s, self._check_silence)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Free the place of the session."""
        self._sessions.limits.leave(self.place)
        if self not in self._sessions.open:  # not begun yet, or called twice by aiosmtpd
            return
        self._sessions.open.discard(self)
        if self._silence_check is not None:
            self._silence_check.cancel()
        if not self.gone.done():
            self.gone.set_result(None)
        super().connection_lost(error)

    def eof_received(self) -> bool | None:
        """Note that the client sends no more; it may still read (except with TLS)."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return False
        if transport.get_extra_info("ssl_object") is not None:
            super().eof_received()
            return False
        # The client may still read the replies to its commands (RFC 9293 section 3.6). aiosmtpd
        # would drop these commands, and a mail among them.
        return asyncio.StreamReaderProtocol.eof_received(self)

    def _check_silence(self) -> None:
        """End the session if the client has not answered our last reply for too long."""
        left = self._replied_at + self._timeout_s - self.loop.time()
        if left <= 0 and self.place.stage is not Stage.SERVED:
            self._end(b"421 4.4.2 nothing was heard for too long, goodbye\r\n")
            return
        self._silence_check = self.loop.call_later(max(left, 1.0), self._check_silence)

    def _give_way(self) -> None:
        """Close the connection at once, because another client gets its place."""
        transport = self.transport
        self._end(b"421 4.3.2 others are waiting, please come again later\r\n")
        if isinstance(transport, asyncio.Transport) and (
            transport.get_extra_info("ssl_object") or transport.get_write_buffer_size()
        ):
            _abort(transport)

    def _end(self, reply: bytes) -> None:
        """Log why the session ends, and close the connection."""
        if self.transport is not None:
            note_refusal("session ended", self.peer, reply.decode("ascii"))
        self._close(reply)

    def _close(self, reply: bytes) -> None:
        transport = self.transport
        if isinstance(transport, asyncio.Transport) and not transport.is_closing():
            transport.write(reply)
            transport.close()
            # A client that never reads this would keep the connection open for ever.
            self.loop.call_later(LINGER_S, _abort, transport)

    # -- commands ------------------------------------------------------------------------

    async def push(self, status: AnyStr) -> None:
        """Send a reply, always in ASCII; end the session if it exceeds a limit."""
        reply = status if isinstance(status, bytes) else status.encode("ascii", "replace")
        if reply[:1] in {b"4", b"5"} and not self.is_logged:
            note_refusal("refused", self.peer, reply.decode("ascii"))
        self.is_logged = False
        self._replied_at = self.loop.time()
        await super().push(reply)
        has_sender = self.envelope is not None and self.envelope.mail_from is not None
        self.place.stage = Stage.ASKING if has_sender else Stage.IDLE
        if reply[3:4] != b"-":  # the last line of a reply
            self._commands += 1
            self._errors += reply[:1] in {b"4", b"5"}
        if self._errors >= MOST_ERRORS or self._commands >= MOST_COMMANDS:
            self._end(b"421 4.7.0 too many commands that led to nothing, goodbye\r\n")
        elif self.lines.fault:
            self._end(f"421 4.7.0 {self.lines.fault}, goodbye\r\n".encode("ascii"))
        elif reply.startswith(b"500") and self.session and not self.session.host_name:
            # A browser that another site makes post here begins with GET, POST or Host.
            self._end(b"421 4.7.0 this is a mail server, goodbye\r\n")
        elif self.loop.time() - self._began > LONGEST_SESSION_S and not has_sender:
            self._end(b"421 4.3.2 that was long enough, please come again\r\n")
        else:
            return
        raise asyncio.CancelledError  # as aiosmtpd does when a client closes the connection

    async def handle_exception(self, error: Exception) -> str:
        """Reply to a failure; log one of TLS as the client's."""
        if isinstance(error, TLSSetupException):
            note_refusal("TLS failed", self.peer, f"TLS {tls_fault(error.__cause__)}")
        reply: str = await super().handle_exception(error)
        return reply

    @syntax("STARTTLS", when="tls_context")
    async def smtp_STARTTLS(self, arg: str) -> None:  # noqa: N802 - named by aiosmtpd
        """Begin TLS; aiosmtpd forgets everything that was said before (RFC 3207 section 4.2)."""
        session, _ = self.current()
        if session.ssl is not None:
            await self.push("503 5.5.1 this is TLS already")
        elif self.lines.has_more:
            # An attacker on the way could have inserted commands here, which would count as the
            # client's own after the handshake. RFC 2920 section 3.1 forbids clients to send more.
            self._end(b"501 5.5.1 nothing may follow STARTTLS before its reply, goodbye\r\n")
            raise asyncio.CancelledError
        else:
            await super().smtp_STARTTLS(arg)


def tls_fault(error: BaseException | None) -> str:
    """Return OpenSSL's name for the failure of a handshake, else the error's class name."""
    return getattr(error, "reason", None) or type(error).__name__


def _abort(transport: asyncio.Transport) -> None:
    """Close a connection without sending the rest."""
    with suppress(AttributeError):  # raised before Python 3.11.4 if TLS has ended
        transport.abort()


class LmtpSession(SmtpSession, LMTP):
    """An LMTP session with limits."""

    _replies_owed = 1

    async def smtp_DATA(self, arg: str | None) -> None:  # noqa: N802 - named by aiosmtpd
        """Read a mail; from here on each recipient needs a reply (RFC 2033 section 4.2)."""
        self._replies_owed = len(self.envelope.rcpt_tos) if self.envelope else 1
        await super().smtp_DATA(arg)

    async def refuse_mail(self, reply: str) -> None:
        """Refuse the mail for each recipient."""
        await super().refuse_mail("\r\n".join([reply] * self._replies_owed))
