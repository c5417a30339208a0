"""Starts each server under test in a process of its own, and stops it."""

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

from benchmarks.each import FILE
from benchmarks.later import DAYS
from benchmarks.moves import DOMAIN, LOCAL
from benchmarks.sink import COUNT
from benchmarks.slow_disk import DELAY

_PORT = re.compile(r"SMTP \S*?:(\d+)")
_PBMSERV = ("-m", "pbmserv", "serve")
_LATER = ("-m", "benchmarks.later", "serve")
_SLOW = ("-m", "benchmarks.slow_disk", "serve")


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
    """aiosmtpd with a handler that only answers 250."""
    with _started(("-m", "benchmarks.bare"), {}, subprocess.DEVNULL) as running:
        yield running


@dataclass(frozen=True, slots=True)
class Relay:
    """A relay that takes every letter, and forgets it.

    Attributes:
        taken: says how many letters it has taken.
    """

    url: str
    process: subprocess.Popen[str]
    taken: Callable[[], int]


@contextmanager
def sink() -> Iterator[Relay]:
    """Such a relay, in a process of its own."""
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
def process_for_each(database: Path) -> Iterator[Running]:
    """A server that starts a program for each mail."""
    with _started(("-m", "benchmarks.each"), {FILE: str(database)}, subprocess.DEVNULL) as running:
        yield running


@contextmanager
def pbmserv(folder: Path, database: Path, relay: str, **settings: str) -> Iterator[Running]:
    """`pbmserv serve` as it is; its log goes to *folder*."""
    settings["PBMSERV_RELAY"] = relay
    with _ours(_PBMSERV, folder, database, settings) as running:
        yield running


@contextmanager
def stage(folder: Path, database: Path, name: str, slower_ms: int = 0) -> Iterator[Running]:
    """One stage of it, with commits that take so much longer."""
    command = (*(_SLOW if slower_ms else _PBMSERV), "--only", name)
    with _ours(command, folder, database, {DELAY: str(slower_ms)}) as running:
        yield running


@contextmanager
def host(folder: Path, url: str, relay: str, only: str = "door,play,post") -> Iterator[Running]:
    """What one host runs over a database that it shares with others; *folder* is its own."""
    folder.mkdir(exist_ok=True)
    shared = {"PBMSERV_DATABASE": url, "PBMSERV_RELAY": relay, "PBMSERV_WEB": ""}
    with _ours((*_PBMSERV, "--only", only), folder, folder, shared) as running:
        yield running


@contextmanager
def days_later(folder: Path, database: Path, days: int) -> Iterator[Running]:
    """`pbmserv serve` with a clock that is ahead; its letters go to Maildirs in *folder*."""
    with _ours(_LATER, folder, database, {DAYS: str(days)}) as running:
        yield running


def compact(folder: Path, database: Path) -> None:
    """`pbmserv db compact`."""
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
        # Counted as always, but a benchmark has few players for so many mails.
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
            found = _PORT.search(line)
            port = int(found[1]) if found and not port else port
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
    """The environment without settings of a server of ours."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PBMSERV_")}
