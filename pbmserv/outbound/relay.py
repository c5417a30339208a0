"""The interface of a relay, the next hop of our letters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pbmserv.outbound.relay_url import read_relay_url

_CODE = re.compile(r"\b[245]\d\d\b(?:[ -]\d\.\d{1,3}\.\d{1,3})?")
_ADDRESS = re.compile(r"(?<!\S)\S*@\S*")


@dataclass(frozen=True, slots=True)
class OutgoingLetter:
    """One letter for one recipient, ready to be sent.

    Attributes:
        id: its number in the outbox.
        message_id: as in its header, with angle brackets.
        envelope_sender: MAIL FROM, the address for bounces; ``""`` for the null sender.
        recipient: bare address (RCPT TO).
        raw: the message with CRLF line ends; dots are not doubled.
    """

    id: int
    message_id: str
    envelope_sender: str
    recipient: str
    raw: bytes = field(repr=False)


class Relay(Protocol):
    """Accepts letters, also from several threads at once."""

    def deliver(self, letter: OutgoingLetter) -> None:
        """Hand over one letter and return when the next hop is responsible for it.

        Raises:
            RelayDown: all letters would fail (no connection, no login …).
            RelayBusy: the recipient's domain asks for fewer letters for a while (4xx).
            RelayTemporary: this letter may be accepted later (4xx).
            RelayPermanent: this letter will never be accepted (5xx).
        """
        ...

    def close(self) -> None:
        """Close idle connections. A later letter opens new ones."""
        ...


def open_relay(url: str) -> Relay:
    """Return the relay that a URL names (see `read_relay_url`); it connects when first used.

    Raises:
        ConfigError: the URL is wrong.
    """
    address = read_relay_url(url)
    if address.scheme == "maildir":
        from pbmserv.outbound.maildir import MaildirRelay

        return MaildirRelay(Path(address.path))
    from pbmserv.outbound.smtp import SmtpRelay

    return SmtpRelay(address)


def loggable_reply(reply: str) -> str:
    """Return the code of a relay's reply, which may quote addresses in its text."""
    code = _CODE.search(reply)
    return code[0] if code else without_addresses(reply)


def without_addresses(text: str) -> str:
    """Replace every word that contains an @."""
    return _ADDRESS.sub("…", text)
