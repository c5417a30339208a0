"""The common frame of all processes: what a process gets from its parent, and how it ends."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.dkim_keys import KeyFile
from pbmserv.smtpd.tls import Certificate
from pbmserv.stages.base import Base
from pbmserv.stages.current_work import CurrentWork
from pbmserv.stages.ports import Bound
from pbmserv.stages.reloading import Reload
from pbmserv.store.boards.game_pauses import Stop

STOP_S = 10.0
"""Seconds in which a stopping stage may finish its work; the next start continues the rest."""


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
        stops: the latest processes that hung or died in the rules of games.
        ready: tells the parent that clients may come.
    """

    base: Base
    bound: Bound
    folder: Path
    stages: tuple[str, ...]
    posts: int
    current: CurrentWork
    suspects: dict[int, int]
    stops: tuple[Stop, ...]
    ready: Callable[[], None]

    def reload(
        self,
        name: str,
        *,
        signer: Signer | None = None,
        named: tuple[KeyFile, ...] = (),
        certificate: Certificate | None = None,
    ) -> Reload:
        """Return what the process of this name reloads on SIGHUP; see `Reload`."""
        ring = self.base.mail_domain.ring
        return Reload(name, self.base.game, ring, signer, named, certificate)


async def until_stopped(setup: Setup, reload: Reload, stop: Callable[[], Awaitable[None]]) -> None:
    """Tell the parent that this process is ready, wait for SIGTERM, and stop."""
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
