"""Start each server under test in a process of its own, and stop it."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import IO, NamedTuple

from benchmarks.later import DAYS
from benchmarks.moves import DOMAIN, LOCAL
from benchmarks.smtp import relaying

_PORT = re.compile(r"SMTP \S*?:(\d+)")
_PBMSERV = ("-m", "pbmserv", "serve")
_LATER = ("-m", "benchmarks.later", "serve")


@dataclass(frozen=True, slots=True)
class Running:
    """A server that is ready.

    Attributes:
        greeting: the lines that it printed before ``ready``.
        took: seconds from its start to ``ready``.
    """

    greeting: str
    took: float
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        """The first SMTP port."""
        return smtp_port(self.greeting)


@contextmanager
def bare() -> Iterator[Running]:
    """Run aiosmtpd with a handler that only answers 250."""
    with _started(("-m", "benchmarks.bare"), {}, subprocess.DEVNULL) as running:
        yield running


class Relay(NamedTuple):
    """A relay that accepts every letter and forgets it; `letters` returns how many it took."""

    url: str
    letters: Callable[[], int]


@contextmanager
def sink() -> Iterator[Relay]:
    """Run a relay that counts letters, in a process of its own."""
    processes = multiprocessing.get_context("fork")
    count = processes.Value("Q", 0)
    here, there = processes.Pipe()

    def relay() -> None:
        def count_letter(_recipient: str, _text: bytes) -> None:
            count.value += 1

        with relaying(count_letter) as port:
            there.send(port)
            signal.pause()

    process = processes.Process(target=relay, daemon=True)
    process.start()
    try:
        yield Relay(f"smtp://127.0.0.1:{here.recv()}", lambda: count.value)
    finally:
        process.kill()
        process.join()


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
        env=without_settings() | settings,
        stdout=subprocess.DEVNULL,
        check=True,
    )


@contextmanager
def _ours(
    command: Sequence[str], folder: Path, database: Path, more: dict[str, str]
) -> Iterator[Running]:
    settings = {**settings_of(folder, f"sqlite:///{database}"), **more}
    with (
        (folder / "log").open("a") as log,
        _started(command, settings, log.fileno()) as running,
    ):
        yield running


def settings_of(folder: Path, url: str) -> dict[str, str]:
    """Return settings of a server that takes any number of mails from few players."""
    rates = ("PLAYER", "ADDRESS", "NETWORK", "ANSWERS")
    return {
        "PBMSERV_DATA_DIR": str(folder),
        "PBMSERV_DATABASE": url,
        "PBMSERV_SMTP": "127.0.0.1:0",
        "PBMSERV_WEB": "127.0.0.1:0",
        "PBMSERV_MAILBOX": "",
        "PBMSERV_ADDRESS": f"{LOCAL}@{DOMAIN}",
        **{f"PBMSERV_RATE_{kind}": "1000000/hour" for kind in rates},
    }


@contextmanager
def _started(command: Sequence[str], settings: dict[str, str], log: int) -> Iterator[Running]:
    begun = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command],
        env=without_settings() | settings,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    try:
        assert process.stdout is not None
        greeting = lines_until_ready(process.stdout)
        yield Running(greeting, perf_counter() - begun, process)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def lines_until_ready(output: IO[str]) -> str:
    """Wait until a server prints ``ready``, and return the lines before.

    Raises:
        RuntimeError: the server ended before.
    """
    greeting = ""
    for line in output:
        if line == "ready\n":
            return greeting
        greeting += line
    raise RuntimeError(f"a server did not start: {greeting}")


def smtp_port(greeting: str) -> int:
    """Return the first SMTP port that a server has printed."""
    match = _PORT.search(greeting)
    assert match is not None
    return int(match[1])


def without_settings() -> dict[str, str]:
    """Return the environment without settings of pbmserv."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PBMSERV_")}
