"""What a fresh checkout compiles, compiled once for all processes of a run.

Each of them would compile the templates it needs, and work out what hypothesis knows of Unicode.
Instead the first process has forks of itself do it, one for each core, before the others begin.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest
from cheaper import COMPILED, load_templates
from hypothesis.internal import charmap


def compile_for_all(config: pytest.Config) -> None:
    """For a run with other processes: compile what they will need and nobody has compiled."""
    if sys.dont_write_bytecode or not getattr(config.option, "numprocesses", None):
        return
    if any(Path(os.environ[COMPILED]).iterdir()):
        return
    cores = os.cpu_count() or 1
    forks = []
    for at in range(cores):
        fork = os.fork()
        if fork == 0:
            _end_with(at, cores)
        forks.append(fork)
    for fork in forks:
        os.waitpid(fork, 0)


def _end_with(at: int, cores: int) -> None:
    """Be a fork. What fails here fails again, and is told, in the process that needs it."""
    try:
        load_templates(at, cores)
        if at == 0:
            warnings.simplefilter("ignore")  # it says that this takes long: two seconds
            charmap.intervals_from_codec("utf-8")  # is kept in .hypothesis
    finally:
        os._exit(0)
