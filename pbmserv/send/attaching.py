"""Files that travel with a letter: a saved game, or all that is kept on a player."""

from __future__ import annotations

import json

from sqlalchemy import Connection

from pbmserv.render.mime import Attachment
from pbmserv.store import personal
from pbmserv.store.outbox import QueuedLetter
from pbmserv.store.players import Player


def attachments(
    connection: Connection, row: QueuedLetter, player: Player | None
) -> tuple[Attachment, ...]:
    """What travels with a letter: all that is kept on a player who has asked for it."""
    if row.letter == "saved":
        name = f"{row.words['key']}-{row.words['board']}.txt"
        return (Attachment(name, "text/plain", row.words["text"].encode()),)
    if row.letter != "export" or player is None:
        return ()
    kept = json.dumps(personal.kept_on(connection, player), indent=2, ensure_ascii=False)
    name = f"pbmserv-{player.userid.strip('_-') or 'player'}.json"
    return (Attachment(name, "application/json", f"{kept}\n".encode()),)
