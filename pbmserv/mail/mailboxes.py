"""The mailbox behind a mail address: different spellings of an address can lead to one mailbox."""

from __future__ import annotations

from contextlib import suppress

_GMAIL = frozenset({"gmail.com", "googlemail.com"})


def mailbox_of(address: str) -> str:
    """Return the mailbox to which mail for an address goes.

    Letter case and the part behind a ``+`` do not matter, and an international domain has one
    spelling. Dots in the local part do not matter at Gmail.
    """
    local, _, domain = address.casefold().rpartition("@")
    local = local.partition("+")[0] or local
    with suppress(UnicodeError):
        domain = domain.encode("idna").decode("ascii")
    if domain in _GMAIL:
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"
