"""The names of the stages, and of the processes that run them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pbmserv.engine.registry import Registry
from pbmserv.errors import ConfigError

STAGES = ("door", "play", "post", "bots", "web")
"""Names of the stages, in the order in which they start."""


def stage_of_process(name: str) -> str:
    """Return the stage that a process of this name runs.

    ``post2`` is a second post, ``bots-pbm_nim`` thinks for the games of a package of its own.
    """
    return name.partition("-")[0].rstrip("0123456789")


def stages_of(only: str) -> tuple[str, ...]:
    """Return the stages that ``--only`` names, in the order of `STAGES`; all if it names none.

    Raises:
        ConfigError: a name is not a stage.
    """
    words = only.replace(",", " ").split()
    for word in words:
        if word not in STAGES:
            names = ", ".join(STAGES)
            raise ConfigError(f"--only {word}: there is no such stage; there are {names}")
    return tuple(stage for stage in STAGES if not words or stage in words)


def process_names(stage: str, registry: Registry) -> Sequence[str]:
    """Return the names of the processes that run a stage.

    The bots of our games have a process, and those of each package with other games, so that a bot
    that hangs keeps no bot of another package waiting.
    """
    if stage == "post":
        return [f"post{n}" for n in range(1, post_count() + 1)]
    if stage == "bots":
        return ["bots", *(f"bots-{package}" for package in registry.packages())]
    return [stage]


def post_count() -> int:
    """Return the number of processes that send: one for each core."""
    return min(8, os.cpu_count() or 1)
