"""Rows of the entries of players to events."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, Unpack

from sqlalchemy import Connection, delete, func, or_, select, update

from pbmserv.store.core.statements import (
    change_rows,
    columns_of,
    delete_rows,
    first_row,
    has_row,
    insert_into,
)
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.events import EntryStatus, entries, events, pairings


@dataclass(frozen=True, slots=True)
class Entry:
    """A player in an event.

    Attributes:
        group_number: the number of the group, from 1; `None` before the draw.
        seed: order in the group at the start.
        rating: ordinal of the rating at the start.
        forfeits: games lost on time.
        place: the place in the final table of the group; `None` before it, and if removed.
        muted: the player wants no letters about the event.
        team_id: the team of an event of teams, where the seed is the board before the draw.
        state, address, public: those of the player's account.
    """

    player_id: int
    userid: str
    status: EntryStatus
    group_number: int | None
    seed: int | None
    rating: float | None
    forfeits: int
    place: int | None
    muted: bool
    team_id: int | None
    state: PlayerState
    address: str
    public: bool

    @property
    def is_here(self) -> bool:
        """Whether the player takes part and has an account."""
        return self.status == EntryStatus.ENTERED and self.state == PlayerState.ACTIVE


_ENTRY = select(*columns_of(Entry, entries, players)).join(
    players, players.c.id == entries.c.player_id
)


def of_event(
    connection: Connection,
    event_id: int,
    group_number: int | None = None,
    player_ids: Collection[int] | None = None,
) -> list[Entry]:
    """Return the entries of an event, of one of its groups, or of some players, by group, seed and
    time."""
    statement = _ENTRY.where(entries.c.event_id == event_id).order_by(
        entries.c.group_number, entries.c.seed, entries.c.entered_at, entries.c.player_id
    )
    if group_number is not None:
        statement = statement.where(entries.c.group_number == group_number)
    if player_ids is not None:
        statement = statement.where(entries.c.player_id.in_(player_ids))
    return [Entry(*row) for row in connection.execute(statement)]


def gone(connection: Connection, event_id: int, most: int) -> list[Entry]:
    """Return the first entries of players who were drawn and have no account any more."""
    statement = _ENTRY.where(
        entries.c.event_id == event_id,
        entries.c.status == EntryStatus.ENTERED,
        entries.c.group_number.is_not(None),
        players.c.state != PlayerState.ACTIVE,
    )
    statement = statement.order_by(entries.c.player_id).limit(most)
    return [Entry(*row) for row in connection.execute(statement)]


def groups_here(connection: Connection, event_id: int) -> set[int]:
    """Return the groups of the players who take part and have an account."""
    statement = (
        select(entries.c.group_number)
        .distinct()
        .join(players, players.c.id == entries.c.player_id)
        .where(
            entries.c.event_id == event_id,
            entries.c.status == EntryStatus.ENTERED,
            entries.c.group_number.is_not(None),
            players.c.state == PlayerState.ACTIVE,
        )
    )
    return set(connection.execute(statement).scalars())


def groups_without_places(connection: Connection, event_id: int) -> set[int]:
    """Return the groups in which players who were not removed have no place yet."""
    statement = (
        select(entries.c.group_number)
        .distinct()
        .where(
            entries.c.event_id == event_id,
            entries.c.status != EntryStatus.REMOVED,
            entries.c.group_number.is_not(None),
            entries.c.place.is_(None),
        )
    )
    return set(connection.execute(statement).scalars())


def has_places(connection: Connection, event_id: int) -> bool:
    """Return whether a player has got the result of an event: its table is final."""
    which = (entries.c.event_id == event_id, entries.c.place.is_not(None))
    return has_row(connection, entries, *which)


def count_groups(connection: Connection, event_id: int) -> int:
    """Return the number of groups of an event, 0 before the draw."""
    newest: int | None = connection.execute(
        select(func.max(entries.c.group_number)).where(entries.c.event_id == event_id)
    ).scalar()
    return newest or 0


def of_player(connection: Connection, event_id: int, player_id: int) -> Entry | None:
    """Return a player's entry, `None` if there is none."""
    statement = _ENTRY.where(entries.c.event_id == event_id, entries.c.player_id == player_id)
    return first_row(connection, Entry, statement)


