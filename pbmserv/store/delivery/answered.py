"""Which letters a mail may answer: by its headers, else the newest ones to its writer."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from pbmserv.store.delivery import outbox as rows
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables import outbox

NEWEST = 500
"""Letters to a player among which those are looked for that a mail's headers name."""

OF_THE_BOARD = 2
AT_ALL = 5
"""Newest letters that are looked at, whatever the headers name: people answer one letter with
another in front of them."""

_OWN_WORDS = ("chat-sent", "message-sent", "broadcast-asked", "broadcast-sent")
"""Letters with nothing in them but what their reader has said to others."""


def letters(
    connection: Connection,
    player_id: int,
    message_ids: Sequence[str],
    *,
    board_id: int | None,
    letter_id: int | None,
) -> list[QueuedLetter]:
    """The letters to a player that a mail may quote, newest first.

    Args:
        message_ids: those that its headers name, with angle brackets.
        board_id: the board that it speaks of; ``None`` = none.
        letter_id: the letter that its reply address names; ``None`` = none.
    """
    newest = connection.execute(
        select(outbox.c.id, outbox.c.message_id, outbox.c.board_id, outbox.c.letter)
        .where(outbox.c.player_id == player_id)
        .order_by(outbox.c.id.desc())
        .limit(NEWEST)
    ).all()
    wanted = set(message_ids)
    named = {row.id for row in newest if row.message_id in wanted or row.id == letter_id}
    newest = [row for row in newest if row.letter not in _OWN_WORDS]
    about = [row.id for row in newest if row.board_id == board_id and board_id is not None]
    chosen = named | set(about[:OF_THE_BOARD]) | {row.id for row in newest[:AT_ALL]}
    found = [rows.letter(connection, number) for number in sorted(chosen, reverse=True)]
    return [letter for letter in found if letter is not None]
