"""Locks that keep servers and operators' commands from the same work on a SQLite database."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TextIO

from pbmserv.errors import OperatorError
from pbmserv.files import open_private

ENDING_S = 30.0
"""Seconds for the children of a killed server to end."""


def claim_stage(path: Path, stage: str) -> TextIO:
    """Lock a stage of a SQLite database for this server, until the returned file is closed.

    The lock ends with this process and its children, which end soon after it. If an operator's
    command has borrowed the stage (`borrow_stage`), wait for it.

    Raises:
        OperatorError: another server runs the stage.
    """
    lock = _lock_file(path, stage)
    if holder := _lock_unless_held(lock):
        lock.close()
        raise OperatorError(
            f"the server with process number {holder} works on it already; stop that one "
            "first, or use PostgreSQL for several"
        )
    try:
        lock.seek(0)
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
    except OSError as error:  # the disk is full; name the file, which the error does not
        with suppress(OSError):
            lock.close()
        raise OSError(error.errno, error.strerror, lock.name) from None
    return lock


@contextmanager
def borrow_stage(path: Path, stage: str) -> Iterator[bool]:
    """Keep servers from starting a stage in this block; yield False if one runs it already."""
    with _lock_file(path, stage) as lock:
        yield not _lock_unless_held(lock)


@contextmanager
def exclusive_work(path: Path, work: str, patience_s: float = 0.0) -> Iterator[bool]:
    """Keep other processes from some work on a SQLite database in this block.

    Yields False if another process still does it after the patience.

    Args:
        work: the name of the work.
        patience_s: seconds to wait for another process.
    """
    with _lock_file(path, work) as lock:
        end = monotonic() + patience_s
        while not (is_ours := _try_lock(lock)) and monotonic() < end:
            sleep(0.02)
        yield is_ours


def _lock_unless_held(lock: TextIO) -> str:
    """Lock the file of a stage; if its server was killed, wait until the server's children end.

    Returns:
        The process number of the server that holds it, ``"?"`` if unknown; ``""`` if it is ours.
    """
    end = monotonic() + ENDING_S
    while not _try_lock(lock):
        lock.seek(0)
        holder = lock.read(20).strip() or "?"
        if monotonic() > end or _is_running(holder):
            return holder
        sleep(0.05)
    return ""


def _lock_file(path: Path, stage: str) -> TextIO:
    name = path.resolve()
    name = name.with_name(f"{name.name}.{stage}.lock")
    return os.fdopen(open_private(name), "r+")


def _try_lock(lock: TextIO) -> bool:
    """Lock a file; return whether no other process had locked it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_running(number: str) -> bool:
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OSError):
        return True
    return True
