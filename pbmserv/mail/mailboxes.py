"""The mailbox behind a mail address: different spellings of an address can lead to one mailbox."""

from __future__ import annotations

from contextlib import suppress

_GMAIL = frozenset({"gmail.com", "googlemail.com"})


def mailbox_of(address: str) -> str:
    """Return the mailbox to which mail for an address goes.

    Letter case and the part after a ``+`` are ignored, and an international domain gets one
    spelling. Gmail ignores dots in the local part.
    """
    local, _, domain = address.casefold().rpartition("@")
    local = local.partition("+")[0] or local
    with suppress(UnicodeError):
        domain = domain.encode("idna").decode("ascii")
    if domain in _GMAIL:
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"
