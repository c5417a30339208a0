"""Delivers letters into Maildirs on this machine, and reads them back.

One Maildir for each address, `<root>/<address in lower case>/{tmp,new,cur}`, so
that a newcomer can play with nothing but this server and `mutt -f` or the
built-in mailbox. Files have LF line ends: that is what mail readers and every
other local delivery agent write, and a CR would show up in `less` and `mutt`.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import combinations
from pathlib import Path

from pbmserv.errors import RelayPermanent, RelayTemporary
from pbmserv.outbound.relay import OutgoingLetter, Relay

_LONGEST_NAME = 255  # octets in a file name on every usual file system
_SEEN = "S"
#: Every name that a letter can have in `cur`: the flags of the Maildir page, in
#: ASCII order. Asking for each of these 65 names costs the same in a Maildir of
#: ten letters and of 100,000, which reading the folder does not.
_READ_ENDINGS = (
    "",
    *(f":2,{''.join(flags)}" for n in range(7) for flags in combinations("DFPRST", n)),
)


class MaildirRelay(Relay):
    """The relay of `maildir:<path>`; folders are made when they are first needed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._made: dict[str, Path] = {}

    def deliver(self, letter: OutgoingLetter) -> None:
        """Store one letter in its recipient's Maildir, durably and in a single step.

        A second delivery changes nothing, even if the letter has been read since: a crash between
        sending and settling makes no second copy.

        Raises:
            RelayPermanent: the address cannot name a folder.
            RelayTemporary: the disk did not take it.
        """
        # A letter has the same name each time, and no two have one name. Its number must not be in
        # it, nor be found out by trying: who reads the Maildir could count other people's letters.
        # The envelope sender stands for it, which nobody can make up.
        told = f"{letter.envelope_sender} {letter.message_id}"
        name = f"{sha256(told.encode('utf-8', 'replace')).hexdigest()[:32]}.pbmserv"
        try:
            box = self._made.get(letter.recipient)
            if box is None:
                box = folder_of(self._root, letter.recipient)
                _make_maildir(box)
                self._made[letter.recipient] = box
            # Sixty-six questions: `os.access` answers no without an exception made and caught.
            places = [f"{box}/new/{name}", *[f"{box}/cur/{name}{end}" for end in _READ_ENDINGS]]
            if not any(map(_exists, places)):
                # RFC 5321, 4.4: whoever makes the final delivery adds Return-Path.
                return_path = f"Return-Path: <{letter.envelope_sender}>\n".encode()
                _write(box, name, return_path + letter.raw.replace(b"\r\n", b"\n"))
        except OSError as error:
            self._made.pop(letter.recipient, None)
            raise RelayTemporary(f"maildir: {error.strerror or type(error).__name__}") from error

    def close(self) -> None:
        """Nothing is held open."""


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A letter in a Maildir.

    Attributes:
        key: its file name without flags; stays the same when it is read.
        seen: somebody has read it.
        raw: the message with LF line ends.
    """

    key: str
    seen: bool
    raw: bytes = field(repr=False)


class Mailbox:
    """One address's Maildir, for reading; it need not exist yet."""

    def __init__(self, root: Path, address: str) -> None:
        """
        Args:
            root: the folder of the relay.
            address: any case.

        Raises:
            RelayPermanent: the address cannot name a folder.
        """
        self._box = folder_of(root, address)

    def messages(self, all: bool) -> Iterator[StoredLetter]:  # noqa: A002 - the reader's word
        """Letters in the order in which they arrived.

        Args:
            all: also those that have been read.
        """
        for _, key, path in sorted(self._entries("new", "cur")):
            seen = _is_seen(path)
            if seen and not all:
                continue
            with contextlib.suppress(FileNotFoundError):
                yield StoredLetter(key, seen, Path(path).read_bytes())

    def newest(self, most: int) -> list[StoredLetter]:
        """At most so many letters, the newest first."""
        found = []
        for _, key, path in sorted(self._entries("new", "cur"), reverse=True)[:most]:
            with contextlib.suppress(FileNotFoundError):
                found.append(StoredLetter(key, _is_seen(path), Path(path).read_bytes()))
        return found

    def letter(self, key: str) -> StoredLetter | None:
        """One letter; ``None``: it is not there."""
        for _, found, path in self._entries("new", "cur"):
            if found == key:
                with contextlib.suppress(FileNotFoundError):
                    return StoredLetter(key, _is_seen(path), Path(path).read_bytes())
        return None

    def unread(self) -> list[str]:
        """Keys of the letters that nobody has read, the oldest first."""
        return [key for _, key, path in sorted(self._entries("new", "cur")) if not _is_seen(path)]

    def mark_seen(self, key: str) -> None:
        """Note that a letter has been read; its other flags stay.

        A letter that somebody has deleted in the meantime needs no mark.
        """
        cur = self._box / "cur"
        if "/" in key:
            return  # a key may have travelled through a form; it never leaves the Maildir
        with contextlib.suppress(FileNotFoundError):
            (self._box / "new" / key).rename(cur / f"{key}:2,{_SEEN}")
            return
        for _, found, path in self._entries("cur"):
            if found == key and not _is_seen(path):
                flags = {*Path(path).name.partition(":2,")[2], _SEEN}
                with contextlib.suppress(FileNotFoundError):
                    Path(path).rename(cur / f"{key}:2,{''.join(sorted(flags))}")

    def _entries(self, *folders: str) -> Iterator[tuple[int, str, str]]:
        """(arrival in ns, key, path) of each letter, in no order.

        Moving a file keeps its time of change, so reading a letter does not
        change its place.
        """
        for folder in folders:
            with contextlib.suppress(FileNotFoundError), os.scandir(self._box / folder) as entries:
                for entry in entries:
                    # A mail reader may move or delete a letter while we look.
                    with contextlib.suppress(FileNotFoundError):
                        if not entry.name.startswith("."):
                            key = entry.name.partition(":")[0]
                            yield entry.stat().st_mtime_ns, key, entry.path


