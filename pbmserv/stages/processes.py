"""What each process of a server runs: one stage, from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pbmserv.engine.registry import Equipped
from pbmserv.mail.reply_address import KeyRing
from pbmserv.monitoring.metrics import Vital
from pbmserv.outbound.outbox import OutboxRows, WrittenRows
from pbmserv.service.auth.passwords import Memo
from pbmserv.service.bots.bot_worker import TICK_S
from pbmserv.service.delivery import bounces
from pbmserv.service.limits.rates import Over, TooMany
from pbmserv.service.operators.health import Health
from pbmserv.service.operators.health import metrics as numbers
from pbmserv.service.pages.page_requests import PageRequest
from pbmserv.stages import answers, listeners, operators
from pbmserv.stages.base import Base
from pbmserv.stages.current_work import NONE, THREADS, CurrentWork
from pbmserv.stages.listeners import Bound, MailPorts, WebPorts, WebStage
from pbmserv.stages.messages import AskState, StageState, StoreForm, StorePress
from pbmserv.stages.parts import BotsStage, DoorStage, PlayStage, PostStage
from pbmserv.stages.places import claimant
from pbmserv.stages.play_client import MovesOfPlay, OutboxOfPlay
from pbmserv.stages.preflight import stage_of_process
from pbmserv.stages.questions import Answering, Asking
from pbmserv.stages.reloading import Reload
from pbmserv.stages.rings import Bell, Ring
from pbmserv.stages.state import Stages, own_numbers
from pbmserv.store.boards.moves import Positions
from pbmserv.store.core.writer import open_writer

SWITCH_S = 0.0005
"""Seconds after which another thread of the door gives the interpreter back to its event loop;
Python's 5 ms are four times what a client waits otherwise."""

NICE = {"post": 2, "play": 7, "bots": 10}
"""Niceness by stage: the door answers waiting clients first, the bots come last."""

ASKERS_END_S = 5.0
"""Seconds for which an ending play waits for the processes that ask it."""

BEAT, BEAT_S = 1, 1.0
"""The number that web notes as its work (requests have none), and the seconds between notes."""
SEEN_THREADS = THREADS - 1
"""Threads of web at most: all that the supervisor can see, but for the event loop's own."""
T = TypeVar("T")

log = logging.getLogger("pbmserv.stages")


@dataclass(frozen=True, slots=True)
class Setup:
    """Objects that a process gets from its parent.

    Attributes:
        base: databases, keys and games.
        bound: the listening sockets.
        folder: the folder in which the stages of this server meet.
        stages: the names of all processes of this server.
        posts: number of processes that send.
        current: shows the parent the work in hand.
        suspects: how often play has died with an arrival, by its number.
        ready: tells the parent that clients may come.
    """

    base: Base
    bound: Bound
    folder: Path
    stages: tuple[str, ...]
    posts: int
    current: CurrentWork
    suspects: dict[int, int]
    ready: Callable[[], None]


def run(name: str, setup: Setup) -> None:
    """Run the stage of a process until SIGTERM."""
    kind = stage_of_process(name)
    with contextlib.suppress(OSError):  # some sandboxes forbid a change of priority
        os.nice(NICE.get(kind, 0))
    base = setup.base
    try:
        base.read_keys()
        asyncio.run(_STAGES[kind](name, base, setup))
    finally:
        base.close()


