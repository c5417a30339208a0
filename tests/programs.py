"""Programs of the system that tests run, such as nginx or Postfix, and ports for them."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from time import monotonic, sleep

import pytest

PATIENCE_S = 30
SBIN = ("/usr/sbin", "/sbin", "/usr/local/sbin")
"""Where Debian keeps some of them; it is not on every PATH."""


def program(name: str) -> str:
    """The path of a program; where it is missing the test says so and does not run."""
    found = shutil.which(name, path=os.pathsep.join((os.environ["PATH"], *SBIN)))
    if found is None:
        pytest.skip(f"NOT RUN: {name} is not installed here (.ci/run installs it when it can)")
    return found


def free_port() -> int:
    """A port on loopback that nobody has now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def wait_for_port(port: int, failed: Callable[[], str | None] = lambda: None) -> None:
    """Knock until somebody listens; *failed*: why nobody ever will, None while somebody may."""
    last = monotonic() + PATIENCE_S
    while True:
        assert (why := failed()) is None, why
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert monotonic() < last, f"nobody listens on port {port}"
            sleep(0.05)  # these programs have no way to tell us
        else:
            return
