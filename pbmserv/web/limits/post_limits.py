"""Limits the number of forms from one network.

Every request that may change something counts as a form. It is counted in the memory of this
process before it is routed and read, so a refused form costs no database access. Addresses that
need a token have a higher limit than all others.
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

from pbmserv.mail.networks import Network
from pbmserv.web.http.client_network import network_of

ANYBODY = parse("20/minute")
"""Forms from one network to addresses that need no token."""
WITH_TOKEN = parse("240/minute")
"""Forms from one network to addresses that need a token or a session, even if it is invalid."""

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class PostLimits:
    """Counts the forms of each network.

    Args:
        with_token: beginnings of the paths that need a token or a session.
        proxies: networks of our own proxies, which name their clients in X-Forwarded-For.
    """

    def __init__(self, with_token: Collection[str], proxies: Collection[Network]) -> None:
        self._with_token = tuple(with_token)
        self._proxies = proxies
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def count_form(self, request: Request) -> int:
        """Count a form; return 0 if it is within the limit, else the seconds to wait."""
        limit = self._limit_of(request.scope["path"])
        network = network_of(request, self._proxies) or "unknown"
        if self._limiter.hit(limit, network):
            return 0
        reset_time = self._limiter.get_window_stats(limit, network).reset_time
        return max(1, math.ceil(reset_time - time.time()))

    def _limit_of(self, path: str) -> RateLimitItem:
        return WITH_TOKEN if path.startswith(self._with_token) else ANYBODY


class LimitedPosts:
    """ASGI middleware that refuses forms beyond the limit of their network.

    Args:
        limits: counts the forms.
        refuse: returns the answer to a form beyond the limit; its argument is the seconds to wait.
        except_below: paths below this one are exempt, since a mounted application counts them.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: PostLimits,
        refuse: Callable[[int], Response],
        except_below: str | None = None,
    ) -> None:
        self._app = app
        self._limits = limits
        self._refuse = refuse
        self._except_below = except_below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_counted(scope):
            seconds = self._limits.count_form(Request(scope))
            if seconds:
                answer = self._refuse(seconds)
                answer.headers["Retry-After"] = str(seconds)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_counted(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] in _SAFE_METHODS:
            return False
        return self._except_below is None or not scope["path"].startswith(self._except_below)
