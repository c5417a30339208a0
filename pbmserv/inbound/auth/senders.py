"""Checks senders in threads, so that a slow name server delays only the mails of its own domain."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from pbmserv.inbound.auth.findings import TEMPERROR
from pbmserv.inbound.auth.slow_names import SlowNames
from pbmserv.inbound.auth.verdict import (
    Trusted,
    author_organisation,
    examine,
    may_be_proven,
)
from pbmserv.mail.dns import Resolver, TimedResolver
from pbmserv.mail.envelope import UNCHECKED, Envelope, Verdict

THREADS = 16
NETWORK_THREADS = 4
"""Checks of one network's mails at a time."""
MOST_WAITING = 64
"""Mails that are being checked or wait for a check; further mails are not checked."""
NETWORK_WAITING = 32
"""Waiting mails of one network."""
CHECK_S = 4.0
"""Seconds for all DNS queries about one mail, and for waiting behind other mails of the same domain
and network (RFC 7208 section 4.6.4 leaves the limit to us)."""
TURN_S = 0.5
"""Seconds that a mail waits for a thread while mails of other domains or networks are checked."""
MARGIN_S = 1.0
"""Seconds that a check may take beyond its DNS queries, for the arithmetic of signatures."""

TOO_SLOW = Verdict(TEMPERROR, "not looked at: name servers were too slow lately")

log = logging.getLogger("pbmserv.receive")


@dataclass(eq=False, slots=True)
class _Check:
    """A mail whose sender is to be checked.

    Attributes:
        domain: the organisational domain of its From address; ``""`` for none.
        network: the client's network; ``""`` if it is unknown.
    """

    envelope: Envelope
    domain: str
    network: str
    future: Future[Verdict] = field(default_factory=Future)

    @property
    def pair(self) -> tuple[str, str]:
        """The domain and the network: one check of each pair runs at a time."""
        return self.domain, self.network


class Senders:
    """Checks the senders of mails in threads.

    A domain's mails from one network are checked one after the other, and one network has at most
    `NETWORK_THREADS` checks at a time. All DNS queries about a mail have one deadline. Domains and
    networks that exceed it repeatedly are not checked for a while (`SlowNames`).
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
        """Let running checks finish, and cancel those that wait."""
        with self._guard:
            waiting, self._waiting = self._waiting, []
        for check in waiting:
            check.future.cancel()
        self._pool.shutdown(cancel_futures=True)

    async def verdict(self, envelope: Envelope, network: str = "") -> Verdict:
        """Return whether the domain of the From address vouches for a mail; never raises.

        Args:
            network: the client's /24 or /64; ``""`` if it is unknown.
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
            if not future.done():  # nobody needs the result any more
                self._forget(check)
                future.cancel()

    def check(self, envelope: Envelope, network: str) -> Future[Verdict]:
        """Begin to check a mail; the future's result is its verdict. Never raises.

        Args:
            network: the client's /24 or /64; ``""`` if it is unknown.
        """
        return self._begin(envelope, network).future

    def _begin(self, envelope: Envelope, network: str) -> _Check:
        has_proofs = may_be_proven(envelope)
        check = _Check(envelope, author_organisation(envelope) if has_proofs else "", network)
        if not has_proofs:
            check.future.set_result(UNCHECKED)
        elif not self._slow.may_check(check.domain, network):
            check.future.set_result(TOO_SLOW)
        elif not self._enqueue(check):
            check.future.set_result(Verdict(TEMPERROR, "not looked at: too many mails at a time"))
        else:
            self._start_ready()
        return check

    def _enqueue(self, check: _Check) -> bool:
        """Append a check to the queue; return whether there was room for it."""
        with self._guard:
            if len(self._waiting) + len(self._running) >= MOST_WAITING:
                return False
            of_network = sum(other.network == check.network for other in self._waiting)
            if check.network and of_network >= NETWORK_WAITING:
                return False
            self._waiting.append(check)
            return True

    def _start_ready(self) -> None:
        """Start the waiting checks that may run now, the oldest first."""
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
            except RuntimeError:  # the pool is shut down
                check.future.cancel()

    def _has_room(self, network: str) -> bool:
        return not network or self._by_network[network] < NETWORK_THREADS

    def _run(self, check: _Check) -> None:
        """Check one mail, then start the checks that waited for this one."""
        names = TimedResolver(self._resolver, self._clock() + CHECK_S, self._clock)
        verdict = Verdict(TEMPERROR, "not looked at: the check failed")
        try:
            if self._slow.may_check(check.domain, check.network):
                verdict = examine(check.envelope, self._trusted, names)
                self._note(check, in_time=not names.is_over)
            else:  # a mail before it in the queue was the last straw
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
        self._start_ready()

    def _note(self, check: _Check, *, in_time: bool) -> None:
        """Record how a check ended, for the next mails of its domain and network."""
        self._slow.note(check.domain, check.network, in_time=in_time)
        if not self._slow.may_check(check.domain, check.network):
            facts = {"domain": check.domain, "network": check.network or "unknown"}
            log.warning("senders are not checked: name servers are too slow", extra=facts)

    def _is_held_by_others(self, check: _Check) -> bool:
        """Return whether a mail waits for a thread, and not for its own domain and network."""
        with self._guard:
            return check in self._waiting and check.pair not in self._running

    def _forget(self, check: _Check) -> None:
        """Remove a check from the queue; a running check ends by itself."""
        with self._guard:
            if check in self._waiting:
                self._waiting.remove(check)
