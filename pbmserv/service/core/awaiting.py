"""Brings what the writer has done back into the event loop, a whole group with one signal.

`asyncio.wrap_future` signals the loop for each future: with fifty mails in one commit that is
fifty system calls, and as many times that the loop's thread and the writer's fight for the
interpreter.
"""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class Awaiting:
    """Futures of other threads that one event loop waits for; make it in that loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done: deque[tuple[Future[Any], asyncio.Future[Any]]] = deque()
        self._signalled = False

    def is_here(self) -> bool:
        """Whether the running event loop is the one that waits."""
        return self._loop is asyncio.get_running_loop()

    async def result(self, future: Future[T]) -> T:
        """The future's result, or its exception; whoever stops waiting cancels it."""
        waiting: asyncio.Future[T] = self._loop.create_future()
        future.add_done_callback(partial(self._arrived, waiting))
        try:
            return await waiting
        except asyncio.CancelledError:
            future.cancel()
            raise

    def _arrived(self, waiting: asyncio.Future[Any], future: Future[Any]) -> None:
        """Called by the thread that resolved *future*."""
        self._done.append((future, waiting))
        # In this order, and the other one in `_deliver`: nothing is left lying.
        if not self._signalled:
            self._signalled = True
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._signalled = False
        while self._done:
            future, waiting = self._done.popleft()
            if waiting.done():
                continue
            error = future.exception()
            if error is not None:
                waiting.set_exception(error)
            else:
                waiting.set_result(future.result())
