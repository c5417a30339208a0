"""Reads the URL of a relay."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from pbmserv.errors import ConfigError

_SCHEMES: dict[str, Literal["smtp", "smtps", "lmtp"]] = {
    "smtp": "smtp",
    "smtps": "smtps",
    "lmtp": "lmtp",
}
_DEFAULT_PORT = {"smtp": 25, "smtps": 465, "lmtp": 24}
_SUBMISSION = 587
"""The port for clients that log in (RFC 6409, 3.1)."""
_BLANK_OR_CONTROL = re.compile(r"[\s\x00-\x1f\x7f]")
_WRONG_PLACE = (
    "relay: after the host only :PORT may follow, a number from 1 to 65535; "
    "in a user or password write @ : / # ? % as %40 %3A %2F %23 %3F %25, "
    "such as smtp://USER:PASS%40WORD@HOST:587"
)


@dataclass(frozen=True, slots=True)
class RelayAddress:
    """The parts of a relay URL.

    Attributes:
        scheme: the protocol; ``smtp`` uses STARTTLS if the relay offers it.
        host: name or address, ``""`` for a socket or folder.
        port: TCP port, 0 for a socket or folder.
        path: socket of ``lmtp:/…`` or folder of ``maildir:…``.
        user, password: ``""`` for none.
    """

    scheme: Literal["smtp", "smtps", "lmtp", "maildir"]
    host: str = ""
    port: int = 0
    path: str = ""
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def is_local(self) -> bool:
        """Whether the relay is a mail server on this machine."""
        if self.scheme == "maildir":
            return False
        try:
            return self.path != "" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"


def read_relay_url(url: str) -> RelayAddress:
    """Parse a relay URL.

    ==============================  ====================================================
    ``maildir:/var/lib/mail``       one Maildir for each recipient, in this folder
    ``smtp://host[:25]``            a relay that trusts us
    ``smtp://user:pw@host[:587]``   submission; the password is sent over TLS only, except
                                    to a relay on this machine
    ``smtps://user:pw@host[:465]``  TLS from the first octet
    ``lmtp://host[:24]``            local delivery over TCP
    ``lmtp:/run/dovecot/lmtp``      … over a Unix socket
    ==============================  ====================================================

    ``@ : / % # ?`` in a user name or password are written as ``%40 %3A …``.

    Raises:
        ConfigError: the URL is wrong; the message never quotes it, since it may contain a password.
    """
    scheme, _, rest = url.strip().partition(":")
    scheme = scheme.lower()
    if scheme == "maildir":
        if not rest or "\0" in rest:
            raise ConfigError("relay: maildir: needs a folder, such as maildir:/var/lib/mail")
        try:
            return RelayAddress("maildir", path=str(Path(rest).expanduser()))
        except RuntimeError:
            raise ConfigError(
                "relay: there is no user with that home; write the path, "
                "such as maildir:/var/lib/mail"
            ) from None
    if scheme == "lmtp" and rest.startswith("/") and (rest[1:2] != "/" or rest[:3] == "///"):
        return RelayAddress("lmtp", path="/" + rest.lstrip("/"))
    if scheme in _DEFAULT_PORT and rest.startswith("//"):
        return _network_address(scheme, rest)
    raise ConfigError(
        "relay: begin with maildir:, smtp://, smtps:// or lmtp://, "
        "such as maildir:/var/lib/mail or smtp://localhost:25"
    )


def _network_address(scheme: str, rest: str) -> RelayAddress:
    try:
        parts = urlsplit(rest)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        # "from None": the cause would quote the URL, and with it the password.
        raise ConfigError(_WRONG_PLACE) from None
    if parts.path.strip("/") or parts.query or parts.fragment or port == 0:
        raise ConfigError(_WRONG_PLACE)
    if not host or _BLANK_OR_CONTROL.search(host):
        raise ConfigError(f"relay: {scheme}:// needs a host, such as {scheme}://localhost")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if (user or password) and scheme == "lmtp":
        raise ConfigError("relay: LMTP has no login; leave it out, such as lmtp://localhost:24")
    example = f"such as {scheme}://USER:PASSWORD@HOST"
    if bool(user) != bool(password):
        raise ConfigError(f"relay: give a user and a password, or neither, {example}")
    if not (user + password).isascii() or "\0" in user + password:
        raise ConfigError(
            f"relay: the user and password must be ASCII, as mail servers expect, {example}"
        )
    return RelayAddress(
        scheme=_SCHEMES[scheme],
        host=host,
        port=port or (_SUBMISSION if user and scheme == "smtp" else _DEFAULT_PORT[scheme]),
        user=user,
        password=password,
    )
