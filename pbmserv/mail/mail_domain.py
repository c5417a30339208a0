"""The server's own mail addresses: the plain one, those of operators, and reply addresses.

A reply address is ``<local>+<token>@<domain>``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pbmserv.mail.key_ring import LONGEST_LOCAL, KeyRing
from pbmserv.mail.reply_address import OF_PAGES, ReplyAddress

OPERATORS = frozenset({"postmaster", "abuse"})
"""Local parts whose mails wait for an operator."""


@dataclass(frozen=True)
class MailDomain:
    """The server's own address and the keys of its reply addresses."""

    local: str
    domain: str
    ring: KeyRing

    @cached_property
    def address(self) -> str:
        """The server's own address, for commands."""
        return f"{self.local}@{self.domain}"

    def address_of(self, reply_address: ReplyAddress) -> str:
        """Return the mail address with the token of a reply address."""
        return f"{self.local}+{self.ring.token(reply_address)}@{self.domain}"

    def letter_id(self, board: int, turns: int, seat: int | None, word: str) -> str:
        """Return the Message-ID of a letter that shows a board (RFC 5322 section 3.6.4).

        With 0 turns and the board's own word it is the beginning of a thread. Turns are counted
        instead of plies, because a ply may be a private seal.

        Args:
            turns: number of turns after which the board is shown.
            seat: the reader's seat; `None` for a spectator.
        """
        return f"<{board}.{turns}.{'s' if seat is None else seat}.{word}@{self.domain}>"

    def knows(self, address: str) -> bool:
        """Return whether we accept mail for an address."""
        local, _, domain = address.rpartition("@")
        if domain.lower() == self.domain and (
            self.read(address) is not None or local.lower() == self.local
        ):
            return True
        return self.is_postmaster(address)

    def is_retired(self, address: str) -> bool:
        """Return whether an address was a reply address until its key was retired."""
        local, _, domain = address.lower().rpartition("@")
        prefix = f"{self.local}+"
        if domain != self.domain or not local.startswith(prefix) or len(local) > LONGEST_LOCAL:
            return False
        return self.ring.read_retired(local[len(prefix) :]) is not None

    def is_postmaster(self, address: str) -> bool:
        """Return whether mail to an address is for the operators: ``postmaster``, also without
        domain (RFC 5321 section 4.5.1), or ``abuse`` (RFC 2142)."""
        local, at, domain = address.lower().partition("@")
        if local not in OPERATORS:
            return False
        return domain == self.domain if at else local == "postmaster"

    def is_ours(self, address: str) -> bool:
        """Return whether we send letters from an address, so that its mails are our own."""
        local, _, domain = address.rpartition("@")
        local = local.lower()
        return domain.lower() == self.domain and (
            local == self.local or local.startswith(f"{self.local}+")
        )

    def read(self, address: str) -> ReplyAddress | None:
        """Return the contents of a reply address; `None` for the plain address and forged ones."""
        local = address.rpartition("@")[0].lower()
        prefix = f"{self.local}+"
        if not local.startswith(prefix) or len(local) > LONGEST_LOCAL:
            return None
        reply_address = self.ring.read(local[len(prefix) :])
        if reply_address is not None and reply_address.purpose in OF_PAGES:
            return None
        return reply_address
