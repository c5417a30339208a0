"""What a fresh checkout compiles, compiled once for all processes of a run.

Each of them imports every test, and each would rewrite the asserts of most of them, compile the
templates it needs, and work out what hypothesis knows of Unicode. Instead the first process has
forks of itself do it, one for each core, before the others begin.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from cheaper import COMPILED, load_templates
from hypothesis.internal import charmap


def compile_for_all(config: pytest.Config) -> None:
    """For a run with other processes: compile what they will import and nobody has compiled."""
    if sys.dont_write_bytecode or not getattr(config.option, "numprocesses", None):
        return
    ignored = config.hook.pytest_ignore_collect
    named = [Path(one.partition("::")[0]) for one in config.args]
    found = [path for one in named for path in ([one] if one.is_file() else one.rglob("test_*.py"))]
    changed = [
        path.absolute()
        for path in found
        if _is_newer(path) and not ignored(collection_path=path, config=config)
    ]
    is_fresh = not any(Path(os.environ[COMPILED]).iterdir())
    if not changed and not is_fresh:
        return
    cores = os.cpu_count() or 1
    forks = []
    for at in range(cores):
        fork = os.fork()
        if fork == 0:
            _end_with(config, changed[at::cores], (at, cores) if is_fresh else None)
        forks.append(fork)
    for fork in forks:
        os.waitpid(fork, 0)


def _end_with(
    config: pytest.Config, changed: Sequence[Path], share: tuple[int, int] | None
) -> None:
    """Be a fork. What fails here fails again, and is told, in the process that needs it."""
    try:
        for path in changed:
            _compile(path, config)
        if share is not None:
            load_templates(*share)
        if share is not None and not share[0]:
            warnings.simplefilter("ignore")  # it says that this takes long: two seconds
            charmap.intervals_from_codec("utf-8")  # is kept in .hypothesis
    finally:
        os._exit(0)


def _compile(path: Path, config: pytest.Config) -> None:
    """As pytest does when it imports the file."""
    compiled = _compiled(path)
    if rewrite._read_pyc(path, compiled) is not None:
        os.utime(compiled)  # the same words, written anew
        return
    compiled.parent.mkdir(exist_ok=True)
    words, code = rewrite._rewrite_test(path, config)
    rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, words, compiled)


def _is_newer(path: Path) -> bool:
    compiled = _compiled(path)
    return not compiled.exists() or compiled.stat().st_mtime < path.stat().st_mtime


def _compiled(path: Path) -> Path:
    return rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
