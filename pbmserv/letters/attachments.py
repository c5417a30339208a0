"""The files that travel with letters: saved games, and all data that is kept on a player."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection

from pbmserv.letters.mime import Attachment
from pbmserv.store.accounts import personal
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery.outbox import QueuedLetter

LONGEST_PLAIN = 1_000_000
"""Octets of a player's data from which the file is packed. Many relays refuse mails of 10 MB."""


def attachments(
    connection: Connection, row: QueuedLetter, player: Player | None
) -> tuple[Attachment, ...]:
    """Return the files of a letter to a player."""
    if row.letter == "saved":
        name = f"{row.words['key']}-{row.words['board']}"
        return tuple(
            Attachment(f"{name}{ending}", "text/plain", text.encode())
            for ending, text in row.words["files"]
        )
    if row.letter != "export" or player is None:
        return ()
    text = _json_lines(personal.data_of(connection, player))
    return (data_file(player.userid, f"{text}\n".encode()),)


def data_file(userid: str, content: bytes) -> Attachment:
    """Return the file with all data of a player; the same data give the same octets."""
    name = f"pbmserv-{userid.strip('_-') or 'player'}.json"
    if len(content) <= LONGEST_PLAIN:
        return Attachment(name, "application/json", content)
    packed = gzip.compress(content, compresslevel=3, mtime=0)
    return Attachment(f"{name}.gz", "application/gzip", packed)


def _json_lines(sections: Mapping[str, Mapping[str, Any] | Iterable[Any]]) -> str:
    """Return JSON with a line for each item of a section.

    The library's encoder is ten times slower with an indent, and an old account has megabytes.
    """
    pieces = []
    for key, section in sections.items():
        if isinstance(section, Mapping):
            text = _json(section)
        else:
            items = ",\n  ".join(map(_json, section))
            text = f"[\n  {items}\n]" if items else "[]"
        pieces.append(f"{_json(key)}: {text}")
    return "{\n" + ",\n".join(pieces) + "\n}"


_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
