"""Play, as pages reach it: the door stores forms and commands, and play rings for their results."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol, TypeVar

from pbmserv.errors import NotDone, StillWorking
from pbmserv.service.core.job_result import FAILED
from pbmserv.service.core.page_form import PageForm
from pbmserv.service.pages.page_requests import PageRequest
from pbmserv.stages.base import Base
from pbmserv.store.delivery import settled_arrivals

R = TypeVar("R")

LONGEST_S = 5.0
"""Seconds that a page waits for a result."""
UNRUNG_S = 0.25
"""Seconds between two looks without a ring: the play of another host cannot ring here."""


class PagesDoor(Protocol):
    """The door, as the pages need it."""

    async def store_form(self, body: bytes) -> int:
        """See `Door.store_form`."""
        ...

    async def store_press(self, request: PageRequest) -> int:
        """See `Door.store_press`."""
        ...


class PlayOfPages:
    """Play, as `pages.play.Play`, for an event loop; `ring` may be called from any thread.

    Attributes:
        door: stores forms and commands.
    """

    def __init__(self, base: Base, door: PagesDoor) -> None:
        self.door = door
        self._base = base
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Event] = set()

    def ring(self) -> None:
        """Announce that play has committed something that a page may wait for."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for woken in self._waiting:
            woken.set()

    async def press(self, request: PageRequest) -> int:
        """See `pages.play.Play.press`."""
        arrival = await self.door.store_press(request)
        return int(await self._result(arrival))

    async def ask(self, form: PageForm[R]) -> R:
        """See `pages.play.Play.ask`."""
        arrival = await self.door.store_form(form.as_json())
        result: R = await self._result(arrival)
        return result

    async def leave(self, form: PageForm[Any]) -> None:
        """See `pages.play.Play.leave`."""
        await self.door.store_form(form.as_json())

    async def _result(self, arrival: int) -> Any:
        """Wait until play has carried out a form or press, and return its result.

        Args:
            arrival: the number of its arrival.

        Raises:
            StillWorking: it is not there in time.
            NotDone: our code failed; nothing has changed.
        """
        results: list[Any] = []

        def is_there() -> bool:
            with self._base.game.reading.connect() as connection:
                is_done, result = settled_arrivals.result_of(
                    connection, self._base.mail_store_name, arrival
                )
            if is_done:
                results.append(result)
            return is_done

        await self.until(is_there, LONGEST_S)
        if not results:
            raise StillWorking("a form is still worked on")
        if results[0] == FAILED:
            raise NotDone("what a page asked for could not be carried out")
        return results[0]

    async def until(self, is_over: Callable[[], bool], longest_s: float) -> None:
        """See `pages.play.Play.until`."""
        self._loop = asyncio.get_running_loop()
        end = monotonic() + longest_s
        woken = asyncio.Event()
        self._waiting.add(woken)
        try:
            while not await asyncio.to_thread(is_over) and (left := end - monotonic()) > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), min(UNRUNG_S, left))
                woken.clear()
        finally:
            self._waiting.discard(woken)
