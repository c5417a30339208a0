"""Processor time that pages take for readers who open them without a link of their own.

Anybody can ask for such pages, as often as they like, so each network has a share of a processor,
and all together have one, which is less than a whole processor: players' own pages are made beside
them. One page is made at a time; what was made is kept (`web.pages.Rendered`) and costs nothing.
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
from pbmserv.mail.envelope import Network
from pbmserv.web.client_network import network_of

T = TypeVar("T")

MOST_WAITING, MOST_OF_NETWORK = 32, 8
"""Pages that wait to be made: in all, and for one network."""
WAIT_S = 5
"""Seconds after which to ask again where too many wait."""
REMEMBERED = 10_000
"""Networks whose share is remembered."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of a processor.

    Attributes:
        at_once: seconds of processor time that may be used up at once.
        rate: seconds that come back in a second.
    """

    at_once: float
    rate: float


OF_NETWORK = Share(6.0, 0.1)
OF_ALL = Share(20.0, 0.4)


class Exhausted(ServerFault):
    """The share of a reader's network, or that of all readers, is used up for a while.

    Attributes:
        seconds: after which there is room again.
        is_own: the reader's network has used its share up, not all readers together.
    """

    def __init__(self, seconds: float, *, is_own: bool) -> None:
        super().__init__("too many pages are asked for")
        self.seconds = max(1, ceil(seconds))
        self.is_own = is_own


class Bucket:
    """Counts what is left of a share. One page may overdraw it."""

    def __init__(self, share: Share, now: float) -> None:
        self._share = share
        self._left = share.at_once
        self._at = now

    def left(self, now: float) -> float:
        """Return the seconds of processor time that are left."""
        came_back = (now - self._at) * self._share.rate
        self._left = min(self._share.at_once, self._left + came_back)
        self._at = now
        return self._left

    def take(self, seconds: float, now: float) -> None:
        """Count processor time that was used."""
        self._left = self.left(now) - seconds

    def again_in(self, now: float) -> float:
        """Return the seconds until something is left; 0 if something is."""
        return max(0.0, -self.left(now) / self._share.rate)


class Allowance:
    """Makes pages for anonymous readers, one at a time, as long as their shares last.

    For one thread, that of the event loop.

    Args:
        proxies: networks of our own proxies, which say for whom they ask.
        clock: seconds.
        processor: seconds of processor time of this process.
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
        """Return what *make* makes, and count the processor time that it takes.

        Raises:
            Exhausted: a share is used up, or too many pages wait already.
        """
        network = network_of(request, self._proxies)
        self._must_have_room(network)
        is_crowded = network and self._waiting[network] >= MOST_OF_NETWORK
        if is_crowded or self._waiting.total() >= MOST_WAITING:
            raise Exhausted(WAIT_S, is_own=bool(is_crowded))
        self._waiting[network] += 1
        try:
            async with self._turn:
                self._must_have_room(network)
                begun = self._processor()
                try:
                    return await make()
                finally:
                    self._charge(network, self._processor() - begun)
        finally:
            self._waiting[network] -= 1
            if not self._waiting[network]:
                del self._waiting[network]

    def metered(
        self, handler: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler whose answers are all made within the shares."""

        async def answer(request: Request) -> Response:
            return await self.spend(request, lambda: handler(request))

        return answer

    def _must_have_room(self, network: str) -> None:
        now = self._clock()
        bucket = self._networks.get(network)
        if bucket is not None and (seconds := bucket.again_in(now)):
            raise Exhausted(seconds, is_own=True)
        if seconds := self._all.again_in(now):
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
