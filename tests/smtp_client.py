"""An SMTP client that sends exactly the given lines, right or wrong."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Callable
from types import TracebackType
from typing import Self

PATIENCE_S = 60

SETTLES: dict[int, Callable[[], None]] = {}
"""Functions by port that wait until a server in this process has carried out all mails."""


class Wire:
    """A connection that has read the greeting and said EHLO."""

    def __init__(
        self, port: int, *, hello: str = "EHLO players.example", source: str = "127.0.0.1"
    ) -> None:
        self._port = port
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S, (source, 0))
        self._file = self._socket.makefile("rb")
        try:
            self.greeting = self.answer()
            if hello:
                assert self.ask(hello).startswith("250")
        except BaseException:  # the server may have been killed meanwhile
            self._file.close()
            self._socket.close()
            raise

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
        """Hang up, and wait until all mails are carried out."""
        self._file.close()
        self._socket.close()
        self._settle()

    def say(self, words: str | bytes) -> None:
        """Send a line (`str`), or octets as they are."""
        self._socket.sendall(words if isinstance(words, bytes) else f"{words}\r\n".encode())

    def answer(self) -> str:
        """Return the next reply with all its lines; ``""`` if the server has hung up."""
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
        """Send, and return the reply."""
        self.say(words)
        return self.answer()

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Start TLS, as after a 220 to STARTTLS."""
        self._file.close()
        self._socket = context.wrap_socket(self._socket, server_hostname="games.example")
        self._file = self._socket.makefile("rb")

    @property
    def certificate(self) -> dict[str, object]:
        """The server's certificate."""
        assert isinstance(self._socket, ssl.SSLSocket)
        return dict(self._socket.getpeercert() or {})

    def rest(self) -> bytes:
        """Return everything that the server sends before it hangs up."""
        try:
            return self._file.read()
        except ConnectionResetError:
            return b""

    def half_close(self) -> None:
        """Close the sending side only."""
        self._socket.shutdown(socket.SHUT_WR)

    def begin(self, sender: str, *recipients: str) -> None:
        """Send the commands of a mail up to the 354."""
        assert self.ask(f"MAIL FROM:<{sender}>").startswith("250")
        for recipient in recipients:
            assert self.ask(f"RCPT TO:<{recipient}>").startswith("250")
        assert self.ask("DATA").startswith("354")

    def mail(self, sender: str, recipient: str, raw: bytes) -> str:
        """Send a mail, wait until it is carried out, and return the reply.

        Args:
            raw: has no line that begins with a dot.
        """
        self.begin(sender, recipient)
        reply = self.ask(raw + b"\r\n.\r\n")
        self._settle()
        return reply

    def _settle(self) -> None:
        SETTLES.get(self._port, _nothing)()


def _nothing() -> None:
    """Do not wait for a server in processes of its own."""


def without_number(reply: str) -> str:
    """Return the reply to a mail without the number of its arrival."""
    return re.sub(r"^(250 2\.0\.0 OK) \d+$", r"\1", reply)


def mail(sender: str, subject: str, body: str = "", **headers: str) -> bytes:
    """Return the octets of a simple mail."""
    lines = [f"From: {sender}", f"Subject: {subject}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", body]).encode()
