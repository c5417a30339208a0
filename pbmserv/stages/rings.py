"""Rings: datagrams that wake another stage. They carry no data, so several count as one."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def _wake_nobody() -> None:
    """Do nothing: each stage looks for work by itself sooner or later."""


@dataclass(frozen=True, slots=True)
class Rings:
    """The functions by which play wakes other stages; by default none is woken.

    Attributes:
        post: called after a commit that queued letters.
        bots: called after a commit that made it a bot's turn.
        web: called after a commit for which a page waits.
    """

    post: Callable[[], None] = _wake_nobody
    bots: Callable[[], None] = _wake_nobody
    web: Callable[[], None] = _wake_nobody


class Ring:
    """Calls a function whenever another process rings at a path.

    Args:
        path: of the socket, which is made.
        woken: called in a thread of its own.
    """

    def __init__(self, path: Path, woken: Callable[[], None]) -> None:
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._woken = woken
        self._thread = threading.Thread(target=self._listen, name=f"ring-{path.stem}", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RD)
        self._socket.close()

    def _listen(self) -> None:
        while True:
            try:
                if not self._socket.recv(8):
                    return
            except OSError:
                return
            self._woken()


class Bell:
    """Rings at a path. A stage that does not listen looks for work by itself sooner or later."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def ring(self) -> None:
        """Wake the other stage. Never waits; from any thread."""
        with contextlib.suppress(OSError):
            self._socket.sendto(b"!", self._path)
