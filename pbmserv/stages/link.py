"""How the stages of one machine speak to each other: rings that wake, and questions with answers.

A ring is an empty datagram: it carries nothing, so none is missed where several are one. Questions
go over a socket in a folder that only the server's own user may enter; both ends are this program,
so values travel as pickles.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import secrets
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from pbmserv import files
from pbmserv.errors import OperatorError, ServerFault, StoreAway
from pbmserv.store.core.writer import UNAVAILABLE

LONGEST_PATH = 90
"""Octets of a socket's path that every system takes."""
MOST_SERVERS = 16
PATIENCE_S = 20.0
"""Seconds that a question waits for a stage that is just starting, or starting again."""

log = logging.getLogger("pbmserv.stages")

Answers = Mapping[str, Callable[..., Any]]


class Unanswered(StoreAway):
    """The other stage is not there, or went away before it answered."""


def first_place(data_dir: Path) -> Path:
    """The folder where the first server with these files has its sockets.

    Raises:
        ServerFault: others may write to it. What is asked there answers in pickles, so whoever
            puts a socket of their own there could do anything in our name.
    """
    base = data_dir.resolve() / "run"
    if len(os.fsencode(base)) > LONGEST_PATH:
        mark = hashlib.sha256(os.fsencode(base)).hexdigest()[:16]
        base = Path(tempfile.gettempdir()) / f"pbmserv-{os.getuid()}-{mark}"
        if os.path.lexists(base) and not files.is_private(base):
            raise ServerFault(f"others may write to {base}; remove it, or choose a shorter path")
    return base / "1"


@contextlib.contextmanager
def meeting_place(data_dir: Path, stages: Sequence[str]) -> Iterator[Path]:
    """The folder where the sockets of one server on this machine lie, held for *stages*; a second
    server with the same files (on PostgreSQL) gets one of its own."""
    files.make_private(first_place(data_dir).parent)
    first = first_place(data_dir)  # looked at once more: it was not there before
    for number in range(1, MOST_SERVERS + 1):
        found = first.with_name(str(number))
        files.make_private(found)
        if found.stat().st_uid != os.getuid():
            raise ServerFault(f"{found} belongs to somebody else")
        with contextlib.ExitStack() as held:
            marks = [held.enter_context((found / f"{one}.lock").open("w")) for one in stages]
            try:
                for one in marks:
                    fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield found
            return
    raise ServerFault(f"more than {MOST_SERVERS} servers share {data_dir}")


def claimant(folder: Path, process: str) -> str:
    """Return the name under which a process claims rows of the database.

    No two live processes have the same name: `meeting_place` locks the folder for each stage, and
    the folder's random mark tells it from other folders of the same host name. The successor of a
    dead process has the same name, and so knows what its predecessor had claimed.
    """
    mark = folder / "mark"
    if not mark.exists():
        new = folder / f"mark.{os.getpid()}"
        new.write_text(secrets.token_hex(8))
        with contextlib.suppress(FileExistsError):  # another process has just made it
            mark.hardlink_to(new)
        new.unlink()
    return f"{socket.gethostname()[:64]} {mark.read_text()} {process}"


class Ring:
    """Calls *woken* whenever somebody rings at *path*."""

    def __init__(self, path: Path, woken: Callable[[], None]) -> None:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._woken = woken
        self._thread = threading.Thread(target=self._listen, name=f"ring-{path.stem}", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def close(self) -> None:
        """Listen no more."""
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
    """Rings at *path*; whoever does not listen looks by itself sooner or later."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def ring(self) -> None:
        """Wake the other stage. Never waits; from any thread."""
        with contextlib.suppress(OSError):
            self._socket.sendto(b"!", self._path)


class Answering:
    """Answers questions at *path*, each connection in a thread of its own."""

    def __init__(self, path: Path, answers: Answers) -> None:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        self._answers = answers
        self._listener = Listener(str(path), "AF_UNIX", backlog=64)
        self._changed = threading.Condition()
        self._asking = 0
        self._thread = threading.Thread(target=self._accept, name="answering", daemon=True)
        self._is_closed = threading.Event()

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def wait_for_all(self, timeout: float) -> None:
        """Wait until those who ask have gone, or for so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: not self._asking, timeout)

    def close(self) -> None:
        """Answer no more; what is being answered is finished."""
        self._is_closed.set()
        with contextlib.suppress(OSError):
            self._listener.close()

    def _accept(self) -> None:
        while not self._is_closed.is_set():
            try:
                connection = self._listener.accept()
            except (OSError, EOFError):
                if self._is_closed.is_set():
                    return
                sleep(0.1)
                continue
            threading.Thread(
                target=self._serve, args=(connection,), name="answer", daemon=True
            ).start()

    def _serve(self, connection: Connection[Any, Any]) -> None:
        self._count(1)
        try:
            self._answer(connection)
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._changed:
            self._asking += more
            self._changed.notify_all()

    def _answer(self, connection: Connection[Any, Any]) -> None:
        with connection:
            while True:
                try:
                    name, values = connection.recv()
                except (EOFError, OSError):
                    return
                try:
                    found = True, self._answers[name](*values)
                except Exception as error:  # noqa: BLE001 - whoever asked gets it
                    found = False, _portable(error)
                try:
                    connection.send(found)
                except (OSError, BrokenPipeError):
                    return


