"""The verdict on a mail's From address, from everything that can be found out about it.

A domain vouches for a mail if its own signature covers it, or if the envelope came from a client
that the domain names (RFC 7489 section 3). Where our own mail server stands in front and has
checked already, its result counts instead of the client's address.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from pbmserv.errors import MailError, NamesUnavailable
from pbmserv.inbound.auth.dkim import signatures
from pbmserv.inbound.auth.dmarc import (
    FAIL,
    NONE,
    PASS,
    PERMERROR,
    POLICY,
    TEMPERROR,
    Finding,
    Policy,
    aligned,
    ascii_domain,
    policy,
)
from pbmserv.inbound.auth.results import believed, chain, said_before, said_by
from pbmserv.inbound.headers import (
    HEADER_LIMIT,
    Headers,
    first,
    one_mailbox,
    read_headers,
    split_block,
)
from pbmserv.mail.dns import Resolver
from pbmserv.mail.envelope import UNCHECKED, Envelope, Verdict, address_of

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


log = logging.getLogger("pbmserv.receive")

THREADS = 8
MOST_WAITING = 64
"""Mails whose sender is being checked, or waits for that; beyond them nothing is looked at."""
PATIENCE = 20.0
"""Seconds that a mail waits for its verdict."""

_MARKS = (b"dkim-signature", b"arc-seal", b"authentication-results")


@dataclass(frozen=True, slots=True)
class Trusted:
    """Whose word counts.

    Attributes:
        server: the authserv-id of our own mail servers' Authentication-Results; "" = none.
        sealers: domains whose ARC seals count, in lower case.
        hops: of our own mail servers' Received fields, how many stand above those results.
    """

    server: str = ""
    sealers: frozenset[str] = frozenset()
    hops: int = 0


class Senders:
    """Checks senders, beside the event loop: name servers take their time."""

    def __init__(self, resolver: Resolver, trusted: Trusted) -> None:
        self._resolver = resolver
        self._trusted = trusted
        self._pool = ThreadPoolExecutor(THREADS, "pbmserv-senders")
        self._waiting = 0

    def close(self) -> None:
        """Let checks under way finish."""
        self._pool.shutdown(cancel_futures=True)

    async def verdict(self, envelope: Envelope) -> Verdict:
        """Whether the domain of the From address vouches for a mail; never raises."""
        if not worth_a_look(envelope):
            return UNCHECKED
        if self._waiting >= MOST_WAITING:
            return Verdict(TEMPERROR, "not looked at: too many mails at a time")
        self._waiting += 1
        loop = asyncio.get_running_loop()
        try:
            looking = loop.run_in_executor(self._pool, self.examine, envelope)
            return await asyncio.wait_for(looking, PATIENCE)
        except TimeoutError:
            return Verdict(TEMPERROR, "not looked at: it took too long")
        except Exception:
            log.exception("a mail's sender could not be checked")
            return Verdict(TEMPERROR, "not looked at: the check failed")
        finally:
            self._waiting -= 1

    def examine(self, envelope: Envelope) -> Verdict:
        """The verdict; asks name servers. For a mail that cannot be read it is ``fail``."""
        try:
            headers = read_headers(split_block(envelope.raw)[0])
            sender = one_mailbox(first(headers, "from"))
        except MailError as error:
            return Verdict(FAIL, str(error))
        author = ascii_domain(sender.rpartition("@")[2])
        if author is None or "." not in author or len(headers["from"]) != 1:
            return Verdict(FAIL, "the From address has no domain that could vouch for it")
        try:
            wanted = policy(author, self._resolver)
        except NamesUnavailable:
            wanted = Policy(strict_dkim=True, strict_spf=True)
        found = self._look(envelope, headers, author, wanted)
        return Verdict(_result(found, wanted), _told(found, author, wanted))

    def _look(
        self, envelope: Envelope, headers: Headers, author: str, wanted: Policy
    ) -> list[Finding]:
        """Every check that makes sense here."""
        raw, recipient, names = envelope.raw, envelope.recipient, self._resolver

        def counts(method: str, domain: str) -> bool:
            strict = wanted.strict_spf if method == "spf" else wanted.strict_dkim
            return aligned(domain, author, strict=strict)

        found: list[Finding] = []
        if envelope.is_direct:
            found.append(spf(envelope, names, lambda domain: counts("spf", domain)))
        elif envelope.handed_on and self._trusted.server:
            said = said_before(self._trusted.server, self._trusted.hops, raw)
            fields = headers.get("dkim-signature", ())
            if said:
                found += believed(said, fields, headers, recipient, "relay", counts)
            elif said_by(self._trusted.server, headers.get("authentication-results", ())):
                found.append(Finding("relay", POLICY, note="it stands where others can write"))
        found += signatures(raw, headers, recipient, names, lambda domain: counts("dkim", domain))
        if not any(one.proves for one in found):
            found += chain(raw, headers, recipient, names, self._trusted.sealers, counts)
        return found


def worth_a_look(envelope: Envelope) -> bool:
    """Whether anything could be found out: cheap, since it is asked for every mail."""
    if envelope.is_direct:
        return True  # SPF
    end = envelope.raw.find(b"\r\n\r\n")
    block = envelope.raw[: end if end >= 0 else HEADER_LIMIT].lower()
    return any(mark in block for mark in _MARKS)


def _result(found: Collection[Finding], wanted: Policy) -> str:
    """One word over all checks; see `Verdict`."""
    if any(one.proves for one in found):
        return "pass"
    if any(one.undecided for one in found):
        return TEMPERROR
    if not found:
        return "unchecked"
    excused = any(one.excuses for one in found)
    looked = any(one.method == "spf" for one in found)
    return "forged" if wanted.published == "reject" and looked and not excused else FAIL


def _told(found: Collection[Finding], author: str, wanted: Policy) -> str:
    policy_said = f" (p={wanted.published})" if wanted.published else " (no policy)"
    dmarc = "pass" if any(one.proves for one in found) else "fail"
    return "; ".join([*map(str, found), f"dmarc={dmarc} header.from={author}{policy_said}"])
