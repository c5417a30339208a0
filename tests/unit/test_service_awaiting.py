"""Results of the writer's thread come into the event loop, each to the one who waits for it."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

import pytest

from pbmserv.stages.door import Awaiting


def test_a_group_comes_home_with_one_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        happened: list[str] = []
        awaiting = Awaiting()
        futures: list[Future[int]] = [Future() for _ in range(50)]
        signals = 0
        signal = loop.call_soon_threadsafe

        def counted(*job: Any) -> object:
            nonlocal signals
            signals += 1
            return signal(*job)

        async def waiter(future: Future[int]) -> int:
            found = await awaiting.result(future)
            happened.append("answered")
            return found

        tasks = [asyncio.ensure_future(waiter(future)) for future in futures]
        await asyncio.sleep(0)
        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        for number, future in enumerate(futures):
            future.set_result(number)
        resolved = signals
        monkeypatch.undo()
        assert await asyncio.gather(*tasks) == list(range(50))
        await asyncio.sleep(0)
        assert resolved == 1
        assert happened == ["answered"] * 50

    asyncio.run(main())


def test_every_result_of_another_thread_arrives() -> None:
    """However the thread that resolves and the loop take turns, nothing is left lying."""

    async def main() -> None:
        awaiting = Awaiting()
        for _ in range(20):
            futures: list[Future[int]] = [Future() for _ in range(20)]

            def resolve(them: list[Future[int]] = futures) -> None:
                for number, future in enumerate(them):
                    future.set_result(number)

            results = asyncio.gather(*(awaiting.result(future) for future in futures))
            await asyncio.to_thread(resolve)
            assert await results == list(range(20))

    asyncio.run(asyncio.wait_for(main(), 20))


def test_failures_are_handed_on() -> None:
    async def main() -> None:
        failing: Future[int] = Future()
        waiting = asyncio.ensure_future(Awaiting().result(failing))
        failing.set_exception(LookupError("gone"))
        with pytest.raises(LookupError, match="gone"):
            await waiting

    asyncio.run(main())


def test_who_stops_waiting_calls_the_job_off_if_it_has_not_begun() -> None:
    async def main() -> None:
        awaiting = Awaiting()
        idle: Future[int] = Future()
        begun: Future[int] = Future()
        assert begun.set_running_or_notify_cancel()
        tasks = [asyncio.ensure_future(awaiting.result(future)) for future in (idle, begun)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert idle.cancelled()
        begun.set_result(1)  # it is done all the same, and nobody minds
        await asyncio.sleep(0)

    asyncio.run(main())


def test_a_result_for_a_closed_loop_is_dropped() -> None:
    late: Future[int] = Future()
    assert late.set_running_or_notify_cancel()
    loop = asyncio.new_event_loop()

    async def begin() -> asyncio.Task[int]:
        return asyncio.ensure_future(Awaiting().result(late))

    task = loop.run_until_complete(begin())
    loop.run_until_complete(asyncio.sleep(0))
    task.cancel()
    loop.run_until_complete(asyncio.wait([task]))
    loop.close()
    late.set_result(1)
