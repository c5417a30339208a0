"""The policy that a domain publishes for mails in its name (DMARC, RFC 7489 section 6)."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.dns import Resolver, record_tags
from pbmserv.receive.sender.domains import organisation


@dataclass(frozen=True, slots=True)
class Policy:
    """What must agree with a From address.

    Attributes:
        published: ``none``, ``quarantine`` or ``reject``; ``""`` where there is no policy.
        strict_dkim: only a signature of the very same domain counts.
        strict_spf: the same for the envelope's sender.
    """

    published: str = ""
    strict_dkim: bool = False
    strict_spf: bool = False


NO_POLICY = Policy()
"""Alignment is relaxed where nothing is said (RFC 7489 section 6.3)."""

_REQUESTS = frozenset(("none", "quarantine", "reject"))


def policy(author: str, resolver: Resolver) -> Policy:
    """The policy for the domain of a From address, its own or its organisation's (section 6.6.3).

    Raises:
        NamesUnavailable: nobody knows now.
    """
    for domain in dict.fromkeys((author, organisation(author))):
        published = map(record_tags, resolver.txt(f"_dmarc.{domain}"))
        # The version comes first, or it is another record (section 6.3).
        records = [tags for tags in published if next(iter(tags.items())) == ("v", "DMARC1")]
        if len(records) == 1:
            tags = records[0]
            asked = tags.get("p", "").lower()
            return Policy(
                asked if asked in _REQUESTS else "none",
                strict_dkim=tags.get("adkim", "").lower() == "s",
                strict_spf=tags.get("aspf", "").lower() == "s",
            )
        if records:  # more than one: as if there were none (section 6.6.3)
            return NO_POLICY
    return NO_POLICY
