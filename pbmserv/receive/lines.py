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

    @property
    def has_more(self) -> bool:
        """Whether something has come that was not read yet."""
        return bool(getattr(self, "_buffer", b""))

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        """The next line; `UNSOUND` for one with a bare CR, bare LF, NUL or the like in it."""
        line = await super().readuntil(separator)
        return line if _SOUND.fullmatch(line) else UNSOUND


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
