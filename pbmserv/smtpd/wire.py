"""Takes command lines and mails off the wire.

Lines are as RFC 5321 has them: ended by CRLF, and without control characters. asyncio's reader ends
a line at any LF; a server that does so too can be made to see commands that a stricter server in
front of it took for something else.

A mail's octets are taken all at once. aiosmtpd awaits every line by itself; that is most of what a
mail costs it, and a mail with a quoted board below the move has many lines. What is accepted and
answered is the same.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from aiosmtpd.smtp import SMTP, syntax

_SOUND = re.compile(rb"[^\x00-\x08\x0a-\x1f\x7f]*\r\n")

UNSOUND = b"\r\n"
"""What stands for a line that is not to be read: an empty one, which is answered with 500."""


class StrictReader(asyncio.StreamReader):
    """A reader whose lines are sound, or empty."""

    is_torn = False
    """Whether a line ended in a bare LF. What follows it belongs to the same line (RFC 5321 section
    2.3.8), so nothing that this client says can be told apart any more: its session must end."""

    _before = b""

    @property
    def has_more(self) -> bool:
        """Whether something has come that was not read yet."""
        return bool(getattr(self, "_buffer", b""))

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        """The next line; `UNSOUND` for one with a bare CR, bare LF, NUL or the like in it.

        Raises:
            asyncio.CancelledError: the client has nothing more to say.
            asyncio.LimitOverrunError: the line is beyond all measure.
        """
        try:
            line = await super().readuntil(separator)
        except asyncio.LimitOverrunError as error:
            # aiosmtpd reads so much, and then the rest, without what may be its CR.
            self._before = getattr(self, "_buffer", b"")[error.consumed - 1 : error.consumed]
            raise
        except asyncio.IncompleteReadError as error:
            raise asyncio.CancelledError from error  # as aiosmtpd does when a client hangs up
        before, self._before = self._before, b""
        if not (before + line).endswith(b"\r\n"):
            self.is_torn = True
        return line if _SOUND.fullmatch(line) else UNSOUND


def give_back(reader: asyncio.StreamReader, octets: bytes) -> None:
    """Put what was read too much of in front again.

    `feed_data` puts it behind what came since, and not at all once the client has said its last.
    """
    getattr(reader, "_buffer", bytearray())[:0] = octets


class StrictLines(asyncio.StreamReaderProtocol):
    """Stands below aiosmtpd's session, which makes its own reader, and exchanges that."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        client_connected_cb: Callable[..., Any] | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        limit = getattr(reader, "_limit", 2**16)
        super().__init__(StrictReader(limit=limit, loop=loop), client_connected_cb, loop)


_END = b"\r\n.\r\n"
_EVERYTHING = 1 << 30  # what has arrived is far less


class MailAtOnce(SMTP):
    """An SMTP session with a DATA command of our own (RFC 5321 sections 4.1.1.4 and 4.5.2)."""

    @syntax("DATA")
    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - aiosmtpd looks it up
        """Read a mail and hand it to the handler, whose reply is ours."""
        session, envelope = self.session, self.envelope
        assert session is not None
        assert envelope is not None
        if arg or not session.host_name or not envelope.rcpt_tos:
            await super().smtp_DATA(arg)  # it says what is wrong
            return
        await self.push("354 End data with <CR><LF>.<CR><LF>")
        content = await self._content(self.data_size_limit or _EVERYTHING)
        if content is None:
            await self.turn_away("552 Error: Too much mail data")
        elif max(map(len, content.split(b"\r\n"))) + len(b"\r\n") > self.line_length_limit:
            await self.turn_away("500 Line too long (see RFC5321 4.5.3.1.6)")
        else:
            envelope.content = envelope.original_content = content
            try:
                reply = await self._call_handler_hook("DATA")
            except Exception as error:  # noqa: BLE001 - it is logged, and the client waits
                await self.turn_away(await self.handle_exception(error))
                return
            self.envelope = self._create_envelope()
            await self.push(reply)

    async def turn_away(self, reply: str) -> None:
        """Say that a mail was not taken, and be ready for the next one."""
        self.envelope = self._create_envelope()
        await self.push(reply)

    async def _content(self, most: int) -> bytes | None:
        """All before the lone dot, dots undoubled; ``None`` for more than *most* octets."""
        taken = bytearray(b"\r\n")  # so that a dot in the first line is no other case
        seen = 0
        is_too_much = False
        while (end := taken.find(_END, seen)) < 0:
            if len(taken) - 2 > most:
                is_too_much = True
                del taken[: -len(_END)]
            seen = max(0, len(taken) - len(_END))
            piece = await self._reader.read(_EVERYTHING)
            if not piece:
                raise asyncio.CancelledError  # as aiosmtpd does when the client hangs up
            taken += piece
        content, rest = taken[: end + 2], taken[end + len(_END) :]
        if rest:
            give_back(self._reader, bytes(rest))  # the next commands; `read` took everything
        if is_too_much or len(content) - 2 > most:
            return None
        return bytes(content).replace(b"\r\n.", b"\r\n")[2:]
