"""Files that travel with a letter: a saved game, or all that is kept on a player."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from pbmserv.errors import ServerFault
from pbmserv.store.accounts import personal
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery.outbox import QueuedLetter

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9][a-z0-9.+-]{0,60}")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that travels with a letter.

    Attributes:
        name: ASCII letters, digits, ``.``, ``_`` and ``-``, so that it needs no RFC 2231.
        media_type: such as ``application/json``.
        content: its octets; they arrive unchanged.
    """

    name: str
    media_type: str
    content: bytes = field(repr=False)

    def part(self) -> bytes:
        """Itself as a part of a mail (RFC 2183), in base64 lines of 76 (RFC 2045, 6.8).

        Raises:
            ServerFault: its name or type is not fit for a header.
        """
        if not _FILE_NAME.fullmatch(self.name):
            raise ServerFault(f"not fit for an attachment's name: {self.name!r}")
        if not _MEDIA_TYPE.fullmatch(self.media_type):
            raise ServerFault(f"not a media type: {self.media_type!r}")
        header = (
            f"Content-Type: {self.media_type}\r\n"
            f'Content-Disposition: attachment; filename="{self.name}"\r\n'
            f"Content-Transfer-Encoding: base64\r\n\r\n"
        )
        whole = base64.b64encode(self.content)
        lines = [whole[at : at + 76] for at in range(0, len(whole), 76)]
        return header.encode() + b"\r\n".join([*lines, b""])


def attachments(
    connection: Connection, row: QueuedLetter, player: Player | None
) -> tuple[Attachment, ...]:
    """What travels with a letter: all that is kept on a player who has asked for it."""
    if row.letter == "saved":
        name = f"{row.words['key']}-{row.words['board']}"
        return tuple(
            Attachment(f"{name}{ending}", "text/plain", text.encode())
            for ending, text in row.words["files"]
        )
    if row.letter != "export" or player is None:
        return ()
    kept = _in_lines(personal.kept_on(connection, player))
    name = f"pbmserv-{player.userid.strip('_-') or 'player'}.json"
    return (Attachment(name, "application/json", f"{kept}\n".encode()),)


def _in_lines(kept: Mapping[str, Any]) -> str:
    """JSON with a line for each thing in a list. With an indent for all the library's encoder is
    ten times slower, and an old account is megabytes."""
    found = []
    for key, value in kept.items():
        said = _json(value)
        if isinstance(value, list) and value:
            said = "[\n  " + ",\n  ".join(map(_json, value)) + "\n]"
        found.append(f"{_json(key)}: {said}")
    return "{\n" + ",\n".join(found) + "\n}"


_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
