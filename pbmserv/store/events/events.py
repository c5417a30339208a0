"""Rows of events: leagues, cups, Swiss tournaments and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypedDict, Unpack

from sqlalchemy import Connection, and_, bindparam, exists, func, or_, select

from pbmserv.store.core.statements import (
    change_rows,
    columns_of,
    first_row,
    insert_into,
    put_off_due,
)
from pbmserv.store.events.event_games import IS_ENDED
from pbmserv.store.shared_boxes.event_boxes import all_finished
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.events import EventStatus, events, pairings

BEFORE_START = (EventStatus.OPEN, EventStatus.CLOSED)
UNDER_WAY = (EventStatus.STARTING, EventStatus.RUNNING)
OVER = (EventStatus.FINISHED, EventStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class Event:
    """An event.

    Attributes:
        kind: ``league``, ``cup``, ``final`` (of a year's cups), ``swiss``, ``duplicate``
            or ``team``.
        number: counts the events of this kind and game from 1; the year of a final.
        options: canonical option words of its boards.
        rules: see `service.events.kinds.kind.Rules`.
        owner_id: the player who created it; `None` for the server's.
        closes_at: entries close then.
        ends_at: end of the present round; games that still run are decided then.
        round: the present round, 0 before the first.
    """

    id: int
    kind: str
    game: str
    number: int
    name: str
    status: EventStatus
    options: tuple[str, ...]
    rules: Mapping[str, Any]
    owner_id: int | None
    closes_at: datetime
    starts_at: datetime
    ends_at: datetime | None
    round: int
    finished_at: datetime | None

    @property
    def is_own(self) -> bool:
        """Whether a player, not the server, holds the event."""
        return self.owner_id is not None


SELECT_EVENT = select(*columns_of(Event, events))
_HAS_ENDED_GAME = exists(
    select(pairings.c.number)
    .join(boards, boards.c.id == pairings.c.board_id)
    .where(pairings.c.event_id == events.c.id, IS_ENDED)
)
_IS_DUE = or_(
    events.c.due_at <= bindparam("now"),
    and_(
        events.c.status.in_((EventStatus.OPEN, EventStatus.RUNNING)),
        events.c.round > 0,
        events.c.due_at > bindparam("soon"),
        or_(_HAS_ENDED_GAME, all_finished(events.c.id)),
    ),
)
SOON = timedelta(hours=1)
"""An event that is due within this time is left alone until then: its last step may have failed."""

_DUE = (
    select(events.c.id)
    .where(events.c.due_at.is_not(None), _IS_DUE)
    .order_by(events.c.due_at, events.c.id)
    .limit(bindparam("most"))
)
_CLAIM = SELECT_EVENT.where(
    events.c.id == bindparam("event"), events.c.due_at.is_not(None), _IS_DUE
).with_for_update(skip_locked=True, of=events)


def due(connection: Connection, now: datetime, most: int) -> Sequence[int]:
    """Return events that are due, or have a game that ended since the last look."""
    values = {"now": now, "soon": now + SOON, "most": most}
    return list(connection.execute(_DUE, values).scalars())


def claim(connection: Connection, event_id: int, now: datetime) -> Event | None:
    """Lock and return a due event; `None` if another process has it or has handled it."""
    values = {"event": event_id, "now": now, "soon": now + SOON}
    return first_row(connection, Event, _CLAIM, values)


put_off = partial(put_off_due, table=events)
"""Handle an event no earlier than a moment, unless one of its games ends before that."""


def create(
    connection: Connection,
    now: datetime,
    *,
    kind: str,
    game: str,
    options: Sequence[str],
    rules: Mapping[str, Any],
    closes_at: datetime,
    starts_at: datetime,
    number: int,
    name: str,
    owner_id: int | None,
) -> int | None:
    """Add an event, which is due when its entries close.

    Returns:
        Its id; `None` if another process has just added one with this kind, game and number.
    """
    return connection.execute(
        insert_into(connection, events)
        .values(
            kind=kind,
            game=game,
            number=number,
            name=name,
            status=EventStatus.OPEN,
            options=options,
            rules=rules,
            owner_id=owner_id,
            closes_at=closes_at,
            starts_at=starts_at,
            round=0,
            due_at=closes_at,
            created_at=now,
        )
        .on_conflict_do_nothing(index_elements=["kind", "game", "number"])
        .returning(events.c.id)
    ).scalar()


def next_number(connection: Connection, kind: str, game: str) -> int:
    """Return the next number of events of a kind and game."""
    same = (events.c.kind == kind, events.c.game == game)
    newest = connection.execute(select(func.max(events.c.number)).where(*same)).scalar()
    return (newest or 0) + 1


class Changes(TypedDict, total=False):
    """The columns of an event that change in its course; see `Event`."""

    status: EventStatus
    closes_at: datetime
    starts_at: datetime
    ends_at: datetime
    round: int
    due_at: datetime | None
    finished_at: datetime


def change(connection: Connection, event_id: int, **changes: Unpack[Changes]) -> None:
    """Set columns of an event."""
    change_rows(connection, events, {"id": event_id}, **changes)


def load(connection: Connection, event_id: int) -> Event | None:
    """Return an event, `None` if there is none."""
    return first_row(connection, Event, SELECT_EVENT.where(events.c.id == event_id))


def of_number(connection: Connection, kind: str, game: str, number: int) -> Event | None:
    """Return the event with a number of its kind and game, `None` if there is none."""
    statement = SELECT_EVENT.where(
        events.c.kind == kind, events.c.game == game, events.c.number == number
    )
    return first_row(connection, Event, statement)


def lock(connection: Connection, event_id: int) -> Event | None:
    """Return an event and lock it until the end of the transaction."""
    statement = SELECT_EVENT.where(events.c.id == event_id).with_for_update()
    return first_row(connection, Event, statement)


def open_event(connection: Connection, kind: str, game: str, now: datetime) -> Event | None:
    """Return and lock the server's event of a kind and game that takes entries now."""
    statement = (
        SELECT_EVENT.where(
            events.c.kind == kind,
            events.c.game == game,
            events.c.owner_id.is_(None),
            events.c.status == EventStatus.OPEN,
            events.c.closes_at > now,
        )
        .order_by(events.c.id)
        .limit(1)
        .with_for_update()
    )
    return first_row(connection, Event, statement)


def id_of_board(connection: Connection, board_id: int) -> int | None:
    """Return the event of a board, `None` if it belongs to none."""
    return connection.execute(select(boards.c.event_id).where(boards.c.id == board_id)).scalar()


def end_of(connection: Connection, event_id: int) -> datetime | None:
    """Return the end of the present round of an event."""
    return connection.execute(select(events.c.ends_at).where(events.c.id == event_id)).scalar()
