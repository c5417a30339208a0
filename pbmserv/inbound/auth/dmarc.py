"""DMARC (RFC 7489): the findings of checks, the alignment of domains, and published policies.

The letters of a domain do not show where the name of its organisation begins. The public suffix
list does; the package publicsuffixlist contains it.

Of the changes in RFC 9989, those that affect refusals are implemented: ``np`` for sub-domains that
do not exist, ``t`` for policies on trial, and a ``pct`` that is not a lottery. Organisations are
found by the public suffix list, not by a walk up the names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pbmserv.mail.dns import Resolver, record_tags

# -- findings ----------------------------------------------------------------------------------


PASS = "pass"  # noqa: S105 - a result, not a password
FAIL = "fail"
NONE = "none"
POLICY = "policy"
"""The result may be valid, but it does not count here (RFC 8601 section 2.7.1)."""
TEMPERROR = "temperror"
PERMERROR = "permerror"

LONGEST_NOTE = 200
_UNSAID = re.compile(r"[^ -~]|[()\\]")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        method: ``spf``, ``dkim``, ``dmarc``, ``arc`` or ``relay`` (our own mail server's result).
        result: a keyword of RFC 8601 section 2.7.
        domain: the checked domain in ASCII and lower case; ``""`` for none.
        aligned: the domain is aligned with the From address (RFC 7489 section 3.1).
        note: the reason, for the operator.
    """

    method: str
    result: str
    domain: str = ""
    aligned: bool = False
    note: str = ""

    @property
    def proves(self) -> bool:
        """Whether this finding alone proves that the From address is genuine."""
        return self.result == PASS and self.aligned

    @property
    def undecided(self) -> bool:
        """Whether this finding might be a proof if name servers had answered."""
        return self.result == TEMPERROR and (self.aligned or self.method == "arc")

    @property
    def excuses(self) -> bool:
        """Whether the domain vouches for the mail, but not in a way that counts here.

        DMARC would accept the mail, so it is not a forgery.
        """
        return self.result == POLICY and self.aligned

    def __str__(self) -> str:
        name = {"spf": "smtp.mailfrom", "dkim": "header.d"}.get(self.method, "header.from")
        domain = f" {name}={plain(self.domain)}" if self.domain else ""
        note = f" ({plain(self.note)})" if self.note else ""
        return f"{self.method}={plain(self.result)}{domain}{note}"


def plain(text: str) -> str:
    """Return a stranger's text in a form that is safe in terminals and in header comments."""
    return _UNSAID.sub("?", text)[:LONGEST_NOTE]


# -- domains (section 3) -----------------------------------------------------------------------


if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

LONGEST = 253
"""Octets of a domain name (RFC 1035 section 2.3.4), less the dot at its end."""


def ascii_domain(domain: str) -> str | None:
    """Return a domain in ASCII and lower case; `None` if it cannot be the name of a host.

    Letters beyond ASCII become A-labels by IDNA 2008 without folding (RFC 5891), so names that only
    look alike stay different.
    """
    name = domain.lower().removesuffix(".")
    if not name.isascii():
        import idna

        try:
            name = idna.encode(name).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return None
    labels = name.split(".")
    if len(name) > LONGEST or not all(map(_is_label, labels)):
        return None
    return name


def _is_label(label: str) -> bool:
    """Whether a text has only letters, digits, hyphens, and underscores (of signing domains)."""
    return 0 < len(label) < 64 and label.replace("-", "").replace("_", "").isalnum()


def organisation(domain: str) -> str:
    """Return the organisational domain of *domain* (by `ascii_domain`); RFC 7489 section 3.2.

    For a public suffix, such as ``co.uk``, that is the suffix itself.
    """
    return _suffixes().privatesuffix(domain) or domain


def aligned(domain: str, author: str, *, strict: bool) -> bool:
    """Return whether a domain is aligned with that of a From address (RFC 7489 section 3.1).

    Args:
        domain, author: both by `ascii_domain`.
        strict: only the same domain is aligned, not another one of the same organisation.
    """
    if domain == author:
        return True
    return not strict and organisation(domain) == organisation(author)


@cache
def _suffixes() -> PublicSuffixList:
    """Return the list, which is loaded for the first mail that needs it."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


# -- the policy (section 6) --------------------------------------------------------------------


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

_REQUESTS = frozenset(("none", "quarantine", "reject"))


def policy(author: str, resolver: Resolver) -> Policy:
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
                _request(tags, author, domain, resolver),
                strict_dkim=tags.get("adkim", "").lower() == "s",
                strict_spf=tags.get("aspf", "").lower() == "s",
            )
        if records:  # several records count as none (section 6.6.3)
            return NO_POLICY
    return NO_POLICY


def _request(tags: Mapping[str, str], author: str, domain: str, resolver: Resolver) -> str:
    """Return what the record of *domain* requests for unproven mails from *author*.

    Raises:
        NamesUnavailable: no name server answered whether *author* exists.
    """
    names = ["p"]
    if author != domain:
        names.insert(0, "sp")
        if "np" in tags and not _exists(author, resolver):
            names.insert(0, "np")
    request = next((tags[name].lower() for name in names if name in tags), "")
    if request not in _REQUESTS:  # a typo must not cost its owner mails
        return "none"
    # "t=y" (a trial) and "pct=0" (for no mail) mean one step less (RFC 9989 section 4.7). For any
    # other percentage the policy applies to all mails.
    is_trial = tags.get("t", "").lower() == "y" or tags.get("pct", "") == "0"
    return "quarantine" if is_trial and request == "reject" else request


def _exists(domain: str, resolver: Resolver) -> bool:
    """Return whether a domain has any record."""
    queries = (resolver.a, resolver.mx, resolver.aaaa, resolver.txt)
    return any(query(domain) for query in queries)
