"""The ports of a server: bound before anything is served, and what each may have open."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from pbmserv.config import Settings
from pbmserv.errors import ConfigError
from pbmserv.net import descriptors, listening
from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.net.listening import Listening
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


def shares(settings: Settings, bound: Bound) -> descriptors.Shares:
    """What each port may have open, of as many files as the system grants.

    Raises:
        ConfigError: they are too few for any service.
    """
    ports = len(bound.mail), int(bound.web is not None)
    limit = descriptors.raise_limit(descriptors.wanted(settings.sessions, *ports))
    found = descriptors.shares(limit, settings.sessions, *ports)
    if found.warning:
        log.warning("%s", found.warning)
    return found


def limits(listener: str, settings: Settings, divided: descriptors.Shares) -> ConnectionLimits:
    """The sessions of one mail port."""
    most = divided.sessions
    from_network = min(settings.sessions_network, most)
    bounds = Bounds(most, from_network, most, SESSION_TIMEOUT, SESSION_TIMEOUT_FULL)
    return ConnectionLimits(listener, bounds, settings.mail_servers)
