"""The door stores what it takes: a reply comes after the commit, and play is rung then."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from pbmserv.clock import SystemClock
from pbmserv.mail.reply_address import KeyRing, MailDomain
from pbmserv.monitoring.vitals import Vital
from pbmserv.service.limits.rates import Rates, Traffic
from pbmserv.service.limits.text_quota import Quota
from pbmserv.stages.door import Door, TryLater
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Closed


class Desk:
    """A writer whose jobs wait until a test commits them."""

    def __init__(self) -> None:
        self.jobs: deque[tuple[Callable[[Any], Any], Future[Any]]] = deque()
        self.is_closed = False

    def submit(self, job: Callable[[Any], Any]) -> Future[Any]:
        if self.is_closed:
            raise Closed("closed")
        self.jobs.append((job, Future()))
        return self.jobs[-1][1]

    def close(self) -> None:
        self.is_closed = True

    def vitals(self) -> list[Vital]:
        return []

    def finish(self, error: Exception | None = None) -> list[int]:
        """Number the waiting jobs, or fail them; return the numbers."""
        numbers = []
        while self.jobs:
            _, future = self.jobs.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            if error is not None:
                future.set_exception(error)
            else:
                numbers.append(len(numbers) + 1)
                future.set_result(numbers[-1])
        return numbers


class House:
    """A door in front of a `Desk`, and the rings that it has sent."""

    def __init__(self, folder: Path) -> None:
        self.desk = Desk()
        self.rings = 0
        clock = SystemClock()
        domain = MailDomain("pbmserv", "games.example", KeyRing({1: b"k" * 32}))
        rates = Rates(*[None] * 7)
        database = Database(f"sqlite:///{folder}/door.sqlite3")
        quota = Quota(database, 1 << 20, keeps_unused=False)
        self.door = Door(domain, self.desk, clock, Traffic(rates, clock), quota, self._ring)

    def _ring(self) -> None:
        self.rings += 1

    async def forms(self, count: int) -> list[asyncio.Task[int]]:
        """Begin to store forms, and return the tasks that wait for the commit."""
        tasks = [asyncio.create_task(self.door.form("confirm", {})) for _ in range(count)]
        await asyncio.sleep(0)  # each runs to its first wait, which is for the commit
        assert len(self.desk.jobs) == count
        return tasks


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_a_number_comes_after_the_commit_and_then_a_ring(house: House) -> None:
    async def main() -> None:
        tasks = await house.forms(3)
        assert (house.rings, [task.done() for task in tasks]) == (0, [False] * 3)
        house.desk.finish()
        assert await asyncio.gather(*tasks) == [1, 2, 3]
        assert house.rings == 3

    asyncio.run(main())


def test_what_the_database_could_not_take_is_to_come_again(house: House) -> None:
    async def main() -> None:
        tasks = await house.forms(3)
        house.desk.finish(OperationalError("", None, Exception("locked")))
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [TryLater] * 3
        house.desk.close()
        with pytest.raises(TryLater):
            await house.door.form("confirm", {})
        assert house.rings == 0

    asyncio.run(main())


def test_a_client_that_goes_away_in_time_takes_its_mail_back(house: House) -> None:
    async def main() -> None:
        gone, stays = await house.forms(2)
        gone.cancel()
        await asyncio.wait([gone])
        assert house.desk.finish() == [1]  # of the two
        assert await stays == 1

    asyncio.run(main())
