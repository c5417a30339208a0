"""Rows of absences: times for which players are away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbmserv.engine.time_spans import Span
from pbmserv.store.core.statements import columns_of
from pbmserv.store.tables.accounts import absences


@dataclass(frozen=True, slots=True)
class Absence:
    """A past, present or future absence of a player."""

    id: int
    begins: datetime
    ends: datetime


_ABSENCES = (
    select(absences.c.begins, absences.c.ends)
    .where(absences.c.player_id == bindparam("player"), absences.c.ends > bindparam("since"))
    .order_by(absences.c.begins)
)


def of_player(connection: Connection, player_id: int) -> list[Absence]:
    """Return all absences of a player, oldest first."""
    rows = connection.execute(
        select(*columns_of(Absence, absences))
        .where(absences.c.player_id == player_id)
        .order_by(absences.c.begins, absences.c.id)
    )
    return [Absence(*row) for row in rows]


def away(connection: Connection, player_id: int, since: datetime) -> tuple[Span, ...]:
    """Return a player's absences that end after *since*."""
    rows = connection.execute(_ABSENCES, {"player": player_id, "since": since})
    return tuple((row[0], row[1]) for row in rows)


def at(all_absences: Iterable[Absence], now: datetime) -> Absence | None:
    """Return the absence that includes *now*, `None` if there is none."""
    return next((absence for absence in all_absences if absence.begins <= now < absence.ends), None)


def planned(all_absences: Iterable[Absence], now: datetime) -> Absence | None:
    """Return the first absence after *now*, `None` if there is none."""
    return next((absence for absence in all_absences if absence.begins > now), None)


def add(connection: Connection, player_id: int, begins: datetime, ends: datetime) -> None:
    """Add an absence."""
    connection.execute(insert(absences).values(player_id=player_id, begins=begins, ends=ends))


def end(connection: Connection, absence: Absence, ends: datetime) -> None:
    """Change the end of an absence; delete it if it would end before it begins."""
    is_this = absences.c.id == absence.id
    if ends < absence.begins:
        connection.execute(delete(absences).where(is_this))
    else:
        connection.execute(update(absences).where(is_this).values(ends=ends))
