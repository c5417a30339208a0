"""Ports for servers that do not print theirs."""

from __future__ import annotations

import socket
import time
from time import perf_counter

PATIENCE_S = 60


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    """Wait until a server listens at the port.

    Raises:
        OSError: none does within `PATIENCE_S`.
    """
    end = perf_counter() + PATIENCE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if perf_counter() > end:
                raise
            time.sleep(0.1)
        else:
            return
