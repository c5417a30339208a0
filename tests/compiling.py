"""Compiles modules and templates of a fresh checkout once, for all processes of a run.

Otherwise each worker would compile all of them. The first process forks once for each core before
the workers start.
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
from hypothesis.internal import charmap
from speedups import COMPILED, load_templates

import pbmserv


def compile_for_all(config: pytest.Config, is_left_out: Callable[[Path], bool]) -> None:
    """Compile everything, if the run has workers and nothing is compiled yet.

    Args:
        is_left_out: whether a module of tests is not needed in this run.
    """
    if sys.dont_write_bytecode or not getattr(config.option, "numprocesses", None):
        return
    if any(Path(os.environ[COMPILED]).iterdir()):
        return
    tests = [path for path in Path(__file__).parent.glob("*/test_*.py") if not is_left_out(path)]
    cores = os.cpu_count() or 1
    forks = []
    for share in range(cores):
        fork = os.fork()
        if fork == 0:
            _compile_and_exit(share, cores, tests)
        forks.append(fork)
    for fork in forks:
        os.waitpid(fork, 0)


def _compile_and_exit(share: int, cores: int, tests: Sequence[Path]) -> None:
    """Compile a share. What fails here fails again in the worker that needs it."""
    try:
        for module in sorted(Path(pbmserv.__file__).parent.rglob("*.py"))[share::cores]:
            compile_file(module, quiet=2)
        for test in tests[share::cores]:  # pytest compiles tests in its own way
            sys.path.insert(0, str(test.parent))
            importlib.import_module(test.stem)
        load_templates(share, cores)
        if share == 0:
            warnings.simplefilter("ignore")  # hypothesis says that this takes two seconds
            charmap.intervals_from_codec("utf-8")  # is stored in .hypothesis
    finally:
        os._exit(0)
