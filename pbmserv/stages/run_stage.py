"""Runs the stage of a process: the function and the niceness of each stage."""

from __future__ import annotations

import asyncio
import contextlib
import os

from pbmserv.stages.bots_process import run_bots
from pbmserv.stages.door_process import run_door
from pbmserv.stages.play_process import run_play
from pbmserv.stages.post_process import run_post
from pbmserv.stages.process import Setup
from pbmserv.stages.stage_names import stage_of_process
from pbmserv.stages.web_process import run_web

NICE = {"post": 2, "play": 7, "bots": 10}
"""Niceness by stage: the door answers waiting clients first, and the bots come last."""

_FUNCTIONS = {
    "door": run_door,
    "play": run_play,
    "post": run_post,
    "bots": run_bots,
    "web": run_web,
}


def run_stage(name: str, setup: Setup) -> None:
    """Run the stage of the process of this name until SIGTERM."""
    stage = stage_of_process(name)
    with contextlib.suppress(OSError):  # some sandboxes forbid a change of priority
        os.nice(NICE.get(stage, 0))
    try:
        setup.base.name_connections(f"pbmserv {name}")
        setup.base.read_keys()
        asyncio.run(_FUNCTIONS[stage](name, setup))
    finally:
        setup.base.close()
