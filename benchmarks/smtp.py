"""The client and the sink of all measurements: small, and the same for every server.

Postfix's `smtp-source` sends one and the same mail again and again; a move must be another
mail each time. So this client sends mails that were made beforehand, over sessions that are
kept open, without pipelining, as `smtp-source` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail ready to be sent.

    Attributes:
        sender, recipient: of the envelope.
        data: the message with dots doubled, and the dot that ends it.
    """

    sender: str
    recipient: str
    data: bytes


class Refused(Exception):
    """The server said something else than was expected."""


class Session(asyncio.Protocol):
    """One kept-open session.

    Attributes:
        waits: for each mail sent, seconds from its dot to the 250.
        dot_at: when the newest mail's dot was about to be sent.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.waits: list[float] = []
        self.finished: asyncio.Future[None] = loop.create_future()
        self._step = self._greeted
        self._mails: Iterator[Mail] = iter(())
        self._buffer = b""
        self.dot_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        data = self._buffer + data
        start = data.rfind(b"\n", 0, -1) + 1
        if not data.endswith(b"\n") or data[start + 3 : start + 4] == b"-":
            self._buffer = data
            return
        self._buffer = b""
        self._step(data[start : start + 1], data)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.finished.done():
            self.finished.set_exception(error or Refused("the server hung up"))

    async def send(self, mails: Sequence[Mail]) -> None:
        """Send these, one after the other."""
        if self._transport.is_closing():  # nobody is there who could answer
            raise Refused("the server hung up")
        self.finished = asyncio.get_running_loop().create_future()
        self._mails = iter(mails)
        self._next()
        await self.finished

    def close(self) -> None:
        """Hang up."""
        self._transport.close()

    def _greeted(self, kind: bytes, said: bytes) -> None:
        self._expect(b"2", kind, said)
        self._step = self._known
        self._transport.write(b"EHLO bench.example\r\n")

    def _known(self, kind: bytes, said: bytes) -> None:
        self._expect(b"2", kind, said)
        self.finished.set_result(None)

    def _next(self) -> None:
        mail = next(self._mails, None)
        if mail is None:
            self.finished.set_result(None)
            return
        self._mail = mail
        self._step = self._begun
        self._transport.write(f"MAIL FROM:<{mail.sender}>\r\n".encode())

    def _begun(self, kind: bytes, said: bytes) -> None:
        self._expect(b"2", kind, said)
        self._step = self._addressed
        self._transport.write(f"RCPT TO:<{self._mail.recipient}>\r\n".encode())

    def _addressed(self, kind: bytes, said: bytes) -> None:
        self._expect(b"2", kind, said)
        self._step = self._asked
        self._transport.write(b"DATA\r\n")

    def _asked(self, kind: bytes, said: bytes) -> None:
        self._expect(b"3", kind, said)
        self._step = self._taken
        self.dot_at = perf_counter()  # before: the server may run first, on this very core
        self._transport.write(self._mail.data)

    def _taken(self, kind: bytes, said: bytes) -> None:
        self._expect(b"2", kind, said)
        self.waits.append(perf_counter() - self.dot_at)
        self._next()

    def _expect(self, wanted: bytes, kind: bytes, said: bytes) -> None:
        if kind != wanted and not self.finished.done():
            self.finished.set_exception(Refused(said.decode("utf-8", "replace").strip()))


async def connected(port: int) -> Session:
    """A session that has said EHLO."""
    loop = asyncio.get_running_loop()
    _, session = await loop.create_connection(Session, "127.0.0.1", port)
    await session.finished
    return session


async def send_all(port: int, shares: Sequence[Sequence[Mail]]) -> float:
    """Send each share over a session of its own, all at once; seconds from first to last 250."""
    sessions = [await connected(port) for _ in shares]
    begun = perf_counter()
    await asyncio.gather(
        *(session.send(mails) for session, mails in zip(sessions, shares, strict=True))
    )
    took = perf_counter() - begun
    for session in sessions:
        session.close()
    return took


class Sink(asyncio.Protocol):
    """The relay: takes every letter, tells whom it was for, and forgets it. It offers PIPELINING,
    as Postfix and Exim do."""

    def __init__(self, arrived: Callable[[str], None]) -> None:
        self._arrived = arrived
        self._buffer = b""
        self._recipient = ""
        self._in_data = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(b"220 sink.example\r\n")

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._replies: list[bytes] = []
        self._take()
        if self._replies:
            self._transport.write(b"".join(self._replies))

    def _take(self) -> None:
        while True:
            end = self._buffer.find(b"\r\n.\r\n" if self._in_data else b"\r\n")
            if end < 0:
                return
            text, self._buffer = self._buffer[:end], self._buffer[end + 2 + 3 * self._in_data :]
            if self._in_data:
                self._in_data = False
                self._replies.append(b"250 taken\r\n")
                self.takes(self._recipient, text)
            else:
                self._command(text)

    def takes(self, recipient: str, _text: bytes) -> None:
        """A letter has come."""
        self._arrived(recipient)

    def _command(self, line: bytes) -> None:
        verb = line[:4].upper()
        if verb == b"DATA":
            self._in_data = True
            self._replies.append(b"354 go on\r\n")
        elif verb == b"EHLO":
            self._replies.append(b"250-sink.example\r\n250 PIPELINING\r\n")
        elif verb == b"QUIT":
            self._transport.write(b"221 bye\r\n")
            self._transport.close()
        else:
            if verb == b"RCPT":
                self._recipient = line.partition(b"<")[2].partition(b">")[0].decode()
            self._replies.append(b"250 ok\r\n")
