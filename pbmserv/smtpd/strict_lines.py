"""Command lines as RFC 5321 has them: ended by CRLF, and without control characters.

asyncio's reader ends a line at any LF. A server that does so too can be made to see commands
that a stricter server in front of it took for something else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

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
        """
        try:
            line = await super().readuntil(separator)
        except asyncio.IncompleteReadError as error:
            raise asyncio.CancelledError from error  # as aiosmtpd does when a client hangs up
        # Of a line beyond all measure aiosmtpd has `read` the rest, and its CR perhaps.
        before, self._before = self._before, b""
        if not (before + line).endswith(b"\r\n"):
            self.is_torn = True
        return line if _SOUND.fullmatch(line) else UNSOUND

    async def read(self, n: int = -1) -> bytes:
        """At most *n* octets, of whatever kind."""
        octets = await super().read(n)
        self._before = octets[-1:]
        return octets


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
