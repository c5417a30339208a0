"""Reads the mails of mbox files, Maildirs and single files, in pieces of limited size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

LONGEST = 2 * 1024 * 1024
"""Most octets of a mail; letters of the server have at most a tenth."""

_LINE = 64 * 1024
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_MAILDIR = ("cur", "new", "tmp")


class TooLong:
    """Stands for a mail that is longer than `LONGEST`."""


def files_of(path: Path) -> Iterator[Path]:
    """Yield a file itself, or in order all files in a folder or Maildir and below.

    Hidden files and folders are left out, except those of a Maildir.
    """
    if not path.is_dir():
        yield path
        return
    for below in sorted(path.iterdir()):
        if below.is_dir() and not below.is_symlink() and below.name != "tmp":
            is_subfolder = below.name.startswith(".") and (below / "cur").is_dir()
            if not below.name.startswith(".") or is_subfolder:
                yield from files_of(below)
        elif below.is_file() and (path.name in _MAILDIR or not below.name.startswith(".")):
            yield below


def mails_of(file: BinaryIO) -> Iterator[bytes | TooLong]:
    """Yield the mails of an mbox file, or of a file with one mail, with CRLF line ends.

    In place of a mail that is too long, yield a `TooLong`.
    """
    first = file.readline(_LINE)
    if not first.startswith(b"From "):
        yield _mail([first, file.read(LONGEST + 1 - len(first))])
        return
    pieces: list[bytes] = []
    octets = 0
    after_blank = False
    starts_line = first.endswith(b"\n")
    while line := file.readline(_LINE):
        if after_blank and starts_line and line.startswith(b"From "):
            yield _mail(pieces, is_mbox=True) if octets <= LONGEST else TooLong()
            pieces, octets = [], 0
        else:
            octets += len(line)
            if octets <= LONGEST:
                pieces.append(line)
        after_blank = starts_line and line in {b"\n", b"\r\n"}
        starts_line = line.endswith(b"\n")
    yield _mail(pieces, is_mbox=True) if octets <= LONGEST else TooLong()


def _mail(pieces: Iterable[bytes], *, is_mbox: bool = False) -> bytes | TooLong:
    raw = b"".join(pieces)
    if len(raw) > LONGEST:
        return TooLong()
    if is_mbox and b"From " in raw:
        raw = _ESCAPED.sub(rb"\1", raw)
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\r\n")
