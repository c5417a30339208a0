"""Reads command lines and whole mails from the octets of a client.

RFC 5321 ends lines with CRLF and allows no control characters in commands. asyncio's reader ends a
line at any LF; such a server can be made to see commands that a stricter server in front of it took
for something else.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

_SOUND = re.compile(rb"[^\x00-\x08\x0a-\x1f\x7f]*\r\n")
_END = b"\r\n.\r\n"
_EVERYTHING = 1 << 30  # far more than ever arrives at once

UNSOUND = b"\r\n"
"""Stands for a command line that must not be read: an empty line, which is answered with 500."""
LONGEST_LINE = 65_536
"""Octets of a command without a line end after which the session ends."""

BARE_LF = "lines end in CRLF here (RFC 5321, 2.3.8)"
NO_END = "what you send has no end"


class StrictReader(asyncio.StreamReader):
    """A reader that aiosmtpd reads commands from, and that also reads a whole mail at once.

    Attributes:
        fault: why the session must end after the next reply; ``""`` if it may go on. After a bare
            LF nothing can be told apart any more: the rest belongs to the same line (RFC 5321
            section 2.3.8).
        octets_received: counted by the protocol.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__(limit=LONGEST_LINE, loop=loop)
        self.fault = ""
        self._ahead = bytearray()
        self.octets_received = self._octets_taken = 0

    @property
    def has_more(self) -> bool:
        """Whether octets have arrived that were not read yet."""
        return bool(self._ahead) or self.octets_received > self._octets_taken

    async def readuntil(self, separator: Any = b"\n") -> bytes:  # noqa: ARG002
        """Return the next command line; `UNSOUND` for one with control characters or a bare CR or
        LF.

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
        """Return the text before the line with a single dot, other dots undoubled.

        aiosmtpd awaits every line by itself, which is most of what a mail costs it.

        Returns:
            The text, or `None` if it has more than *most* octets. Beyond twice as many the session
            must end (`fault`).

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
        """Wait for more octets, and take all of them."""
        octets = await self.read(_EVERYTHING)
        if not octets:
            raise asyncio.CancelledError  # as aiosmtpd itself does
        self._octets_taken += len(octets)
        self._ahead += octets
