"""What each process of a server runs: one stage, from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pbmserv.engine.registry import Equipped
from pbmserv.mail.reply_address import KeyRing
from pbmserv.monitoring.metrics import Vital
from pbmserv.outbound.outbox import OutboxRows, Result, WrittenRows
from pbmserv.service.bots.bot_worker import TICK_S, Moves, Thought
from pbmserv.service.operators.health import Health
from pbmserv.service.operators.health import metrics as numbers
from pbmserv.stages import listeners, operators
from pbmserv.stages.base import Base
from pbmserv.stages.current_work import NONE, THREADS, CurrentWork
from pbmserv.stages.link import Answering, Answers, Asking, Bell, Ring, claimant
from pbmserv.stages.listeners import Bound, MailPorts, WebPorts, WebStage
from pbmserv.stages.parts import BotsStage, DoorStage, PlayStage, PostStage
from pbmserv.stages.preflight import stage_of_process
from pbmserv.stages.reloading import Reload
from pbmserv.stages.state import Stages, StageState, counted
from pbmserv.store.bots import Asked
from pbmserv.store.delivery import arrivals
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.operators import health as rows

SWITCH_S = 0.0005
"""Seconds after which another thread of the door (one removes mails every second) lets its loop go
on; Python's 5 ms are four times what a client waits otherwise."""

NICE = {"post": 2, "play": 7, "bots": 10}
"""Niceness by stage: the door answers waiting clients first, bots come last."""

OTHERS_END_S = 5.0
"""Seconds that play waits at its end for those who ask it."""

BEAT, BEAT_S = 1, 1.0
"""What web notes as its work, and how often in seconds: what it is at has no number."""
SEEN_THREADS = THREADS - 1
"""Threads of web at most: all that can be seen, but for the event loop's own."""
T = TypeVar("T")

log = logging.getLogger("pbmserv.stages")


@dataclass(frozen=True, slots=True)
class Given:
    """What a process is given by its parent.

    Attributes:
        folder: where the stages of this machine meet.
        current: shows the parent what it is at.
        stages: all that run on this machine.
        posts: how many send.
        suspects: arrivals with which play has died, and how often.
        ready: says that clients may come.
    """

    base: Base
    bound: Bound
    folder: Path
    stages: tuple[str, ...]
    posts: int
    current: CurrentWork
    suspects: dict[int, int]
    ready: Callable[[], None]


class AskedRows:
    """Has play change the outbox, which it alone may write on SQLite; see `OutboxRows`."""

    def __init__(self, play: Asking) -> None:
        self._play = play

    def claim(
        self,
        by: str,
        most: int,
        in_hand: Collection[int] = (),
        avoiding: Collection[str] = (),
        since: datetime | None = None,
    ) -> list[QueuedLetter]:
        rows: list[QueuedLetter] = self._play.ask("claim", by, most, in_hand, avoiding, since)
        return rows

    def keep(self, packed: Mapping[int, bytes]) -> None:
        self._play.ask("keep", packed)

    def renew(self, ids: Sequence[int], until: datetime) -> None:
        self._play.ask("renew", ids, until)

    def settle(self, results: Sequence[Result]) -> None:
        self._play.ask("settle", results)


class _AskedMoves:
    """Has play make the moves of bots."""

    def __init__(self, play: Asking) -> None:
        self._play = play

    def act(self, board_id: int, thought: Thought | None) -> None:
        self._play.ask("act", board_id, thought)

    def put_off(self, board_id: int) -> None:
        self._play.ask("put_off", board_id)

    def keep_report(self, asked: Asked, words: Mapping[str, Any]) -> None:
        self._play.ask("keep_report", asked, words)


def run(name: str, given: Given) -> None:
    """Run the stage of a process until SIGTERM."""
    kind = stage_of_process(name)
    with contextlib.suppress(OSError):  # some sandboxes forbid a change of priority
        os.nice(NICE.get(kind, 0))
    base = given.base
    try:
        base.read_keys()
        asyncio.run(_STAGES[kind](name, base, given))
    finally:
        base.close()


