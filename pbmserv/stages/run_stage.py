"""Runs the process of a stage from its start to its end, which are the same for all stages."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace

from pbmserv.errors import ConfigError
from pbmserv.stages import reply_keys
from pbmserv.stages.bots_process import bots_process
from pbmserv.stages.door_process import door_process
from pbmserv.stages.messages import AskState, StageState
from pbmserv.stages.play_process import play_process
from pbmserv.stages.post_process import post_process
from pbmserv.stages.process import Process, Setup
from pbmserv.stages.questions import Answering, Answers
from pbmserv.stages.reloading import Reload
from pbmserv.stages.rings import Ring
from pbmserv.stages.stage_names import stage_of_process
from pbmserv.stages.stage_states import own_numbers
from pbmserv.stages.web_process import web_process

NICE = {"post": 2, "play": 7, "bots": 10}
"""Niceness by stage: the door answers waiting clients first, and the bots come last."""

_PROCESSES: Mapping[str, Callable[[Setup], Process]] = {
    "door": door_process,
    "play": play_process,
    "post": post_process,
    "bots": bots_process,
    "web": web_process,
}
"""The function that makes the process of each stage, in a running event loop."""


def run_stage(setup: Setup) -> None:
    """Run the process that the parent has forked until SIGTERM."""
    stage = stage_of_process(setup.name)
    with contextlib.suppress(OSError):  # some sandboxes forbid a change of priority
        os.nice(NICE.get(stage, 0))
    try:
        setup.base.name_connections(f"pbmserv {setup.name}")
        with contextlib.suppress(ConfigError):  # those of the parent stay in force
            reply_keys.read_again(setup.base.mail_domain.ring, setup.base.game)
        asyncio.run(_run(setup, _PROCESSES[stage]))
    finally:
        setup.base.close()


async def _run(setup: Setup, make_process: Callable[[Setup], Process]) -> None:
    process = make_process(setup)

    def state(_: AskState) -> StageState:
        return replace(process.state(), counted=own_numbers(), since=setup.base.started_at)

    answers: Answers = {AskState: state, **process.answers}
    answering = Answering(setup.folder / f"{setup.name}.sock", answers)
    ring = None
    if process.woken is not None:
        ring = Ring(setup.folder / f"{setup.name}.ring", process.woken)
    await process.start()
    if ring is not None:
        ring.start()
    answering.start()
    await _until_stopped(setup, process)
    if ring is not None:
        ring.close()
    await asyncio.to_thread(answering.wait_for_askers, process.askers_end_s)
    answering.close()
    await process.stop()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


async def _until_stopped(setup: Setup, process: Process) -> None:
    """Tell the parent that this process is ready, and wait for SIGTERM; reload on SIGHUP."""
    reload = Reload(setup.name, setup.base, process.signer, process.certificate)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, reload.ask)
    reloading = asyncio.create_task(reload.run(), name="reloading")
    setup.ready()
    await stopping.wait()
    reloading.cancel()