class Asking:
    """Asks the stage at *path*; each thread over a connection of its own."""

    def __init__(
        self, path: Path, patience_s: float = PATIENCE_S, longest_s: float | None = None
    ) -> None:
        self._path = path
        self._patience_s = patience_s
        self._longest_s = longest_s
        self._mine = threading.local()
        self._is_ending = threading.Event()

    def end(self) -> None:
        """From now on wait for no stage that is not there: it may have ended for good."""
        self._is_ending.set()

    def ask(self, name: str, *values: Any) -> Any:
        """The answer.

        Raises:
            Unanswered: nobody is there, or went away; it may have been done all the same.
            Exception: what the other stage raised.
        """
        return self.begin(name, *values)()

    def begin(self, name: str, *values: Any) -> Callable[[], Any]:
        """Ask, and wait later: call what comes back, in this thread, for what `ask` does.

        Raises:
            Unanswered: nobody is there.
        """
        connection = self._connection()
        try:
            connection.send((name, values))
        except OSError as error:
            self._drop()
            raise self._gone() from error
        answer: Future[Any] = Future()
        self._mine.take = partial(self._take, connection, answer)

        def answered() -> Any:
            if not answer.done():
                self._mine.take()
            return answer.result()

        return answered

    def _take(self, connection: Connection[Any, Any], answer: Future[Any]) -> None:
        """Take an answer off the connection."""
        self._mine.take = None
        try:
            if not connection.poll(self._longest_s):
                raise OSError("no answer in time")
            is_answer, found = connection.recv()
        except (EOFError, OSError) as error:
            self._drop()
            is_answer, found = False, self._gone()
            found.__cause__ = error
        if is_answer:
            answer.set_result(found)
        else:
            answer.set_exception(found)

    def _gone(self) -> Unanswered:
        return Unanswered(f"{self._path.stem} has gone away")

    def _connection(self) -> Connection[Any, Any]:
        if take := getattr(self._mine, "take", None):  # nobody has waited for the answer before
            take()
        known: Connection[Any, Any] | None = getattr(self._mine, "connection", None)
        if known is not None and known.poll():  # nothing was asked: its other end has gone
            self._drop()
            known = None
        end = monotonic() + self._patience_s
        while known is None:
            try:
                known = _connected(self._path, self._longest_s)
            except OSError as error:
                if monotonic() >= end or self._is_ending.wait(0.05):
                    raise Unanswered(f"{self._path.stem} is not there") from error
        self._mine.connection = known
        return known

    def _drop(self) -> None:
        known = getattr(self._mine, "connection", None)
        self._mine.connection = None
        if known is not None:
            known.close()


def _connected(path: Path, longest_s: float | None) -> Connection[Any, Any]:
    """As `multiprocessing.connection.Client` does, but with an end to the wait for a stage that is
    there and accepts nobody."""
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(socket.socket(socket.AF_UNIX))
        made.settimeout(longest_s)
        made.connect(str(path))
        made.setblocking(True)
        return Connection(made.detach())


def _portable(error: Exception) -> Exception:
    """An error that survives the way; a library's may not, and may quote values."""
    if isinstance(error, (ServerFault, OperatorError)):
        return error
    kind = StoreAway if isinstance(error, UNAVAILABLE) else ServerFault
    return kind(type(error).__name__)
