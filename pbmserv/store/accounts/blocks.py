"""Rows of blocks: players whose messages and boards a player refuses.

A block is between persons (`store.accounts.persons`), so callers pass all names of both. It also
stores the mailboxes of the blocked person, as keyed hashes: a player who signs up again, or gives
an old address to a new name, stays blocked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, delete, or_, select

from pbmserv.store.core.statements import add_if_new, delete_rows
from pbmserv.store.tables.accounts import blocked_mailboxes, blocks, players


def blocked_userids(connection: Connection, player_ids: Collection[int]) -> list[str]:
    """Return the userids that any of these players blocks, sorted."""
    userids = connection.execute(
        select(players.c.userid)
        .join(blocks, blocks.c.blocked_id == players.c.id)
        .where(blocks.c.player_id.in_(player_ids))
        .distinct()
        .order_by(players.c.userid)
    )
    return list(userids.scalars())


def by_name(connection: Connection, player_ids: Collection[int]) -> list[tuple[int, int]]:
    """Return pairs of player id and blocked player id."""
    rows = connection.execute(
        select(blocks.c.player_id, blocks.c.blocked_id).where(blocks.c.player_id.in_(player_ids))
    )
    return [(row.player_id, row.blocked_id) for row in rows]


def by_mailbox(connection: Connection, player_ids: Collection[int]) -> list[tuple[int, str]]:
    """Return pairs of player id and mark of a blocked mailbox."""
    table = blocked_mailboxes
    rows = connection.execute(
        select(table.c.player_id, table.c.mark).where(table.c.player_id.in_(player_ids))
    )
    return [(row.player_id, row.mark) for row in rows]


def blockers_of(connection: Connection, blocked_id: int) -> list[int]:
    """Return the ids of the players who block this one by name."""
    rows = connection.execute(
        select(blocks.c.player_id)
        .where(blocks.c.blocked_id == blocked_id)
        .order_by(blocks.c.player_id)
    )
    return list(rows.scalars())


def block(connection: Connection, player_id: int, blocked_id: int, marks: Iterable[str]) -> None:
    """Block a player and these mailboxes; doing so twice changes nothing."""
    pair = {"player_id": player_id, "blocked_id": blocked_id}
    add_if_new(connection, blocks, **pair)
    for mark in marks:
        add_if_new(connection, blocked_mailboxes, **pair, mark=mark)


def unblock(
    connection: Connection,
    player_ids: Collection[int],
    blocked: Collection[int],
    marks: Collection[str],
) -> None:
    """Remove every block by some players on a person.

    Args:
        player_ids: players whose blocks are removed.
        blocked: ids of the person's names.
        marks: marks of the person's mailboxes.
    """
    by_mailbox = connection.execute(
        select(blocked_mailboxes.c.blocked_id).where(
            blocked_mailboxes.c.player_id.in_(player_ids), blocked_mailboxes.c.mark.in_(marks)
        )
    )
    ids = {*blocked, *by_mailbox.scalars()}
    for table in (blocked_mailboxes, blocks):
        connection.execute(
            delete(table).where(table.c.player_id.in_(player_ids), table.c.blocked_id.in_(ids))
        )


def forget_by(connection: Connection, player_id: int) -> None:
    """Delete the blocks by a player."""
    for table in (blocked_mailboxes, blocks):
        delete_rows(connection, table, player_id=player_id)


def move(connection: Connection, old: int, new: int) -> None:
    """Give all blocks by and on one player to another, except blocks between the two."""
    for table in (blocks, blocked_mailboxes):
        is_about_old = or_(table.c.player_id == old, table.c.blocked_id == old)
        rows = connection.execute(select(table).where(is_about_old)).mappings().all()
        connection.execute(delete(table).where(is_about_old))
        for row in rows:
            pair = {
                name: new if row[name] == old else row[name] for name in ("player_id", "blocked_id")
            }
            if pair["player_id"] != pair["blocked_id"]:
                add_if_new(connection, table, **{**row, **pair})
