"""Divides the files that a process may open among its ports."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from pbmserv.config.settings import Settings
from pbmserv.errors import ConfigError
from pbmserv.net.listening import ACCEPTED_AT_ONCE
from pbmserv.stages.ports import Bound

RESERVED = 256
"""Descriptors for everything but clients: the database (two dozen connections, each with its log),
relays and Maildirs, name servers (64 questions at a time), listening sockets, the log, imports."""
WEB = 200
"""Connections of strangers to the pages."""
WEB_OWN = 100
"""Connections of our own proxies to the pages."""
FEWEST = 10
"""Least number of sessions at a mail port, and of connections to the pages."""


@dataclass(frozen=True, slots=True)
class ConnectionShares:
    """The numbers of connections that each port may have open.

    Attributes:
        sessions: of strangers at each mail port, and as many of our own mail servers.
        web: of strangers at the pages.
        web_own: of our own proxies at the pages.
        warning: a sentence if these are fewer than the settings ask for, else ``""``.
    """

    sessions: int
    web: int
    web_own: int
    warning: str = ""


PROBES = ConnectionShares(0, 10, 10)
"""Connections to the ports for metrics, the mailbox and operators; they are part of `RESERVED`."""


def connection_shares(settings: Settings, bound: Bound) -> ConnectionShares:
    """Return how many connections each port may have open.

    Raises:
        ConfigError: the system grants too few descriptors.
    """
    ports = len(bound.mail), int(bound.web is not None)
    limit = raise_limit(needed_descriptors(settings.sessions, *ports))
    return share_out(limit, settings.sessions, *ports)


def raise_limit(needed: int) -> int:
    """Ask the system for *needed* descriptors, and return the number that is allowed then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = resource.RLIM_INFINITY
    if soft == endless:
        return needed
    if soft < needed:
        more = needed if hard == endless else min(needed, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
        except (ValueError, OSError):  # macOS has a lower limit of its own
            return soft
        return more
    return soft


def needed_descriptors(sessions: int, mail_ports: int, web_ports: int) -> int:
    """Return the number of descriptors that all ports need at the same time."""
    mail = mail_ports * (2 * sessions + ACCEPTED_AT_ONCE)
    return RESERVED + mail + web_ports * (WEB + WEB_OWN + ACCEPTED_AT_ONCE)


def share_out(limit: int, sessions: int, mail_ports: int, web_ports: int) -> ConnectionShares:
    """Divide *limit* descriptors. If they are too few, mail and pages shrink alike.

    Raises:
        ConfigError: a port would have fewer than `FEWEST`.
    """
    needed = needed_descriptors(sessions, mail_ports, web_ports)
    if limit >= needed:
        return ConnectionShares(sessions, WEB, WEB_OWN)
    always = RESERVED + ACCEPTED_AT_ONCE * (mail_ports + web_ports)
    part = (limit - always) / (needed - always)
    at_mail, at_web, at_web_own = int(sessions * part), int(WEB * part), int(WEB_OWN * part)
    few = f"this process may open {limit} files (RLIMIT_NOFILE), but its ports need {needed}"
    if min(at_mail, at_web, at_web_own) < min(FEWEST, sessions):
        raise ConfigError(
            f'PBMSERV_SESSIONS = "{sessions}": {few}; raise the limit, such as ulimit -n {needed}'
        )
    warning = f"{few}: each mail port takes {at_mail} sessions, the pages {at_web} connections"
    return ConnectionShares(at_mail, at_web, at_web_own, warning)
