"""Tells the service manager that the server is ready or stops: sd_notify(3) of systemd."""

from __future__ import annotations

import logging
import os
import socket

READY = "READY=1"
STOPPING = "STOPPING=1"

log = logging.getLogger("pbmserv")


def notify(state: str) -> None:
    """Send `READY` or `STOPPING`; do nothing without a service manager."""
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path:
        return
    address = "\0" + path[1:] if path.startswith("@") else path
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as manager:
            manager.connect(address)
            manager.send(state.encode())
    except OSError as error:  # the manager gives up on us after a while, and logs that
        log.error("the service manager cannot be told %s: %s", state, error)
