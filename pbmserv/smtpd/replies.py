"""What a client is told, and who says so."""

from __future__ import annotations

from typing import Protocol

from pbmserv.mail.envelope import Envelope

TAKEN = "250 2.0.0 taken, and kept until it is carried out"
TRY_LATER = "451 4.3.0 cannot take mail just now, please try again later"
TOO_MANY = "451 4.7.1 too many mails from you, please try again later"
LANE_FULL = "451 4.3.2 too many mails from you wait here already, please try again later"
FORGED = "550 5.7.26 the domain of the From address says (DMARC) that this mail is not from it"


class Door(Protocol):
    """Takes mails."""

    def is_over(self, envelope: Envelope) -> bool:
        """Whether a mail need not even be sent; *envelope* has no text yet. Counts nothing."""
        ...

    async def arrives(self, envelope: Envelope) -> str:
        """Count a mail, then take it or put it off; the SMTP reply comes back."""
        ...
