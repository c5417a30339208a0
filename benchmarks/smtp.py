"""The SMTP client and the relay of all measurements.

The client sends mails that were made beforehand, over open sessions and without pipelining, as
Postfix's `smtp-source` does, which cannot send a different mail each time.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from time import perf_counter

_READ = 4_096
"""Octets read at once; answers of a server are shorter."""
_LETTER = 65_536
"""Octets of a letter that the relay reads at once."""


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

    @property
    def raw(self) -> bytes:
        """The message without the final dot; no line of it begins with a dot."""
        return self.data.removesuffix(b".\r\n")


class Refused(Exception):
    """The server gave another answer than expected, or closed the connection."""


class Dialog:
    """The words of a client in one session; the owner of the connection sends them.

    Args:
        hello: the first word, EHLO or LHLO.

    Attributes:
        waits: seconds from the dot to the 250, for each mail.
        dot_at: time just before the dot of the newest mail was sent.
        is_idle: whether nothing is under way.
    """

    def __init__(self, hello: str = "EHLO") -> None:
        self._hello = hello
        self.waits: list[float] = []
        self.dot_at = 0.0
        self.is_idle = False
        self._heard = self._greeted
        self._buffer = b""

    def begin(self, mail: Mail) -> bytes:
        """Return the words that begin a mail."""
        self.is_idle = False
        self._mail = mail
        self._heard = self._begun
        return f"MAIL FROM:<{mail.sender}>\r\n".encode()

    def answer(self, data: bytes) -> bytes:
        """Return the words that follow the server's answer; ``b""`` if there are none yet.

        Raises:
            Refused: the answer is not the expected one, or the server hung up.
        """
        if not data:
            raise Refused("the server hung up")
        if self._buffer:
            data = self._buffer + data
        start = data.rfind(b"\n", 0, -1) + 1
        if not data.endswith(b"\n") or data[start + 3 : start + 4] == b"-":
            self._buffer = data
            return b""
        self._buffer = b""
        wanted, words = self._heard()
        if data[start : start + 1] != wanted:
            raise Refused(data.decode("utf-8", "replace").strip())
        return words

    def _greeted(self) -> tuple[bytes, bytes]:
        self._heard = self._known
        return b"2", f"{self._hello} bench.example\r\n".encode()

    def _known(self) -> tuple[bytes, bytes]:
        self.is_idle = True
        return b"2", b""

    def _begun(self) -> tuple[bytes, bytes]:
        self._heard = self._addressed
        return b"2", f"RCPT TO:<{self._mail.recipient}>\r\n".encode()

    def _addressed(self) -> tuple[bytes, bytes]:
        self._heard = self._asked
        return b"2", b"DATA\r\n"

    def _asked(self) -> tuple[bytes, bytes]:
        self._heard = self._taken
        self.dot_at = perf_counter()  # before: the server may run first, on this very core
        return b"3", self._mail.data

    def _taken(self) -> tuple[bytes, bytes]:
        self.waits.append(perf_counter() - self.dot_at)
        self.is_idle = True
        return b"2", b""


class Session(asyncio.Protocol):
    """An open session in an event loop; `connected` makes one."""

    def __init__(self, hello: str = "EHLO") -> None:
        self.dialog = Dialog(hello)
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self.finished.done():  # the server says goodbye
            return
        try:
            words = self.dialog.answer(data)
        except Refused as refused:
            self.finished.set_exception(refused)
            return
        if words:
            self._transport.write(words)
        elif self.dialog.is_idle:
            self.finished.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.finished.done():
            self.finished.set_exception(error or Refused("the server hung up"))

    async def send(self, mails: Sequence[Mail]) -> None:
        """Send mails one after the other."""
        for mail in mails:
            if self._transport.is_closing():
                raise Refused("the server hung up")
            self.finished = asyncio.get_running_loop().create_future()
            self._transport.write(self.dialog.begin(mail))
            await self.finished

    def close(self) -> None:
        """Hang up."""
        self._transport.close()


async def connected(port: int) -> Session:
    """Return a session after its EHLO."""
    loop = asyncio.get_running_loop()
    _, session = await loop.create_connection(Session, "127.0.0.1", port)
    await session.finished
    return session


def send_all(port: int, shares: Sequence[Sequence[Mail]]) -> float:
    """Send each share over a session of its own and return the seconds from first to last 250.

    All sessions send at the same time. There is no event loop, because one would take twice the
    processor time, which the server would miss.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        clients = [_Client(stack, port, share) for share in shares]
        begun = perf_counter()
        for client in clients:
            if client.mails:
                selector.register(client.wire, selectors.EVENT_READ, client)
                client.begin()
        while selector.get_map():
            for key, _ in selector.select():
                client = key.data
                client.go_on()
                if not client.dialog.is_idle:
                    continue
                if client.sent < len(client.mails):
                    client.begin()
                else:
                    selector.unregister(client.wire)
        return perf_counter() - begun


class _Client:
    """A session of `send_all` after its EHLO, with the mails that it sends."""

    def __init__(self, stack: ExitStack, port: int, mails: Sequence[Mail]) -> None:
        self.mails = mails
        self.sent = 0
        self.dialog = Dialog()
        self.wire = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        self.wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not self.dialog.is_idle:
            self.go_on()

    def begin(self) -> None:
        self.wire.sendall(self.dialog.begin(self.mails[self.sent]))
        self.sent += 1

    def go_on(self) -> None:
        if words := self.dialog.answer(self.wire.recv(_READ)):
            self.wire.sendall(words)


@asynccontextmanager
async def sinking(note_arrival: Callable[[str], None]) -> AsyncIterator[int]:
    """Run a relay in this process and yield its port.

    Args:
        note_arrival: called with the recipient of each letter.
    """
    loop = asyncio.get_running_loop()
    sink = await loop.create_server(lambda: Sink(note_arrival), "127.0.0.1", 0)
    try:
        yield int(sink.sockets[0].getsockname()[1])
    finally:
        sink.close()


class Sink(asyncio.BufferedProtocol):
    """A relay that accepts every letter and forgets it. It offers PIPELINING, as Postfix does."""

    def __init__(self, note_arrival: Callable[[str], None]) -> None:
        self._note_arrival = note_arrival
        self._buffer = b""
        self._room = memoryview(bytearray(_LETTER))  # asyncio's own buffers cost time
        self._recipient = ""
        self._in_data = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(b"220 sink.example\r\n")

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        self._buffer += self._room[:nbytes]
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
        """Accept a letter."""
        self._note_arrival(recipient)

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
