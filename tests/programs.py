"""Programs of the system for tests, such as nginx or Postfix, and ports for them."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep

import pytest

PATIENCE_S = 60
SBIN = ("/usr/sbin", "/sbin", "/usr/local/sbin")
"""Folders of Debian that are not on every PATH."""


def program(name: str) -> str:
    """Return the path of a program; skip the test if it is not installed."""
    path = shutil.which(name, path=os.pathsep.join((os.environ["PATH"], *SBIN)))
    if path is None:
        pytest.skip(f"NOT RUN: {name} is not installed here (.ci/run installs it when it can)")
    return path


def free_port() -> int:
    """Return a port on loopback that is free now, and that the system gives to no connection."""
    while True:
        port = secrets.choice(range(20_000, 32_000))
        with socket.socket() as listening, suppress(OSError):
            listening.bind(("127.0.0.1", port))
            return port


def wait_for_port(port: int, failed: Callable[[], str | None] = lambda: None) -> None:
    """Connect until a program listens.

    Args:
        failed: returns why the program will never listen; `None` while it may.
    """
    last = monotonic() + PATIENCE_S
    while True:
        assert (why := failed()) is None, why
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert monotonic() < last, f"nobody listens on port {port}"
            sleep(0.05)  # such programs send no event
        else:
            return
