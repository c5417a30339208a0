"""A file for its owner alone that is there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pbmserv.errors import OperatorError

Place = Callable[[Path, Path], None]
"""Gives a finished file its name: (where it is, the name)."""


@contextmanager
def written(target: Path, place: Place) -> Iterator[Path]:
    """An empty file with mode 0600 beside *target*, to be filled by the block.

    When the block ends well it is brought to the disk and gets its name; else it is removed.

    Args:
        place: `new` or `over`.

    Raises:
        OperatorError: *target* is taken, or nothing a file could take the place of.
        OSError: the disk does not take it.
    """
    _may_be(target, place)
    made = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.part")
    os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
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
        raise OperatorError(f"{path} is no file")
    return path


def _may_be(target: Path, place: Place) -> None:
    if not target.parent.is_dir():
        raise OperatorError(f"there is no folder {target.parent}")
    if os.path.lexists(target):
        if not stat.S_ISREG(target.lstat().st_mode):
            raise OperatorError(f"{target} is no file, so no copy can take its place")
        if place is not over:
            raise _taken(target)


def _taken(target: Path) -> OperatorError:
    return OperatorError(f"{target} is there already; with --overwrite it is replaced")


def _sync(path: Path) -> None:
    """Wait until the disk has a file, or the names in a folder."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
