"""Rows of the audit: what operators have done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from pbmserv.store.core.statements import columns_of, values_of
from pbmserv.store.tables.operators import audit


@dataclass(frozen=True, slots=True)
class Entry:
    """One action of an operator.

    Attributes:
        operator: the operator's name, as given or as the machine knows it.
        action: such as ``suspend`` or ``hand-over``.
        target: ``user alice``, ``board 12`` or ``game blackbox``.
        why: the operator's reason.
        facts: values before and after, ready for JSON.
    """

    at: datetime
    operator: str
    action: str
    target: str
    why: str
    facts: Mapping[str, Any]


_ENTRY = select(*columns_of(Entry, audit))


def add(connection: Connection, entry: Entry) -> None:
    """Add an entry, in the transaction of the action."""
    connection.execute(insert(audit).values(values_of(entry, audit)))


def entries(connection: Connection, target: str | None, most: int) -> list[Entry]:
    """Return the newest entries, newest first.

    Args:
        target: only entries about this target (`None`: all). A single word matches the name or
            number of any kind of target: ``carol`` finds ``user carol``.
        most: largest number of entries.
    """
    statement = _ENTRY.order_by(audit.c.id.desc()).limit(most)
    if target is not None:
        matches = audit.c.target == target
        if " " not in target:
            matches |= audit.c.target.endswith(f" {target}", autoescape=True)
        statement = statement.where(matches)
    return [Entry(*row) for row in connection.execute(statement)]


def rename(connection: Connection, userid: str, neutral: str) -> None:
    """Put a neutral name into the entries about an erased player, and remove the reasons."""
    connection.execute(
        update(audit)
        .where(audit.c.target == f"user {userid}")
        .values(target=f"user {neutral}", why="", facts={})
    )


def retarget(connection: Connection, userid: str, new: str) -> None:
    """Put the new userid of a renamed player into the entries about the player."""
    connection.execute(
        update(audit)
        .where(audit.c.target == f"user {userid}", audit.c.action != "rename")
        .values(target=f"user {new}")
    )


def merged_into(connection: Connection, userid: str) -> list[str]:
    """Return the userids of accounts that were merged into this one, directly or through others,
    and its former userids."""
    merges = connection.execute(
        select(audit.c.target, audit.c.facts)
        .where(audit.c.action.in_(("merge", "rename")))
        .order_by(audit.c.id)
    )
    names = {userid}
    for row in reversed(merges.all()):
        if row.facts.get("into") in names:
            names.add(row.target.removeprefix("user "))
    return sorted(names - {userid})
