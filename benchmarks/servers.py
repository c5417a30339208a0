"""Starts each server under test in a process of its own, and stops it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.moves import DOMAIN, LOCAL

_PORT = re.compile(r"SMTP \S*?:(\d+)")
PBMSERV = ("-m", "pbmserv", "serve")
HELD = ("-m", "benchmarks.held", "serve")
NOBODY_THERE = "smtp://127.0.0.1:1"
"""A relay for servers that send nothing."""


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


@contextmanager
def pbmserv(
    folder: Path, database_file: Path, relay: str, command: Sequence[str] = PBMSERV
) -> Iterator[Running]:
    """`pbmserv serve` as it is, with its database in *database_file*; its log goes to *folder*."""
    settings = {
        "PBMSERV_DATA_DIR": str(folder),
        "PBMSERV_DATABASE": f"sqlite:///{database_file}",
        "PBMSERV_SMTP": "127.0.0.1:0",
        "PBMSERV_WEB": "127.0.0.1:0",
        "PBMSERV_ADDRESS": f"{LOCAL}@{DOMAIN}",
        "PBMSERV_RELAY": relay,
    }
    with (
        (folder / "log").open("a") as log,
        _started(command, settings, log.fileno()) as running,
    ):
        yield running


@contextmanager
def _started(command: Sequence[str], settings: dict[str, str], log: int) -> Iterator[Running]:
    theirs = {name: value for name, value in os.environ.items() if not name.startswith("PBMSERV_")}
    begun = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command],
        env=theirs | settings,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
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
