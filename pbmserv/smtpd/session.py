"""One SMTP or LMTP session: aiosmtpd's, with limits to a client's leisure and our patience."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from contextlib import suppress
from typing import Any, AnyStr, ClassVar, Protocol

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import TLSSetupException, syntax

from pbmserv.mail.envelope import Envelope
from pbmserv.net.connection_limits import ConnectionLimits, Place, Stage, peer_of
from pbmserv.net.listening import Listening
from pbmserv.service.delivery.incoming import note_refusal
from pbmserv.smtpd.tls import IN_SESSION
from pbmserv.smtpd.wire import MailAtOnce, StrictLines, StrictReader

TAKEN = "250 2.0.0 taken, and kept until it is carried out"
TRY_LATER = "451 4.3.0 cannot take mail just now, please try again later"
TOO_MANY = "451 4.7.1 too many mails from you, please try again later"
LANE_FULL = "451 4.3.2 too many mails from you wait here already, please try again later"
FORGED = "550 5.7.26 the domain of the From address says (DMARC) that this mail is not from it"

LONGEST_LINE = 1_048_576
"""Octets without a line end after which a session is ended: aiosmtpd gathers them in memory.
Lines over 998 octets are refused politely, once they have come to their end."""
SESSION_TIMEOUT = 300
"""Seconds that a command, or a whole mail, may take to come (RFC 5321 section 4.5.3.2.7)."""
SESSION_TIMEOUT_FULL = 10
"""Seconds in which a client must have had a mail taken, or more of it come, where all places are
taken."""
LONGEST_SESSION = 3600
"""Seconds after which a client is asked to come again, whatever it does."""
LINGER_S = 10.0
"""Seconds that a client has to read our last words."""
OCTETS_OF_USE = 8_192
"""Octets of a mail that count as something useful while it comes."""
MOST_ERRORS = 20
"""Refusals without a mail that was taken between them."""
MOST_COMMANDS = 100
"""Commands without a mail that was taken between them."""

# By what may not stand there: a class with most of Unicode in it takes `re` 3 ms.
_NOT = r"\x00-\x1f\x7f-\x9f\ud800-\udfff"
_ATOM = rf'[^{_NOT} "(),:;<>@\[\\\]]+'  # some providers do give out "a..b"
_QUOTED = rf'"(?:[^{_NOT}"\\]|\\[ -~])*"'
_LABEL = rf"[^{_NOT} -,./:-@\[-^`{{-~]+"
_DOMAIN = rf"@(?:{_LABEL}(?:\.{_LABEL})*|\[[!-Z^-~]+\])"
_PATH = re.compile(
    rf"(?P<open><)?(?:{_DOMAIN}(?:,{_DOMAIN})*:)?"
    rf"(?:(?P<local>{_ATOM}|{_QUOTED})(?P<domain>{_DOMAIN})?)?"
    r"(?(open)>)(?P<rest>(?: .*)?)"
)
"""A path and its parameters (RFC 5321 section 4.1.2, RFC 6531 section 3.3), also without brackets,
as people type it and VRFY has it. The route in front is ignored (appendix C)."""
_HARMLESS = {
    # AUTH: RFC 4954 section 5. RET, ENVID: RFC 3461. MT-PRIORITY: RFC 6710.
    "MAIL": re.compile(
        r"AUTH=\S{1,500}|RET=(?:FULL|HDRS)|ENVID=\S{1,100}|MT-PRIORITY=-?[0-9]", re.IGNORECASE
    ),
    "RCPT": re.compile(
        r"ORCPT=[!-:<-~]{1,60};\S{1,500}|NOTIFY=(?:NEVER|(?:SUCCESS|FAILURE|DELAY)"
        r"(?:,(?:SUCCESS|FAILURE|DELAY)){0,2})",
        re.IGNORECASE,
    ),
}
"""Parameters that ask nothing of a server that relays no mail and sends no delivery reports. Other
servers send them although EHLO offers none of them. They are ignored; see decision 0130."""
_LONGEST_COMMAND = 512 + 1_100
"""Octets of MAIL and RCPT: RFC 5321 section 4.5.3.1.4, and parameters (RFC 3461 section 4, RFC 4954
section 3)."""
_UNQUOTED = re.compile(rf'"({_ATOM})"')


class FewNames:
    """Lists only the names by which aiosmtpd knows what a session or its handler can do. For each
    session it looks through all that both have, and that takes longer than to read a mail."""

    _hooks: ClassVar[list[str]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._hooks = [name for name in dir(cls) if name.startswith(("auth_", "handle_", "smtp_"))]

    def __dir__(self) -> list[str]:
        return self._hooks


class Door(Protocol):
    """Takes mails."""

    def is_over(self, envelope: Envelope) -> bool:
        """Whether a mail need not even be sent; *envelope* has no text yet. Counts nothing."""
        ...

    async def arrives(self, envelope: Envelope) -> str:
        """Count a mail, then take it or put it off; the SMTP reply comes back."""
        ...


class Sessions:
    """The sessions of one listener.

    Attributes:
        listening: where their connections were made; ``None`` where they are no sockets.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.listening: Listening | None = None
        self.sessions: set[SmtpSession] = set()

    def place_of(self, transport: asyncio.BaseTransport) -> Place:
        """The place that a connection was given when it was made."""
        found = self.listening.place_of(transport) if self.listening is not None else None
        return found or Place(None, 0.0, lambda: None)


