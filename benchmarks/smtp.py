"""The client and the sink of all measurements: small, and the same for every server.

Postfix's `smtp-source` sends one and the same mail again and again; a move must be another
mail each time. So this client sends mails that were made beforehand, over sessions that are
kept open, without pipelining, as `smtp-source` does.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from time import perf_counter

_READ = 4_096
"""Octets read at once; a server's answers are shorter."""
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
        """The message as a server has it, where no line begins with a dot."""
        return self.data.removesuffix(b".\r\n")


class Refused(Exception):
    """The server said something else than was expected."""


class Dialog:
    """What a client says in one kept-open session; who has the connection sends it.

    Args:
        hello: the first word that it says.

    Attributes:
        waits: for each mail sent, seconds from its dot to the 250.
        dot_at: when the newest mail's dot was about to be sent.
        is_idle: nothing is under way: EHLO was answered, or the last mail.
    """

    def __init__(self, hello: str = "EHLO") -> None:
        self._hello = hello
        self.waits: list[float] = []
        self.dot_at = 0.0
        self.is_idle = False
        self._heard = self._greeted
        self._buffer = b""

    def begin(self, mail: Mail) -> bytes:
        """Say this to send a mail."""
        self.is_idle = False
        self._mail = mail
        self._heard = self._begun
        return f"MAIL FROM:<{mail.sender}>\r\n".encode()

    def answer(self, data: bytes) -> bytes:
        """Say this to what the server has said; ``b""``: nothing yet, or it is idle now.

        Raises:
            Refused: the server has said something else than was expected, or has hung up.
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
    """One kept-open session beside others in an event loop, see `connected`.

    Attributes:
        dialog: what was said.
    """

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
        """Send these, one after the other."""
        for mail in mails:
            if self._transport.is_closing():  # nobody is there who could answer
                raise Refused("the server hung up")
            self.finished = asyncio.get_running_loop().create_future()
            self._transport.write(self.dialog.begin(mail))
            await self.finished

    def close(self) -> None:
        """Hang up."""
        self._transport.close()


async def connected(port: int) -> Session:
    """A session that has said EHLO."""
    loop = asyncio.get_running_loop()
    _, session = await loop.create_connection(Session, "127.0.0.1", port)
    await session.finished
    return session


def send_all(
    port: int, shares: Sequence[Sequence[Mail]], when: Callable[[int], float] | None = None
) -> float:
    """Send each share over a session of its own, all at once; seconds from first to last 250.

    Without an event loop, which takes twice the processor time: what the client takes, the server
    has not got.

    Args:
        when: seconds from the beginning at which the mail of a number may be sent, and at which
            this is asked once more. The first mails of all shares come before the second ones.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        clients = [_Client(stack, port, share) for share in shares]
        for number, client in enumerate(clients):
            selector.register(client.wire, selectors.EVENT_READ, number)
        waiting = [(0.0, number) for number, client in enumerate(clients) if client.mails]
        busy = 0
        begun = perf_counter()
        while waiting or busy:
            now = perf_counter() - begun
            while waiting and waiting[0][0] <= now:
                number = heappop(waiting)[1]
                client = clients[number]
                at = when(client.sent * len(clients) + number) if when else now
                if at > now:
                    heappush(waiting, (at, number))
                else:
                    client.begin()
                    busy += 1
            for key, _ in selector.select(waiting[0][0] - now if waiting else None):
                client = clients[key.data]
                client.go_on()
                if client.dialog.is_idle:
                    busy -= 1
                    if client.sent < len(client.mails):
                        heappush(waiting, (0.0, key.data))
        return perf_counter() - begun


class _Client:
    """A session of `send_all` that has said EHLO, and what it sends."""

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
async def sinking(arrived: Callable[[str], None]) -> AsyncIterator[int]:
    """Such a relay in this process, at the port that comes; *arrived*: told whom each letter was
    for."""
    loop = asyncio.get_running_loop()
    sink = await loop.create_server(lambda: Sink(arrived), "127.0.0.1", 0)
    try:
        yield int(sink.sockets[0].getsockname()[1])
    finally:
        sink.close()


class Sink(asyncio.BufferedProtocol):
    """The relay: takes every letter, tells whom it was for, and forgets it. It offers PIPELINING,
    as Postfix and Exim do."""

    def __init__(self, arrived: Callable[[str], None]) -> None:
        self._arrived = arrived
        self._buffer = b""
        self._room = memoryview(bytearray(_LETTER))  # else a new 256 KiB for each letter, twice
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
