"""Our DATA command takes and says what aiosmtpd's does, however the octets come in."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

from aiosmtpd.smtp import SMTP
from hypothesis import assume, given
from hypothesis import strategies as st

from pbmserv.smtpd.protocol import StrictSmtp

LARGEST = 4_000


class Kept:
    """A handler of both protocols, that keeps what it is given."""

    def __init__(self) -> None:
        self.mails: list[object] = []

    async def handle_MAIL(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        return self.begin_mail(envelope, address)

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        return self.add_recipient(server, envelope, address)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        return await self.store_mail(server, envelope)

    def begin_mail(self, envelope: Any, sender: str) -> str:
        envelope.mail_from = sender
        return "250 OK"

    def add_recipient(self, server: Any, envelope: Any, recipient: str) -> str:
        envelope.rcpt_tos.append(recipient)
        return "250 OK"

    async def store_mail(self, server: Any, envelope: Any) -> str:
        self.mails.append(envelope.content)
        return "250 kept"


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.written = b""
        self._closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    def pause_reading(self) -> None:
        """All has been sent already."""

    def resume_reading(self) -> None:
        """The same."""


def mails_and_replies(kind: type[SMTP], pieces: list[bytes]) -> tuple[list[object], bytes]:
    """Send octets, and return the mails that reach the handler and the replies to the client."""
    handler, wire = Kept(), Wire()

    async def main() -> None:
        session = kind(
            handler,
            data_size_limit=LARGEST,
            hostname="games.example",
            loop=asyncio.get_running_loop(),
        )
        session.connection_made(wire)
        for piece in (
            b"EHLO x\r\n",
            b"MAIL FROM:<a@b.example>\r\n",
            b"RCPT TO:<c@d.example>\r\n",
            b"DATA\r\n",
            *pieces,
        ):
            session.data_received(piece)
            for _ in range(8):
                await asyncio.sleep(0)
        session.connection_lost(None)
        await asyncio.sleep(0)

    asyncio.run(main())
    return handler.mails, wire.written


lines = st.lists(
    st.one_of(
        st.binary(max_size=20).map(lambda b: b.replace(b"\r", b"").replace(b"\n", b"")),
        st.sampled_from([b"", b".", b"..", b".a", b"a.", b"x" * 999, b"> quoted"]),
    ),
    max_size=8,
)


@given(lines, st.lists(st.integers(1, 2_000), max_size=6), st.sampled_from([b"", b"NOOP\r\n"]))
def test_any_mail_in_any_pieces(lines: list[bytes], cuts: list[int], following: bytes) -> None:
    text = b"".join((b"." if line[:1] == b"." else b"") + line + b"\r\n" for line in lines)
    assume(len(text) <= LARGEST)  # neither takes more
    octets = text + b".\r\n" + following
    places = sorted({0, *(cut for cut in cuts if cut < len(octets)), len(octets)})
    pieces = [octets[a:b] for a, b in pairwise(places)]
    ours = mails_and_replies(StrictSmtp, pieces)
    assert ours == mails_and_replies(SMTP, pieces)
    assert ours[0] == [b"".join(line + b"\r\n" for line in lines)]