def count(connection: Connection, event_ids: Sequence[int]) -> dict[int, int]:
    """Return the number of players who take part, by event.

    Before the draw, players without an account do not: the draw passes them over.
    """
    is_drawn = entries.c.group_number.is_not(None)
    rows = connection.execute(
        select(entries.c.event_id, func.count())
        .join(players, players.c.id == entries.c.player_id)
        .where(
            entries.c.event_id.in_(event_ids),
            entries.c.status != EntryStatus.INVITED,
            or_(is_drawn, players.c.state == PlayerState.ACTIVE),
        )
        .group_by(entries.c.event_id)
    )
    return {row[0]: row[1] for row in rows}


def enter(
    connection: Connection,
    event_id: int,
    player_ids: Sequence[int],
    now: datetime,
    status: EntryStatus = EntryStatus.ENTERED,
) -> None:
    """Add players to an event; those who are in it already get the status."""
    for player_id in player_ids:
        connection.execute(
            insert_into(connection, entries)
            .values(event_id=event_id, player_id=player_id, status=status, entered_at=now)
            .on_conflict_do_update(
                index_elements=["event_id", "player_id"], set_={"status": status}
            )
        )


class EntryChanges(TypedDict, total=False):
    """The columns of an entry that change in the course of an event; see `Entry`."""

    status: EntryStatus
    forfeits: int
    place: int
    muted: bool


def change(
    connection: Connection, event_id: int, player_id: int, **changes: Unpack[EntryChanges]
) -> None:
    """Set columns of an entry."""
    change_rows(connection, entries, {"event_id": event_id, "player_id": player_id}, **changes)


def mute(connection: Connection, event_id: int, player_id: int) -> bool:
    """Send a player no more letters about an event; return whether that changed anything."""
    which = {"event_id": event_id, "player_id": player_id, "muted": False}
    return change_rows(connection, entries, which, muted=True) > 0


def drop(connection: Connection, event_id: int, player_id: int) -> None:
    """Remove a player from an event that has not started."""
    delete_rows(connection, entries, event_id=event_id, player_id=player_id)


def set_lineup(
    connection: Connection,
    event_id: int,
    team_id: int,
    player_ids: Sequence[int],
    now: datetime,
    *,
    invited_id: int | None,
) -> None:
    """Enter players for a team in the order of the boards, and no others; without any, the team is
    out.

    Args:
        invited_id: a player who is invited, unless the player is in the line-up.
    """
    connection.execute(
        delete(entries).where(
            entries.c.event_id == event_id,
            entries.c.team_id == team_id,
            entries.c.player_id.not_in(player_ids),
        )
    )
    for seed, player_id in enumerate(player_ids):
        values = {"status": EntryStatus.ENTERED, "team_id": team_id, "seed": seed}
        connection.execute(
            insert_into(connection, entries)
            .values(event_id=event_id, player_id=player_id, entered_at=now, **values)
            .on_conflict_do_update(index_elements=["event_id", "player_id"], set_=values)
        )
    if invited_id is not None and invited_id not in player_ids:
        enter(connection, event_id, [invited_id], now, EntryStatus.INVITED)


def move(connection: Connection, old: int, new: int) -> None:
    """Give one player's entries and games to another, except in events that both have entered.

    An entry takes the place of an invitation to the same event.
    """
    entered = select(entries.c.event_id).where(
        entries.c.player_id == old, entries.c.status != EntryStatus.INVITED
    )
    connection.execute(
        delete(entries).where(
            entries.c.player_id == new,
            entries.c.status == EntryStatus.INVITED,
            entries.c.event_id.in_(entered),
        )
    )
    rows = connection.execute(select(entries.c.event_id).where(entries.c.player_id == new))
    events_of_new = list(rows.scalars())
    for column in (pairings.c.first_id, pairings.c.second_id):
        connection.execute(
            update(pairings)
            .where(column == old, pairings.c.event_id.not_in(events_of_new))
            .values({column: new})
        )
    connection.execute(
        update(entries)
        .where(entries.c.player_id == old, entries.c.event_id.not_in(events_of_new))
        .values(player_id=new)
    )
    delete_rows(connection, entries, player_id=old, status=EntryStatus.INVITED)
    change_rows(connection, events, {"owner_id": old}, owner_id=new)
