"""Rows of players' preferences, absences, and notices that are not repeated for a while."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.tables.accounts import PlayerState, absences, notices, players
from pbmserv.store.tables.mail import LetterState, outbox


@dataclass(frozen=True, slots=True)
class Absence:
    """A past, present or future absence of a player."""

    id: int
    begins: datetime
    ends: datetime


def save(connection: Connection, player_id: int, values: Mapping[str, Any]) -> None:
    """Set columns of a player's row."""
    connection.execute(update(players).where(players.c.id == player_id).values(**values))


def lock(connection: Connection, player_id: int) -> None:
    """Lock a player's row until the end of the transaction."""
    connection.execute(select(players.c.id).where(players.c.id == player_id).with_for_update())


def release_tray(connection: Connection, player_id: int, now: datetime) -> None:
    """Queue the letters that wait for a digest: the player will get none."""
    connection.execute(
        update(outbox)
        .where(outbox.c.player_id == player_id, outbox.c.state == LetterState.DIGEST)
        .values(state=LetterState.QUEUED, due_at=now)
    )


def wanting_broadcasts(connection: Connection) -> list[Player]:
    """Return the active players who want operators' messages, in the order of their ids."""
    return player_rows.listed(
        connection, players.c.broadcasts, players.c.state == PlayerState.ACTIVE
    )


_NAMES = 20
"""Names in one query. Their number is fixed, so that the statement is compiled once."""
_UNNAMED = Prepared(
    select(players.c.userid).where(
        players.c.userid.in_([bindparam(f"name{n}") for n in range(_NAMES)]),
        players.c.public.is_(False),
    )
)


def unnamed(connection: Connection, userids: Collection[str]) -> frozenset[str]:
    """Return those userids that public pages must not show."""
    names = sorted(userids)
    hidden: set[str] = set()
    for at in range(0, len(names), _NAMES):
        batch = [*names[at : at + _NAMES], *[""] * _NAMES]
        rows = _UNNAMED.run(connection, {f"name{n}": batch[n] for n in range(_NAMES)})
        hidden |= {row[0] for row in rows}
    return frozenset(hidden)


# -- absences -----------------------------------------------------------------------------


def absences_of(connection: Connection, player_id: int) -> list[Absence]:
    """Return all absences of a player, oldest first."""
    rows = connection.execute(
        select(*columns_of(Absence, absences))
        .where(absences.c.player_id == player_id)
        .order_by(absences.c.begins, absences.c.id)
    )
    return [Absence(*row) for row in rows]


def absence_at(all_absences: Iterable[Absence], now: datetime) -> Absence | None:
    """Return the absence that includes *now*, `None` if there is none."""
    return next((absence for absence in all_absences if absence.begins <= now < absence.ends), None)


def planned(all_absences: Iterable[Absence], now: datetime) -> Absence | None:
    """Return the first absence after *now*, `None` if there is none."""
    return next((absence for absence in all_absences if absence.begins > now), None)


def add_absence(connection: Connection, player_id: int, begins: datetime, ends: datetime) -> None:
    """Add an absence."""
    connection.execute(insert(absences).values(player_id=player_id, begins=begins, ends=ends))


def end_absence(connection: Connection, absence: Absence, ends: datetime) -> None:
    """Change the end of an absence; delete it if it would end before it begins."""
    is_this = absences.c.id == absence.id
    if ends < absence.begins:
        connection.execute(delete(absences).where(is_this))
    else:
        connection.execute(update(absences).where(is_this).values(ends=ends))


def note_notice(
    connection: Connection, player_id: int, kind: str, now: datetime, every: timedelta
) -> bool:
    """Note that a notice of this kind is sent now; return whether it may be.

    It may be sent if the last one is older than *every*. The row is the lock: of two simultaneous
    mails only one may send it.
    """
    new = insert_into(connection, notices).values(player_id=player_id, kind=kind, told_at=now)
    rows = connection.execute(
        new.on_conflict_do_update(
            index_elements=["player_id", "kind"],
            set_={"told_at": now},
            where=notices.c.told_at <= now - every,
        ).returning(notices.c.player_id)
    )
    return rows.first() is not None


def last_notice(connection: Connection, player_id: int, kind: str) -> datetime | None:
    """Return when a notice of this kind was last sent, `None` if never."""
    told_at: datetime | None = connection.execute(
        select(notices.c.told_at).where(notices.c.player_id == player_id, notices.c.kind == kind)
    ).scalar()
    return told_at


def forget_notice(connection: Connection, player_id: int, kind: str) -> None:
    """Forget that a notice was sent."""
    connection.execute(
        delete(notices).where(notices.c.player_id == player_id, notices.c.kind == kind)
    )
