"""Rows of events: leagues, cups, Swiss tournaments; their entries, pairings, regulars and bars."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypedDict, Unpack

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from pbmserv.engine.ratings import NEWCOMER
from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.shared_boxes import all_finished
from pbmserv.store.tables import boards
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import BoardStatus, ratings
from pbmserv.store.tables.events import (
    EntryStatus,
    EventStatus,
    entries,
    event_bars,
    events,
    pairings,
    regulars,
)

BEFORE_START = (EventStatus.OPEN, EventStatus.CLOSED)
UNDER_WAY = (EventStatus.STARTING, EventStatus.RUNNING)
OVER = (EventStatus.FINISHED, EventStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class Event:
    """An event.

    Attributes:
        kind: ``league``, ``cup``, ``final`` (of a year's cups), ``swiss`` or ``duplicate``.
        number: counts the events of this kind and game from 1; the year of a final.
        options: canonical option words of its boards.
        rules: see `service.events.kinds.kind.Rules`.
        owner_id: the player who created it; `None` for the server's.
        closes_at: entries close then.
        ends_at: end of the present round; games that still run are decided then.
        round: the present round, 0 before the first.
        due_at: next change by the scheduler; `None` if it is over.
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
    due_at: datetime | None
    finished_at: datetime | None

    @property
    def is_own(self) -> bool:
        """Whether a player, not the server, holds the event."""
        return self.owner_id is not None


@dataclass(frozen=True, slots=True)
class Entry:
    """A player in an event.

    Attributes:
        section: the number of the group, from 1; `None` before the draw.
        seed: order in the group at the start.
        rating: ordinal of the rating at the start.
        forfeits: games lost on time.
        place: the place in the final table of the group; `None` before it, and if removed.
        muted: the player wants no letters about the event.
        team_id: the team of an event of teams, where the seed is the board before the draw.
        state, address: those of the player's account.
        digest: whether the player gets the daily digest.
    """

    player_id: int
    userid: str
    status: EntryStatus
    section: int | None
    seed: int | None
    rating: float | None
    forfeits: int
    place: int | None
    muted: bool
    entered_at: datetime
    team_id: int | None
    state: PlayerState
    address: str
    digest: bool

    @property
    def is_here(self) -> bool:
        """Whether the player takes part and has an account."""
        return self.status == EntryStatus.ENTERED and self.state == PlayerState.ACTIVE


@dataclass(frozen=True, slots=True)
class Pairing:
    """A game of an event.

    Attributes:
        second_id: `None` for a bye.
        first_points, second_points: 2 for a win, 1 for a draw; `None` if the game runs or does not
            count.
        reason: why it is over, ``""`` if it is not; ``removed`` if it does not count.
    """

    round: int
    section: int
    number: int
    first_id: int
    second_id: int | None
    board_id: int | None
    first_points: int | None
    second_points: int | None
    reason: str

    @property
    def is_open(self) -> bool:
        return not self.reason

    @property
    def counts(self) -> bool:
        return self.first_points is not None


_EVENT = select(*columns_of(Event, events))
_ENTRY = select(
    *columns_of(Entry, entries, players, digest=players.c.digest_minute.is_not(None))
).join(players, players.c.id == entries.c.player_id)
_PAIRING = select(*columns_of(Pairing, pairings))
_ENDED = and_(
    pairings.c.reason == "",
    boards.c.status.in_((BoardStatus.FINISHED, BoardStatus.DECLINED)),
)
_HAS_ENDED_GAME = exists(
    select(pairings.c.number)
    .join(boards, boards.c.id == pairings.c.board_id)
    .where(pairings.c.event_id == events.c.id, _ENDED)
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
_MINE = _EVENT.where(
    events.c.id == bindparam("event"), events.c.due_at.is_not(None), _IS_DUE
).with_for_update(skip_locked=True, of=events)


def _event(row: Any) -> Event:
    return replace(Event(*row), options=tuple(row.options))


# -- events ------------------------------------------------------------------------------------


def due(connection: Connection, now: datetime, most: int) -> Sequence[int]:
    """Return events that are due, or have a game that ended since the last look."""
    values = {"now": now, "soon": now + SOON, "most": most}
    return list(connection.execute(_DUE, values).scalars())


def claim(connection: Connection, event_id: int, now: datetime) -> Event | None:
    """Lock and return a due event; `None` if another process has it or has handled it."""
    values = {"event": event_id, "now": now, "soon": now + SOON}
    row = connection.execute(_MINE, values).first()
    return None if row is None else _event(row)


def put_off(connection: Connection, event_id: int, until: datetime) -> None:
    """Handle an event no earlier than *until*, unless one of its games ends before that."""
    connection.execute(
        update(events).where(events.c.id == event_id, events.c.due_at <= until).values(due_at=until)
    )


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
    name: str = "",
    owner_id: int | None = None,
) -> int | None:
    """Add an event, which is due when its entries close.

    Returns:
        Its id; `None` if another process has just added one with this kind, game and number.
    """
    event_id: int | None = connection.execute(
        insert_into(connection, events)
        .values(
            kind=kind,
            game=game,
            number=number,
            name=name,
            status=EventStatus.OPEN,
            options=list(options),
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
    return event_id


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
    connection.execute(update(events).where(events.c.id == event_id).values(**changes))


def load(connection: Connection, event_id: int) -> Event | None:
    """Return an event, `None` if there is none."""
    row = connection.execute(_EVENT.where(events.c.id == event_id)).first()
    return None if row is None else _event(row)


def of_number(connection: Connection, kind: str, game: str, number: int) -> Event | None:
    """Return the event with a number of its kind and game, `None` if there is none."""
    row = connection.execute(
        _EVENT.where(events.c.kind == kind, events.c.game == game, events.c.number == number)
    ).first()
    return None if row is None else _event(row)


def lock(connection: Connection, event_id: int) -> Event | None:
    """Return an event and lock it until the end of the transaction."""
    row = connection.execute(_EVENT.where(events.c.id == event_id).with_for_update()).first()
    return None if row is None else _event(row)


def open_event(connection: Connection, kind: str, game: str, now: datetime) -> Event | None:
    """Return and lock the server's event of a kind and game that takes entries now."""
    row = connection.execute(
        _EVENT.where(
            events.c.kind == kind,
            events.c.game == game,
            events.c.owner_id.is_(None),
            events.c.status == EventStatus.OPEN,
            events.c.closes_at > now,
        )
        .order_by(events.c.id)
        .limit(1)
        .with_for_update()
    ).first()
    return None if row is None else _event(row)


def listed(connection: Connection, statuses: Sequence[str], most: int) -> list[Event]:
    """Return events with these statuses, newest first."""
    rows = connection.execute(
        _EVENT.where(events.c.status.in_(statuses)).order_by(events.c.id.desc()).limit(most)
    )
    return [_event(row) for row in rows]


def of_player(connection: Connection, player_id: int, statuses: Sequence[str]) -> list[Event]:
    """Return the events that a player has entered, newest first."""
    rows = connection.execute(
        _EVENT.join(entries, entries.c.event_id == events.c.id)
        .where(
            entries.c.player_id == player_id,
            entries.c.status == EntryStatus.ENTERED,
            events.c.status.in_(statuses),
        )
        .order_by(events.c.id.desc())
    )
    return [_event(row) for row in rows]


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
    number: int = connection.execute(
        select(func.count())
        .select_from(events)
        .where(events.c.owner_id == player_id, events.c.status.not_in(OVER))
    ).scalar_one()
    return number


def count_invited(connection: Connection, owner_id: int, since: datetime) -> int:
    """Return the number of open invitations to a player's events that were sent since a moment."""
    number: int = connection.execute(
        select(func.count())
        .select_from(entries)
        .join(events, events.c.id == entries.c.event_id)
        .where(
            events.c.owner_id == owner_id,
            entries.c.status == EntryStatus.INVITED,
            entries.c.entered_at > since,
        )
    ).scalar_one()
    return number


def count_entered(connection: Connection, player_ids: Collection[int]) -> int:
    """Return the number of events that are not over and that one of some players has entered."""
    number: int = connection.execute(
        select(func.count(func.distinct(entries.c.event_id)))
        .join(events, events.c.id == entries.c.event_id)
        .where(
            entries.c.player_id.in_(player_ids),
            entries.c.status == EntryStatus.ENTERED,
            events.c.status.not_in(OVER),
        )
    ).scalar_one()
    return number


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


# -- entries -----------------------------------------------------------------------------------


def entries_of(
    connection: Connection,
    event_id: int,
    section: int | None = None,
    player_ids: Collection[int] | None = None,
) -> list[Entry]:
    """Return the entries of an event, of one of its groups, or of some players, by group, seed and
    time."""
    statement = _ENTRY.where(entries.c.event_id == event_id).order_by(
        entries.c.section, entries.c.seed, entries.c.entered_at, entries.c.player_id
    )
    if section is not None:
        statement = statement.where(entries.c.section == section)
    if player_ids is not None:
        statement = statement.where(entries.c.player_id.in_(player_ids))
    return [Entry(*row) for row in connection.execute(statement)]


def gone_entries(connection: Connection, event_id: int, most: int) -> list[Entry]:
    """Return the first entries of players who were drawn and have no account any more."""
    statement = _ENTRY.where(
        entries.c.event_id == event_id,
        entries.c.status == EntryStatus.ENTERED,
        entries.c.section.is_not(None),
        players.c.state != PlayerState.ACTIVE,
    )
    statement = statement.order_by(entries.c.player_id).limit(most)
    return [Entry(*row) for row in connection.execute(statement)]


def groups_here(connection: Connection, event_id: int) -> set[int]:
    """Return the groups of the players who take part and have an account."""
    statement = (
        select(entries.c.section)
        .distinct()
        .join(players, players.c.id == entries.c.player_id)
        .where(
            entries.c.event_id == event_id,
            entries.c.status == EntryStatus.ENTERED,
            entries.c.section.is_not(None),
            players.c.state == PlayerState.ACTIVE,
        )
    )
    return set(connection.execute(statement).scalars())


def groups_without_places(connection: Connection, event_id: int) -> set[int]:
    """Return the groups in which players who were not removed have no place yet."""
    statement = (
        select(entries.c.section)
        .distinct()
        .where(
            entries.c.event_id == event_id,
            entries.c.status != EntryStatus.REMOVED,
            entries.c.section.is_not(None),
            entries.c.place.is_(None),
        )
    )
    return set(connection.execute(statement).scalars())


def has_places(connection: Connection, event_id: int) -> bool:
    """Return whether a player has got the result of an event: its table is final."""
    statement = select(entries.c.place).where(
        entries.c.event_id == event_id, entries.c.place.is_not(None)
    )
    return connection.execute(statement.limit(1)).first() is not None


def count_groups(connection: Connection, event_id: int) -> int:
    """Return the number of groups of an event, 0 before the draw."""
    newest: int | None = connection.execute(
        select(func.max(entries.c.section)).where(entries.c.event_id == event_id)
    ).scalar()
    return newest or 0


def entry_of(connection: Connection, event_id: int, player_id: int) -> Entry | None:
    """Return a player's entry, `None` if there is none."""
    row = connection.execute(
        _ENTRY.where(entries.c.event_id == event_id, entries.c.player_id == player_id)
    ).first()
    return None if row is None else Entry(*row)


def count_entries(connection: Connection, event_ids: Sequence[int]) -> dict[int, int]:
    """Return the number of players who take part, by event."""
    rows = connection.execute(
        select(entries.c.event_id, func.count())
        .where(entries.c.event_id.in_(event_ids), entries.c.status != EntryStatus.INVITED)
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
    seed: int | None
    forfeits: int
    place: int
    muted: bool


def change_entry(
    connection: Connection, event_id: int, player_id: int, **changes: Unpack[EntryChanges]
) -> None:
    """Set columns of an entry."""
    connection.execute(
        update(entries)
        .where(entries.c.event_id == event_id, entries.c.player_id == player_id)
        .values(**changes)
    )


def mute(connection: Connection, event_id: int, player_id: int) -> bool:
    """Send a player no more letters about an event; return whether that changed anything."""
    result = connection.execute(
        update(entries)
        .where(
            entries.c.event_id == event_id,
            entries.c.player_id == player_id,
            entries.c.muted.is_(False),
        )
        .values(muted=True)
    )
    return result.rowcount > 0


@dataclass(frozen=True, slots=True)
class Drawn:
    """A player who is drawn into a group: `seed` is the order in it, `rating` an ordinal."""

    player_id: int
    section: int
    seed: int
    rating: float


_DRAW = (
    update(entries)
    .where(
        entries.c.event_id == bindparam("of_event"), entries.c.player_id == bindparam("of_player")
    )
    .values(section=bindparam("new_section"), seed=bindparam("new_seed"))
    .values(rating=bindparam("new_rating"))
)


def draw(connection: Connection, event_id: int, drawn: Sequence[Drawn]) -> None:
    """Store group, seed and rating of players."""
    if drawn:
        connection.execute(
            _DRAW,
            [
                {
                    "of_event": event_id,
                    "of_player": player.player_id,
                    "new_section": player.section,
                    "new_seed": player.seed,
                    "new_rating": player.rating,
                }
                for player in drawn
            ],
        )


def drop_entry(connection: Connection, event_id: int, player_id: int) -> None:
    """Remove a player from an event that has not started."""
    connection.execute(
        delete(entries).where(entries.c.event_id == event_id, entries.c.player_id == player_id)
    )


def set_lineup(
    connection: Connection,
    event_id: int,
    team_id: int,
    player_ids: Sequence[int],
    now: datetime,
    *,
    invited_id: int | None = None,
) -> None:
    """Enter players for a team in the order of the boards, and no others; none if it is out.

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


def open_to_team(connection: Connection, team_id: int, now: datetime) -> list[Event]:
    """Return and lock the events that a team has entered and that still take entries."""
    mine = select(entries.c.event_id).where(entries.c.team_id == team_id)
    rows = connection.execute(
        _EVENT.where(
            events.c.id.in_(mine), events.c.status == EventStatus.OPEN, events.c.closes_at > now
        )
        .order_by(events.c.id)
        .with_for_update()
    )
    return [_event(row) for row in rows]


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
    rows = connection.execute(_EVENT.where(events.c.id.in_(places)).order_by(events.c.id.desc()))
    return [(event, places[event.id]) for event in map(_event, rows)]


@dataclass(frozen=True, slots=True)
class LastPlace:
    """The place of a player in an earlier season of a league.

    Attributes:
        place: `None` for a player who was removed.
        size: number of players in the group.
    """

    player_id: int
    number: int
    section: int
    place: int | None
    size: int


def last_places(connection: Connection, kind: str, game: str, before: int) -> dict[int, LastPlace]:
    """Return the newest place of each player in seasons with a number below *before*."""
    others = entries.alias("others")
    size = (
        select(func.count())
        .where(others.c.event_id == entries.c.event_id, others.c.section == entries.c.section)
        .scalar_subquery()
    )
    now_in = select(entries.c.player_id).where(
        entries.c.event_id
        == select(events.c.id)
        .where(events.c.kind == kind, events.c.game == game, events.c.number == before)
        .scalar_subquery()
    )
    rows = connection.execute(
        select(entries.c.player_id, events.c.number, entries.c.section, entries.c.place, size)
        .join(events, events.c.id == entries.c.event_id)
        .where(
            events.c.kind == kind,
            events.c.game == game,
            events.c.number < before,
            entries.c.section.is_not(None),
            entries.c.player_id.in_(now_in),
        )
        .order_by(events.c.number)
    )
    return {row.player_id: LastPlace(*row) for row in rows}


def ordinals(connection: Connection, game: str, event_id: int) -> dict[int, tuple[float, int]]:
    """Return the rating of each player of an event as an ordinal, 0 for newcomers, and the number
    of rated games."""
    rows = connection.execute(
        select(
            entries.c.player_id,
            func.coalesce(ratings.c.ordinal, NEWCOMER.ordinal),
            func.coalesce(ratings.c.games, 0),
        )
        .outerjoin(
            ratings,
            and_(ratings.c.player_id == entries.c.player_id, ratings.c.game == game),
        )
        .where(entries.c.event_id == event_id)
    )
    return {row[0]: (row[1], row[2]) for row in rows}


# -- pairings ----------------------------------------------------------------------------------


def pairings_of(
    connection: Connection,
    event_id: int,
    round_number: int | None = None,
    groups: tuple[int, int] | None = None,
) -> list[Pairing]:
    """Return the games of an event, of one of its rounds, or of some groups, in order.

    Args:
        groups: the first and the last group.
    """
    statement = _PAIRING.where(pairings.c.event_id == event_id)
    if groups is not None:
        statement = statement.where(pairings.c.section.between(*groups))
    if round_number is not None:
        statement = statement.where(pairings.c.round == round_number)
    rows = connection.execute(
        statement.order_by(pairings.c.round, pairings.c.section, pairings.c.number)
    )
    return [Pairing(*row) for row in rows]


def games_of_player(connection: Connection, event_id: int, player_id: int) -> list[Pairing]:
    """Return the games of a player in an event, by round."""
    rows = connection.execute(
        _PAIRING.where(
            pairings.c.event_id == event_id,
            or_(pairings.c.first_id == player_id, pairings.c.second_id == player_id),
        ).order_by(pairings.c.round, pairings.c.section, pairings.c.number)
    )
    return [Pairing(*row) for row in rows]


def add_pairings(connection: Connection, event_id: int, rows: Sequence[Pairing]) -> None:
    """Store games."""
    if rows:
        connection.execute(
            insert(pairings),
            [
                {"event_id": event_id}
                | {name: getattr(row, name) for name in Pairing.__dataclass_fields__}
                for row in rows
            ],
        )


def settle(
    connection: Connection,
    event_id: int,
    game: Pairing,
    points: tuple[int, int] | tuple[None, None],
    reason: str,
) -> None:
    """Store the result of a game."""
    connection.execute(
        update(pairings)
        .where(
            pairings.c.event_id == event_id,
            pairings.c.round == game.round,
            pairings.c.section == game.section,
            pairings.c.number == game.number,
        )
        .values(first_points=points[0], second_points=points[1], reason=reason)
    )


def ended_games(connection: Connection, event_id: int, section: int | None = None) -> list[Pairing]:
    """Return the games of a group whose board is over and whose result is not stored, oldest board
    first.

    Args:
        section: the group; `None` for the first one that has such games.
    """
    if section is None:
        section = connection.execute(
            select(func.min(pairings.c.section))
            .join(boards, boards.c.id == pairings.c.board_id)
            .where(pairings.c.event_id == event_id, _ENDED)
        ).scalar()
    if section is None:
        return []
    rows = connection.execute(
        _PAIRING.join(boards, boards.c.id == pairings.c.board_id)
        .where(pairings.c.event_id == event_id, pairings.c.section == section, _ENDED)
        .order_by(boards.c.finished_at, boards.c.id)
    )
    return [Pairing(*row) for row in rows]


def open_games(connection: Connection, event_id: int, round_number: int) -> list[Pairing]:
    """Return the games without a result of the first group that has any in a round."""
    is_open = and_(
        pairings.c.event_id == event_id,
        pairings.c.round == round_number,
        pairings.c.reason == "",
    )
    first = select(func.min(pairings.c.section)).where(is_open).scalar_subquery()
    rows = connection.execute(
        _PAIRING.where(is_open, pairings.c.section == first).order_by(pairings.c.number)
    )
    return [Pairing(*row) for row in rows]


def pairing_of_board(connection: Connection, board_id: int) -> Pairing | None:
    """Return the game of a board, `None` if it belongs to no event."""
    row = connection.execute(_PAIRING.where(pairings.c.board_id == board_id)).first()
    return None if row is None else Pairing(*row)


def first_board_of(connection: Connection, event_id: int, player_id: int) -> int | None:
    """Return the first board of a player in an event, `None` if there is none."""
    statement = select(func.min(pairings.c.board_id)).where(
        pairings.c.event_id == event_id,
        or_(pairings.c.first_id == player_id, pairings.c.second_id == player_id),
    )
    first: int | None = connection.execute(statement).scalar()
    return first


def event_of_board(connection: Connection, board_id: int) -> int | None:
    """Return the event of a board, `None` if it belongs to none."""
    event_id: int | None = connection.execute(
        select(boards.c.event_id).where(boards.c.id == board_id)
    ).scalar()
    return event_id


def end_of(connection: Connection, event_id: int) -> datetime | None:
    """Return the end of the present round of an event."""
    ends_at: datetime | None = connection.execute(
        select(events.c.ends_at).where(events.c.id == event_id)
    ).scalar()
    return ends_at


def sections_with_games(
    connection: Connection, event_id: int, round_number: int | None = None
) -> set[int]:
    """Return the groups that have games, in one round or any."""
    statement = select(pairings.c.section).where(pairings.c.event_id == event_id).distinct()
    if round_number is not None:
        statement = statement.where(pairings.c.round == round_number)
    return set(connection.execute(statement).scalars())


# -- regulars and bars -------------------------------------------------------------------------


def is_regular(connection: Connection, game: str, player_id: int) -> bool:
    """Return whether a player enters each season of a game's league."""
    statement = select(regulars.c.game).where(
        regulars.c.game == game, regulars.c.player_id == player_id
    )
    return connection.execute(statement).first() is not None


def add_regular(connection: Connection, game: str, player_id: int, now: datetime) -> None:
    """Enter a player into each further season of a game's league."""
    connection.execute(
        insert_into(connection, regulars)
        .values(game=game, player_id=player_id, since=now)
        .on_conflict_do_nothing()
    )


def drop_regular(connection: Connection, game: str, player_id: int) -> bool:
    """End the recurring entry of a player; return whether there was one."""
    result = connection.execute(
        delete(regulars).where(regulars.c.game == game, regulars.c.player_id == player_id)
    )
    return result.rowcount > 0


def enter_regulars(connection: Connection, event_id: int, game: str, now: datetime) -> None:
    """Enter all regulars of a game who are active and not barred."""
    barred = select(event_bars.c.player_id).where(event_bars.c.until > now)
    rows = (
        select(
            bindparam("event", event_id, events.c.id.type),
            regulars.c.player_id,
            bindparam("status", EntryStatus.ENTERED, entries.c.status.type),
            bindparam("at", now, entries.c.entered_at.type),
        )
        .join(players, players.c.id == regulars.c.player_id)
        .where(
            regulars.c.game == game,
            players.c.state == PlayerState.ACTIVE,
            regulars.c.player_id.not_in(barred),
        )
    )
    connection.execute(
        insert_into(connection, entries)
        .from_select(["event_id", "player_id", "status", "entered_at"], rows)
        .on_conflict_do_nothing()
    )


def move(connection: Connection, old: int, new: int) -> None:
    """Give one player's entries and games to another; events that both have entered stay."""
    rows = connection.execute(select(entries.c.event_id).where(entries.c.player_id == new))
    mine = list(rows.scalars())
    for column in (pairings.c.first_id, pairings.c.second_id):
        connection.execute(
            update(pairings)
            .where(column == old, pairings.c.event_id.not_in(mine))
            .values({column: new})
        )
    connection.execute(
        update(entries)
        .where(entries.c.player_id == old, entries.c.event_id.not_in(mine))
        .values(player_id=new)
    )
    games = select(regulars.c.game).where(regulars.c.player_id == new)
    connection.execute(
        update(regulars)
        .where(regulars.c.player_id == old, regulars.c.game.not_in(games))
        .values(player_id=new)
    )
    connection.execute(delete(regulars).where(regulars.c.player_id == old))
    connection.execute(update(events).where(events.c.owner_id == old).values(owner_id=new))


def barred_until(
    connection: Connection, player_ids: Collection[int], now: datetime
) -> datetime | None:
    """Return until when a person may not enter events, `None` if the person may.

    Args:
        player_ids: the person's names.
    """
    until: datetime | None = connection.execute(
        select(func.max(event_bars.c.until)).where(
            event_bars.c.player_id.in_(player_ids), event_bars.c.until > now
        )
    ).scalar()
    return until


def bar(connection: Connection, player_id: int, until: datetime) -> None:
    """Let a player enter no events until a moment."""
    connection.execute(
        insert_into(connection, event_bars)
        .values(player_id=player_id, until=until)
        .on_conflict_do_update(index_elements=["player_id"], set_={"until": until})
    )
