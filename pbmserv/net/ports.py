"""The ports of a server: bound before anything is served, and what each may have open.

Mail and pages share the file descriptors that this process may have.
"""

from __future__ import annotations

import logging
import resource
from collections.abc import Mapping
from dataclasses import dataclass

from pbmserv.config.settings import Settings
from pbmserv.errors import ConfigError
from pbmserv.net import listening
from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.net.listening import AT_ONCE, Listening
from pbmserv.smtpd.session import SESSION_TIMEOUT, SESSION_TIMEOUT_FULL
from pbmserv.smtpd.tls import Certificate

log = logging.getLogger("pbmserv.ports")


@dataclass(frozen=True, slots=True)
class Bound:
    """The sockets of a server, bound before anything is served."""

    smtp: Listening | None
    smtps: Listening | None
    lmtp: Listening | None
    web: Listening | None
    metrics: Listening | None
    certificate: Certificate | None

    @property
    def mail(self) -> Mapping[str, Listening]:
        """The mail ports that there are, by what is spoken there."""
        ports = {"smtp": self.smtp, "smtps": self.smtps, "lmtp": self.lmtp}
        return {name: port for name, port in ports.items() if port is not None}

    def keep_only(self, stage: str) -> None:
        """In a forked process: let go of what another stage listens at, so that an address is free
        as soon as that has closed it."""
        for port in self.mail.values() if stage != "door" else ():
            port.close()
        for one in (self.web, self.metrics):
            if one is not None and stage != "web":
                one.close()

    def close(self) -> None:
        """Give every address back."""
        for one in (*self.mail.values(), self.web, self.metrics):
            if one is not None:
                one.close()


def bind(settings: Settings) -> Bound:
    """Bind every listener.

    Raises:
        ConfigError: an address is taken, or not this machine's; the certificate is of no use.
    """
    certificate = None
    if settings.tls_cert is not None:
        certificate = Certificate(settings.tls_cert, settings.tls_key or settings.tls_cert)
    bound: list[Listening | None] = []
    try:
        for name, listen in (
            ("PBMSERV_SMTP", settings.smtp),
            ("PBMSERV_SMTPS", settings.smtps),
            ("PBMSERV_LMTP", settings.lmtp),
            ("PBMSERV_WEB", settings.web),
            ("PBMSERV_METRICS", settings.metrics),
        ):
            bound.append(listening.bind(listen, name) if listen else None)
    except ConfigError:
        for one in bound:
            if one is not None:
                one.close()
        raise
    smtp, smtps, lmtp, web, metrics = bound
    return Bound(smtp, smtps, lmtp, web, metrics, certificate)


def shares(settings: Settings, bound: Bound) -> Shares:
    """What each port may have open, of as many files as the system grants.

    Raises:
        ConfigError: they are too few for any service.
    """
    ports = len(bound.mail), int(bound.web is not None)
    limit = raise_limit(wanted(settings.sessions, *ports))
    found = share_out(limit, settings.sessions, *ports)
    if found.warning:
        log.warning("%s", found.warning)
    return found


def limits(listener: str, settings: Settings, divided: Shares) -> ConnectionLimits:
    """The sessions of one mail port."""
    most = divided.sessions
    from_network = min(settings.sessions_network, most)
    bounds = Bounds(most, from_network, most, SESSION_TIMEOUT, SESSION_TIMEOUT_FULL)
    return ConnectionLimits(listener, bounds, settings.mail_servers)


# -- file descriptors --------------------------------------------------------------------------


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


def share_out(limit: int, sessions: int, mail_ports: int, web_ports: int) -> Shares:
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
    few = f"this process may open {limit} files (RLIMIT_NOFILE), but its ports need {needed}"
    if min(found) < min(FEWEST, sessions):
        raise ConfigError(f"{few}: raise the limit, or lower PBMSERV_SESSIONS")
    told = f"{few}: each mail port takes {found[0]} sessions, the pages {found[1]} connections"
    return Shares(*found, told)
