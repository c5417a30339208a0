"""A server in processes of its own, as an operator runs it, and a relay for its letters."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import ssl
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from email import message_from_bytes
from pathlib import Path
from time import monotonic, sleep
from typing import Any, ClassVar, Self

from aiosmtpd.smtp import SMTP, Envelope, Session
from fork_server import Forked, run
from migrated import migrated

from pbmserv.files import sqlite_file

PATIENCE_S = 60
"""Seconds after which a wait has failed, on a machine that has much else to do."""
DOMAIN = "games.example"


class Process:
    """A ``pbmserv serve`` that has said that it is ready.

    Its database is by default SQLite in the folder. A file of SQLite that does not exist is made
    with all tables: a migration takes half of the processor time of a start.

    The end of a ``with`` stops it. Without one, the test stops it; `end_all` runs after each test
    and kills servers that a failed test has left behind.
    """

    _running: ClassVar[set[Process]] = set()

    def __init__(
        self,
        folder: Path,
        database_url: str = "",
        *,
        arguments: Sequence[str] = (),
        **settings: str | None,
    ) -> None:
        database_url = database_url or f"sqlite:///{folder}/pbmserv.sqlite3"
        values: dict[str, str | None] = {
            "DATA_DIR": str(folder),
            "DATABASE": database_url,
            "SMTP": "127.0.0.1:0",
            "WEB": "",
            "MAILBOX": "",  # the default is one port, which another test may be using
            "ADDRESS": f"pbmserv@{DOMAIN}",
            "SIGNUP": "open",
            **{name.upper(): value for name, value in settings.items()},
        }
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PBMSERV_")}
        if values["DATABASE"] and (file := sqlite_file(database_url)):
            migrated(file)
        self._errors = folder / "stderr.log"
        ours = {f"PBMSERV_{name}": value for name, value in values.items() if value is not None}
        self._environment = clean | ours
        read, write = os.pipe()
        with self._errors.open("ab") as errors:
            self.process = Forked(["serve", *arguments], self._environment, write, errors.fileno())
        os.close(write)
        self._running.add(self)
        self._output = os.fdopen(read)
        self.greeting = ""
        for line in self._output:
            if line == "ready\n":
                break
            self.greeting += line
        else:
            raise AssertionError(f"it ended: {self.errors}")
        port = re.search(r"SMTP 127\.0\.0\.1:(\d+)", self.greeting)
        self.port = int(port[1]) if port else 0  # 0: it takes no SMTP

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self in self._running:
            assert self.stop() == 0

    @property
    def errors(self) -> str:
        """The log of all servers in this folder."""
        return self._errors.read_text()

    def stages(self) -> dict[str, int]:
        """Return the process numbers of its stages by name (Linux)."""
        parent = self.process.pid
        numbers = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        stages: dict[str, int] = {}
        for number in numbers:
            # A stage that is stopping may end between the two files.
            with suppress(FileNotFoundError, ProcessLookupError):
                name = Path(f"/proc/{number}/comm").read_text().strip()
                stages[name.removeprefix("pbmserv ")] = int(number)
        return stages

    def command(self, *arguments: str) -> str:
        """Run an operator's command beside it, and return what it prints."""
        done = run(arguments, self._environment)
        assert done.returncode == 0, done
        return done.stdout

    def kill(self) -> None:
        """Send SIGKILL, and wait for its end."""
        self.process.kill()
        self._wait()

    def gone(self) -> None:
        """Wait for the end of its children after a SIGKILL: they finish the work in hand.

        They share its output, which ends with the last of them.
        """
        self._output.read()
        self._wait()

    def ask_to_stop(self, signum: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal, and return at once."""
        self.process.send_signal(signum)

    def stopped(self) -> int:
        """Wait for its end, and return the exit code."""
        return self._wait()

    def stop(self, signum: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, wait for its end, and return the exit code."""
        self.ask_to_stop(signum)
        return self.stopped()

    def _wait(self) -> int:
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(PATIENCE_S)
            raise AssertionError("it did not stop") from None
        finally:
            self._running.discard(self)
            self._output.close()

    @classmethod
    def logs(cls) -> str:
        """Return the ends of the logs of running servers, for the report of a failure."""
        return "\n".join(process.errors[-20_000:] for process in cls._running)

    @classmethod
    def end_all(cls) -> None:
        """Kill all servers that a test has left behind."""
        for process in list(cls._running):
            process.kill()


def refused_to_start(**settings: str) -> subprocess.CompletedProcess[str]:
    """Start a server that must fail before it is ready, and without a traceback."""
    ours = {f"PBMSERV_{name.upper()}": value for name, value in settings.items()}
    served = run(["serve"], {**os.environ, "PBMSERV_WEB": "", "PBMSERV_MAILBOX": "", **ours})
    assert "ready" not in served.stdout
    assert "Traceback" not in served.stderr
    return served


class Sink:
    """A relay that keeps all letters by Message-ID.

    Args:
        port: default: a free one.
        path: of a Unix socket, in place of a port.
        kind: of the sessions, which get the other options.
        tls: for TLS from the first octet.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        path: Path | None = None,
        kind: type[SMTP] = SMTP,
        tls: ssl.SSLContext | None = None,
        **options: Any,
    ) -> None:
        self.taken: dict[str, list[bytes]] = {}
        self._kind, self._options = kind, options
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relay")
        self._thread.start()
        opening = self._open(port, path, tls)
        self._server = asyncio.run_coroutine_threadsafe(opening, self._loop).result(PATIENCE_S)
        self.port: int = 0 if path else self._server.sockets[0].getsockname()[1]

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        raw = envelope.content
        assert isinstance(raw, bytes)
        message_id = str(message_from_bytes(raw)["Message-ID"])
        self.taken.setdefault(message_id, []).append(raw)
        return "250 2.0.0 taken"

    def session(self) -> SMTP:
        """Return the protocol of a new connection."""
        return self._kind(self, hostname="relay.example", loop=self._loop, **self._options)

    async def _open(
        self, port: int, path: Path | None, tls: ssl.SSLContext | None
    ) -> asyncio.Server:
        if path is not None:
            return await self._loop.create_unix_server(self.session, path)
        return await self._loop.create_server(self.session, "127.0.0.1", port, ssl=tls)

    async def _close(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def close(self) -> None:
        """Close the port and all sessions."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(PATIENCE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition of another process holds, which sends no event.

    Args:
        what: names the condition in the message of a failure.
    """
    begun = monotonic()
    while not condition():
        waited = monotonic() - begun
        assert waited < PATIENCE_S, f"not in time: {what}"
        sleep(min(0.1, 0.01 + waited / 20))  # each look takes time from the other process
