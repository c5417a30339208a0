"""An SMTP client that says exactly what a test tells it to, right or wrong."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from types import TracebackType
from typing import Self

PATIENCE_S = 20

SETTLES: dict[int, Callable[[], None]] = {}
"""By port: waits until what a server in this process has taken was carried out."""


class Wire:
    """One connection, greeted and read up to its greeting."""

    def __init__(
        self, port: int, *, hello: str = "EHLO players.example", source: str = "127.0.0.1"
    ) -> None:
        self._port = port
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S, (source, 0))
        self._file = self._socket.makefile("rb")
        self.greeting = self.answer()
        if hello:
            assert self.ask(hello).startswith("250")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up without a word; what was taken is carried out then."""
        self._file.close()
        self._socket.close()
        self._settle()

    def say(self, words: str | bytes) -> None:
        """Send a line (text), or these very octets."""
        self._socket.sendall(words if isinstance(words, bytes) else f"{words}\r\n".encode())

    def answer(self) -> str:
        """The next reply, its lines joined; ``""`` when the server has hung up."""
        lines = []
        while True:
            try:
                line = self._file.readline().decode()
            except ConnectionResetError:
                line = ""
            lines.append(line.rstrip("\r\n"))
            if line[3:4] != "-":
                return "\n".join(lines)

    def ask(self, words: str | bytes) -> str:
        """Send, then read the reply."""
        self.say(words)
        return self.answer()

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Shake hands, as after a 220 to STARTTLS."""
        self._file.close()
        self._socket = context.wrap_socket(self._socket, server_hostname="games.example")
        self._file = self._socket.makefile("rb")

    @property
    def certificate(self) -> dict[str, object]:
        """What the server has shown."""
        assert isinstance(self._socket, ssl.SSLSocket)
        return dict(self._socket.getpeercert() or {})

    def rest(self) -> bytes:
        """All that still comes before the server hangs up."""
        try:
            return self._file.read()
        except ConnectionResetError:
            return b""

    def half_close(self) -> None:
        """Say that nothing more will come, and still listen."""
        self._socket.shutdown(socket.SHUT_WR)

    def begin(self, sender: str, *recipients: str) -> None:
        """A mail up to the 354."""
        assert self.ask(f"MAIL FROM:<{sender}>").startswith("250")
        for recipient in recipients:
            assert self.ask(f"RCPT TO:<{recipient}>").startswith("250")
        assert self.ask("DATA").startswith("354")

    def mail(self, sender: str, recipient: str, raw: bytes) -> str:
        """A whole mail, carried out; *raw* has no line that begins with a dot."""
        self.begin(sender, recipient)
        reply = self.ask(raw + b"\r\n.\r\n")
        self._settle()
        return reply

    def _settle(self) -> None:
        SETTLES.get(self._port, _nothing)()


def _nothing() -> None:
    """It is a process of its own, or nothing of ours."""


def mail(sender: str, subject: str, body: str = "", **headers: str) -> bytes:
    """The octets of a simple mail."""
    lines = [f"From: {sender}", f"Subject: {subject}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", body]).encode()
