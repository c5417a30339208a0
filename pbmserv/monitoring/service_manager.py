"""Tells the service manager that started this process how far it is: sd_notify(3) of systemd."""

from __future__ import annotations

import logging
import os
import socket

READY = "READY=1"
STOPPING = "STOPPING=1"

log = logging.getLogger("pbmserv")


def tell(state: str) -> None:
    """Send one state; nothing happens where no service manager waits for it.

    Args:
        state: `READY` or `STOPPING`.
    """
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path:
        return
    address = "\0" + path[1:] if path.startswith("@") else path
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as manager:
            manager.connect(address)
            manager.send(state.encode())
    except OSError as error:  # it will give up on us by itself, and says so
        log.error("the service manager cannot be told %s: %s", state, error)
