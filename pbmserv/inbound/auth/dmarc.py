"""The policy that a domain publishes for mails in its name (DMARC, RFC 7489 section 6).

What RFC 9989 has changed since is heeded where a refusal depends on it: ``np`` for sub-domains that
do not exist, ``t`` for policies on trial, and a ``pct`` that is no lottery. Whose sub-domain a name
is the public suffix list says, not a walk up the names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pbmserv.inbound.auth.domains import organisation
from pbmserv.mail.dns import Resolver, record_tags


@dataclass(frozen=True, slots=True)
class Policy:
    """What must agree with a From address.

    Attributes:
        published: ``none``, ``quarantine`` or ``reject``, as it applies to this very domain;
            ``""`` where there is no policy.
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
            return Policy(
                _asked(tags, author, domain, resolver),
                strict_dkim=tags.get("adkim", "").lower() == "s",
                strict_spf=tags.get("aspf", "").lower() == "s",
            )
        if records:  # more than one: as if there were none (section 6.6.3)
            return NO_POLICY
    return NO_POLICY


def _asked(tags: Mapping[str, str], author: str, domain: str, resolver: Resolver) -> str:
    """What the record of *domain* asks to do with mails from *author*.

    Raises:
        NamesUnavailable: nobody knows whether there is such a domain.
    """
    names = ["p"]
    if author != domain:
        names.insert(0, "sp")
        if "np" in tags and not _exists(author, resolver):
            names.insert(0, "np")
    asked = next((tags[name].lower() for name in names if name in tags), "")
    if asked not in _REQUESTS:  # a slip: whoever wrote it shall see reports, but lose no mail
        return "none"
    # "Apply it to no mail" and "this is a trial" (RFC 9989 section 4.7) both mean: one step less.
    # Other shares are not drawn by lot: their owners do ask for refusals.
    trial = tags.get("t", "").lower() == "y" or tags.get("pct", "") == "0"
    return "quarantine" if trial and asked == "reject" else asked


def _exists(domain: str, resolver: Resolver) -> bool:
    """Whether anything is known of a domain to which or from which mails could go."""
    ask = (resolver.a, resolver.mx, resolver.aaaa, resolver.txt)
    return any(question(domain) for question in ask)
