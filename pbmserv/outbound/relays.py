"""Makes the relay that a URL names."""

from __future__ import annotations

from pathlib import Path

from pbmserv.outbound.maildir import MaildirRelay
from pbmserv.outbound.relay import Relay
from pbmserv.outbound.relay_url import read_relay_url
from pbmserv.outbound.smtp import SmtpRelay


def open_relay(url: str) -> Relay:
    """Return the relay that a URL names (see `read_relay_url`); it connects when first used.

    Raises:
        ConfigError: the URL is wrong.
    """
    address = read_relay_url(url)
    if address.scheme == "maildir":
        return MaildirRelay(Path(address.path))
    return SmtpRelay(address)
