"""Reads and writes our files and folders.

They are private, because the database holds the key of reply addresses, hidden moves, and mails
with passwords.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pbmserv.errors import OperatorError

_HELPS = {
    errno.EROFS: "mount its disk for writing; under systemd name it in ReadWritePaths=",
    errno.ENOSPC: "make room on its disk",
    errno.EDQUOT: "make room on its disk",
    errno.EACCES: "run this as the server's user, who has to own it (chown)",
    errno.EPERM: "run this as the server's user, who has to own it (chown)",
}


def why_not(error: OSError) -> str:
    """Return the reason why a file cannot be written, and what would help."""
    return f"{error.strerror or error}; {_HELPS.get(error.errno or 0, 'name another place')}"


# -- files that exist completely or not at all -------------------------------------------------


FILE_ENDS = "", "-journal", "-wal", "-shm"
"""Ends of the names of a SQLite database's files; SQLite makes all but the first."""

Place = Callable[[Path, Path], None]
"""Moves a finished file (the first path) to its name (the second one)."""


@contextmanager
def whole_file(target: Path, place: Place) -> Iterator[Path]:
    """Make an empty file with mode 0600 beside *target*, for the block to fill.

    If the block succeeds, the file is synced and moved to *target*; otherwise it is removed.

    Args:
        place: `only_new` or `replacing`.

    Raises:
        OperatorError: *target* exists and must not be replaced, or its folder is not writable.
        OSError: the disk cannot be written.
    """
    _check_target(target, place)
    unfinished = target.with_name(f".{target.name[:200]}.{os.urandom(4).hex()}.part")
    try:
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    except OSError as error:
        raise OperatorError(f"no file can be made in {target.parent}: {why_not(error)}") from None
    try:
        yield unfinished
        _sync(unfinished)
        place(unfinished, target)
        _sync(target.parent)
    finally:
        for end in FILE_ENDS:
            with contextlib.suppress(FileNotFoundError):
                unfinished.with_name(unfinished.name + end).unlink()


def only_new(unfinished: Path, target: Path) -> None:
    """Give a file a name that must not exist yet."""
    try:
        os.link(unfinished, target, follow_symlinks=False)
    except FileExistsError:
        raise _taken(target) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise _taken(target) from None
        unfinished.rename(target)


def replacing(unfinished: Path, target: Path) -> None:
    """Give a file a name, and replace the file that has it."""
    unfinished.replace(target)


def regular_file(path: Path) -> Path:
    """Return *path* if it is a regular file.

    Raises:
        OperatorError: it is a folder, a pipe or a device, or it does not exist.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise OperatorError(f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise OperatorError(f"{path} is not a file")
    return path


def _check_target(target: Path, place: Place) -> None:
    if not target.parent.is_dir():
        raise OperatorError(f"there is no folder {target.parent}")
    if os.path.lexists(target):
        if not stat.S_ISREG(target.lstat().st_mode):
            raise OperatorError(f"{target} is not a file, so a copy cannot replace it")
        if place is not replacing:
            raise _taken(target)


def _taken(target: Path) -> OperatorError:
    return OperatorError(f"{target} exists already; --overwrite replaces it")


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# -- files that an operator names --------------------------------------------------------------


def read_octets(path: Path, most: int = -1) -> bytes:
    """Return the octets of a regular file, at most *most* of them (-1 for all).

    Raises:
        OSError: the file cannot be read or is not regular; `strerror` says which.
    """
    # Without O_NONBLOCK, opening a named pipe would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return file.read(most)


# -- the server's own files --------------------------------------------------------------------


_OTHERS = stat.S_IRWXO


def sqlite_file(url: str) -> Path | None:
    """Return the file of a SQLite database; `None` for other databases and those in memory."""
    from sqlalchemy.engine import make_url  # slow to load, and few callers need it

    parsed = make_url(url)
    has_file = parsed.database not in {None, "", ":memory:"} and "uri" not in parsed.query
    if parsed.get_backend_name() != "sqlite" or not has_file:
        return None
    return Path(str(parsed.database))


def make_private(folder: Path) -> None:
    """Make a folder that only its owner may enter, and its parents; keep existing ones."""
    if not folder.is_dir():
        make_private(folder.parent)  # `mkdir(parents=True)` would use the umask for these
        folder.mkdir(mode=0o700, exist_ok=True)


def is_private(folder: Path) -> bool:
    """Return whether only this user can write in a folder."""
    status = folder.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return is_ours and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def make_file(path: Path) -> None:
    """Make an empty private file, unless it exists.

    SQLite treats it as a new database, and gives its other files the same mode.
    """
    make_private(path.parent)
    if not path.exists():
        os.close(open_private(path))


def open_private(path: Path) -> int:
    """Open a file for reading and writing, or make an empty private one; return its descriptor.

    A file that root makes belongs to the owner of its folder: otherwise a command that root has run
    would keep the server, which runs as another user, from its own files.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if os.geteuid() == 0:
        owner = path.parent.stat()
        with contextlib.suppress(PermissionError):  # root of a container may lack this right
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


def give_to_owner_of(folder: Path, path: Path) -> None:
    """Give a file to the owner of a folder, if this is root."""
    if os.geteuid() == 0:
        owner = folder.stat()
        with contextlib.suppress(PermissionError):
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def open_to_others(data_dir: Path, *urls: str) -> Iterator[str]:
    """Yield a sentence for each of these files that all users of this machine can read."""
    for path, mode in ((data_dir, "700"), *((sqlite_file(url), "600") for url in urls)):
        if path is not None and path.exists() and stat.S_IMODE(path.stat().st_mode) & _OTHERS:
            yield (
                f"{path} is open to everybody on this machine, and there are passwords and hidden "
                f"moves in it; do `chmod {mode} {path}`"
            )


def check_database_exists(url: str, sources: Mapping[str, str]) -> None:
    """Check that a database exists, so that a command which only reads does not make one.

    Args:
        sources: the source of each setting: see `pbmserv.config.settings.Loaded`.

    Raises:
        OperatorError: it does not exist. Most often the command uses the wrong settings.
    """
    path = sqlite_file(url)
    if path is not None and not path.exists():
        origins = ", ".join(f"{key}: {sources[key]}" for key in ("database", "data_dir"))
        raise OperatorError(
            f"there is no database at {path} (settings: {origins}); "
            "name the server's settings with --config FILE or PBMSERV_CONFIG"
        )
