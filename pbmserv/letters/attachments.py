"""Files that travel with a letter: a saved game, or all that is kept on a player."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from pbmserv.letters.mime import Attachment
from pbmserv.store.accounts import personal
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery.outbox import QueuedLetter


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


_json = json.JSONEncoder(ensure_ascii=False).encode
