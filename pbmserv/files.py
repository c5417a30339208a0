"""Our files and folders: for their owner alone, written as a whole, and regular.

The database holds the key of reply addresses, hidden moves and mails with passwords in them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TextIO

from pbmserv.errors import OperatorError

_HELPS = {
    errno.EROFS: "mount its disk for writing; under systemd name it in ReadWritePaths=",
    errno.ENOSPC: "make room on its disk",
    errno.EDQUOT: "make room on its disk",
    errno.EACCES: "run this as the server's user, who has to own it (chown)",
    errno.EPERM: "run this as the server's user, who has to own it (chown)",
}


def why_not(error: OSError) -> str:
    """Why nothing can be written somewhere, and what would help."""
    return f"{error.strerror or error}; {_HELPS.get(error.errno or 0, 'name another place')}"


# -- a file that is there as a whole or not at all ---------------------------------------------


Place = Callable[[Path, Path], None]
"""Gives a finished file its name: (where it is, the name)."""


@contextmanager
def written(target: Path, place: Place) -> Iterator[Path]:
    """An empty file with mode 0600 beside *target*, to be filled by the block.

    When the block ends well it is brought to the disk and gets its name; else it is removed.

    Args:
        place: `new` or `over`.

    Raises:
        OperatorError: *target* is taken, nothing a file could take the place of, or in a folder
            in which this user can make none.
        OSError: the disk does not take it.
    """
    _may_be(target, place)
    made = target.with_name(f".{target.name[:200]}.{os.urandom(4).hex()}.part")
    try:
        os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    except OSError as error:
        raise OperatorError(f"no file can be made in {target.parent}: {why_not(error)}") from None
    try:
        yield made
        _sync(made)
        place(made, target)
        _sync(target.parent)
    finally:
        for end in ("", "-journal", "-wal", "-shm"):  # SQLite's, where it has written this file
            with contextlib.suppress(FileNotFoundError):
                made.with_name(made.name + end).unlink()


def new(made: Path, target: Path) -> None:
    """Give a file a name that nothing has."""
    try:
        os.link(made, target, follow_symlinks=False)
    except FileExistsError:
        raise _taken(target) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise _taken(target) from None
        made.rename(target)


def over(made: Path, target: Path) -> None:
    """Put a file in the place of whatever file has the name."""
    made.replace(target)


def regular(path: Path) -> Path:
    """*path*, which must be a file that can be read to its end.

    Raises:
        OperatorError: it is a folder, a pipe, a device, or not there.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise OperatorError(f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise OperatorError(f"{path} is not a file")
    return path


def _may_be(target: Path, place: Place) -> None:
    if not target.parent.is_dir():
        raise OperatorError(f"there is no folder {target.parent}")
    if os.path.lexists(target):
        if not stat.S_ISREG(target.lstat().st_mode):
            raise OperatorError(f"{target} is not a file, so a copy cannot replace it")
        if place is not over:
            raise _taken(target)


def _taken(target: Path) -> OperatorError:
    return OperatorError(f"{target} exists already; --overwrite replaces it")


def _sync(path: Path) -> None:
    """Wait until the disk has a file, or the names in a folder."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


# -- files that somebody names -----------------------------------------------------------------


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


# -- where the server's files lie --------------------------------------------------------------


_OTHERS = stat.S_IRWXO
ENDING_S = 30.0
"""Seconds that the children of a server have to end when it was killed."""


def file_of(url: str) -> Path | None:
    """The file of a SQLite database; ``None``: it has none on this machine."""
    from sqlalchemy.engine import make_url  # slow to load, and few who read files need it

    parsed = make_url(url)
    named = parsed.database not in {None, "", ":memory:"} and "uri" not in parsed.query
    if parsed.get_backend_name() != "sqlite" or not named:
        return None
    return Path(str(parsed.database))


def make_private(folder: Path) -> None:
    """A folder that only its owner may enter, in folders like it; one that is there stays as it
    is."""
    if not folder.is_dir():
        make_private(folder.parent)  # `mkdir(parents=True)` would leave those to the umask
        folder.mkdir(mode=0o700, exist_ok=True)


def is_private(folder: Path) -> bool:
    """Whether a folder is this user's alone to write in: nobody else can put something into it."""
    found = folder.lstat()
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return is_ours and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def make_file(path: Path) -> None:
    """An empty file for its owner alone, if there is none.

    SQLite takes one for a new database, and gives the files beside it the same mode.
    """
    make_private(path.parent)
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def held(path: Path, stage: str) -> TextIO:
    """The mark of the one server that runs a stage over a SQLite database, for as long as it is
    open.

    It dies with the process and its children, which end soon after it. An operator's command that
    writes has it for a moment (`turn`), and is waited for.

    Raises:
        OperatorError: another server has it.
    """
    mark = _mark(path, stage)
    end = monotonic() + ENDING_S
    while not _is_locked(mark):
        mark.seek(0)
        other = mark.read(20).strip() or "?"
        if monotonic() > end or _is_running(other):
            mark.close()
            raise OperatorError(
                f"the server with process number {other} works on it already; stop that one "
                "first, or use PostgreSQL for several"
            )
        sleep(0.05)
    mark.seek(0)
    mark.truncate(0)
    mark.write(f"{os.getpid()}\n")
    mark.flush()
    return mark


@contextmanager
def turn(path: Path, stage: str) -> Iterator[bool]:
    """Keep servers from that stage for as long as this lasts; false: one runs it already."""
    with _mark(path, stage) as mark:
        end = monotonic() + ENDING_S
        while not (is_ours := _is_locked(mark)):
            mark.seek(0)
            if _is_running(mark.read(20).strip() or "?") or monotonic() > end:
                break
            sleep(0.05)
        yield is_ours


@contextmanager
def alone_with(path: Path, work: str, patience_s: float = 0.0) -> Iterator[bool]:
    """Keep others from some work on a SQLite database for as long as this lasts.

    Args:
        work: its name.
        patience_s: how long to wait for somebody who does it just now; then it is false.
    """
    with _mark(path, work) as mark:
        end = monotonic() + patience_s
        while not (is_ours := _is_locked(mark)) and monotonic() < end:
            sleep(0.02)
        yield is_ours


def _mark(path: Path, stage: str) -> TextIO:
    name = path.resolve()
    name = name.with_name(f"{name.name}.{stage}.lock")
    return os.fdopen(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), "r+")


def _is_locked(mark: TextIO) -> bool:
    """Lock it, if nobody else has."""
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
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


def open_to_others(data_dir: Path, *urls: str) -> Iterator[str]:
    """What everybody on this machine may read of it and of databases, a sentence for each."""
    for path, mode in ((data_dir, "700"), *((file_of(url), "600") for url in urls)):
        if path is not None and path.exists() and stat.S_IMODE(path.stat().st_mode) & _OTHERS:
            yield (
                f"{path} is open to everybody on this machine, and there are passwords and hidden "
                f"moves in it; do `chmod {mode} {path}`"
            )


def must_be_there(url: str, sources: Mapping[str, str]) -> None:
    """Make sure that there is a database to look at; looking at one makes none.

    Args:
        sources: where each setting comes from, as `config.Loaded` has it.

    Raises:
        OperatorError: there is none, which is most often one that the settings do not name.
    """
    path = file_of(url)
    if path is not None and not path.exists():
        told = ", ".join(f"{key}: {sources[key]}" for key in ("database", "data_dir"))
        raise OperatorError(
            f"there is no database at {path} (settings: {told}); "
            "name the server's settings with --config FILE or PBMSERV_CONFIG"
        )
