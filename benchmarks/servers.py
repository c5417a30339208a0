"""Start each server under test in a process of its own, and stop it."""

from __future__ import annotations

import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.later import DAYS
from benchmarks.moves import DOMAIN, LOCAL
from benchmarks.sink import COUNT

_PORT = re.compile(r"SMTP \S*?:(\d+)")
_PBMSERV = ("-m", "pbmserv", "serve")
_LATER = ("-m", "benchmarks.later", "serve")


@dataclass(frozen=True, slots=True)
class Running:
    """A server that is ready.

    Attributes:
        took: seconds from its start to ``ready``.
    """

    port: int
    took: float
    process: subprocess.Popen[str]


@contextmanager
def bare() -> Iterator[Running]:
    """Run aiosmtpd with a handler that only answers 250."""
    with _started(("-m", "benchmarks.bare"), {}, subprocess.DEVNULL) as running:
        yield running


@dataclass(frozen=True, slots=True)
class Relay:
    """A relay that accepts every letter and forgets it.

    Attributes:
        letters: returns how many letters it has accepted.
    """

    url: str
    process: subprocess.Popen[str]
    letters: Callable[[], int]


@contextmanager
def sink() -> Iterator[Relay]:
    """Run a relay that counts letters."""
    with tempfile.TemporaryFile() as file:
        file.truncate(mmap.PAGESIZE)
        command = ("-m", "benchmarks.sink", str(file.fileno()))
        with (
            mmap.mmap(file.fileno(), mmap.PAGESIZE) as page,
            _started(command, {}, subprocess.DEVNULL, files=(file.fileno(),)) as running,
        ):
            url = f"smtp://127.0.0.1:{running.port}"
            yield Relay(url, running.process, lambda: COUNT.unpack_from(page)[0])


@contextmanager
def pbmserv(folder: Path, database: Path, relay: str, **settings: str) -> Iterator[Running]:
    """Run `pbmserv serve`; its log is in *folder*."""
    settings["PBMSERV_RELAY"] = relay
    with _ours(_PBMSERV, folder, database, settings) as running:
        yield running


@contextmanager
def stage(folder: Path, database: Path, name: str) -> Iterator[Running]:
    """Run one stage of the server."""
    with _ours((*_PBMSERV, "--only", name), folder, database, {}) as running:
        yield running


@contextmanager
def days_later(folder: Path, database: Path, days: int) -> Iterator[Running]:
    """Run `pbmserv serve` with a clock that is ahead; letters go to Maildirs in *folder*."""
    with _ours(_LATER, folder, database, {DAYS: str(days)}) as running:
        yield running


def compact(folder: Path, database: Path) -> None:
    """Run `pbmserv db compact`."""
    settings = {"PBMSERV_DATA_DIR": str(folder), "PBMSERV_DATABASE": f"sqlite:///{database}"}
    subprocess.run(
        [sys.executable, "-m", "pbmserv", "db", "compact"],
        env=_without_settings() | settings,
        stdout=subprocess.DEVNULL,
        check=True,
    )


@contextmanager
def _ours(
    command: Sequence[str], folder: Path, database: Path, more: dict[str, str]
) -> Iterator[Running]:
    settings = {
        "PBMSERV_DATA_DIR": str(folder),
        "PBMSERV_DATABASE": f"sqlite:///{database}",
        "PBMSERV_SMTP": "127.0.0.1:0",
        "PBMSERV_WEB": "127.0.0.1:0",
        "PBMSERV_MAILBOX": "",
        "PBMSERV_ADDRESS": f"{LOCAL}@{DOMAIN}",
        # Mails are counted as always, but a few players send many of them.
        "PBMSERV_RATE_PLAYER": "1000000/hour",
        "PBMSERV_RATE_ADDRESS": "1000000/hour",
        "PBMSERV_RATE_ANSWERS": "1000000/hour",
        **more,
    }
    with (
        (folder / "log").open("a") as log,
        _started(command, settings, log.fileno()) as running,
    ):
        yield running


@contextmanager
def _started(
    command: Sequence[str], settings: dict[str, str], log: int, files: Sequence[int] = ()
) -> Iterator[Running]:
    begun = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command],
        env=_without_settings() | settings,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        pass_fds=files,
    )
    try:
        assert process.stdout is not None
        port = 0
        for line in process.stdout:
            match = _PORT.search(line)
            port = int(match[1]) if match and not port else port
            if line == "ready\n":
                break
        else:
            raise RuntimeError(f"{' '.join(command)} did not start")
        yield Running(port, perf_counter() - begun, process)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _without_settings() -> dict[str, str]:
    """Return the environment without settings of pbmserv."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PBMSERV_")}
