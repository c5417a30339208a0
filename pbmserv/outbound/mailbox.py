"""Reads the Maildirs into which `maildir` delivers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pbmserv.outbound.maildir import folder_of

_SEEN = "S"
"""The Maildir flag of a letter that has been read."""


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A letter in a Maildir.

    Attributes:
        key: its file name without flags, which reading does not change.
        seen: whether it has been read.
        raw: the message with LF line ends.
    """

    key: str
    seen: bool
    raw: bytes = field(repr=False)


class Mailbox:
    """The Maildir of one address, for reading; it need not exist yet."""

    def __init__(self, root: Path, address: str) -> None:
        """
        Args:
            root: the folder of the relay.
            address: any case.

        Raises:
            RelayPermanent: the address cannot name a folder.
        """
        self._box = folder_of(root, address)

    def messages(self, *, unread_only: bool = False) -> Iterator[StoredLetter]:
        """Yield letters in the order in which they were made."""
        for _, key, path in sorted(self._entries()):
            if not (unread_only and _is_seen(path)):
                yield from _read_letter(key, path)

    def newest(self, most: int) -> list[StoredLetter]:
        """Return at most *most* letters, newest first."""
        entries = sorted(self._entries(), reverse=True)[:most]
        return [letter for _, key, path in entries for letter in _read_letter(key, path)]

    def letter(self, key: str) -> StoredLetter | None:
        """Return the letter with this key, `None` if there is none."""
        entries = [entry for entry in self._entries() if entry[1] == key]
        letters = [letter for _, _, path in entries for letter in _read_letter(key, path)]
        return letters[0] if letters else None

    def unread(self) -> list[str]:
        """Return the keys of unread letters, oldest first."""
        return [key for _, key, path in sorted(self._entries()) if not _is_seen(path)]

    def mark_seen(self, key: str) -> None:
        """Mark a letter as read; its other flags stay. A letter that was deleted is ignored."""
        for _, entry_key, path in self._entries():
            if entry_key == key and not _is_seen(path):
                flags = {*Path(path).name.partition(":2,")[2], _SEEN}
                with contextlib.suppress(FileNotFoundError):
                    Path(path).rename(self._box / "cur" / f"{key}:2,{''.join(sorted(flags))}")

    def _entries(self) -> Iterator[tuple[int, str, str]]:
        """Yield time (ns), key and path of each letter, in any order.

        The time is the file's modification time, which survives the move to `cur`.
        """
        for folder in ("new", "cur"):
            with contextlib.suppress(FileNotFoundError), os.scandir(self._box / folder) as entries:
                for entry in entries:
                    # A mail reader may move or delete a letter meanwhile.
                    with contextlib.suppress(FileNotFoundError):
                        if not entry.name.startswith("."):
                            key = entry.name.partition(":")[0]
                            yield entry.stat().st_mtime_ns, key, entry.path


def addresses(root: Path) -> list[str]:
    """Return the addresses that have a Maildir in *root*, sorted."""
    try:
        with os.scandir(root) as entries:
            return sorted(e.name for e in entries if Path(e.path, "new").is_dir())
    except FileNotFoundError:
        return []


def _read_letter(key: str, path: str) -> list[StoredLetter]:
    """Return the letter in a file; empty if a mail reader has moved or deleted it meanwhile."""
    try:
        return [StoredLetter(key, _is_seen(path), Path(path).read_bytes())]
    except FileNotFoundError:
        return []


def _is_seen(path: str) -> bool:
    return _SEEN in Path(path).name.partition(":2,")[2]
