"""Limits the processor time of pages that anonymous readers open.

Anybody can request such pages as often as they like. So each network has a share of a processor,
and all networks together have a share that leaves time for players' own pages. One page is rendered
at a time. Pages that `rendering.page_cache.PageCache` keeps cost nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from math import ceil
from time import monotonic, process_time
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from pbmserv.errors import ServerFault
from pbmserv.mail.networks import Network
from pbmserv.web.http.client_network import network_of

T = TypeVar("T")

MOST_WAITING, MOST_OF_NETWORK = 32, 8
"""Pages that may wait to be rendered: in total, and for one network."""
WAIT_S = 5
"""Seconds after which a reader may try again if too many pages wait."""
REMEMBERED = 10_000
"""Networks whose use is remembered."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of a processor.

    Attributes:
        at_once: seconds of processor time that may be used in one go.
        rate: seconds of processor time that are added in each second.
    """

    at_once: float
    rate: float


OF_NETWORK = Share(6.0, 0.1)
OF_ALL = Share(20.0, 0.4)


class Exhausted(ServerFault):
    """A page that was not rendered because a share is used up.

    Attributes:
        seconds: seconds until the reader may try again.
        is_own: the share of the reader's network is used up, not that of all readers.
    """

    def __init__(self, seconds: float, *, is_own: bool) -> None:
        super().__init__("too many pages were requested")
        self.seconds = max(1, ceil(seconds))
        self.is_own = is_own


class Bucket:
    """The rest of a share. One page may overdraw it."""

    def __init__(self, share: Share, now: float) -> None:
        self._share = share
        self._left = share.at_once
        self._at = now

    def left(self, now: float) -> float:
        """Return the seconds of processor time that are left."""
        added = (now - self._at) * self._share.rate
        self._left = min(self._share.at_once, self._left + added)
        self._at = now
        return self._left

    def take(self, seconds: float, now: float) -> None:
        """Subtract processor time that was used."""
        self._left = self.left(now) - seconds

    def seconds_to_wait(self, now: float) -> float:
        """Return the seconds until the rest is positive; 0 if it is already."""
        return max(0.0, -self.left(now) / self._share.rate)


class Allowance:
    """Renders pages for anonymous readers, one at a time, as long as their shares last.

    Not thread-safe: only the event loop may use it.

    Args:
        proxies: networks of our own proxies, which name their clients in X-Forwarded-For.
        clock: returns seconds.
        processor: returns the seconds of processor time that this process has used.
    """

    def __init__(
        self,
        proxies: Collection[Network],
        clock: Callable[[], float] = monotonic,
        processor: Callable[[], float] = process_time,
    ) -> None:
        self._proxies = proxies
        self._clock = clock
        self._processor = processor
        self._turn = asyncio.Lock()
        self._all = Bucket(OF_ALL, clock())
        self._networks: OrderedDict[str, Bucket] = OrderedDict()
        self._waiting: Counter[str] = Counter()

    async def spend(self, request: Request, make: Callable[[], Awaitable[T]]) -> T:
        """Return the result of *make*, and count the processor time that it uses.

        Raises:
            Exhausted: a share is used up, or too many pages wait.
        """
        network = network_of(request, self._proxies)
        self._check(network)
        is_crowded = network and self._waiting[network] >= MOST_OF_NETWORK
        if is_crowded or self._waiting.total() >= MOST_WAITING:
            raise Exhausted(WAIT_S, is_own=bool(is_crowded))
        self._waiting[network] += 1
        try:
            async with self._turn:
                self._check(network)
                start = self._processor()
                try:
                    return await make()
                finally:
                    self._charge(network, self._processor() - start)
        finally:
            self._waiting[network] -= 1
            if not self._waiting[network]:
                del self._waiting[network]

    def metered(
        self, handler: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler whose processor time counts against the shares."""

        async def answer(request: Request) -> Response:
            return await self.spend(request, lambda: handler(request))

        return answer

    def _check(self, network: str) -> None:
        """Check that neither share is used up.

        Raises:
            Exhausted: one is.
        """
        now = self._clock()
        bucket = self._networks.get(network)
        if bucket is not None and (seconds := bucket.seconds_to_wait(now)):
            raise Exhausted(seconds, is_own=True)
        if seconds := self._all.seconds_to_wait(now):
            raise Exhausted(seconds, is_own=False)

    def _charge(self, network: str, seconds: float) -> None:
        now = self._clock()
        self._all.take(seconds, now)
        if not network:
            return
        bucket = self._networks.setdefault(network, Bucket(OF_NETWORK, now))
        bucket.take(seconds, now)
        self._networks.move_to_end(network)
        while len(self._networks) > REMEMBERED:
            self._networks.popitem(last=False)
