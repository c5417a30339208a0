"""Actors: for whom commands are carried out, and how far that is proven."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.command_types import Credentials
from pbmserv.mail.envelope import NOWHERE, UNCHECKED, Source, Verdict
from pbmserv.mail.reply_address import ReplyAddress, speaker_of


@dataclass(frozen=True, slots=True)
class Actor:
    """A person at the other end of a mail or a page, or a part of the server itself.

    Handlers ask for the actor's proofs, of which a mail may bring several: it may come to a reply
    address, from a verified sender, and with passwords.

    Attributes:
        address: the address that the actor writes from; anybody can forge it. ``""`` for parts of
            the server.
        verdict: whether the address is proven.
        reply_address: the signed reply address of a mail, or the signed link of a page.
        source: the origin of a mail, by which mails and wrong passwords are counted.
        passwords: pairs of userid and password that may be compared with stored hashes; other
            pairs of the same mail were too many.
    """

    address: str = ""
    verdict: Verdict = UNCHECKED
    reply_address: ReplyAddress | None = None
    source: Source = NOWHERE
    passwords: frozenset[Credentials] = frozenset()

    @property
    def speaks_for(self) -> int:
        """Row id of the player for whom the reply address or link speaks; 0 for none."""
        return speaker_of(self.reply_address)

    @property
    def is_verified(self) -> bool:
        """Whether the domain of the address vouches for it."""
        return self.verdict.passed


NOBODY = Actor()
"""An actor without a proof: the clock, a bot, an operator, or the visitor of a public page."""


def holder_of(link: ReplyAddress) -> Actor:
    """Return the player who has opened a page with a link."""
    return Actor(reply_address=link)
