"""File descriptors: how many this process may have, and how mail and pages share them."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from pbmserv.errors import ConfigError
from pbmserv.net.listening import AT_ONCE

RESERVED = 256
"""For everything but clients: the database (two dozen connections, each with its log), relays and
Maildirs, name servers (64 questions at a time), listening sockets, the log, imports."""
WEB = 200
"""Connections of strangers to the pages."""
WEB_OWN = 100
"""Connections of proxies of our own."""
FEWEST = 10
"""Fewer sessions at a mail port, or connections to the pages, are no service."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What each listener may have open.

    Attributes:
        sessions: of strangers at each mail port, and as many of our own mail servers.
        web: of strangers at the pages.
        web_own: of our own proxies at the pages.
        warning: one sentence where that is less than the settings ask for, else ``""``.
    """

    sessions: int
    web: int
    web_own: int
    warning: str = ""


PROBES = Shares(0, 10, 10)
"""What the listener for /metrics may have open, which is part of `RESERVED`."""


def raise_limit(wanted: int) -> int:
    """Ask the system for so many descriptors; how many there may be then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = resource.RLIM_INFINITY
    if soft == endless:
        return wanted
    if soft < wanted:
        more = wanted if hard == endless else min(wanted, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
        except (ValueError, OSError):  # macOS has a lower one of its own
            return soft
        return more
    return soft


def wanted(sessions: int, mail_ports: int, web_ports: int) -> int:
    """Descriptors that everything needs at once."""
    mail = mail_ports * (2 * sessions + AT_ONCE)
    return RESERVED + mail + web_ports * (WEB + WEB_OWN + AT_ONCE)


def shares(limit: int, sessions: int, mail_ports: int, web_ports: int) -> Shares:
    """Divide *limit* descriptors; where they are too few mail and pages shrink alike.

    Raises:
        ConfigError: so few that nobody could be served.
    """
    needed = wanted(sessions, mail_ports, web_ports)
    if limit >= needed:
        return Shares(sessions, WEB, WEB_OWN)
    always = RESERVED + AT_ONCE * (mail_ports + web_ports)
    part = (limit - always) / (needed - always)
    found = int(sessions * part), int(WEB * part), int(WEB_OWN * part)
    few = f"this process may open {limit} files (RLIMIT_NOFILE), and all its ports want {needed}"
    if min(found) < min(FEWEST, sessions):
        raise ConfigError(f"{few}: allow it more, or lower PBMSERV_SESSIONS")
    told = f"{few}: each mail port takes {found[0]} sessions, the pages {found[1]} connections"
    return Shares(*found, told)