async def _until_stopped(given: Given, reload: Reload, stop: Callable[[], Awaitable[None]]) -> None:
    """Say that this stage is ready, wait for SIGTERM, and end."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, reload.ask)
    reloading = asyncio.create_task(reload.run(), name="reloading")
    given.ready()
    await stopping.wait()
    reloading.cancel()
    await stop()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _reload(name: str, base: Base, given: Given, post: PostStage | None = None) -> Reload:
    named = base.settings.dkim_keys if post else ()
    signer = post.signer if post else None
    ring: KeyRing = base.mail_domain.ring
    certificate = given.bound.certificate if name == "door" else None
    return Reload(name, base.game, ring, signer, named, certificate)


async def _door(name: str, base: Base, given: Given) -> None:
    sys.setswitchinterval(SWITCH_S)
    stage = DoorStage(base, Bell(given.folder / "play.ring").ring)
    listening = MailPorts(
        base, stage.door, given.bound, listeners.shares(given.base.settings, given.bound)
    )
    loop = asyncio.get_running_loop()

    def form(kind: str, values: dict[str, Any]) -> int:
        return asyncio.run_coroutine_threadsafe(stage.door.form(kind, values), loop).result()

    def state() -> StageState:
        texts = stage.quota.taken, stage.quota.most
        return StageState(stage.vitals(), listening.slots(), None, texts, counted())

    def write() -> None:
        stage.writer.submit(partial(arrivals.write, now=base.clock.now())).result()

    answers: Answers = {"form": form, "state": state, "write": write}
    answering = Answering(given.folder / f"{name}.sock", answers)
    stage.start()
    await listening.open()
    answering.start()

    async def stop() -> None:
        answering.close()
        await listening.close()
        await asyncio.to_thread(stage.stop)

    await _until_stopped(given, _reload(name, base, given), stop)


async def _play(name: str, base: Base, given: Given) -> None:
    bells = [Bell(given.folder / f"post{n}.ring") for n in range(1, given.posts + 1)]

    def ring_post() -> None:
        for bell in bells:
            bell.ring()

    ring_bots = Bell(given.folder / "bots.ring").ring
    stage = PlayStage(
        base,
        ring_post,
        ring_bots,
        current=given.current,
        suspects=given.suspects,
        by=claimant(given.folder, name),
    )

    def state() -> StageState:
        number, seconds = given.current.longest()
        doing = f"arrival {number} for {seconds:.1f} s" if number else ""
        return StageState(stage.vitals(), counted=counted(), doing=doing)

    def write() -> None:
        stage.writer.submit(partial(rows.write, now=base.clock.now())).result()

    answers = {**stage.answers(), "state": state, "write": write}
    answering = Answering(given.folder / f"{name}.sock", answers)
    ring = Ring(given.folder / "play.ring", stage.play.ring)
    await asyncio.to_thread(stage.start)
    ring.start()
    answering.start()

    async def stop() -> None:
        ring.close()
        # Who has just sent a letter says so before it ends: else that letter would go out again.
        await asyncio.to_thread(answering.wait_for_all, OTHERS_END_S)
        answering.close()
        await asyncio.to_thread(stage.stop)

    await _until_stopped(given, _reload(name, base, given), stop)


async def _post(name: str, base: Base, given: Given) -> None:
    written: OutboxRows
    close: Callable[[], None] = _nothing
    end: Callable[[], None] = _nothing
    if base.game.is_sqlite:
        play = Asking(given.folder / "play.sock")
        written, end = AskedRows(play), play.end
    else:
        written, close = _own_rows(base)
    stage = PostStage(base, written, watch=given.current, by=claimant(given.folder, name))

    def state() -> StageState:
        return StageState(stage.vitals(), relay=stage.relay_state(), counted=counted())

    answering = Answering(given.folder / f"{name}.sock", {"state": state})
    ring = Ring(given.folder / f"{name}.ring", stage.sender.wake)
    stage.start()
    ring.start()
    answering.start()

    async def stop() -> None:
        ring.close()
        answering.close()
        end()
        await asyncio.to_thread(stage.stop)
        close()

    await _until_stopped(given, _reload(name, base, given, stage), stop)


def _own_rows(base: Base) -> tuple[OutboxRows, Callable[[], None]]:
    """On PostgreSQL a post changes the outbox itself."""
    from pbmserv.service.auth.passwords import Memo
    from pbmserv.service.delivery import bounces
    from pbmserv.store.boards.moves import Positions
    from pbmserv.store.core.writer import open_writer

    writer = open_writer(base.game)
    positions = Positions(base.registry)
    services = base.services(positions, Memo(), base.traffic())
    return WrittenRows(writer, base.clock, partial(bounces.refused, services)), writer.close


async def _bots(name: str, base: Base, given: Given) -> None:
    play = Asking(given.folder / "play.sock")
    moves: Moves = _AskedMoves(play)
    stage = BotsStage(base, moves, given.current, TICK_S)

    doing = "; ".join(game.equipment() for game in base.registry if isinstance(game, Equipped))
    log.info("bots think", extra={"equipment": doing})

    def state() -> StageState:
        return StageState(stage.vitals(), counted=counted(), doing=doing)

    answering = Answering(given.folder / f"{name}.sock", {"state": state})
    ring = Ring(given.folder / "bots.ring", stage.bot_worker.ask)
    stage.start()
    ring.start()
    answering.start()

    async def stop() -> None:
        ring.close()
        answering.close()
        play.end()
        await asyncio.to_thread(stage.stop)

    await _until_stopped(given, _reload(name, base, given), stop)


async def _web(name: str, base: Base, given: Given) -> None:
    asyncio.get_running_loop().set_default_executor(_Watched(given.current))
    door = Asking(given.folder / "door.sock")

    async def send(kind: str, values: dict[str, Any]) -> int:
        number: int = await asyncio.to_thread(door.ask, "form", kind, values)
        return number

    stage = WebStage(base, send, operators.OfPages(base.settings))
    others = tuple(one for one in given.stages if one != name)
    loop_vital = Vital("web", True, 0.0, 60.0)
    listening: WebPorts | None = None

    def state() -> StageState:
        slots = listening.slots() if listening else {}
        return StageState((loop_vital,), slots, counted=counted())

    stages = Stages(given.folder, others, state)
    folder = given.base.settings.data_dir
    health = Health(stages.parts, folder, base.mail, base.game, stages.write, base.clock)

    async def metrics() -> bytes:
        return await numbers(health, await asyncio.to_thread(stages.counted))

    divided = listeners.shares(given.base.settings, given.bound)
    listening = WebPorts(base, stage, health, metrics, given.bound, divided)
    await listening.open()
    beating = asyncio.create_task(_beat(given.current), name="beat")

    async def stop() -> None:
        beating.cancel()
        given.current.clear()
        await listening.close()
        stages.close()

    await _until_stopped(given, _reload(name, base, given), stop)


class _Watched(ThreadPoolExecutor):
    """The event loop's threads, which show the supervisor that they come back from a game, too."""

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
    """Show the supervisor that the event loop comes back from what requests ask of a game."""
    while True:
        current.at(BEAT)
        await asyncio.sleep(BEAT_S)


def _nothing() -> None:
    """There is nothing to close."""


_STAGES = {"door": _door, "play": _play, "post": _post, "bots": _bots, "web": _web}
