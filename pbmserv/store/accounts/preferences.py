"""Rows about how players want things: preferences, and when they are away.

Also when they were last told something that nobody wants to read twice a day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.statements import Prepared, columns_of
from pbmserv.store.tables.accounts import PlayerState, absences, notices, players
from pbmserv.store.tables.mail import LetterState, outbox


@dataclass(frozen=True, slots=True)
class Absence:
    """A time that a player is, was or will be away."""

    id: int
    begins: datetime
    ends: datetime


def save(connection: Connection, player_id: int, values: Mapping[str, Any]) -> None:
    """Set columns of a player's row by their names."""
    connection.execute(update(players).where(players.c.id == player_id).values(**values))


def lock(connection: Connection, player_id: int) -> None:
    """Let nobody else change this player's row until the transaction ends."""
    connection.execute(select(players.c.id).where(players.c.id == player_id).with_for_update())


def release_tray(connection: Connection, player_id: int, now: datetime) -> None:
    """Letters that waited for a digest go out one by one: there will be none."""
    connection.execute(
        update(outbox)
        .where(outbox.c.player_id == player_id, outbox.c.state == LetterState.DIGEST)
        .values(state=LetterState.QUEUED, due_at=now)
    )


def wanting_broadcasts(connection: Connection) -> list[Player]:
    """Active players who want the operators' words, in order of their numbers."""
    return player_rows.listed(
        connection, players.c.broadcasts, players.c.state == PlayerState.ACTIVE
    )


_ASKED = 20
"""Names in one statement; the same one each time, so it is compiled once."""
_UNNAMED = Prepared(
    select(players.c.userid).where(
        players.c.userid.in_([bindparam(f"name{n}") for n in range(_ASKED)]),
        players.c.public.is_(False),
    )
)


def unnamed(connection: Connection, userids: Collection[str]) -> frozenset[str]:
    """Which of these players want no page that everybody may read to name them."""
    names = sorted(userids)
    found: set[str] = set()
    for at in range(0, len(names), _ASKED):
        some = [*names[at : at + _ASKED], *[""] * _ASKED]
        rows = _UNNAMED.run(connection, {f"name{n}": some[n] for n in range(_ASKED)})
        found |= {row[0] for row in rows}
    return frozenset(found)


# -- absences -----------------------------------------------------------------------------


def absences_of(connection: Connection, player_id: int) -> list[Absence]:
    """All times away, oldest first."""
    found = connection.execute(
        select(*columns_of(Absence, absences))
        .where(absences.c.player_id == player_id)
        .order_by(absences.c.begins, absences.c.id)
    )
    return [Absence(*row) for row in found]


def absence_at(found: Iterable[Absence], now: datetime) -> Absence | None:
    """The one that lasts."""
    return next((one for one in found if one.begins <= now < one.ends), None)


def planned(found: Iterable[Absence], now: datetime) -> Absence | None:
    """The one that has not begun yet."""
    return next((one for one in found if one.begins > now), None)


def add_absence(connection: Connection, player_id: int, begins: datetime, ends: datetime) -> None:
    """Away between the two, from now on or later."""
    connection.execute(insert(absences).values(player_id=player_id, begins=begins, ends=ends))


def end_absence(connection: Connection, absence: Absence, ends: datetime) -> None:
    """Let an absence end at another moment; one that would not have begun then is forgotten."""
    this = absences.c.id == absence.id
    if ends < absence.begins:
        connection.execute(delete(absences).where(this))
    else:
        connection.execute(update(absences).where(this).values(ends=ends))


def may_tell(
    connection: Connection, player_id: int, kind: str, now: datetime, every: timedelta
) -> bool:
    """Whether *kind* was not told for so long; if so, it counts as told now.

    Two mails at the same moment cannot both be told yes: the row is the lock.
    """
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(notices).values(player_id=player_id, kind=kind, told_at=now)
    told = connection.execute(
        statement.on_conflict_do_update(
            index_elements=["player_id", "kind"],
            set_={"told_at": now},
            where=notices.c.told_at <= now - every,
        ).returning(notices.c.player_id)
    )
    return told.first() is not None


def last_told(connection: Connection, player_id: int, kind: str) -> datetime | None:
    """When *kind* was told last; ``None`` = never."""
    found: datetime | None = connection.execute(
        select(notices.c.told_at).where(notices.c.player_id == player_id, notices.c.kind == kind)
    ).scalar()
    return found


def forget_notice(connection: Connection, player_id: int, kind: str) -> None:
    """Whatever was told is as if it had not been."""
    connection.execute(
        delete(notices).where(notices.c.player_id == player_id, notices.c.kind == kind)
    )
