"""The listening sockets of a server, and the connections at its ports."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from pbmserv.config.settings import Settings
from pbmserv.errors import ConfigError
from pbmserv.net import listening
from pbmserv.net.connection_limits import ConnectionLimits
from pbmserv.service.operators.health import Slots
from pbmserv.smtpd.tls import Certificate
from pbmserv.web.operators.token import read_token


@dataclass(frozen=True, slots=True)
class Bound:
    """The sockets of a server, bound before anything is served; `None` for a port that is off."""

    smtp: socket.socket | None
    smtps: socket.socket | None
    lmtp: socket.socket | None
    web: socket.socket | None
    metrics: socket.socket | None
    mailbox: socket.socket | None
    operators: socket.socket | None
    certificate: Certificate | None

    @property
    def mail(self) -> Mapping[str, socket.socket]:
        """The open mail ports, by protocol."""
        ports = {"smtp": self.smtp, "smtps": self.smtps, "lmtp": self.lmtp}
        return {name: port for name, port in ports.items() if port is not None}

    @property
    def pages(self) -> list[socket.socket]:
        """The open ports of the web process."""
        ports = (self.web, self.metrics, self.mailbox, self.operators)
        return [port for port in ports if port is not None]

    def keep_only(self, stage: str) -> None:
        """In a forked process, close the ports of the other stages: an address must be free as soon
        as its own stage closes it."""
        for port in self.mail.values() if stage != "door" else ():
            port.close()
        for port in self.pages if stage != "web" else ():
            port.close()

    def close(self) -> None:
        """Close all ports."""
        for port in (*self.mail.values(), *self.pages):
            port.close()


def bind(settings: Settings) -> Bound:
    """Bind all ports, and read the certificate.

    Raises:
        ConfigError: an address is taken or not this machine's, or the certificate or the operators'
            token cannot be used.
    """
    certificate = None
    if settings.tls_cert is not None:
        certificate = Certificate(settings.tls_cert, settings.tls_key or settings.tls_cert)
    if settings.operator_pages is not None and settings.operator_token is not None:
        read_token(settings.operator_token)
    listens = {
        "PBMSERV_SMTP": settings.smtp,
        "PBMSERV_SMTPS": settings.smtps,
        "PBMSERV_LMTP": settings.lmtp,
        "PBMSERV_WEB": settings.web,
        "PBMSERV_METRICS": settings.metrics,
        "PBMSERV_MAILBOX": settings.mailbox,
        "PBMSERV_OPERATOR_PAGES": settings.operator_pages,
    }
    ports: list[socket.socket | None] = []
    try:
        for name, listen in listens.items():
            ports.append(listening.bind(listen, name) if listen else None)
        smtp, smtps, lmtp, web, metrics, mailbox, operators = ports
        _refuse_public_port("PBMSERV_MAILBOX", mailbox, "127.0.0.1:8027")
        if not settings.operator_url:
            _refuse_public_port("PBMSERV_OPERATOR_PAGES", operators, "127.0.0.1:8028")
    except ConfigError:
        for port in ports:
            if port is not None:
                port.close()
        raise
    return Bound(smtp, smtps, lmtp, web, metrics, mailbox, operators, certificate)


def _refuse_public_port(name: str, port: socket.socket | None, example: str) -> None:
    """Refuse a port that other machines can reach, whatever name the setting gave.

    Raises:
        ConfigError: other machines could connect.
    """
    if port is not None and not ip_address(port.getsockname()[0]).is_loopback:
        raise ConfigError(f"{name}: other machines could connect; write {example}")


def slots_of(limits: Mapping[str, ConnectionLimits]) -> dict[str, Slots]:
    """Return the connections of strangers by port, and those of our own servers (``smtp-own``)."""
    strangers = {port: Slots(*limit.inside) for port, limit in limits.items()}
    own = {f"{port}-own": Slots(*limit.own_inside) for port, limit in limits.items()}
    return strangers | own
