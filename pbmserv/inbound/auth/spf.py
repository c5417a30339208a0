"""SPF (RFC 7208): whether a client may send for a domain."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from pbmserv.errors import NamesUnavailable
from pbmserv.inbound.auth.dmarc import Author
from pbmserv.inbound.auth.domains import ascii_domain
from pbmserv.inbound.auth.findings import NONE, PASS, PERMERROR, POLICY, TEMPERROR, Finding
from pbmserv.mail.dns import Resolver
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.networks import address_of

NOBODY = {4: "203.0.113.77", 6: "2001:db8:77::77"}
"""Reserved addresses (RFC 5737, RFC 3849): a domain that lets them send lets everybody send."""

# Neither atext (RFC 5322 section 3.2.3) nor a dot. pyspf would split a mailbox at a quoted "@".
_UNUSUAL = re.compile(r"[^A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]")


def spf_finding(envelope: Envelope, resolver: Resolver, author: Author) -> Finding:
    """Check whether the client may send for the envelope's domain. Never raises.

    A null sender has no domain; then the domain of the client's HELO counts. Domains that are not
    aligned with the From address are not queried: they prove nothing, and a stranger's name servers
    could be slow.
    """
    sender, hello = envelope.sender, envelope.hello
    domain = ascii_domain(sender.rpartition("@")[2] if sender else hello)
    if domain is None or "." not in domain:
        return Finding("spf", NONE, note="no domain to ask")
    if not author.is_aligned("spf", domain):
        return Finding("spf", POLICY, domain, note="not the sender's domain")
    address = address_of(envelope.peer)
    if address is None:
        return Finding("spf", NONE, domain, aligned=True, note="no client address")
    local = _UNUSUAL.sub("-", sender.rpartition("@")[0])[:64] or "postmaster"
    name = ascii_domain(hello) or domain
    try:
        result, why = spf_result(str(address), f"{local}@{domain}", name, resolver)
        if result == PASS:
            anybody, _ = spf_result(NOBODY[address.version], f"{local}@{domain}", name, resolver)
            if anybody == PASS:
                result, why = POLICY, "its record lets everybody send"
    except NamesUnavailable:
        result, why = TEMPERROR, "no name server answered"
    except Exception as error:  # noqa: BLE001 - pyspf raises what its parts raise
        result, why = PERMERROR, type(error).__name__
    note = why if result in {TEMPERROR, PERMERROR, POLICY} else ""
    return Finding("spf", result, domain, aligned=True, note=note)


def spf_result(peer: str, sender: str, hello: str, resolver: Resolver) -> tuple[str, str]:
    """Return pyspf's result and explanation."""
    import spf as pyspf

    query = pyspf.query(peer, sender, hello)
    query.dns = partial(_look_up, query, resolver)
    result, _, why = query.check()
    return str(result), str(why)


def _look_up(
    query: Any,
    resolver: Resolver,
    name: object,
    kind: str,
    cnames: object = None,  # noqa: ARG001 - resolvers follow them
    ignore_void: bool = False,
) -> list[Any]:
    """Answer a DNS query of pyspf, as its ``query.dns`` does: a TXT record is a list of strings."""
    import spf as pyspf

    domain = ascii_domain(str(name))
    if domain is None:
        return []
    records = _records(resolver, domain, kind)
    if not records and not ignore_void:
        query.void_lookups += 1
        if query.void_lookups > pyspf.MAX_VOID_LOOKUPS:
            raise pyspf.PermError("too many names that do not exist")
    return records


def _records(resolver: Resolver, name: str, kind: str) -> list[Any]:
    match kind:
        case "TXT":
            return [(text,) for text in resolver.txt(name)]
        case "A" | "AAAA" | "MX":
            return list(resolver.look_up(kind, name))
        case "PTR":
            try:
                return list(resolver.ptr(name))
            except NamesUnavailable:
                return []  # in the client's zone; to be treated as no answer (RFC 7208 section 5.5)
    return []
