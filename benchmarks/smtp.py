"""The SMTP client and the relay of all measurements.

The client sends mails that were made beforehand, over open sessions and without pipelining, as
Postfix's `smtp-source` does, which cannot send a different mail each time.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
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


class Client:
    """An open session. `begin` and `go_on` are for many sessions at once, `send` for one.

    Args:
        hello: the first word, EHLO or LHLO.

    Attributes:
        waits: seconds from the dot to the 250, for each mail.
        dot_at: time just before the dot of the newest mail was sent.
        is_idle: whether nothing is under way.
    """

    def __init__(self, port: int, hello: str = "EHLO") -> None:
        self.waits: list[float] = []
        self.dot_at = 0.0
        self.is_idle = False
        self._answer = b""
        self._steps = deque([(b"2", f"{hello} bench.example\r\n".encode()), (b"2", b"")])
        self.wire = socket.create_connection(("127.0.0.1", port))
        self.wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not self.is_idle:
            self.go_on()

    def send(self, mail: Mail) -> None:
        """Send a mail and wait for its 250."""
        self.begin(mail)
        while not self.is_idle:
            self.go_on()

    def begin(self, mail: Mail) -> None:
        """Send the words that begin a mail."""
        self.is_idle = False
        recipient = f"RCPT TO:<{mail.recipient}>\r\n".encode()
        self._steps += [(b"2", recipient), (b"2", b"DATA\r\n"), (b"3", mail.data), (b"2", b"")]
        self.wire.sendall(f"MAIL FROM:<{mail.sender}>\r\n".encode())

    def go_on(self) -> None:
        """Read what the server has sent, and send the words that follow a complete answer.

        Raises:
            Refused: the answer is not the expected one, or the server hung up.
        """
        data = self.wire.recv(_READ)
        if not data:
            raise Refused("the server hung up")
        self._answer += data
        last = self._answer.rfind(b"\n", 0, -1) + 1
        if not self._answer.endswith(b"\n") or self._answer[last + 3 : last + 4] == b"-":
            return
        answer, self._answer = self._answer, b""
        wanted, words = self._steps.popleft()
        if answer[last : last + 1] != wanted:
            raise Refused(answer.decode("utf-8", "replace").strip())
        if wanted == b"3":
            self.dot_at = perf_counter()  # before: the server may run first, on this very core
        if words:
            self.wire.sendall(words)
            return
        if self.dot_at:
            self.waits.append(perf_counter() - self.dot_at)
        self.is_idle = True

    def close(self) -> None:
        """Hang up."""
        self.wire.close()


def send_all(port: int, shares: Sequence[Sequence[Mail]], hello: str = "EHLO") -> float:
    """Send each share over a session of its own and return the seconds from first to last 250.

    All sessions send at the same time. There is no event loop, because one would take twice the
    processor time, which the server would miss.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        queues = [(stack.enter_context(closing(Client(port, hello))), deque(s)) for s in shares]
        begun = perf_counter()
        for client, mails in queues:
            if mails:
                selector.register(client.wire, selectors.EVENT_READ, (client, mails))
                client.begin(mails.popleft())
        while selector.get_map():
            for key, _ in selector.select():
                client, mails = key.data
                client.go_on()
                if client.is_idle and mails:
                    client.begin(mails.popleft())
                elif client.is_idle:
                    selector.unregister(client.wire)
        return perf_counter() - begun


@contextmanager
def relaying(take: Callable[[str, bytes], None]) -> Iterator[int]:
    """Run a relay in a thread and yield its port.

    Args:
        take: called in that thread with the recipient and the octets of each letter.
    """
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(lambda: Sink(take), "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, name="relay", daemon=True)
    thread.start()
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class Sink(asyncio.BufferedProtocol):
    """A relay that accepts every letter."""

    def __init__(self, take: Callable[[str, bytes], None]) -> None:
        self._take_letter = take
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
        replies = b"".join(iter(self._reply, b""))
        if replies:
            self._transport.write(replies)

    def _reply(self) -> bytes:
        """Take the next line or letter and return the reply; ``b""`` if none is complete."""
        end = self._buffer.find(b"\r\n.\r\n" if self._in_data else b"\r\n")
        if end < 0:
            return b""
        text, self._buffer = self._buffer[:end], self._buffer[end + 2 + 3 * self._in_data :]
        if self._in_data:
            self._in_data = False
            self._take_letter(self._recipient, text)
            return b"250 taken\r\n"
        verb = text[:4].upper()
        if verb == b"DATA":
            self._in_data = True
            return b"354 go on\r\n"
        if verb == b"EHLO":
            return b"250 sink.example\r\n"
        if verb == b"QUIT":
            self._transport.write(b"221 bye\r\n")
            self._transport.close()
            return b""
        if verb == b"RCPT":
            self._recipient = text.partition(b"<")[2].partition(b">")[0].decode()
        return b"250 ok\r\n"
