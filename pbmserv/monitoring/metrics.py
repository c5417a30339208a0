"""What operators see of a running process: its numbers for Prometheus, and its signs of life.

A thread says that it gets on, and somebody else looks. The process tells the service manager that
started it: sd_notify(3) of systemd. Mails and letters are counted where their line of the log is
written, whatever the level of the log is.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram

REGISTRY = CollectorRegistry()
"""Of this process; nothing of prometheus_client's own is in it."""

MAILS = Counter(
    "pbmserv_mails",
    "Mails for one of our addresses each: taken, copy, ignored, kept, put-off or refused.",
    ["outcome"],
    registry=REGISTRY,
)
MAIL_SECONDS = Histogram(
    "pbmserv_mail_seconds",
    "From a mail's last octet to our reply, the commit included.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=REGISTRY,
)
LETTERS = Counter(
    "pbmserv_letters",
    "Attempts to hand a letter to the relay: sent, waits or refused.",
    ["outcome"],
    registry=REGISTRY,
)
REFUSALS = Counter(
    "pbmserv_refusals",
    "Commands and mails that were refused, by the code of the reply.",
    ["because"],
    registry=REGISTRY,
)
TURNED_AWAY = Counter(
    "pbmserv_turned_away",
    "Connections that got no place, or had to give theirs to somebody else.",
    ["listener", "because"],
    registry=REGISTRY,
)
WRONG_PASSWORDS = Counter(
    "pbmserv_wrong_guesses",
    "Passwords in mails that were wrong, or that nobody looked at after too many wrong ones.",
    ["because"],
    registry=REGISTRY,
)


class Pulse:
    """One thread's; to beat costs nothing. Read from other threads without a lock.

    Args:
        longest_s: seconds that one piece of its work may take.
    """

    def __init__(self, longest_s: float) -> None:
        self.longest_s = longest_s
        self._beat_at: float | None = None

    def beat(self) -> None:
        """A piece of work begins, or goes on."""
        self._beat_at = monotonic()

    def rest(self) -> None:
        """It waits for work, for as long as there is none."""
        self._beat_at = None

    @property
    def silent_s(self) -> float:
        """Seconds since it was heard of at its work; 0 while it waits for some."""
        beat_at = self._beat_at
        return 0.0 if beat_at is None else monotonic() - beat_at


class Watch(Protocol):
    """Shows the supervisor which piece of work a process is at, and a process which pieces one
    before it did not come back from: it was killed for that."""

    def at(self, number: int) -> None:
        """From now on that letter is made, or that board thought about; 0: nothing is."""
        ...

    def killed_over(self) -> Mapping[int, int]:
        """What processes of this kind were killed over, and how often."""
        ...


@dataclass(frozen=True, slots=True)
class Vital:
    """A thread, as somebody else sees it.

    Attributes:
        is_alive: it runs.
        silent_s: seconds since it was heard of at its work.
        longest_s: seconds after which it is stuck.
    """

    name: str
    is_alive: bool
    silent_s: float
    longest_s: float

    @classmethod
    def of(cls, thread: Thread, pulse: Pulse) -> Vital:
        """What can be seen now."""
        return cls(thread.name, thread.is_alive(), pulse.silent_s, pulse.longest_s)

    @property
    def is_stuck(self) -> bool:
        """Whether it is not heard of any more."""
        return self.silent_s > self.longest_s


# -- the service manager -----------------------------------------------------------------------


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
