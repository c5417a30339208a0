"""The verdict on a mail's From address, from everything that can be found out about it.

A domain vouches for a mail if its own signature covers it, or if the envelope came from a client
that the domain names (RFC 7489 section 3). Where our own mail server stands in front and has
checked already, its result counts instead of the client's address.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pbmserv.errors import MailError, NamesUnavailable
from pbmserv.inbound.auth.arc import chain
from pbmserv.inbound.auth.dkim import signatures
from pbmserv.inbound.auth.dmarc import (
    FAIL,
    POLICY,
    TEMPERROR,
    Finding,
    Policy,
    aligned,
    ascii_domain,
    policy,
)
from pbmserv.inbound.auth.results import believed, said_before, said_by
from pbmserv.inbound.auth.spf import spf
from pbmserv.inbound.headers import HEADER_LIMIT, Headers, first, read_headers, split_block
from pbmserv.inbound.message import one_mailbox
from pbmserv.mail.dns import Resolver
from pbmserv.mail.envelope import UNCHECKED, Envelope, Verdict

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
