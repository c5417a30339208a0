"""Makes sure that a process may open a file for each connection at its ports."""

from __future__ import annotations

import resource

from pbmserv.config.settings import Settings
from pbmserv.errors import ConfigError
from pbmserv.net.listening import ACCEPTED_AT_ONCE
from pbmserv.stages.ports import Bound
from pbmserv.stages.web_ports import WEB, WEB_OWN

RESERVED = 256
"""Descriptors for everything but clients: the database (two dozen connections, each with its log),
relays and Maildirs, name servers (64 questions at a time), listening sockets, the log, imports, and
the connections to the web ports that strangers cannot reach."""


def raise_limit(settings: Settings, bound: Bound) -> None:
    """Ask the system for as many descriptors as the door or web needs, for this process and its
    forks.

    Raises:
        ConfigError: the system grants fewer.
    """
    has_pages = "web" in bound.sockets
    needed = needed_descriptors(settings.sessions, len(bound.mail), has_pages=has_pages)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (ValueError, OSError):  # macOS has a lower limit of its own
        most = soft
    if most < needed:
        raise ConfigError(
            f'PBMSERV_SESSIONS = "{settings.sessions}": this process may open {most} files '
            f"(RLIMIT_NOFILE), but its ports need {needed}; raise the limit, such as "
            f"ulimit -n {needed}, or allow fewer sessions"
        )


def needed_descriptors(sessions: int, mail_ports: int, *, has_pages: bool) -> int:
    """Return the number of descriptors that the door or web needs, whichever needs more.

    Args:
        sessions: those of strangers at each mail port; our own servers may have as many.
        has_pages: whether the port of the public pages is open.
    """
    at_mail = mail_ports * (2 * sessions + ACCEPTED_AT_ONCE)
    at_web = WEB + WEB_OWN + ACCEPTED_AT_ONCE if has_pages else 0
    return RESERVED + max(at_mail, at_web)
