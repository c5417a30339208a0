"""Finds the newest letters to a player: those that a mail may quote, and words about a board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select

from pbmserv.mail.letter_kinds import kind_of
from pbmserv.store.delivery import outbox as outbox_rows
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.delivery.shares import by_share, shares_of, within
from pbmserv.store.tables.mail import outbox

NEWEST = 500
"""Newest letters to a player that the headers of a mail may name."""

OF_THE_BOARD = 2
AT_ALL = 5
"""Newest letters, about the board and in all, that a mail may quote although its headers do not
name them: people answer one letter while they read another."""


_NEWEST = (
    select(outbox.c.id, outbox.c.message_id, outbox.c.board_id, outbox.c.letter)
    .where(outbox.c.player_id == bindparam("player"))
    .order_by(outbox.c.id.desc())
    .limit(NEWEST)
)


def to_player(
    connection: Connection,
    player_id: int,
    message_ids: Sequence[str],
    *,
    board_id: int | None,
    letter_id: int | None,
) -> list[QueuedLetter]:
    """Return the letters to a player that a mail may quote, newest first.

    Args:
        message_ids: Message-IDs in the mail's headers, with angle brackets.
        board_id: board that the mail is about; `None` for none.
        letter_id: letter that its reply address names; `None` for none.
    """
    newest = _newest(connection, player_id)
    wanted = set(message_ids)
    named_ids = {row.id for row in newest if row.message_id in wanted or row.id == letter_id}
    newest = [row for row in newest if not kind_of(row.letter).own_words]
    about = [row.id for row in newest if row.board_id == board_id and board_id is not None]
    chosen = named_ids | set(about[:OF_THE_BOARD]) | {row.id for row in newest[:AT_ALL]}
    letters = [outbox_rows.letter(connection, number) for number in sorted(chosen, reverse=True)]
    return [letter for letter in letters if letter is not None]


_WITH_WORDS = (
    select(outbox.c.id, outbox.c.letter, outbox.c.words, outbox.c.mail_id)
    .where(outbox.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(outbox.c.id)
)


@dataclass(frozen=True, slots=True)
class WordsOfLetter:
    """The words of a letter; `mail_id` is the mail that caused it."""

    letter: str
    words: Mapping[str, Any]
    mail_id: int | None


def about_board(
    connection: Connection, player_id: int, board_id: int, most: int
) -> list[WordsOfLetter]:
    """Return the words of the newest letters to a player about a board, oldest first."""
    newest = _newest(connection, player_id)
    ids = [row.id for row in newest if row.board_id == board_id][:most]
    rows = [
        row
        for share, numbers in by_share(connection, ids).items()
        for row in connection.execute(within(_WITH_WORDS, outbox, share), {"ids": numbers})
    ]
    rows.sort(key=lambda row: row.id)
    return [WordsOfLetter(*row[1:]) for row in rows]


def _newest(connection: Connection, player_id: int) -> list[Any]:
    """Return the newest letters to a player, newest first.

    They can be in any share, since a share follows from the address that a letter went to.
    """
    values = {"player": player_id}
    rows = [
        row
        for share in shares_of(connection)
        for row in connection.execute(within(_NEWEST, outbox, share), values)
    ]
    rows.sort(key=lambda row: row.id, reverse=True)
    return rows[:NEWEST]
