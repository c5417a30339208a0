"""Checks senders in threads, so that slow name servers delay only the mails of their network."""

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
from pbmserv.inbound.auth.verdict import Trusted, examine, may_be_proven
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
"""Seconds for all DNS queries about one mail (RFC 7208 section 4.6.4 leaves the limit to us)."""
TURN_S = 0.5
"""Seconds that a mail waits for a thread while other mails are checked."""
MARGIN_S = 1.0
"""Seconds that a check may take beyond its DNS queries, for the arithmetic of signatures."""

log = logging.getLogger("pbmserv.receive")


@dataclass(eq=False, slots=True)
class _Check:
    """A mail whose sender is to be checked.

    Attributes:
        network: the client's network; ``""`` if it is unknown.
    """

    envelope: Envelope
    network: str
    future: Future[Verdict] = field(default_factory=Future)


class Senders:
    """Checks the senders of mails in threads.

    One network has at most `NETWORK_THREADS` checks at a time, and all DNS queries about a mail
    have one deadline. So a stranger whose name servers are slow cannot occupy all threads.
    """

    def __init__(
        self,
        resolver: Resolver,
        trusted: Trusted,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolver = resolver
        self._trusted = trusted
        self._clock = clock
        self._pool = ThreadPoolExecutor(THREADS, "pbmserv-senders")
        self._guard = threading.Lock()
        self._waiting: list[_Check] = []
        self._running: Counter[str] = Counter()

    def close(self) -> None:
        """Let running checks finish, and cancel those that wait."""
        with self._guard:
            waiting, self._waiting = self._waiting, []
        for check in waiting:
            check.future.cancel()
        self._pool.shutdown(cancel_futures=True)

    async def verdict(self, envelope: Envelope, network: str) -> Verdict:
        """Return whether the domain of the From address vouches for a mail; never raises.

        Args:
            network: the client's /24 or /64; ``""`` if it is unknown.
        """
        check = self._begin(envelope, network)
        future = asyncio.wrap_future(check.future)
        try:
            done, _ = await asyncio.wait({future}, timeout=TURN_S)
            if not done and not self._is_waiting(check):
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
        check = _Check(envelope, network)
        if not may_be_proven(envelope):
            check.future.set_result(UNCHECKED)
        elif self._enqueue(check):
            self._start_ready()
        else:
            check.future.set_result(Verdict(TEMPERROR, "not looked at: too many mails at a time"))
        return check

    def _enqueue(self, check: _Check) -> bool:
        """Append a check to the queue; return whether there was room for it."""
        with self._guard:
            if len(self._waiting) + self._running.total() >= MOST_WAITING:
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
                if self._running.total() >= THREADS:
                    break
                if not check.network or self._running[check.network] < NETWORK_THREADS:
                    self._running[check.network] += 1
                    started.append(check)
            self._waiting = [check for check in self._waiting if check not in started]
        for check in started:
            try:
                self._pool.submit(self._run, check)
            except RuntimeError:  # the pool is shut down
                check.future.cancel()

    def _run(self, check: _Check) -> None:
        """Check one mail, then start the checks that waited for this one."""
        names = TimedResolver(self._resolver, self._clock() + CHECK_S, self._clock)
        verdict = Verdict(TEMPERROR, "not looked at: the check failed")
        try:
            verdict = examine(check.envelope, self._trusted, names)
        except Exception:
            log.exception("a mail's sender could not be checked")
        with self._guard:
            self._running[check.network] -= 1
            if not self._running[check.network]:
                del self._running[check.network]
        if check.future.set_running_or_notify_cancel():
            check.future.set_result(verdict)
        self._start_ready()

    def _is_waiting(self, check: _Check) -> bool:
        """Return whether a check waits for a thread."""
        with self._guard:
            return check in self._waiting

    def _forget(self, check: _Check) -> None:
        """Remove a check from the queue; a running check ends by itself."""
        with self._guard:
            if check in self._waiting:
                self._waiting.remove(check)
