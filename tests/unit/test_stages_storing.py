"""What the door takes is stored in groups: one job, one wake-up and one ring for all of a group."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from pbmserv.mail.envelope import Envelope
from pbmserv.monitoring.metrics import Vital
from pbmserv.stages import door
from pbmserv.stages.door import Storing, TryLater
from pbmserv.store.core.writer import Closed
from pbmserv.store.delivery import arrivals
from pbmserv.store.delivery.arrivals import NewArrival


class Store:
    """A writer whose jobs wait until they are told to run; it knows what was stored."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jobs: deque[tuple[Callable[[Any], Any], Future[Any]]] = deque()
        self.tried = 0
        self.kept: list[str] = []
        self.away: Exception | None = None
        monkeypatch.setattr(arrivals, "add_all", self._add_all)

    def submit(self, job: Callable[[Any], Any]) -> Future[Any]:
        self.jobs.append((job, Future()))
        return self.jobs[-1][1]

    def submit_between(
        self,
        job: Callable[[Any], Any],
        *,
        is_synced: bool = True,
    ) -> Future[Any]:
        return self.submit(job)

    def submit_at_once(self, job: Callable[[Any], Any]) -> Future[Any] | None:
        return None

    async def asked(self) -> None:
        """In the first turn of the loop mails come, in the second their group is handed in."""
        for _ in range(2):
            await asyncio.sleep(0)

    def close(self) -> None:
        """There is nothing to end."""

    def vitals(self) -> list[Vital]:
        return []

    def run(self) -> None:
        """Run all jobs, each as a transaction of its own."""
        while self.jobs:
            job, future = self.jobs.popleft()
            self.tried += 1
            before = list(self.kept)
            try:
                if self.away is not None:
                    raise self.away
                result = job(None)
            except Exception as error:  # noqa: BLE001 - whoever waits gets it
                self.kept[:] = before
                future.set_exception(error)
            else:
                future.set_result(result)

    def _add_all(self, _connection: Any, group: list[NewArrival]) -> list[int]:
        return [self._add(new) for new in group]

    def _add(self, new: NewArrival) -> int:
        if new.lane == "bad":
            raise ValueError(new.lane)
        self.kept.append(new.lane)
        return len(self.kept)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    return Store(monkeypatch)


def _new(lane: str) -> NewArrival:
    return NewArrival("mail", Envelope("", "", b""), lane, datetime(2026, 1, 1, tzinfo=UTC))


def test_a_group_is_one_job_one_wake_up_and_one_ring(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        rings: list[str] = []
        loop = asyncio.get_running_loop()
        wake_ups = 0
        signal = loop.call_soon_threadsafe

        def counted(*job: Any) -> object:
            nonlocal wake_ups
            wake_ups += 1
            return signal(*job)

        storing = Storing(store, lambda: rings.append("rung"))
        tasks = [asyncio.ensure_future(storing.store(_new(str(n)))) for n in range(50)]
        await store.asked()
        assert len(store.jobs) == 1
        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        store.run()
        monkeypatch.undo()
        assert (wake_ups, rings) == (1, ["rung"])
        assert await asyncio.gather(*tasks) == list(range(1, 51))

    asyncio.run(main())


def test_whatever_the_threads_do_nothing_is_left_lying(store: Store) -> None:
    """The writer takes the group while the loop adds to it: each is stored once."""

    async def main() -> None:
        storing = Storing(store, lambda: None)
        tasks = []
        for number in range(400):
            tasks.append(asyncio.ensure_future(storing.store(_new(str(number)))))
            await asyncio.sleep(0)
            if number % 3 == 0:
                await asyncio.to_thread(store.run)
        while not all(task.done() for task in tasks):
            await asyncio.to_thread(store.run)
        assert sorted(await asyncio.gather(*tasks)) == list(range(1, 401))
        assert sorted(store.kept, key=int) == [str(number) for number in range(400)]

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_fault_of_one_is_no_fault_of_the_others(store: Store) -> None:
    async def main() -> None:
        storing = Storing(store, lambda: None)
        tasks = [asyncio.ensure_future(storing.store(_new(n))) for n in ("a", "bad", "c")]
        await store.asked()
        for _ in range(3):
            store.run()
            await asyncio.sleep(0)
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(found[1], ValueError)
        assert [found[0], found[2]] == [1, 2]
        assert store.kept == ["a", "c"]

    asyncio.run(main())


def test_when_the_database_is_away_all_are_told_so_at_once(store: Store) -> None:
    async def main() -> None:
        rings: list[str] = []
        storing = Storing(store, lambda: rings.append("rung"))
        store.away = OperationalError("", None, Exception("locked"))
        tasks = [asyncio.ensure_future(storing.store(_new(str(n)))) for n in range(3)]
        await store.asked()
        store.run()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in found] == [TryLater] * 3
        assert (store.tried, rings) == (1, [])

    asyncio.run(main())


