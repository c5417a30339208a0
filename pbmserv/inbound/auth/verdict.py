"""The verdict on a mail's From address, from everything that can be found out about it.

A domain vouches for a mail if its own signature covers it, or if the envelope came from a client
that the domain names (RFC 7489 section 3). Where our own mail server stands in front and has
checked already, its result counts instead of the client's address.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
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
    organisation,
    policy,
)
from pbmserv.inbound.auth.results import believed, chain, said_before, said_by
from pbmserv.inbound.auth.slow_names import SlowNames
from pbmserv.inbound.headers import (
    HEADER_LIMIT,
    Headers,
    first,
    one_mailbox,
    read_headers,
    split_block,
)
from pbmserv.mail.dns import Resolver, TimedResolver
from pbmserv.mail.envelope import UNCHECKED, Envelope, Verdict, address_of

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
    """Return what SPF says about a client, and why (RFC 7208)."""
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
    """What ``query.dns`` of pyspf gives: values by kind, TXT as lists of strings."""
    import spf as pyspf

    asked = ascii_domain(str(name))
    if asked is None:
        return []
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

THREADS = 16
NETWORK_THREADS = 4
"""Checks of one network's mails at a time."""
MOST_WAITING = 64
"""Mails that are being checked or wait for that; beyond them nothing is checked."""
NETWORK_WAITING = 32
"""Of these, mails of one network."""
CHECK_S = 4.0
"""Seconds for all questions to name servers about one mail, and for waiting behind other mails of
the same domain and network (RFC 7208 section 4.6.4 leaves the limit to us)."""
TURN_S = 0.5
"""Seconds that a mail waits for a thread because of other domains or networks."""
MARGIN_S = 1.0
"""Seconds that a check may take beyond its questions: the arithmetic of signatures."""

TOO_SLOW = Verdict(TEMPERROR, "not looked at: name servers were too slow lately")

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


@dataclass(eq=False, slots=True)
class _Check:
    """A mail whose sender is to be checked.

    Attributes:
        domain: the organisation of its From address, ``""`` where it has none.
        network: the client's; ``""`` where it is unknown.
    """

    envelope: Envelope
    domain: str
    network: str
    future: Future[Verdict] = field(default_factory=Future)

    @property
    def pair(self) -> tuple[str, str]:
        """The domain and the network, which have one check at a time."""
        return self.domain, self.network


