"""Reads command lines and whole mails from the octets of a client.

RFC 5321 ends lines with CRLF and allows no control characters in commands. asyncio's reader ends a
line at any LF. Behind a stricter server it would see commands in octets that the other server took
for text, and so a stranger could smuggle mails.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

_SOUND = re.compile(rb"[^\x00-\x08\x0a-\x1f\x7f]*\r\n")
_END = b"\r\n.\r\n"
_EVERYTHING = 1 << 30  # far more than ever arrives at once

UNSOUND = b"\r\n"
"""Replaces a malformed command line: an empty line, to which aiosmtpd replies 500."""
LONGEST_LINE = 65_536
"""Octets without a line end after which the session ends."""

BARE_LF = "lines end in CRLF here (RFC 5321, 2.3.8)"
NO_END = "what you send has no end"


class StrictReader(asyncio.StreamReader):
    """The reader of a session: aiosmtpd reads command lines from it, and we read whole mails.

    Attributes:
        fault: the reason why the session must end after the next reply; ``""`` for none. A bare LF
            is one, because everything after it belongs to the same line (RFC 5321 section 2.3.8).
        octets_received: number of octets that the protocol has received.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__(limit=LONGEST_LINE, loop=loop)
        self.fault = ""
        self._ahead = bytearray()
        self.octets_received = self._octets_taken = 0

    @property
    def has_more(self) -> bool:
        """Whether received octets are left to read."""
        return bool(self._ahead) or self.octets_received > self._octets_taken

    async def readuntil(self, separator: Any = b"\n") -> bytes:  # noqa: ARG002
        """Return the next command line; `UNSOUND` if it holds control characters, bare CR or LF.

        Raises:
            asyncio.CancelledError: the client has closed the connection.
        """
        searched = 0
        while (end := self._ahead.find(b"\n", searched)) < 0:
            searched = len(self._ahead)
            if searched > LONGEST_LINE:
                self.fault = NO_END
                return UNSOUND
            await self._fill()
        line = bytes(self._ahead[: end + 1])
        del self._ahead[: end + 1]
        if not line.endswith(b"\r\n"):
            self.fault = BARE_LF
        return line if _SOUND.fullmatch(line) else UNSOUND

    async def read_mail(self, most: int) -> bytes | None:
        """Return the text up to the line with a single dot, without the dots that stuff lines.

        aiosmtpd awaits each line of a mail, which would be most of the cost of a mail.

        Returns:
            The text, or `None` if it has more than *most* octets. If it has more than twice as
            many, the session must end (`fault`).

        Raises:
            asyncio.CancelledError: the client has closed the connection.
        """
        self._ahead[:0] = b"\r\n"  # so that a dot in the first line is found like any other
        searched = 0
        is_too_long = False
        while (end := self._ahead.find(_END, searched)) < 0:
            if len(self._ahead) - 2 > most:
                if is_too_long:
                    self.fault = NO_END
                    return None
                is_too_long = True
                del self._ahead[: -len(_END)]
            searched = max(0, len(self._ahead) - len(_END))
            await self._fill()
        text = bytes(self._ahead[: end + 2])
        del self._ahead[: end + len(_END)]
        if is_too_long or len(text) - 2 > most:
            return None
        return text.replace(b"\r\n.", b"\r\n")[2:]

    async def _fill(self) -> None:
        """Wait for more octets, and read all of them."""
        octets = await self.read(_EVERYTHING)
        if not octets:
            raise asyncio.CancelledError  # as aiosmtpd itself does
        self._octets_taken += len(octets)
        self._ahead += octets
