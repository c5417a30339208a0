"""Attempts to sign in, which are slowed down so that nobody can guess the token."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

PAUSE_S = 1.0
"""Seconds for which a wrong token blocks all attempts of its network."""
MOST_WAITING = 5
"""Attempts of one network that may wait for their turn."""


class Attempts:
    """Checks the tokens of each network one after the other, and pauses after a wrong one.

    Right and wrong tokens wait for the same turn, so a client that hangs up early gains nothing.
    """

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._waiting: Counter[str] = Counter()
        self._turns: dict[str, asyncio.Lock] = {}

    async def check(self, network: str, is_right: Callable[[], bool]) -> bool | None:
        """Return whether a token is right; `None` if too many wait, so that it was not checked."""
        if self._waiting[network] >= MOST_WAITING:
            return None
        self._waiting[network] += 1
        turn = self._turns.setdefault(network, asyncio.Lock())
        try:
            async with turn:
                result = is_right()
                if not result:
                    await self._sleep(PAUSE_S)
                return result
        finally:
            self._waiting[network] -= 1
            if not self._waiting[network]:
                del self._waiting[network], self._turns[network]
