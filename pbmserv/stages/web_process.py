"""The process of the pages: serves them, and shows the supervisor that it is not stuck."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

from pbmserv.errors import DoorAway
from pbmserv.monitoring.vitals import Vital
from pbmserv.service.limits.rates import Over, TooMany
from pbmserv.service.operators.gauges import metrics as metrics_of
from pbmserv.service.operators.health import Health
from pbmserv.service.pages.page_requests import PageRequest
from pbmserv.stages.current_work import THREADS, CurrentWork
from pbmserv.stages.messages import Request, StageState, StoreForm, StorePress
from pbmserv.stages.operator_orders import OperatorOrders
from pbmserv.stages.process import Process, Setup
from pbmserv.stages.questions import PATIENCE_S, Asking, NotThere, tell_play_of_stops
from pbmserv.stages.stage_states import Stages, is_answering
from pbmserv.stages.web_ports import WebPorts
from pbmserv.stages.web_stage import WebStage

BEAT = 1
"""The number that web notes as its work."""
BEAT_S = 1.0
"""Seconds between two notes."""
ELSEWHERE_S = 1.0
"""Seconds that a page waits for a door that another `serve` runs, if at all."""
MOST_THREADS = THREADS - 1
"""Threads of web at most: as many as the supervisor can see, less the event loop's own."""

T = TypeVar("T")

log = logging.getLogger("pbmserv.stages")


def web_process(setup: Setup) -> Process:
    """Return the process of the pages."""
    base, folder = setup.base, setup.folder
    asyncio.get_running_loop().set_default_executor(_Watched(setup.current))
    has_own_door = "door" in setup.processes
    door = Asking(folder / "door.sock", PATIENCE_S if has_own_door else ELSEWHERE_S)
    stage = WebStage(base, _DoorOfPages(door), OperatorOrders(base.settings))
    stages = Stages(folder, setup.processes)
    data_dir = base.settings.data_dir
    health = Health(stages.parts, data_dir, base.mail, base.game, stages.write, base.clock)

    async def metrics() -> bytes:
        return await metrics_of(health, await asyncio.to_thread(stages.counted))

    ports = WebPorts(base, stage, health, metrics, setup.bound)
    beating = asyncio.create_task(_beat(setup.current), name="beat")

    def state() -> StageState:
        return StageState((Vital("web", True, 0.0, 60.0),), ports.slots())

    async def start() -> None:
        if not has_own_door and not await asyncio.to_thread(is_answering, folder / "door.sock"):
            log.warning(
                "no door runs beside the pages: moves and forms on them fail until one does"
            )
        await ports.open()
        with closing(Asking(folder / "play.sock", ELSEWHERE_S)) as play:
            await asyncio.to_thread(tell_play_of_stops, play, setup.stops)

    async def stop() -> None:
        beating.cancel()
        setup.current.clear()
        await ports.close()
        stages.close()

    return Process(start=start, stop=stop, state=state, woken=stage.play.ring)


class _DoorOfPages:
    """The door in its own process, as `PagesDoor`."""

    def __init__(self, door: Asking) -> None:
        self._door = door

    async def store_form(self, body: bytes) -> int:
        return await asyncio.to_thread(self._ask, StoreForm(body))

    async def store_press(self, request: PageRequest) -> int:
        answer = await asyncio.to_thread(self._ask, StorePress(request))
        if isinstance(answer, Over):
            raise TooMany(answer)
        return answer

    def _ask(self, request: Request[T]) -> T:
        try:
            return self._door.ask(request)
        except NotThere as error:
            raise DoorAway(str(error)) from error


class _Watched(ThreadPoolExecutor):
    """The event loop's threads. They show the supervisor when a request is stuck in a game."""

    def __init__(self, current: CurrentWork) -> None:
        super().__init__(min(MOST_THREADS, (os.cpu_count() or 1) + 4), "asyncio")
        self._current = current

    def submit(self, fn: Callable[..., T], /, *args: Any, **named: Any) -> Future[T]:
        def watched() -> T:
            with self._current.doing(BEAT):
                return fn(*args, **named)

        return super().submit(watched)


async def _beat(current: CurrentWork) -> None:
    """Show the supervisor again and again that the event loop is not stuck."""
    while True:
        current.begin(BEAT)
        await asyncio.sleep(BEAT_S)
