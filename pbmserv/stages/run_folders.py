"""The run folder of a server: it has the sockets and locks of its processes on this machine.

Several servers with one data folder have run folders 1, 2, … in it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pbmserv import files
from pbmserv.errors import ServerFault

LONGEST_PATH = 90
"""Octets of a socket's path that every system takes."""
MOST_SERVERS = 16
"""Most servers with one data folder on this machine (on PostgreSQL)."""


def first_run_folder(data_dir: Path) -> Path:
    """Return the run folder of the first server with this data folder.

    Raises:
        ServerFault: others may write to it. A socket of theirs in it would answer in play's name.
    """
    base = data_dir.resolve() / "run"
    if len(os.fsencode(base)) > LONGEST_PATH:
        mark = hashlib.sha256(os.fsencode(base)).hexdigest()[:16]
        base = Path(tempfile.gettempdir()) / f"pbmserv-{os.getuid()}-{mark}"
        if os.path.lexists(base) and not files.is_private(base):
            raise ServerFault(f"others may write to {base}; remove it, or choose a shorter path")
    return base / "1"


@contextlib.contextmanager
def held_run_folder(data_dir: Path, stages: Sequence[str]) -> Iterator[Path]:
    """Hold the first run folder in which none of *stages* runs.

    Raises:
        ServerFault: the folder is not private, or too many servers share the data folder.
    """
    files.make_private(first_run_folder(data_dir).parent)
    first = first_run_folder(data_dir)  # checked again: the folder may be new
    for number in range(1, MOST_SERVERS + 1):
        folder = first.with_name(str(number))
        files.make_private(folder)
        if folder.stat().st_uid != os.getuid():
            raise ServerFault(f"{folder} belongs to somebody else")
        with contextlib.ExitStack() as stack:
            locks = [stack.enter_context((folder / f"{name}.lock").open("w")) for name in stages]
            try:
                for lock in locks:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield folder
            return
    raise ServerFault(f"more than {MOST_SERVERS} servers share {data_dir}")


def claimant(folder: Path, process: str) -> str:
    """Return the name under which a process claims rows of the database.

    No two live processes have the same name: `held_run_folder` locks the folder for each stage,
    and its random mark tells it from other folders of the same host name. The successor of a
    dead process has the same name, and so knows what its predecessor had claimed.
    """
    mark = folder / "mark"
    if not mark.exists():
        new = folder / f"mark.{os.getpid()}"
        new.write_text(secrets.token_hex(8))
        with contextlib.suppress(FileExistsError):  # another process has just made it
            mark.hardlink_to(new)
        new.unlink()
    return f"{socket.gethostname()[:64]} {mark.read_text()} {process}"
