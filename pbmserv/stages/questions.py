"""Questions between the stages of one machine: requests and answers over a Unix socket.

The socket lies in a folder that only the server's own user may enter (`run_folders`). The messages
are those of `messages`, a line each.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, TypeAlias, TypeVar

from pbmserv.errors import StoreAway
from pbmserv.stages.messages import (
    Misread,
    NoteStops,
    Request,
    answer_line,
    error_line,
    read_answer,
    read_request,
    request_line,
)
from pbmserv.store.boards.game_pauses import Stop

PATIENCE_S = 20.0
"""Seconds that a question waits for a stage that is starting, or starting again."""
RETRY_S = 0.05
"""Seconds between two attempts to connect."""
BACKLOG = 64
MOST_OCTETS = 1 << 28
"""Length of the longest line."""

A = TypeVar("A")
Answers: TypeAlias = Mapping[type[Request[Any]], Callable[[Any], Any]]
"""The function that answers each type of request."""

log = logging.getLogger("pbmserv.stages")


class Unanswered(StoreAway):
    """The other stage is not there, or went away before it answered."""


class NotThere(Unanswered):
    """The other stage does not listen, so it has not got the request."""


class Answering:
    """Answers requests at a path, each connection in a thread of its own.

    Args:
        path: of the socket, which is made.
        answers: the function for each type of request; called from several threads.
    """

    def __init__(self, path: Path, answers: Answers) -> None:
        path.unlink(missing_ok=True)
        self._answers = answers
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(BACKLOG)
        self._changed = threading.Condition()
        self._connections = 0
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._accept, name="answering", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def wait_for_askers(self, timeout: float) -> None:
        """Wait until every connection is closed, or for *timeout* seconds."""
        with self._changed:
            self._changed.wait_for(lambda: not self._connections, timeout)

    def close(self) -> None:
        """Accept no more connections; open ones are served to their end."""
        self._is_closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RD)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed, or this process has too many files open
                if self._is_closed.wait(RETRY_S):
                    return
                continue
            threading.Thread(
                target=self._serve, args=(connection,), name="answer", daemon=True
            ).start()

    def _serve(self, connection: socket.socket) -> None:
        self._count(1)
        try:
            with connection, connection.makefile("rb") as lines:
                while line := _line_of(lines):
                    connection.sendall(self._answer(line))
        except OSError:
            pass  # the other end has gone
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._changed:
            self._connections += more
            self._changed.notify_all()

    def _answer(self, line: bytes) -> bytes:
        try:
            request = read_request(line)
            return answer_line(request, self._answers[type(request)](request))
        except Exception as error:  # noqa: BLE001 - the asker gets it
            if isinstance(error, Misread):
                log.error("a request was misread", extra={"because": str(error)})
            return error_line(error)


class Asking:
    """Asks the stage at a path. Thread-safe.

    Args:
        path: of the other stage's socket.
        patience_s: seconds to wait for a stage that does not listen.
        longest_s: seconds to wait for an answer; `None`: without end.
    """

    def __init__(
        self, path: Path, patience_s: float = PATIENCE_S, longest_s: float | None = None
    ) -> None:
        self._path = path
        self._patience_s = patience_s
        self._longest_s = longest_s
        self._idle: list[socket.socket] = []
        self._is_ending = threading.Event()

    def end(self) -> None:
        """Stop waiting for a stage that does not listen: it may have ended for good."""
        self._is_ending.set()

    def ask(self, request: Request[A]) -> A:
        """Return the answer to a request.

        Raises:
            Unanswered: the other stage is not there, or went away, perhaps after it had done it.
            OperatorError, StoreAway, ServerFault: the other stage raised it.
        """
        line = request_line(request)
        connection = self._connection()
        try:
            connection.sendall(line)
            with connection.makefile("rb") as lines:
                answer = _line_of(lines)
            if not answer:
                raise ConnectionResetError("closed without an answer")
        except BaseException as error:
            connection.close()
            if isinstance(error, OSError):
                raise Unanswered(f"{self._path.stem} has gone away") from error
            raise
        self._idle.append(connection)
        return read_answer(request, answer)

    def close(self) -> None:
        """Close the idle connections."""
        while (connection := self._pop_idle()) is not None:
            connection.close()

    def _connection(self) -> socket.socket:
        """Return an idle connection that is still open, else a new one.

        Raises:
            NotThere: the other stage is not there.
        """
        while (connection := self._pop_idle()) is not None:
            if not _is_closed(connection):
                connection.settimeout(self._longest_s)
                return connection
            connection.close()
        end = monotonic() + self._patience_s
        while True:
            try:
                return self._connected()
            except OSError as error:
                if monotonic() >= end or self._is_ending.wait(RETRY_S):
                    raise NotThere(f"{self._path.stem} is not there") from error

    def _connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(self._longest_s)
            connection.connect(str(self._path))
        except BaseException:
            connection.close()
            raise
        return connection

    def _pop_idle(self) -> socket.socket | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None


def tell_play_of_stops(play: Asking, stops: Sequence[Stop]) -> None:
    """Tell play that processes hung or died in the rules of games, if it runs beside this one."""
    if not stops:
        return
    try:
        play.ask(NoteStops(tuple(stops)))
    except StoreAway as error:
        log.warning("play cannot be told of a game that hangs", extra={"because": str(error)})


def _is_closed(connection: socket.socket) -> bool:
    """Return whether the other end has closed; nothing else makes an idle connection readable."""
    connection.setblocking(False)
    try:
        connection.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True
    else:
        return True


def _line_of(lines: BinaryIO) -> bytes:
    """Return the next line, ``b""`` at the end.

    Raises:
        OSError: it is too long or incomplete.
    """
    line = lines.readline(MOST_OCTETS)
    if line and not line.endswith(b"\n"):
        raise ConnectionResetError("an incomplete line")
    return line
