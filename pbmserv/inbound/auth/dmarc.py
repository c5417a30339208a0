"""Published policies of domains for mails that are not proven (DMARC, RFC 7489 section 6).

Of the changes in RFC 9989, those that affect refusals are implemented: ``np`` for sub-domains that
do not exist, ``t`` for policies on trial, and a ``pct`` that is not a lottery. Organisations are
found by the public suffix list, not by a walk up the names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pbmserv.inbound.auth.domains import aligned, organisation
from pbmserv.mail.dns import Resolver, record_tags


@dataclass(frozen=True, slots=True)
class Policy:
    """The published policy for the domain of a From address.

    Attributes:
        published: ``none``, ``quarantine`` or ``reject`` for this domain; ``""`` without a policy.
        strict_dkim: DKIM needs strict alignment.
        strict_spf: SPF needs strict alignment.
    """

    published: str = ""
    strict_dkim: bool = False
    strict_spf: bool = False


NO_POLICY = Policy()
"""Alignment is relaxed by default (RFC 7489 section 6.3)."""


@dataclass(frozen=True, slots=True)
class Author:
    """The From address of a mail: its domain (by `ascii_domain`), and the domain's policy."""

    domain: str
    policy: Policy

    def is_aligned(self, method: str, domain: str) -> bool:
        """Return whether a domain that ``"spf"`` or ``"dkim"`` proves vouches for the address."""
        strict = self.policy.strict_spf if method == "spf" else self.policy.strict_dkim
        return aligned(domain, self.domain, strict=strict)


_ACTIONS = frozenset(("none", "quarantine", "reject"))


def published_policy(author: str, resolver: Resolver) -> Policy:
    """Return the policy of a domain, or else of its organisation (section 6.6.3).

    Raises:
        NamesUnavailable: no name server answered.
    """
    for domain in dict.fromkeys((author, organisation(author))):
        published = map(record_tags, resolver.txt(f"_dmarc.{domain}"))
        # A record whose first tag is not the version is not one of DMARC (section 6.3).
        records = [tags for tags in published if next(iter(tags.items())) == ("v", "DMARC1")]
        if len(records) == 1:
            tags = records[0]
            return Policy(
                _requested_action(tags, author, domain, resolver),
                strict_dkim=tags.get("adkim", "").lower() == "s",
                strict_spf=tags.get("aspf", "").lower() == "s",
            )
        if records:  # several records count as none (section 6.6.3)
            return NO_POLICY
    return NO_POLICY


def _requested_action(tags: Mapping[str, str], author: str, domain: str, resolver: Resolver) -> str:
    """Return what the record of *domain* wants done with unproven mails from *author*.

    That is ``none``, ``quarantine`` or ``reject``.

    Raises:
        NamesUnavailable: no name server answered whether *author* exists.
    """
    names = ["p"]
    if author != domain:
        names.insert(0, "sp")
        if "np" in tags and not _exists(author, resolver):
            names.insert(0, "np")
    action = next((tags[name].lower() for name in names if name in tags), "")
    if action not in _ACTIONS:  # a typo must not cost its owner mails
        return "none"
    # "t=y" (a trial) and "pct=0" (for no mail) mean one step less (RFC 9989 section 4.7). For any
    # other percentage the policy applies to all mails.
    is_trial = tags.get("t", "").lower() == "y" or tags.get("pct", "") == "0"
    return "quarantine" if is_trial and action == "reject" else action


def _exists(domain: str, resolver: Resolver) -> bool:
    """Return whether a domain has any record."""
    return any(resolver.look_up(kind, domain) for kind in ("A", "MX", "AAAA", "TXT"))
