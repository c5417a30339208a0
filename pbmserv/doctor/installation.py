"""The facts about an installation that several checks need."""

from __future__ import annotations

import ipaddress
import shutil
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from pbmserv.clock import Clock
from pbmserv.config.settings import Settings
from pbmserv.mail.dns import Resolver
from pbmserv.outbound.relay_url import RelayAddress, read_relay_url

COMMAND_S = 10.0
"""Seconds until another program must have answered."""

_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses for documentation (RFC 5737, RFC 3849): no packet is sent to them."""


def postfix_setting(name: str) -> str | None:
    """Return the value of a setting of this machine's Postfix, `None` if there is no Postfix.

    ``postconf -x`` replaces the names of other settings in it by their values.
    """
    program = shutil.which("postconf", path="/usr/sbin:/usr/bin:/usr/local/sbin:/opt/homebrew/sbin")
    printed = None if program is None else _output(program, "-x", "-h", name)
    return None if printed is None else " ".join(printed.split())


def first_line(*command: str) -> str:
    """Return the first line that a program prints, ``""`` if it fails or does not exist."""
    lines = (_output(*command) or "").splitlines()
    return lines[0].strip() if lines else ""


def _output(*command: str) -> str | None:
    """Return what a program prints, `None` if it fails or does not exist."""
    try:
        result = subprocess.run(  # noqa: S603 - our own words
            command, capture_output=True, text=True, timeout=COMMAND_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout if result.returncode == 0 else None


def own_addresses() -> tuple[str, ...]:
    """Return the public addresses from which this machine would reach others.

    A machine behind a router that translates addresses has none.
    """
    addresses: list[str] = []
    for family, elsewhere in _ELSEWHERE.items():
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((elsewhere, 9))  # chooses a route, and sends nothing
                address = str(probe.getsockname()[0])
        except OSError:
            continue
        if ipaddress.ip_address(address).is_global:
            addresses.append(address)
    return tuple(addresses)


@dataclass(frozen=True)
class Installation:
    """A server's settings, and the ways to ask about its surroundings.

    Attributes:
        settings: the server's settings.
        names: asks name servers.
        clock: this machine's clock.
        addresses: public addresses from which letters leave, if the operator named them.
        postfix: returns a setting of Postfix, see `postfix_setting`.
    """

    settings: Settings
    names: Resolver
    clock: Clock
    addresses: tuple[str, ...] = ()
    postfix: Callable[[str], str | None] = field(default=postfix_setting)

    @property
    def domain(self) -> str:
        """Domain of the address that players write to."""
        return self.settings.address.rpartition("@")[2].lower()

    @cached_property
    def relay(self) -> RelayAddress:
        """The relay of the settings."""
        return read_relay_url(self.settings.relay)

    @property
    def relays_here(self) -> bool:
        """Whether letters leave through a mail server on this machine."""
        return self.relay.is_local

    @cached_property
    def mail_host(self) -> str:
        """The name with which letters introduce themselves in HELO."""
        name = self.postfix("myhostname") if self.relays_here else None
        return (name or self.domain).lower()

    @cached_property
    def sending_addresses(self) -> tuple[str, ...]:
        """Addresses from which letters reach other mail servers; empty if they are not known."""
        if self.addresses:
            return self.addresses
        if self.relays_here:
            return own_addresses() or (*self.names.a(self.mail_host),)
        if self.relay.scheme == "maildir":
            return ()
        return (*self.names.a(self.relay.host), *self.names.aaaa(self.relay.host))

    @property
    def is_public(self) -> bool:
        """Whether mail of other domains can reach the address at all."""
        return "." in self.domain and not self.domain.endswith((".local", ".example", ".test"))