class Senders:
    """Checks senders in threads, so that a slow name server delays nobody but its own domain.

    A domain's mails from one network are checked one after the other, and one network has
    `NETWORK_THREADS` checks at a time. All questions about a mail have one deadline. Domains and
    networks that run into it again and again are not checked for a while (`SlowNames`).
    """

    def __init__(
        self,
        resolver: Resolver,
        trusted: Trusted,
        slow: SlowNames | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolver = resolver
        self._trusted = trusted
        self._slow = slow or SlowNames()
        self._clock = clock
        self._pool = ThreadPoolExecutor(THREADS, "pbmserv-senders")
        self._guard = threading.Lock()
        self._waiting: list[_Check] = []
        self._running: set[tuple[str, str]] = set()
        self._by_network: Counter[str] = Counter()

    def close(self) -> None:
        """Let checks under way finish, and end those that wait."""
        with self._guard:
            waiting, self._waiting = self._waiting, []
        for check in waiting:
            check.future.cancel()
        self._pool.shutdown(cancel_futures=True)

    async def verdict(self, envelope: Envelope, network: str = "") -> Verdict:
        """Return whether the domain of the From address vouches for a mail; never raises.

        Args:
            network: the client's /24 or /64; ``""`` where it is unknown.
        """
        check = self._begin(envelope, network)
        future = asyncio.wrap_future(check.future)
        try:
            done, _ = await asyncio.wait({future}, timeout=TURN_S)
            if not done and not self._is_held_by_others(check):
                done, _ = await asyncio.wait({future}, timeout=CHECK_S + MARGIN_S - TURN_S)
            if done and not future.cancelled():
                return future.result()
            return Verdict(TEMPERROR, "not looked at: it took too long")
        finally:
            if not future.done():  # nobody waits for it any more
                self._forget(check)
                future.cancel()

    def check(self, envelope: Envelope, network: str) -> Future[Verdict]:
        """Begin to check a mail; the future's result is its verdict, and it never raises.

        Arguments as for `verdict`.
        """
        return self._begin(envelope, network).future

    def _begin(self, envelope: Envelope, network: str) -> _Check:
        is_worth = worth_a_look(envelope)
        check = _Check(envelope, _domain_of(envelope) if is_worth else "", network)
        if not is_worth:
            check.future.set_result(UNCHECKED)
        elif not self._slow.may_check(check.domain, network):
            check.future.set_result(TOO_SLOW)
        elif not self._waits(check):
            check.future.set_result(Verdict(TEMPERROR, "not looked at: too many mails at a time"))
        else:
            self._start_some()
        return check

    def _waits(self, check: _Check) -> bool:
        """Have a check wait for its turn; return whether there is room for it."""
        with self._guard:
            if len(self._waiting) + len(self._running) >= MOST_WAITING:
                return False
            neighbours = sum(other.network == check.network for other in self._waiting)
            if check.network and neighbours >= NETWORK_WAITING:
                return False
            self._waiting.append(check)
            return True

    def _start_some(self) -> None:
        """Start the checks whose turn it is, in the order of their mails."""
        started = []
        with self._guard:
            for check in self._waiting:
                if len(self._running) >= THREADS:
                    break
                if check.pair not in self._running and self._has_room(check.network):
                    self._running.add(check.pair)
                    self._by_network[check.network] += 1
                    started.append(check)
            self._waiting = [check for check in self._waiting if check not in started]
        for check in started:
            try:
                self._pool.submit(self._run, check)
            except RuntimeError:  # the server stops
                check.future.cancel()

    def _has_room(self, network: str) -> bool:
        return not network or self._by_network[network] < NETWORK_THREADS

    def _run(self, check: _Check) -> None:
        """Check one mail, then start those that have waited for it."""
        names = TimedResolver(self._resolver, self._clock() + CHECK_S, self._clock)
        verdict = Verdict(TEMPERROR, "not looked at: the check failed")
        try:
            if self._slow.may_check(check.domain, check.network):
                verdict = self.examine(check.envelope, names)
                self._note(check, in_time=not names.is_over)
            else:  # the mails before it have shown that
                verdict = TOO_SLOW
        except Exception:
            log.exception("a mail's sender could not be checked")
        with self._guard:
            self._running.discard(check.pair)
            self._by_network[check.network] -= 1
            if not self._by_network[check.network]:
                del self._by_network[check.network]
        if check.future.set_running_or_notify_cancel():
            check.future.set_result(verdict)
        self._start_some()

    def _note(self, check: _Check, *, in_time: bool) -> None:
        """Note how a check ended, for the next mails of its domain and network."""
        self._slow.note(check.domain, check.network, in_time=in_time)
        if not self._slow.may_check(check.domain, check.network):
            facts = {"domain": check.domain, "network": check.network or "unknown"}
            log.warning("senders are not checked: name servers are too slow", extra=facts)

    def _is_held_by_others(self, check: _Check) -> bool:
        """Whether a mail waits for a thread though nothing of its own domain and network runs."""
        with self._guard:
            return check in self._waiting and check.pair not in self._running

    def _forget(self, check: _Check) -> None:
        """Check a mail no more that nobody waits for; a check under way ends by itself."""
        with self._guard:
            if check in self._waiting:
                self._waiting.remove(check)

    def examine(self, envelope: Envelope, names: Resolver | None = None) -> Verdict:
        """Return the verdict; for a mail that cannot be read it is ``fail``. Asks name servers.

        Args:
            names: answers the questions; ``None``: without a common deadline.
        """
        names = names or self._resolver
        try:
            headers = read_headers(split_block(envelope.raw)[0])
            sender = one_mailbox(first(headers, "from"))
        except MailError as error:
            return Verdict(FAIL, str(error))
        author = ascii_domain(sender.rpartition("@")[2])
        if author is None or "." not in author or len(headers["from"]) != 1:
            return Verdict(FAIL, "the From address has no domain that could vouch for it")
        try:
            wanted = policy(author, names)
        except NamesUnavailable:
            wanted = Policy(strict_dkim=True, strict_spf=True)
        found = self._look(envelope, headers, author, wanted, names)
        return Verdict(_result(found, wanted), _told(found, author, wanted))

    def _look(
        self, envelope: Envelope, headers: Headers, author: str, wanted: Policy, names: Resolver
    ) -> list[Finding]:
        """Every check that makes sense here."""
        raw, recipient = envelope.raw, envelope.recipient

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


def _domain_of(envelope: Envelope) -> str:
    """Return the organisation of the From address; ``""`` where nothing can be asked about it."""
    try:
        sender = one_mailbox(first(read_headers(split_block(envelope.raw)[0]), "from"))
    except MailError:
        return ""
    domain = ascii_domain(sender.rpartition("@")[2])
    return "" if domain is None else organisation(domain)


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
