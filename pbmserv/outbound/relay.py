"""The door to the next hop: what a relay takes, and which one a URL names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import unquote, urlsplit

from pbmserv.errors import ConfigError

_SCHEMES: dict[str, Literal["smtp", "smtps", "lmtp"]] = {
    "smtp": "smtp",
    "smtps": "smtps",
    "lmtp": "lmtp",
}
_DEFAULT_PORT = {"smtp": 25, "smtps": 465, "lmtp": 24}
#: RFC 6409, 3.1: where a login is asked for.
_SUBMISSION = 587
_BLANK_OR_CONTROL = re.compile(r"[\s\x00-\x1f\x7f]")
_WRONG_PLACE = (
    "relay: after the host only :PORT may follow, a number from 1 to 65535; "
    "in a user or password write @ : / # ? % as %40 %3A %2F %23 %3F %25"
)


@dataclass(frozen=True, slots=True)
class OutgoingLetter:
    """One letter for one recipient, ready to travel.

    Attributes:
        id: its number in the outbox.
        message_id: as in its header, with angle brackets.
        envelope_sender: where a bounce goes (MAIL FROM), ``""`` for nowhere.
        recipient: bare address (RCPT TO).
        raw: the message, CRLF line ends, no dots doubled.
    """

    id: int
    message_id: str
    envelope_sender: str
    recipient: str
    raw: bytes = field(repr=False)


class Relay(Protocol):
    """Takes letters; `deliver` may be called from several threads at once."""

    def deliver(self, letter: OutgoingLetter) -> None:
        """Hand over one letter; when this returns, the next hop answers for it.

        Raises:
            RelayDown: it speaks for all letters (no connection, no login …).
            RelayBusy: its domain wants fewer letters for a while (4xx).
            RelayTemporary: this letter may be taken later (4xx).
            RelayPermanent: this letter will never be taken (5xx).
        """
        ...

    def close(self) -> None:
        """Let go of connections. A later `deliver` opens them again."""
        ...


@dataclass(frozen=True, slots=True)
class RelayAddress:
    """A relay URL, read.

    Attributes:
        scheme: how to speak; ``smtp`` takes up TLS when it is offered.
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


def read_relay_url(url: str) -> RelayAddress:
    """What a relay URL says.

    ==============================  ====================================================
    ``maildir:/var/lib/mail``       one Maildir for each recipient, in this folder
    ``smtp://host[:25]``            a relay that trusts us
    ``smtp://user:pw@host[:587]``   submission; the password goes over TLS only, but for
                                    a relay on this machine
    ``smtps://user:pw@host[:465]``  TLS from the first octet
    ``lmtp://host[:24]``            local delivery over TCP
    ``lmtp:/run/dovecot/lmtp``      … over a Unix socket
    ==============================  ====================================================

    ``@ : / % # ?`` in a user name or password are written as ``%40 %3A …``.

    Raises:
        ConfigError: never quotes the URL, for it may hold a password.
    """
    scheme, _, rest = url.strip().partition(":")
    scheme = scheme.lower()
    if scheme == "maildir":
        if not rest or "\0" in rest:
            raise ConfigError("relay: maildir: needs a folder, for example maildir:/var/lib/mail")
        try:
            return RelayAddress("maildir", path=str(Path(rest).expanduser()))
        except RuntimeError:
            raise ConfigError("relay: there is no user with that home; write the path") from None
    if scheme == "lmtp" and rest.startswith("/") and (rest[1:2] != "/" or rest[:3] == "///"):
        return RelayAddress("lmtp", path="/" + rest.lstrip("/"))
    if scheme in _DEFAULT_PORT and rest.startswith("//"):
        return _network_address(scheme, rest)
    raise ConfigError(
        "relay: begin with maildir:, smtp://, smtps:// or lmtp:// "
        "(for example maildir:/var/lib/mail or smtp://localhost:25)"
    )


def check_relay_url(url: str) -> None:
    """Refuse a relay URL that `open_relay` could not use, without opening anything.

    Raises:
        ConfigError: says what would be right.
    """
    read_relay_url(url)


def open_relay(url: str) -> Relay:
    """The relay that a URL (see `read_relay_url`) names; connects when first used.

    Raises:
        ConfigError: the URL is wrong.
    """
    address = read_relay_url(url)
    if address.scheme == "maildir":
        from pbmserv.outbound.maildir import MaildirRelay

        return MaildirRelay(Path(address.path))
    from pbmserv.outbound.smtp_client import SmtpRelay

    return SmtpRelay(address)


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
        raise ConfigError(f"relay: {scheme}:// needs a host, for example {scheme}://localhost")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if bool(user) != bool(password):
        raise ConfigError("relay: give a user and a password, or neither")
    if user and scheme == "lmtp":
        raise ConfigError("relay: LMTP has no login; leave the user and password out")
    if not (user + password).isascii() or "\0" in user + password:
        raise ConfigError("relay: the user and password must be ASCII, as mail servers expect")
    return RelayAddress(
        scheme=_SCHEMES[scheme],
        host=host,
        port=port or (_SUBMISSION if user and scheme == "smtp" else _DEFAULT_PORT[scheme]),
        user=user,
        password=password,
    )
