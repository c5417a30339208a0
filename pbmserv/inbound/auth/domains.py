"""Domains of mails: in ASCII, their organisations, and their alignment (RFC 7489 section 3).

The letters of a domain do not show where the name of its organisation begins. The public suffix
list does; the package publicsuffixlist contains it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

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
    """Return whether a text has only letters, digits, hyphens and underscores."""
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