def test_a_closed_writer_is_told_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(_job: object) -> Future[Any]:
        raise Closed("closed")

    monkeypatch.setattr(store, "submit", closed)

    async def main() -> None:
        with pytest.raises(TryLater):
            await Storing(store, lambda: None).store(_new("a"))

    asyncio.run(main())


def test_who_stops_waiting_takes_his_mail_back_if_its_group_has_not_begun(store: Store) -> None:
    async def main() -> None:
        storing = Storing(store, lambda: None)
        tasks = [asyncio.ensure_future(storing.store(_new(n))) for n in ("a", "b")]
        await store.asked()
        tasks[0].cancel()
        await asyncio.wait(tasks[:1])
        store.run()
        tasks[1].cancel()  # too late: it is stored all the same
        await asyncio.wait(tasks[1:])
        await asyncio.sleep(0)
        assert store.kept == ["b"]

    asyncio.run(main())


def test_a_group_whose_loop_is_gone_still_rings(store: Store) -> None:
    rings: list[str] = []
    loop = asyncio.new_event_loop()

    async def begin() -> asyncio.Task[int]:
        return asyncio.ensure_future(Storing(store, lambda: rings.append("rung")).store(_new("a")))

    task = loop.run_until_complete(begin())
    loop.run_until_complete(store.asked())
    (job, future) = store.jobs.popleft()
    job(None)
    task.cancel()
    loop.run_until_complete(asyncio.wait([task]))
    loop.close()
    future.set_result(None)
    assert (store.kept, rings) == (["a"], ["rung"])


@pytest.fixture
def by_the_loop(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the event loop itself has stored; the rest waits for `Store.run`."""
    stored: list[str] = []

    def at_once(job: Callable[[Any], Any]) -> Future[Any]:
        future = store.submit(job)
        store.run()
        stored.append(store.kept[-1])
        return future

    monkeypatch.setattr(store, "submit_at_once", at_once)
    return stored


class Client:
    """A session that stays, and sends when it is told to."""

    def __init__(self, storing: Storing) -> None:
        self._to_send: asyncio.Queue[str | None] = asyncio.Queue()
        self._storing = storing
        self.numbers: list[int] = []
        self.session = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while (lane := await self._to_send.get()) is not None:
            self.numbers.append(await self._storing.store(_new(lane)))

    async def send(self, lane: str | None) -> None:
        self._to_send.put_nowait(lane)
        for _ in range(3):
            await asyncio.sleep(0)


def test_a_client_alone_has_its_mails_committed_by_the_loop(
    store: Store, by_the_loop: list[str]
) -> None:
    async def main() -> None:
        rings: list[str] = []
        storing = Storing(store, lambda: rings.append("rung"))
        assert [await storing.store(_new(one)) for one in ("a", "b")] == [1, 2]
        assert by_the_loop == ["a", "b"]
        await asyncio.sleep(0)
        assert rings == ["rung", "rung"]

    asyncio.run(main())


def test_of_several_clients_a_group_waits_until_each_has_handed_one_in(
    store: Store, by_the_loop: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "GATHER_S", 3600)
    monkeypatch.setattr(door, "RECENT_S", 3600)

    async def main() -> None:
        storing = Storing(store, lambda: None)
        one, two = Client(storing), Client(storing)
        await one.send("a")
        await two.send("b")
        assert (by_the_loop, len(store.jobs)) == (["a"], 0)
        await one.send("c")
        assert len(store.jobs) == 1
        store.run()
        await two.send(None)
        assert store.kept == ["a", "b", "c"]
        await one.send("d")  # the other has gone
        assert by_the_loop == ["a", "d"]
        await one.send(None)
        assert (one.numbers, two.numbers) == ([1, 3, 4], [2])

    asyncio.run(main())


@pytest.mark.parametrize("expected_for", ["GATHER_S", "RECENT_S"])
def test_nobody_waits_long_for_a_client_that_sends_no_more(
    store: Store, by_the_loop: list[str], monkeypatch: pytest.MonkeyPatch, expected_for: str
) -> None:
    for name in ("GATHER_S", "RECENT_S"):
        monkeypatch.setattr(door, name, 0.001 if name == expected_for else 3600)

    async def main() -> None:
        storing = Storing(store, lambda: None)
        one, two = Client(storing), Client(storing)
        await one.send("a")
        await asyncio.sleep(0.002)
        await two.send("b")
        while not two.numbers:
            store.run()
            await asyncio.sleep(0)
        assert by_the_loop == (["a"] if expected_for == "GATHER_S" else ["a", "b"])
        await one.send(None)
        await two.send(None)

    asyncio.run(asyncio.wait_for(main(), 20))