def addresses(root: Path) -> list[str]:
    """Every address that has a Maildir here, sorted."""
    try:
        with os.scandir(root) as entries:
            return sorted(e.name for e in entries if Path(e.path, "new").is_dir())
    except FileNotFoundError:
        return []


def folder_of(root: Path, address: str) -> Path:
    """Return the Maildir of an address: always a direct child of *root*, and never a hidden one.

    Raises:
        RelayPermanent: the address could lead elsewhere, or is not a file name.
    """
    name = unicodedata.normalize("NFC", address).lower()
    local, at, domain = name.rpartition("@")
    if at and local.startswith(".") and local.strip(".") and '"' not in local:
        name = f'"{local}"@{domain}'  # the same address (RFC 5321 section 4.1.2)
    if (
        not name
        or name.startswith(".")
        or not name.isprintable()
        or "/" in name
        or "\\" in name
        or len(name.encode()) > _LONGEST_NAME
    ):
        raise RelayPermanent("maildir: this address cannot name a folder")
    return root / name


_exists = partial(os.access, mode=os.F_OK, follow_symlinks=False)


def _is_seen(path: str) -> bool:
    return _SEEN in Path(path).name.partition(":2,")[2]


def _make_maildir(box: Path) -> None:
    for folder in (box.parent, box, box / "tmp", box / "new", box / "cur"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in (box, box.parent):
        _make_durable(folder)


def _write(box: Path, name: str, content: bytes) -> None:
    """Write to `tmp`, then move to `new` in one step: a reader never sees half a letter.

    What a crash leaves in `tmp` mail readers clear away after 36 hours.
    """
    # Two servers may have claimed the same letter: each writes a file of its own.
    temporary = box / "tmp" / f"{name}.{os.getpid()}.{threading.get_ident()}"
    try:
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb"
        ) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # The file system's own times stand still for milliseconds; readers sort by them.
        now = time.time_ns()
        os.utime(temporary, ns=(now, now))
        temporary.rename(box / "new" / name)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _make_durable(box / "new")


def _make_durable(folder: Path) -> None:
    """A new name is safe only when its folder has reached the disk, too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
