"""A cache of pages that are the same for all readers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from functools import partial

MOST_OCTETS = 10_000_000
"""Largest number of octets in a `PageCache`; a large race has a page of 600 kB."""


class PageCache:
    """Pages by their keys; the least recently read ones are dropped.

    Args:
        most: largest number of pages. Together they have at most `MOST_OCTETS`, too.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._octets = 0
        self._pages: OrderedDict[Hashable, tuple[Hashable, bytes]] = OrderedDict()
        self._renderings: dict[Hashable, asyncio.Future[bytes | None]] = {}

    async def get(
        self, key: Hashable, stamp: Hashable, make: Callable[[], Awaitable[bytes | None]]
    ) -> bytes | None:
        """Return the page of a key, and render it if its stamp has changed.

        Readers who ask at the same time wait for one rendering. If it fails, the others render the
        page themselves.

        Args:
            key: the page.
            stamp: a value that changes with the page's content.
            make: renders the page; its result is ``None`` if there is no such page.
        """
        entry = self._pages.get(key)
        if entry is not None and entry[0] == stamp:
            self._pages.move_to_end(key)
            return entry[1]
        rendering = self._renderings.get((key, stamp))
        is_of_another = rendering is not None
        if rendering is None:
            rendering = asyncio.ensure_future(make())
            self._renderings[key, stamp] = rendering
            rendering.add_done_callback(partial(self._finish, (key, stamp)))
        try:
            page = await asyncio.shield(rendering)
        except Exception:
            if not is_of_another:
                raise
            page = await make()  # perhaps only the other reader's share of time is used up
        if page is not None:
            self._keep(key, stamp, page)
        return page

    def _finish(self, key: Hashable, rendering: asyncio.Future[bytes | None]) -> None:
        self._renderings.pop(key, None)
        if not rendering.cancelled():
            rendering.exception()  # all readers may have left, and asyncio warns of unread errors

    def _keep(self, key: Hashable, stamp: Hashable, page: bytes) -> None:
        _, older = self._pages.pop(key, (None, b""))
        self._pages[key] = stamp, page
        self._octets += len(page) - len(older)
        while len(self._pages) > self._most or self._octets > MOST_OCTETS:
            _, (_, oldest) = self._pages.popitem(last=False)
            self._octets -= len(oldest)
