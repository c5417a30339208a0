"""The interface of a relay, the next hop of our letters."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class OutgoingLetter:
    """One letter for one recipient, ready to be sent.

    Attributes:
        id: its number in the outbox.
        message_id: as in its header, with angle brackets.
        envelope_sender: MAIL FROM, the address for bounces; ``""`` for the null sender.
        recipient: bare address (RCPT TO).
        raw: the message with CRLF line ends; dots are not doubled.
        made_at_ns: when it was made, in nanoseconds since 1970. Several threads deliver, so a later
            letter may be stored first; local mailboxes sort by this time.
    """

    id: int
    message_id: str
    envelope_sender: str
    recipient: str
    raw: bytes = field(repr=False)
    made_at_ns: int = field(default_factory=time.time_ns, compare=False)


class Relay(Protocol):
    """Accepts letters, also from several threads at once."""

    def deliver(self, letter: OutgoingLetter) -> None:
        """Hand over one letter and return when the next hop is responsible for it.

        Raises:
            RelayDown: all letters would fail (no connection, no login …).
            RelayTemporary: this letter may be accepted later (4xx, or a limit on what we send).
            RelayPermanent: this letter will never be accepted (5xx).
        """
        ...

    def close(self) -> None:
        """Close idle connections. A later letter opens new ones."""
        ...