class SmtpSession(FewNames, MailAtOnce, StrictLines):
    """One session, which knows its hall and can be asked to end.

    Attributes:
        peer: the client's network address, ``""`` on a Unix socket.
        is_ours: it is one of our own servers, which hands on what others sent.
        place: its place, which says whether a mail is on its way in (`Stage.ASKING`).
        mails: that the client is about to send, by recipient, still without text.
        is_noted: the reply that comes next is to a mail, which has a line of the log already.
    """

    def __init__(self, door: object, sessions: Sessions, **settings: Any) -> None:
        super().__init__(door, **settings)
        self._smtp_methods.pop("AUTH", None)  # nobody logs in here
        # Of its own: aiosmtpd's sessions share one, and each new session empties it.
        self.command_size_limits = defaultdict(
            lambda: self.command_size_limit, dict.fromkeys(_HARMLESS, _LONGEST_COMMAND)
        )
        self._ignored: re.Pattern[str] | None = None
        self._sessions = sessions
        self.place = Place(None, 0.0, self._give_way)  # until there is a connection
        self.peer, self.is_ours = "", False
        self.mails: dict[str, Envelope] = {}
        self._fresh = 0
        self._line = 0
        self._last = b""
        self._began = self.loop.time()
        # What the client got wrong, and all it said, since a mail was taken.
        self._errors = self._commands = 0
        self.is_noted = False
        self.gone: asyncio.Future[None] = self.loop.create_future()

    def renew(self) -> None:
        """A mail was taken: the client has earned its place, and our patience."""
        self._errors = self._commands = 0
        self._sessions.limits.renew(self.place)

    def leave(self) -> None:
        """Close the connection (RFC 5321 section 3.8 lets a server do so with a 421)."""
        self._close(b"421 4.3.2 closing, please come back soon\r\n")

    # -- the connection ------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the place that there is; called once more when STARTTLS has succeeded."""
        if self not in self._sessions.sessions:
            self.peer = peer_of(transport.get_extra_info("peername"))
            self.is_ours = self._sessions.limits.is_ours(self.peer)
            self.place = self._sessions.place_of(transport)
            self.place.end = self._give_way
            self._sessions.sessions.add(self)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Forget the session."""
        self._sessions.sessions.discard(self)
        if not self.gone.done():
            self.gone.set_result(None)
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Hand octets on, unless they belong to a line that has no end."""
        if self.place.stage is Stage.ASKING:
            self._fresh += len(data)
            if self._fresh >= OCTETS_OF_USE:
                self._fresh = 0
                self._sessions.limits.renew(self.place)
        seen = self._last + data
        end = seen.rfind(b"\r\n")
        self._line = self._line + len(data) if end < 0 else len(seen) - end - 2
        self._last = data[-1:]
        if self._line > LONGEST_LINE:
            self._part(b"500 5.5.6 this line has no end, goodbye\r\n")
        else:
            super().data_received(data)

    def eof_received(self) -> bool | None:
        """The client has said all; only TLS knows no half-open ends."""
        transport = self.transport
        if transport is not None and transport.is_closing():  # of TLS it knows nothing any more
            return False
        if transport is not None and transport.get_extra_info("ssl_object") is not None:
            super().eof_received()
            return False
        # It may still listen, and is owed replies to what it has said (RFC 9293 section 3.6);
        # aiosmtpd would forget all of that, and a mail that came with it.
        return asyncio.StreamReaderProtocol.eof_received(self)

    def _reset_timeout(self, duration: float | None = None) -> None:
        """Wait anew; one timer looks at the clock now and then, instead of one for each command."""
        self._patience_s = duration or self._timeout_duration
        self._heard_at = self.loop.time()
        if self._timeout_handle is None:
            self._timeout_handle = self.loop.call_later(self._patience_s, self._timeout_cb)

    def _timeout_cb(self) -> None:
        left = self._heard_at + self._patience_s - self.loop.time()
        if left > 0:
            self._timeout_handle = self.loop.call_later(left, self._timeout_cb)
            return
        self._part(b"421 4.4.2 nothing was heard for too long, goodbye\r\n")

    def _give_way(self) -> None:
        """Somebody else gets the place: at once, whether or not the client still listens."""
        transport = self.transport
        self._part(b"421 4.3.2 others are waiting, please come again later\r\n")
        if isinstance(transport, asyncio.Transport) and (
            transport.get_extra_info("ssl_object") or transport.get_write_buffer_size()
        ):
            _hang_up(transport)

    def _part(self, words: bytes) -> None:
        """End the session for a reason that the operator may want to know."""
        if self.transport is not None:
            note_refusal("session ended", self.peer, words.decode("ascii"))
        self._close(words)

    def _close(self, words: bytes) -> None:
        transport = self.transport
        if isinstance(transport, asyncio.Transport) and not transport.is_closing():
            transport.write(words)
            transport.close()
            # A client that does not read what is left would keep it open for ever.
            self.loop.call_later(LINGER_S, _hang_up, transport)

    # -- what is said --------------------------------------------------------------------

    async def push(self, status: AnyStr) -> None:
        """Reply, in ASCII whatever the client's words were; too many of some end the session."""
        reply = status if isinstance(status, bytes) else status.encode("ascii", "replace")
        if reply[:1] in {b"4", b"5"} and not self.is_noted:
            note_refusal("refused", self.peer, reply.decode("ascii"))
        self.is_noted = False
        transport = self.transport
        if isinstance(transport, asyncio.Transport) and not transport.is_closing():
            transport.write(reply + b"\r\n")
            if transport.get_write_buffer_size():  # the client reads slowly
                await self._writer.drain()
        else:
            await super().push(reply)
        is_begun = self.envelope is not None and self.envelope.mail_from is not None
        self.place.stage = Stage.ASKING if is_begun else Stage.IDLE
        if reply[3:4] != b"-":  # one of several lines
            self._commands += 1
            self._errors += reply[:1] in {b"4", b"5"}
        if self._errors >= MOST_ERRORS or self._commands >= MOST_COMMANDS:
            self._part(b"421 4.7.0 too many commands that led to nothing, goodbye\r\n")
        elif isinstance(self._reader, StrictReader) and self._reader.is_torn:
            self._part(b"421 4.7.0 lines end in CRLF here (RFC 5321, 2.3.8), goodbye\r\n")
        elif reply.startswith(b"500") and self.session and not self.session.host_name:
            # A browser that was made to post here begins with GET, POST or Host.
            self._part(b"421 4.7.0 this is a mail server, goodbye\r\n")
        elif self.loop.time() - self._began > LONGEST_SESSION and not is_begun:
            self._part(b"421 4.3.2 that was long enough, please come again\r\n")
        else:
            return
        raise asyncio.CancelledError  # as aiosmtpd does when a client hangs up

    async def handle_exception(self, error: Exception) -> str:
        """Whatever went wrong on our side; a client that cannot do TLS is no fault of ours."""
        if isinstance(error, TLSSetupException):
            why = getattr(error.__cause__, "reason", None) or type(error.__cause__).__name__
            note_refusal("TLS failed", self.peer, f"TLS {why}")
        reply: str = await super().handle_exception(error)
        return reply

    @syntax("STARTTLS", when="tls_context")
    async def smtp_STARTTLS(self, arg: str) -> None:  # noqa: N802 - aiosmtpd looks it up
        """Begin TLS; what was said in the clear before it does not count (RFC 3207, 4.2)."""
        if self._tls_protocol is not None:
            await self.push("503 5.5.1 this is TLS already")
        elif isinstance(self._reader, StrictReader) and self._reader.has_more:
            # Words put in behind the command by somebody on the way would be taken for the
            # client's own. RFC 2920 section 3.1 lets no client say anything here.
            self._part(b"501 5.5.1 nothing may follow STARTTLS before its reply, goodbye\r\n")
            raise asyncio.CancelledError
        else:
            IN_SESSION.set(True)
            await super().smtp_STARTTLS(arg)

    async def smtp_MAIL(self, arg: str | None) -> None:  # noqa: N802 - aiosmtpd looks it up
        """Begin a mail, whatever its harmless parameters are."""
        self._ignored = _HARMLESS["MAIL"]
        await super().smtp_MAIL(arg)

    async def smtp_RCPT(self, arg: str | None) -> None:  # noqa: N802 - aiosmtpd looks it up
        """Add a recipient, whatever its harmless parameters are."""
        self._ignored = _HARMLESS["RCPT"]
        await super().smtp_RCPT(arg)

    def _without_ignored(self, parameters: str) -> str:
        """Return a command's parameters without the harmless ones."""
        is_extended = self.session is not None and self.session.extended_smtp
        if self._ignored is None or not is_extended:
            return parameters.strip()
        ignored = self._ignored
        return " ".join(one for one in parameters.split(" ") if one and not ignored.fullmatch(one))

    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        """Return the address of MAIL or RCPT and its parameters; ``<>`` is the null sender.

        Other alphabets than ASCII have digits that are not numbers: a parameter with one is an
        error of syntax, which ``""`` stands for.

        aiosmtpd's own parser is made for headers: it closes open quotes, leaves out comments, and
        takes longer than the parser of a mail's text.
        """
        path = _PATH.fullmatch(arg)
        if path is None:
            return None, None
        parameters = self._without_ignored(path["rest"])
        if not parameters.isascii():
            return "", ""
        local, domain = path["local"] or "", path["domain"] or ""
        if arg.startswith("<>"):
            return "<>", parameters
        # Without a domain it may be a name on the very machine that says it, such as <root>.
        if not local or (local[0] == '"' and not domain):
            return None, None
        if plain := _UNQUOTED.fullmatch(local):  # quotes that are not needed mean nothing (4.1.2)
            local = plain[1]
        return local + domain, parameters


def _hang_up(transport: asyncio.Transport) -> None:
    """Drop a connection, whatever it has left to say, unless it is gone."""
    # Where TLS has ended by now, this raises before Python 3.11.4.
    with suppress(AttributeError):
        transport.abort()


class LmtpSession(SmtpSession, LMTP):
    """The same in LMTP."""

    _owed = 1

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - aiosmtpd looks it up
        """Take a mail; from here on each recipient is owed a reply (RFC 2033 section 4.2)."""
        self._owed = len(self.envelope.rcpt_tos) if self.envelope else 1
        await super().smtp_DATA(arg)

    async def turn_away(self, reply: str) -> None:
        """The handler knows of the recipients; who turns a mail away before it does not."""
        await super().turn_away("\r\n".join([reply] * self._owed))
