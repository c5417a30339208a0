"""What a fresh checkout compiles, compiled once for all processes of a run.

Each of them would compile all modules and the templates it needs, and work out what hypothesis
knows of Unicode. Instead the first process has forks of itself do it, one for each core, before the
others begin.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from compileall import compile_file
from pathlib import Path

import pytest
from cheaper import COMPILED, load_templates
from hypothesis.internal import charmap

import pbmserv


def compile_for_all(config: pytest.Config, is_left_out: Callable[[Path], bool]) -> None:
    """For a run with other processes: compile what they will need and nobody has compiled.

    Args:
        is_left_out: tells modules of tests that this run does not need.
    """
    if sys.dont_write_bytecode or not getattr(config.option, "numprocesses", None):
        return
    if any(Path(os.environ[COMPILED]).iterdir()):
        return
    tests = [one for one in Path(__file__).parent.glob("*/test_*.py") if not is_left_out(one)]
    cores = os.cpu_count() or 1
    forks = []
    for at in range(cores):
        fork = os.fork()
        if fork == 0:
            _end_with(at, cores, tests)
        forks.append(fork)
    for fork in forks:
        os.waitpid(fork, 0)


def compile_modules(at: int, cores: int, tests: Sequence[Path]) -> None:
    """Compile every *cores*-th module of ours, and import every *cores*-th of *tests*, which pytest
    compiles in its own way."""
    for module in sorted(Path(pbmserv.__file__).parent.rglob("*.py"))[at::cores]:
        compile_file(module, quiet=2)
    for test in tests[at::cores]:
        sys.path.insert(0, str(test.parent))
        importlib.import_module(test.stem)


def _end_with(at: int, cores: int, tests: Sequence[Path]) -> None:
    """Be a fork. What fails here fails again, and is told, in the process that needs it."""
    try:
        compile_modules(at, cores, tests)
        load_templates(at, cores)
        if at == 0:
            warnings.simplefilter("ignore")  # it says that this takes long: two seconds
            charmap.intervals_from_codec("utf-8")  # is kept in .hypothesis
    finally:
        os._exit(0)
