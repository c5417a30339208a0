"""Loads the loops of `sampler`, which numba compiles, and keeps what it has compiled in a
folder."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from functools import cache
from importlib.resources import files
from math import comb
from mmap import PAGESIZE, PROT_EXEC, PROT_READ, PROT_WRITE, mmap
from pathlib import Path
from types import ModuleType

from pbmserv.extras import why_missing
from pbmserv.games.blackbox.options import Options

PLAIN = 1_000_000
"""The most layouts of a board that plain Python searches; 8x8 with 4 atoms has 635,376."""

logger = logging.getLogger("pbmserv.games")


def loops_for(options: Options) -> ModuleType | None:
    """Return the module `sampler`, `None` on a small board or if it cannot be compiled."""
    cells = len(options.board.cells)
    layouts = sum(comb(cells, count) for count in range(options.least, options.most + 1))
    return compiled_loops() if layouts > PLAIN else None


@cache
def compiled_loops() -> ModuleType | None:
    """Return the module `sampler`, `None` if it cannot be compiled.

    Only one process compiles. The others wait, and read its files.
    """
    reason = why_no_loops()
    if not reason:
        try:
            from numba import config

            with _compile_folder() as folder:
                usual_folder = config.CACHE_DIR
                config.CACHE_DIR = folder
                try:
                    from pbmserv.games.blackbox.bots import sampler

                    sampler.compile_all()
                finally:
                    config.CACHE_DIR = usual_folder
                return sampler
        except (ImportError, OSError) as error:
            reason = str(error)
    logger.warning("the house is weak on large Blackbox boards", extra={"because": reason})
    return None


def why_no_loops() -> str:
    """Return the reason why loops cannot be compiled and the remedy, for operators.

    Return ``""`` if they can be compiled. This does not load numba.
    """
    if reason := why_missing("numba"):
        return reason
    try:
        # numba writes code into memory and runs it, which the system may forbid.
        mmap(-1, PAGESIZE, prot=PROT_READ | PROT_WRITE | PROT_EXEC).close()
    except OSError as error:
        return f"nothing compiled may run ({error.strerror}): MemoryDenyWriteExecute=no allows it"
    return ""


def equipment() -> str:
    """Return a line about the search on large boards; see `protocol.Equipped`."""
    return f"large Blackbox boards: {why_no_loops() or 'compiled search'}"


@contextmanager
def _compile_folder() -> Iterator[str]:
    """Lock the folder for compiled files, and yield its name, ``""`` if no folder is writable.

    numba notices changes of the module with a loop, but not of other modules whose functions the
    loop calls. Therefore all files are deleted if one of the modules has changed.
    """
    digest = hashlib.sha256()
    for name in ("bots/sampler.py", "bots/search.py", "rays.py"):
        digest.update(files("pbmserv.games.blackbox").joinpath(name).read_bytes())
    for parent in _cache_folders():
        folder = parent / "blackbox-loops"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / "sources").open("a+", encoding="ascii")
        except OSError:
            continue
        with lock:
            flock(lock, LOCK_EX)
            lock.seek(0)
            if lock.read() != digest.hexdigest():
                for file in folder.glob("*/*.nb[ci]"):
                    file.unlink(missing_ok=True)
                lock.truncate(0)
                lock.write(digest.hexdigest())
                lock.flush()
            yield str(folder)
        return
    yield ""


def _cache_folders() -> Iterator[Path]:
    """Yield the folders in which numba would keep its files."""
    configured = os.environ.get("NUMBA_CACHE_DIR")
    if configured:
        yield Path(configured)
        return
    yield Path(__file__).parent / "__pycache__"
    for name in ("CACHE_DIRECTORY", "XDG_CACHE_HOME"):  # the first is systemd's
        if os.environ.get(name):
            yield Path(os.environ[name]) / "pbmserv"
    with suppress(RuntimeError):  # a user without a home
        yield Path.home() / ".cache" / "pbmserv"
