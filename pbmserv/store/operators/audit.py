"""Rows of what operators have done, and of the games they have closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from pbmserv.store.core.statements import columns_of
from pbmserv.store.tables.accounts import audit, closed_games


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing an operator has done.

    Attributes:
        operator: who, as they said or as the machine knows them.
        action: such as ``suspend`` or ``hand-over``.
        target: ``user alice``, ``board 12`` or ``game blackbox``.
        facts: what it was before and after, ready for JSON.
    """

    at: datetime
    operator: str
    action: str
    target: str
    why: str
    facts: Mapping[str, Any]


_ENTRY = select(*columns_of(Entry, audit))


def add(connection: Connection, entry: Entry) -> None:
    """Write down what is being done, in the transaction that does it."""
    connection.execute(
        insert(audit).values(
            at=entry.at,
            operator=entry.operator,
            action=entry.action,
            target=entry.target,
            why=entry.why,
            facts=dict(entry.facts),
        )
    )


def entries(connection: Connection, target: str | None, limit: int) -> list[Entry]:
    """The newest entries, newest first; of one target, or of all (``None``).

    A target of one word is any of that name or number: ``carol`` finds ``user carol``.
    """
    statement = _ENTRY.order_by(audit.c.id.desc()).limit(limit)
    if target is not None:
        named = audit.c.target == target
        if " " not in target:
            named |= audit.c.target.endswith(f" {target}", autoescape=True)
        statement = statement.where(named)
    return [Entry(*row) for row in connection.execute(statement)]


def rename(connection: Connection, userid: str, neutral: str) -> None:
    """The entries about a player whose data goes: under the neutral name, without the reasons."""
    connection.execute(
        update(audit)
        .where(audit.c.target == f"user {userid}")
        .values(target=f"user {neutral}", why="", facts={})
    )


def merged_into(connection: Connection, userid: str) -> list[str]:
    """Userids of the accounts that have become part of this one, those of their own parts too."""
    found = connection.execute(
        select(audit.c.target, audit.c.facts).where(audit.c.action == "merge").order_by(audit.c.id)
    )
    names = {userid}
    for row in reversed(found.all()):
        if row.facts.get("into") in names:
            names.add(row.target.removeprefix("user "))
    return sorted(names - {userid})


def closed(connection: Connection) -> dict[str, datetime]:
    """Games of which no new boards are made, and since when."""
    found = connection.execute(select(closed_games.c.game, closed_games.c.closed_at))
    return {row.game: row.closed_at for row in found}


def is_closed(connection: Connection, game: str) -> bool:
    """Whether no new boards are made of a game."""
    statement = select(closed_games.c.game).where(closed_games.c.game == game)
    return connection.execute(statement).first() is not None


def close(connection: Connection, game: str, now: datetime) -> None:
    """Make no new boards of a game."""
    connection.execute(insert(closed_games).values(game=game, closed_at=now))


def open_again(connection: Connection, game: str) -> None:
    """Make new boards of a game again."""
    connection.execute(delete(closed_games).where(closed_games.c.game == game))