async def _until_stopped(setup: Setup, reload: Reload, stop: Callable[[], Awaitable[None]]) -> None:
    """Tell the parent that this stage is ready, wait for SIGTERM, and stop."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, reload.ask)
    reloading = asyncio.create_task(reload.run(), name="reloading")
    setup.ready()
    await stopping.wait()
    reloading.cancel()
    await stop()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _reload(name: str, base: Base, setup: Setup, post: PostStage | None = None) -> Reload:
    named = base.settings.dkim_keys if post else ()
    signer = post.signer if post else None
    ring: KeyRing = base.mail_domain.ring
    certificate = setup.bound.certificate if name == "door" else None
    return Reload(name, base.game, ring, signer, named, certificate)


async def _door(name: str, base: Base, setup: Setup) -> None:
    sys.setswitchinterval(SWITCH_S)
    stage = DoorStage(base, Bell(setup.folder / "play.ring").ring)
    listening = MailPorts(
        base, stage.door, setup.bound, listeners.shares(setup.base.settings, setup.bound)
    )

    def state() -> StageState:
        texts = stage.quota.taken, stage.quota.most
        return StageState(tuple(stage.vitals()), listening.slots(), None, texts, own_numbers())

    answering = Answering(
        setup.folder / f"{name}.sock",
        answers.of_door(stage, asyncio.get_running_loop(), state),
    )
    stage.start()
    await listening.open()
    answering.start()

    async def stop() -> None:
        answering.close()
        await listening.close()
        await asyncio.to_thread(stage.stop)

    await _until_stopped(setup, _reload(name, base, setup), stop)


async def _play(name: str, base: Base, setup: Setup) -> None:
    bells = [Bell(setup.folder / f"post{n}.ring") for n in range(1, setup.posts + 1)]

    def ring_post() -> None:
        for bell in bells:
            bell.ring()

    stage = PlayStage(
        base,
        ring_post,
        Bell(setup.folder / "bots.ring").ring,
        Bell(setup.folder / "web.ring").ring,
        current=setup.current,
        suspects=setup.suspects,
        by=claimant(setup.folder, name),
    )

    def state() -> StageState:
        number, seconds = setup.current.longest()
        doing = f"arrival {number} for {seconds:.1f} s" if number else ""
        return StageState(tuple(stage.vitals()), counted=own_numbers(), doing=doing)

    answering = Answering(setup.folder / f"{name}.sock", answers.of_play(stage, state))
    ring = Ring(setup.folder / "play.ring", stage.play.ring)
    await asyncio.to_thread(stage.start)
    ring.start()
    answering.start()

    async def stop() -> None:
        ring.close()
        # A post settles the letters that it has just sent; else they would go out again.
        await asyncio.to_thread(answering.wait_for_askers, ASKERS_END_S)
        answering.close()
        await asyncio.to_thread(stage.stop)

    await _until_stopped(setup, _reload(name, base, setup), stop)


async def _post(name: str, base: Base, setup: Setup) -> None:
    play = Asking(setup.folder / "play.sock")
    written, close = (OutboxOfPlay(play), play.close) if base.game.is_sqlite else _own_rows(base)
    stage = PostStage(base, written, watch=setup.current, by=claimant(setup.folder, name))

    def state(_: AskState) -> StageState:
        return StageState(tuple(stage.vitals()), relay=stage.relay_state(), counted=own_numbers())

    answering = Answering(setup.folder / f"{name}.sock", {AskState: state})
    ring = Ring(setup.folder / f"{name}.ring", stage.sender.wake)
    stage.start()
    ring.start()
    answering.start()

    async def stop() -> None:
        ring.close()
        answering.close()
        play.end()
        await asyncio.to_thread(stage.stop)
        close()

    await _until_stopped(setup, _reload(name, base, setup, stage), stop)


def _own_rows(base: Base) -> tuple[OutboxRows, Callable[[], None]]:
    """Return what changes the outbox in this process, on PostgreSQL, and what closes it."""
    writer = open_writer(base.game)
    positions = Positions(base.registry)
    services = base.services(positions, Memo(), base.traffic())
    return WrittenRows(writer, base.clock, partial(bounces.refused, services)), writer.close


async def _bots(name: str, base: Base, setup: Setup) -> None:
    play = Asking(setup.folder / "play.sock")
    stage = BotsStage(base, MovesOfPlay(play), setup.current, TICK_S)

    doing = "; ".join(game.equipment() for game in base.registry if isinstance(game, Equipped))
    log.info("bots think", extra={"equipment": doing})

    def state(_: AskState) -> StageState:
        return StageState(tuple(stage.vitals()), counted=own_numbers(), doing=doing)

    answering = Answering(setup.folder / f"{name}.sock", {AskState: state})
    ring = Ring(setup.folder / "bots.ring", stage.bot_worker.ask)
    stage.start()
    ring.start()
    answering.start()

    async def stop() -> None:
        ring.close()
        answering.close()
        play.end()
        await asyncio.to_thread(stage.stop)

    await _until_stopped(setup, _reload(name, base, setup), stop)


async def _web(name: str, base: Base, setup: Setup) -> None:
    asyncio.get_running_loop().set_default_executor(_Watched(setup.current))
    door = _DoorOfPages(Asking(setup.folder / "door.sock"))
    stage = WebStage(base, door, operators.OperatorOrders(base.settings))
    others = tuple(process for process in setup.stages if process != name)
    loop_vital = Vital("web", True, 0.0, 60.0)
    listening: WebPorts | None = None

    def state() -> StageState:
        slots = listening.slots() if listening else {}
        return StageState((loop_vital,), slots, counted=own_numbers())

    stages = Stages(setup.folder, others, state)
    folder = setup.base.settings.data_dir
    health = Health(stages.parts, folder, base.mail, base.game, stages.write, base.clock)

    async def metrics() -> bytes:
        return await numbers(health, await asyncio.to_thread(stages.counted))

    divided = listeners.shares(setup.base.settings, setup.bound)
    listening = WebPorts(base, stage, health, metrics, setup.bound, divided)
    await listening.open()
    beating = asyncio.create_task(_beat(setup.current), name="beat")
    ring = Ring(setup.folder / "web.ring", stage.play.results.ring)
    ring.start()

    async def stop() -> None:
        ring.close()
        beating.cancel()
        setup.current.clear()
        await listening.close()
        stages.close()

    await _until_stopped(setup, _reload(name, base, setup), stop)


class _DoorOfPages:
    """The door as pages need it, in another process; see `PagesDoor`."""

    def __init__(self, door: Asking) -> None:
        self._door = door

    async def form(self, kind: str, values: Mapping[str, Any]) -> int:
        return await asyncio.to_thread(self._door.ask, StoreForm(kind, values))

    async def press(self, request: PageRequest) -> int:
        number = await asyncio.to_thread(self._door.ask, StorePress(request))
        if isinstance(number, Over):
            raise TooMany(number)
        return number


class _Watched(ThreadPoolExecutor):
    """The event loop's threads, which show the supervisor whether they return from a game."""

    def __init__(self, current: CurrentWork) -> None:
        super().__init__(min(SEEN_THREADS, (os.cpu_count() or 1) + 4), "asyncio")
        self._current = current

    def submit(self, fn: Callable[..., T], /, *args: Any, **named: Any) -> Future[T]:
        def watched() -> T:
            self._current.at(BEAT)
            try:
                return fn(*args, **named)
            finally:
                self._current.at(NONE)

        return super().submit(watched)


async def _beat(current: CurrentWork) -> None:
    """Show the supervisor that the event loop returns from the games that requests call."""
    while True:
        current.at(BEAT)
        await asyncio.sleep(BEAT_S)


_STAGES = {"door": _door, "play": _play, "post": _post, "bots": _bots, "web": _web}
