"""Limits on requests that may change something: so many from one network, and no more.

They are counted in the memory of this process, before the request is routed and before its form is
read, so that what is refused costs no row and no look-up. Every address has a limit: one that needs
a token has a higher one, and any other address that takes forms has the low one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pbmserv.mail.envelope import Network
from pbmserv.web.client_network import network_of

ANYBODY = parse("20/minute")
"""Forms from one network at addresses that need no token."""
WITH_TOKEN = parse("240/minute")
"""The same at addresses with a token or a session, good or not."""

_READING = frozenset({"GET", "HEAD", "OPTIONS"})


class PostLimits:
    """Counts the forms of each network.

    Args:
        with_token: beginnings of the paths that need a token, or a session.
        proxies: networks of our own proxies, which say in X-Forwarded-For for whom they ask.
    """

    def __init__(self, with_token: Collection[str], proxies: Collection[Network]) -> None:
        self._with_token = tuple(with_token)
        self._proxies = proxies
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def seconds_to_wait(self, request: Request) -> int:
        """Count a form; return 0, or after how many seconds the next one is taken."""
        limit = self._limit_of(request.scope["path"])
        network = network_of(request, self._proxies) or "unknown"
        if self._limiter.hit(limit, network):
            return 0
        reset_time = self._limiter.get_window_stats(limit, network).reset_time
        return max(1, math.ceil(reset_time - time.time()))

    def _limit_of(self, path: str) -> RateLimitItem:
        return WITH_TOKEN if path.startswith(self._with_token) else ANYBODY


class LimitedPosts:
    """ASGI middleware: hands on a request that may change something if its network may send it.

    Args:
        limits: count the forms.
        refuse: makes the answer to one form too many; it is given the seconds to wait.
        but_below: a path below which an application of its own has this middleware.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: PostLimits,
        refuse: Callable[[int], Response],
        but_below: str | None = None,
    ) -> None:
        self._app = app
        self._limits = limits
        self._refuse = refuse
        self._but_below = but_below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in _READING and self._is_ours(scope):
            seconds = self._limits.seconds_to_wait(Request(scope))
            if seconds:
                answer = self._refuse(seconds)
                answer.headers["Retry-After"] = str(seconds)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_ours(self, scope: Scope) -> bool:
        return self._but_below is None or not scope["path"].startswith(self._but_below)
