"""The listening sockets of a server, and the connections at its ports."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from pbmserv.config.settings import Settings
from pbmserv.config.sources import variable_of
from pbmserv.errors import ConfigError
from pbmserv.net import listening
from pbmserv.net.connection_limits import ConnectionLimits
from pbmserv.service.operators.health import Slots
from pbmserv.smtpd.tls import Certificate
from pbmserv.web.operators.token import read_token

MAIL_PORTS = ("smtp", "smtps", "lmtp")
"""The settings that name ports of the door."""
WEB_PORTS = ("web", "metrics", "mailbox", "operator_pages")
"""The settings that name ports of the web process."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The listening sockets of a server, bound before anything is served.

    Attributes:
        sockets: by the name of their setting, without those that are turned off.
        certificate: for TLS in mail sessions; `None` for no TLS.
    """

    sockets: Mapping[str, socket.socket]
    certificate: Certificate | None

    @property
    def mail(self) -> Mapping[str, socket.socket]:
        """The open mail ports, by protocol."""
        return {name: port for name, port in self.sockets.items() if name in MAIL_PORTS}

    def keep_only(self, stage: str) -> None:
        """In a forked process, close the ports of the other stages: an address must be free as soon
        as its own stage closes it."""
        for name, port in self.sockets.items():
            if stage != ("door" if name in MAIL_PORTS else "web"):
                port.close()

    def close(self) -> None:
        """Close all ports."""
        for port in self.sockets.values():
            port.close()


def bind(settings: Settings) -> Bound:
    """Bind all ports, read the certificate, and check the operators' token.

    Raises:
        ConfigError: an address is taken or not this machine's, or the certificate or the operators'
            token cannot be used.
    """
    certificate = None
    if settings.tls_cert is not None:
        certificate = Certificate(settings.tls_cert, settings.tls_key or settings.tls_cert)
    if settings.operator_pages is not None and settings.operator_token is not None:
        read_token(settings.operator_token)
    sockets: dict[str, socket.socket] = {}
    try:
        for name in (*MAIL_PORTS, *WEB_PORTS):
            if (listen := getattr(settings, name)) is not None:
                sockets[name] = listening.bind(listen, variable_of(name))
        _refuse_public_port(sockets, "mailbox", "127.0.0.1:8027")
        if not settings.operator_url:
            _refuse_public_port(sockets, "operator_pages", "127.0.0.1:8028")
    except ConfigError:
        for port in sockets.values():
            port.close()
        raise
    return Bound(sockets, certificate)


def _refuse_public_port(sockets: Mapping[str, socket.socket], name: str, example: str) -> None:
    """Refuse a port that other machines can reach, whatever name the setting gave.

    Raises:
        ConfigError: other machines could connect.
    """
    port = sockets.get(name)
    if port is not None and not ip_address(port.getsockname()[0]).is_loopback:
        raise ConfigError(f"{variable_of(name)}: other machines could connect; write {example}")


def slots_of(limits: Mapping[str, ConnectionLimits]) -> dict[str, Slots]:
    """Return the connections of strangers by port, and those of our own servers (``smtp-own``)."""
    strangers = {port: Slots(*limit.inside) for port, limit in limits.items()}
    own = {f"{port}-own": Slots(*limit.own_inside) for port, limit in limits.items()}
    return strangers | own
