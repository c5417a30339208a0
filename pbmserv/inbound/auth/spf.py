"""SPF (RFC 7208): whether a domain says that mails in its envelopes come from this client.

Through pyspf, which decides what to ask; it asks through our own door to DNS.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from pbmserv.errors import NamesUnavailable
from pbmserv.inbound.auth.dmarc import (
    NONE,
    PASS,
    PERMERROR,
    POLICY,
    TEMPERROR,
    Finding,
    ascii_domain,
)
from pbmserv.mail.dns import Resolver
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.networks import address_of

TIME = 15.0
"""Seconds for all questions about one client (RFC 7208 section 4.6.4 leaves the limit to us)."""

NOBODY = {4: "203.0.113.77", 6: "2001:db8:77::77"}
"""Addresses that nobody has (RFC 5737, RFC 3849): a domain that lets them send lets all send."""

# RFC 5322 section 3.2.3, and dots. pyspf takes what follows the first "@" for the domain.
_UNUSUAL = re.compile(r"[^A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]")


def spf(envelope: Envelope, resolver: Resolver, counts: Callable[[str], bool]) -> Finding:
    """Whether the client may send for the envelope's domain, or its own if the sender is empty.

    Never raises. Only a domain that counts is asked: another one proves nothing here, and a
    stranger's name servers could take as long as they like.

    Args:
        counts: whether a domain (by `ascii_domain`) is aligned with the From address.
    """
    sender, hello = envelope.sender, envelope.hello
    domain = ascii_domain(sender.rpartition("@")[2] if sender else hello)
    if domain is None or "." not in domain:
        return Finding("spf", NONE, note="no domain to ask")
    if not counts(domain):
        return Finding("spf", POLICY, domain, note="not the sender's domain")
    address = address_of(envelope.peer)
    if address is None:
        return Finding("spf", NONE, domain, aligned=True, note="no client address")
    local = _UNUSUAL.sub("-", sender.rpartition("@")[0])[:64] or "postmaster"
    name = ascii_domain(hello) or domain
    try:
        result, why = _ask(str(address), f"{local}@{domain}", name, resolver)
        if result == PASS:
            anybody, _ = _ask(NOBODY[address.version], f"{local}@{domain}", name, resolver)
            if anybody == PASS:
                result, why = POLICY, "its record lets everybody send"
    except NamesUnavailable:
        result, why = TEMPERROR, "no name server answered"
    except Exception as error:  # noqa: BLE001 - pyspf raises what its parts raise
        result, why = PERMERROR, type(error).__name__
    note = why if result in {TEMPERROR, PERMERROR, POLICY} else ""
    return Finding("spf", result, domain, aligned=True, note=note)


def _ask(peer: str, sender: str, hello: str, resolver: Resolver) -> tuple[str, str]:
    """Result and explanation."""
    import spf as pyspf

    query = pyspf.query(peer, sender, hello)
    query.dns = partial(_look_up, query, resolver, time.monotonic() + TIME)
    result, _, why = query.check()
    return str(result), str(why)


def _look_up(
    query: Any,
    resolver: Resolver,
    ends: float,
    name: object,
    kind: str,
    cnames: object = None,  # noqa: ARG001 - resolvers follow them
    ignore_void: bool = False,
) -> list[Any]:
    """What ``query.dns`` of pyspf gives: values by kind, TXT as lists of strings."""
    import spf as pyspf

    asked = ascii_domain(str(name))
    if asked is None:
        return []
    if time.monotonic() > ends:
        raise pyspf.TempError("too much time for one mail")
    found = _records(resolver, asked, kind)
    if not found and not ignore_void:
        query.void_lookups += 1
        if query.void_lookups > pyspf.MAX_VOID_LOOKUPS:
            raise pyspf.PermError("too many names that do not exist")
    return found


def _records(resolver: Resolver, name: str, kind: str) -> list[Any]:
    match kind:
        case "TXT":
            return [(text,) for text in resolver.txt(name)]
        case "A":
            return list(resolver.a(name))
        case "AAAA":
            return list(resolver.aaaa(name))
        case "MX":
            return list(resolver.mx(name))
        case "PTR":
            try:
                return list(resolver.ptr(name))
            except NamesUnavailable:
                return []  # the client's own zone: no reason to doubt (RFC 7208 section 5.5)
    return []
