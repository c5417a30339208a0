"""The cache of pages: one rendering for all readers, a limit of size, and readers who leave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pbmserv.web.limits.allowance import Exhausted
from pbmserv.web.rendering import page_cache
from pbmserv.web.rendering.page_cache import PageCache


class Renderings:
    """Renders pages, and counts how often. Each waits until the test lets it end."""

    def __init__(self, page: bytes | None = b"page") -> None:
        self.count = 0
        self.may_end = asyncio.Event()
        self._page = page

    async def make(self) -> bytes | None:
        self.count += 1
        await self.may_end.wait()
        return self._page


def run(story: Callable[[], Awaitable[Any]]) -> None:
    async def with_deadline() -> None:
        await asyncio.wait_for(story(), 10)

    asyncio.run(with_deadline())


def test_a_reader_who_leaves_does_not_end_the_rendering_for_others() -> None:
    async def story() -> None:
        cache, renderings = PageCache(most=2), Renderings()
        leaving = asyncio.ensure_future(cache.get("page", 1, renderings.make))
        staying = asyncio.ensure_future(cache.get("page", 1, renderings.make))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        renderings.may_end.set()
        assert await staying == b"page"
        assert renderings.count == 1

    run(story)


def test_a_reader_whose_share_is_used_up_fails_alone() -> None:
    async def story() -> None:
        async def fail() -> bytes:
            raise Exhausted(5, is_own=True)

        cache, renderings = PageCache(most=2), Renderings()
        renderings.may_end.set()
        first = cache.get("page", 1, fail)
        second = cache.get("page", 1, renderings.make)
        failed, page = await asyncio.gather(first, second, return_exceptions=True)
        assert isinstance(failed, Exhausted)
        assert page == b"page"

    run(story)


@pytest.mark.parametrize(("most", "octets"), [(2, 1_000), (100, 9)])
def test_the_least_recently_read_page_is_dropped(
    monkeypatch: pytest.MonkeyPatch, most: int, octets: int
) -> None:
    monkeypatch.setattr(page_cache, "MOST_OCTETS", octets)

    async def story() -> None:
        cache, renderings = PageCache(most), Renderings(b"four")
        renderings.may_end.set()
        counts = []
        for key in ("first", "second", "first", "third", "first", "second"):
            await cache.get(key, 1, renderings.make)
            counts.append(renderings.count)
        assert counts == [1, 2, 2, 3, 3, 4]

    run(story)


def test_a_page_that_was_rendered_again_takes_the_room_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_cache, "MOST_OCTETS", 9)

    async def story() -> None:
        cache, renderings = PageCache(most=100), Renderings(b"four")
        renderings.may_end.set()
        for stamp in range(5):
            await cache.get("first", stamp, renderings.make)
        await cache.get("second", 1, renderings.make)
        count = renderings.count
        await cache.get("first", 4, renderings.make)
        assert renderings.count == count

    run(story)
