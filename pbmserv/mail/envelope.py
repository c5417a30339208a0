"""A mail as it came, from which network, and as it was read; and whether its sender is proven.

Networks count as one neighbour, since a flood comes from more than one address.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Envelope:
    """One mail for one of our addresses, as the wire gave it.

    Attributes:
        sender: MAIL FROM address, ``""`` for the null sender.
        recipient: one RCPT TO address (a mail to two is two envelopes).
        raw: the message, CRLF lines, without the final dot.
        peer: the client's network address, for logs and limits.
        hello: the name that the client gave in HELO or EHLO.
        handed_on: one of our own mail servers brought it, so `peer` is not where it
            comes from, and what that server found out about its sender can be believed.
    """

    sender: str
    recipient: str
    raw: bytes
    peer: str = ""
    hello: str = ""
    handed_on: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether `peer` is the client that sent it, so that the client says something."""
        return bool(self.peer) and not self.handed_on


@dataclass(frozen=True, slots=True)
class Mail:
    """A parsed mail.

    Attributes:
        sender: the one address of the one From header, domain in lower case.
        message_id: with its angle brackets, or ``""``.
        subject: decoded, one line, NFC.
        text: the body as plain text with LF line ends, NFC; quoted parts and
            signature still in it.
        automatic: why this mail must not be answered (a word for the log such
            as ``"auto-submitted"``), or ``""`` for a person's mail.
        only_headers: `automatic` is only for header fields that mail systems also put on
            people's mails, so a command at a reply address is still carried out.
        digest: hex SHA-256 that is equal for two copies of one mail (Message-ID,
            else date, subject and body; with the sender).
        away: it looks like the note of somebody who is out of the office.
        unread: why the body was not read, ``""`` if it was: ``"encrypted"``, ``"opaque"``
            (an S/MIME wrapper), ``"html"`` (markup too big or deep), ``"no-text"`` (only files)
            or ``"too-long"`` (it takes too long to read).
        left_out: the mail had more than `text` in it, or more than could be kept: files,
            pictures, a calendar's answer. Together with ``NewText.left_out``
            (`pbmserv.inbound.quotes.reply`): an empty reply need not mean that nothing was said.
        answers: Message-IDs of the mails that it answers, by its headers; anybody can write any.
        recipients: addresses of this server in its To and Cc fields, in their order; anybody can
            write any.
    """

    sender: str
    message_id: str
    subject: str
    text: str
    automatic: str
    only_headers: bool
    digest: str
    away: bool = False
    unread: str = ""
    left_out: bool = False
    answers: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()

    @classmethod
    def of_nobody(cls, why: str, digest: str = "") -> Mail:
        """Stands where there is no mail that could be answered; *why* becomes `automatic`."""
        return cls("", "", "", "", automatic=why, only_headers=False, digest=digest)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the domain of a mail's From address vouches for it (RFC 7489 section 4.2).

    Attributes:
        result: ``"pass"``: proven; ``"fail"``: not proven; ``"forged"``: not proven, and the
            domain asks to refuse such mails; ``"temperror"``: a name server did not answer;
            ``"unchecked"``: there was nothing to look at.
        found: what was looked at and what each check said, in one line, for the operator.
    """

    result: str = "unchecked"
    found: str = ""

    @property
    def passed(self) -> bool:
        """Whether the From address is proven."""
        return self.result == "pass"


UNCHECKED = Verdict()
BY_REPLY_ADDRESS = Verdict("unchecked", "not looked at: the reply address says who writes")
"""The verdict of the door on a mail to a reply address, which need not wait for name servers. Play
has the sender checked if a command of the mail may need more proof."""


Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

LOOPBACK: tuple[Network, ...] = (
    ipaddress.ip_network("127.0.0.0/8"),
    ipaddress.ip_network("::1"),
)
"""This machine."""

_PREFIXES = {4: 24, 6: 64}


@lru_cache(maxsize=4096)
def address_of(peer: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """A client's address; ``None`` for what is none.

    IPv4 addresses in IPv6's clothes (``::ffff:192.0.2.1``) are IPv4 addresses.
    """
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


@lru_cache(maxsize=4096)
def block_of(peer: str) -> Network | None:
    """The /24 or /64 that a client's address belongs to; ``None`` for what is no address."""
    address = address_of(peer)
    if address is None:
        return None
    return ipaddress.ip_network((address, _PREFIXES[address.version]), strict=False)


@lru_cache(maxsize=4096)
def block_name(peer: str) -> str:
    """The name of that /24 or /64; ``""`` for what is no address."""
    block = block_of(peer)
    return "" if block is None else str(block)


def is_among(peer: str, networks: Iterable[Network]) -> bool:
    """Whether a client's address belongs to one of *networks*."""
    address = address_of(peer)
    if address is None:
        return False
    for network in networks:  # noqa: SIM110 - asked several times for each mail
        if address in network:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Source:
    """Where a mail comes from, as far as its sender cannot choose that.

    Attributes:
        network: the /24 or /64 of the client that brought the mail to us, or to a mail server of
            ours; ``""`` where it is unknown.
        sender: the envelope's, in lower case; ``""`` for the null sender. Anybody can forge it.
    """

    network: str
    sender: str

    @property
    def neighbours(self) -> str:
        """Who else counts as the same neighbour: the network, else the sender's domain."""
        return self.network or f"@{self.sender.rpartition('@')[2]}"


NOWHERE = Source("", "")
"""Of what did not come by mail."""
