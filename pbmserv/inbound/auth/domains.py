"""Domains of addresses, and which of them count as one (RFC 7489 section 3).

Whose domain ``v@big-bank.com`` is, nobody can see by its letters: only the public suffix list
tells where an organisation's name begins. It is asked through publicsuffixlist, which brings it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

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
