"""Delivers letters into Maildirs on this machine; `mailbox` reads them.

Each address has a Maildir, `<root>/<address in lower case>/{tmp,new,cur}`, so a newcomer can play
with only this server and `mutt -f` or the built-in mailbox. Files have LF line ends, as other local
delivery agents write them; `less` and `mutt` would show a CR.
"""

from __future__ import annotations

import contextlib
import os
import threading
import unicodedata
from hashlib import sha256
from pathlib import Path

from pbmserv.errors import RelayPermanent, RelayTemporary
from pbmserv.outbound.relay import OutgoingLetter, Relay

_LONGEST_NAME = 255
"""Octets of a file name on the usual file systems."""


class MaildirRelay(Relay):
    """The relay of `maildir:<path>`; it makes folders when they are first needed."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def deliver(self, letter: OutgoingLetter) -> None:
        """Store one letter in its recipient's Maildir, durably and in a single step.

        A second delivery changes nothing, even if the letter was read meanwhile. So a crash between
        sending and settling leaves no second copy.

        Raises:
            RelayPermanent: the address cannot name a folder.
            RelayTemporary: the file could not be written.
        """
        # The name is unique, and the same at each attempt. It must not reveal the letter's number,
        # not even to somebody who tries numbers: readers of the Maildir could count the letters to
        # other people. The envelope sender is signed, so nobody can compute the hash from a number.
        identity = f"{letter.envelope_sender} {letter.message_id}"
        name = f"{sha256(identity.encode('utf-8', 'replace')).hexdigest()[:32]}.pbmserv"
        box = folder_of(self._root, letter.recipient)
        try:
            if not (box / "cur").is_dir():
                _make_maildir(box)
            if not _has(box, name):
                # RFC 5321, 4.4: the final delivery adds Return-Path.
                return_path = f"Return-Path: <{letter.envelope_sender}>\n".encode()
                content = return_path + letter.raw.replace(b"\r\n", b"\n")
                _write(box, name, content, letter.made_at_ns)
        except OSError as error:
            raise RelayTemporary(f"maildir: {error.strerror or type(error).__name__}") from error

    def close(self) -> None:
        """Do nothing: no file stays open."""


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


def _has(box: Path, name: str) -> bool:
    """Return whether a Maildir has a letter, whatever flags follow its name."""
    for folder in ("new", "cur"):
        with os.scandir(box / folder) as entries:
            if any(entry.name.startswith(name) for entry in entries):
                return True
    return False


def _make_maildir(box: Path) -> None:
    """Make the folders of a Maildir; `cur` comes last, and shows that the others are durable."""
    for folder in (box.parent, box, box / "tmp", box / "new"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in (box, box.parent):
        _make_durable(folder)
    (box / "cur").mkdir(mode=0o700, exist_ok=True)


def _write(box: Path, name: str, content: bytes, made_at_ns: int) -> None:
    """Write a file in `tmp`, then move it to `new`, so that readers never see half a letter.

    Mail readers remove files in `tmp` after 36 hours, such as those that a crash leaves.
    """
    # If two servers have claimed the same letter, each writes its own file.
    temporary = box / "tmp" / f"{name}.{os.getpid()}.{threading.get_ident()}"
    try:
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb"
        ) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.utime(temporary, ns=(made_at_ns, made_at_ns))  # readers sort by modification time
        temporary.rename(box / "new" / name)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _make_durable(box / "new")


def _make_durable(folder: Path) -> None:
    """Flush a folder to disk; until then a crash may lose new names in it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
