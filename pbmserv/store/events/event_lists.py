"""Lists and numbers of the events that a player or team holds or has entered."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select

from pbmserv.store.core.statements import count_rows
from pbmserv.store.events.events import OVER, SELECT_EVENT, Event
from pbmserv.store.tables.events import EntryStatus, EventStatus, entries, events


def listed(connection: Connection, statuses: Sequence[str], most: int) -> list[Event]:
    """Return the first events in the order of these statuses, the newest of each status first."""
    first: list[Event] = []
    for status in statuses:  # one statement would sort all events that ever were
        with_status = SELECT_EVENT.where(events.c.status == status).order_by(events.c.id.desc())
        rows = connection.execute(with_status.limit(most - len(first)))
        first += [Event(*row) for row in rows]
    return first


def of_player(connection: Connection, player_id: int, statuses: Sequence[str]) -> list[Event]:
    """Return the events that a player has entered, newest first."""
    rows = connection.execute(
        SELECT_EVENT.join(entries, entries.c.event_id == events.c.id)
        .where(
            entries.c.player_id == player_id,
            entries.c.status == EntryStatus.ENTERED,
            events.c.status.in_(statuses),
        )
        .order_by(events.c.id.desc())
    )
    return [Event(*row) for row in rows]


def has_entered_before(connection: Connection, player_id: int, kind: str) -> bool:
    """Return whether a player's newest entry to events of a kind is not the first one."""
    rows = connection.execute(
        select(entries.c.event_id)
        .join(events, events.c.id == entries.c.event_id)
        .where(entries.c.player_id == player_id, events.c.kind == kind)
        .limit(2)
    )
    return len(rows.all()) > 1


def count_owned(connection: Connection, player_id: int) -> int:
    """Return the number of events of a player that are not over."""
    which = (events.c.owner_id == player_id, events.c.status.not_in(OVER))
    return count_rows(connection, events, *which)


def count_invited(connection: Connection, owner_id: int, since: datetime) -> int:
    """Return the number of open invitations to a player's events that were sent since a moment."""
    return connection.execute(
        select(func.count())
        .select_from(entries)
        .join(events, events.c.id == entries.c.event_id)
        .where(
            events.c.owner_id == owner_id,
            entries.c.status == EntryStatus.INVITED,
            entries.c.entered_at > since,
        )
    ).scalar_one()


def count_entered(connection: Connection, player_ids: Collection[int]) -> int:
    """Return the number of events that are not over and that one of some players has entered."""
    return connection.execute(
        select(func.count(func.distinct(entries.c.event_id)))
        .join(events, events.c.id == entries.c.event_id)
        .where(
            entries.c.player_id.in_(player_ids),
            entries.c.status == EntryStatus.ENTERED,
            events.c.status.not_in(OVER),
        )
    ).scalar_one()


def count_forfeits(connection: Connection, like: Event, player_id: int, since: datetime) -> int:
    """Return the losses on time of a player in events of a kind and game that began since a
    moment."""
    number: int | None = connection.execute(
        select(func.sum(entries.c.forfeits))
        .join(events, events.c.id == entries.c.event_id)
        .where(
            entries.c.player_id == player_id,
            events.c.kind == like.kind,
            events.c.game == like.game,
            events.c.starts_at >= since,
        )
    ).scalar()
    return int(number or 0)


def open_to_team(connection: Connection, team_id: int, now: datetime) -> list[Event]:
    """Return and lock the events that a team has entered and that still take entries."""
    entered = select(entries.c.event_id).where(entries.c.team_id == team_id)
    rows = connection.execute(
        SELECT_EVENT.where(
            events.c.id.in_(entered), events.c.status == EventStatus.OPEN, events.c.closes_at > now
        )
        .order_by(events.c.id)
        .with_for_update()
    )
    return [Event(*row) for row in rows]


def of_team(connection: Connection, team_id: int, most: int) -> list[tuple[Event, int | None]]:
    """Return the newest events that a team has entered, each with its place there at the end."""
    entered = connection.execute(
        select(entries.c.event_id, func.min(entries.c.place))
        .where(entries.c.team_id == team_id)
        .group_by(entries.c.event_id)
        .order_by(entries.c.event_id.desc())
        .limit(most)
    ).all()
    places = {row[0]: row[1] for row in entered}
    rows = connection.execute(
        SELECT_EVENT.where(events.c.id.in_(places)).order_by(events.c.id.desc())
    )
    return [(Event(*row), places[row.id]) for row in rows]
