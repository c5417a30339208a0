"""Ports of servers that do not tell theirs."""

from __future__ import annotations

import socket
import time
from time import perf_counter

PATIENCE_S = 60


def free_port() -> int:
    """One that nobody has just now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    """Until somebody listens there.

    Raises:
        OSError: nobody does.
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
