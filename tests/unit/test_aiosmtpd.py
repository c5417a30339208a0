"""The one part of aiosmtpd that we replace is still where it was.

`pbmserv.smtpd.protocol` replaces the reader that aiosmtpd makes for a session. If a new version
of aiosmtpd makes or uses its reader in another way, these tests fail before a client notices.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP
from test_receive_data import Kept, Wire

from pbmserv.smtpd.protocol import StrictSmtp


def test_the_version_is_one_that_was_looked_at() -> None:
    assert version("aiosmtpd").startswith("1.4.")


def test_aiosmtpd_still_makes_the_reader_that_we_replace() -> None:
    """aiosmtpd passes one reader to asyncio's protocol in its constructor."""
    readers: list[asyncio.StreamReader] = []

    class Below(asyncio.StreamReaderProtocol):
        def __init__(self, reader: asyncio.StreamReader, *others: Any, **named: Any) -> None:
            readers.append(reader)
            super().__init__(reader, *others, **named)

    class Session(SMTP, Below):
        pass

    async def story() -> None:
        Session(Kept(), loop=asyncio.get_running_loop())

    asyncio.run(story())
    assert [type(reader) for reader in readers] == [asyncio.StreamReader]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_aiosmtpd_reads_every_command_from_our_reader(size: int) -> None:
    """aiosmtpd itself would answer 250 to NOOP with a NUL behind it."""
    lines = b"EHLO x\r\nNOOP\r\nNOOP \x00\r\nNOOP\r\nQUIT\r\n"
    wire = Wire()

    async def story() -> None:
        session = StrictSmtp(Kept(), hostname="games.example", loop=asyncio.get_running_loop())
        session.connection_made(wire)
        for at in range(0, len(lines), size):
            session.data_received(lines[at : at + size])
            for _ in range(8):
                await asyncio.sleep(0)
        session.connection_lost(None)
        await asyncio.sleep(0)

    asyncio.run(story())
    replies = [line[:3] for line in wire.written.split(b"\r\n") if line[3:4] == b" "]
    assert replies == [b"220", b"250", b"250", b"500", b"250", b"221"]
