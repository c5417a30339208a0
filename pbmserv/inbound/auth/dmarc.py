"""DMARC (RFC 7489): what each check found, which domains count as one, and what a domain asks for.

Whose domain ``v@big-bank.com`` is, nobody can see by its letters: only the public suffix list
tells where an organisation's name begins. It is asked through publicsuffixlist, which brings it.

What RFC 9989 has changed since is heeded where a refusal depends on it: ``np`` for sub-domains that
do not exist, ``t`` for policies on trial, and a ``pct`` that is no lottery. Whose sub-domain a name
is the public suffix list says, not a walk up the names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pbmserv.mail.dns import Resolver, record_tags

# -- what one check found ----------------------------------------------------------------------


PASS = "pass"  # noqa: S105 - a result, no password
FAIL = "fail"
NONE = "none"
POLICY = "policy"
"""It may be right, but counts for nothing here (RFC 8601 section 2.7.1)."""
TEMPERROR = "temperror"
PERMERROR = "permerror"

LONGEST_NOTE = 200
_UNSAID = re.compile(r"[^ -~]|[()\\]")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        method: ``spf``, ``dkim``, ``dmarc``, ``arc`` or ``relay`` (our own mail server said so).
        result: in the words of RFC 8601 section 2.7.
        domain: for which domain; ASCII, lower case, ``""`` where there is none.
        aligned: the domain counts as the From address's own (RFC 7489 section 3.1).
        note: why, for the operator.
    """

    method: str
    result: str
    domain: str = ""
    aligned: bool = False
    note: str = ""

    @property
    def proves(self) -> bool:
        """Whether this alone shows that the From address is no forgery."""
        return self.result == PASS and self.aligned

    @property
    def undecided(self) -> bool:
        """Whether this would have proved it, perhaps, had name servers answered."""
        return self.result == TEMPERROR and (self.aligned or self.method == "arc")

    @property
    def excuses(self) -> bool:
        """Whether the domain did vouch for the mail, only not in a way that proves anything here.

        DMARC would let it pass, so it is no forgery.
        """
        return self.result == POLICY and self.aligned

    def __str__(self) -> str:
        name = {"spf": "smtp.mailfrom", "dkim": "header.d"}.get(self.method, "header.from")
        domain = f" {name}={plain(self.domain)}" if self.domain else ""
        note = f" ({plain(self.note)})" if self.note else ""
        return f"{self.method}={plain(self.result)}{domain}{note}"


def plain(text: str) -> str:
    """What a stranger wrote, fit for a terminal and for the comment of a header."""
    return _UNSAID.sub("?", text)[:LONGEST_NOTE]


# -- whose domain it is (section 3) ------------------------------------------------------------


if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

LONGEST = 253
"""Octets of a domain name (RFC 1035 section 2.3.4), less the dot at its end."""


def ascii_domain(domain: str) -> str | None:
    """A domain as name servers know it, in lower case; ``None`` for what is no host's name.

    Letters beyond ASCII become A-labels by IDNA 2008 without any folding (RFC 5891), so names
    that only look alike stay different names.
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
    """Letters, digits, hyphens, and the underscores that some signing domains have."""
    return 0 < len(label) < 64 and label.replace("-", "").replace("_", "").isalnum()


def organisation(domain: str) -> str:
    """The organisational domain of *domain* (as `ascii_domain` gives it); RFC 7489 section 3.2.

    A domain under which anybody can have a name (``co.uk``) is its own.
    """
    return _suffixes().privatesuffix(domain) or domain


def aligned(domain: str, author: str, *, strict: bool) -> bool:
    """Whether what *domain* says counts for an address at *author*; both by `ascii_domain`.

    *strict*: only the very same domain (RFC 7489 section 3.1).
    """
    if domain == author:
        return True
    return not strict and organisation(domain) == organisation(author)


@cache
def _suffixes() -> PublicSuffixList:
    """The list, read when the first mail needs it."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


# -- the policy (section 6) --------------------------------------------------------------------


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
    if asked not in _REQUESTS:  # a typo: its owner shall get reports, but lose no mail
        return "none"
    # "Apply it to no mail" and "this is a trial" (RFC 9989 section 4.7) both mean: one step less.
    # Other shares are not drawn by lot: their owners do ask for refusals.
    trial = tags.get("t", "").lower() == "y" or tags.get("pct", "") == "0"
    return "quarantine" if trial and asked == "reject" else asked


def _exists(domain: str, resolver: Resolver) -> bool:
    """Whether anything is known of a domain to which or from which mails could go."""
    ask = (resolver.a, resolver.mx, resolver.aaaa, resolver.txt)
    return any(question(domain) for question in ask)
