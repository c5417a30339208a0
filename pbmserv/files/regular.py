"""Reads files that somebody names, and nothing else: a pipe or a device may never end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_octets(path: Path, most: int = -1) -> bytes:
    """The octets of a regular file, at most so many of them (-1 = all).

    Raises:
        OSError: it cannot be read, or is something else; `strerror` says which.
    """
    # Opening a named pipe would wait for somebody who writes.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return file.read(most)
