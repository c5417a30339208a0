"""Rows of time: due boards and digests, absences, outages and the heartbeat."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from pbmserv.engine.clocks import SeatClock, Terms, clocks_after_turn, read_remind, to_json
from pbmserv.engine.time_spans import Span
from pbmserv.engine.types import Seat
from pbmserv.store.core.statements import columns_of, due_keys, insert_into
from pbmserv.store.tables.accounts import absences, players
from pbmserv.store.tables.boards import RUNNING, boards, seats
from pbmserv.store.tables.downtime import heartbeats, outages
from pbmserv.store.tables.mail import outbox

GAP = timedelta(minutes=5)
"""Time without a heartbeat after which the server counts as down."""


@dataclass(frozen=True, slots=True)
class Times:
    """A board's clocks, empty if they have not been started, and the time to check them."""

    clocks: tuple[SeatClock, ...]
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The newest sign of life of the server.

    Attributes:
        beat_at: time at which one of its processes was last alive.
        up_since: end of the last outage before that.
    """

    beat_at: datetime
    up_since: datetime


def opening(
    connection: Connection,
    sitting: Sequence[int],
    waiting: Collection[Seat] | None,
    terms: Terms,
    now: datetime,
) -> Times:
    """Return the times of a new board; if *waiting* is `None`, the scheduler finds out who acts."""
    if waiting is None:
        return Times((), now)
    rows = connection.execute(
        select(players.c.id, players.c.remind).where(players.c.id.in_(sitting))
    )
    wishes = {row.id: row.remind for row in rows}
    terms = replace(terms, alone=False)  # a check that is too early does no harm
    before = [read_remind(wishes.get(player, ""))[0] for player in sitting]
    return Times(
        *clocks_after_turn((SeatClock(),) * len(sitting), waiting, (), now, {}, terms, before)
    )


# -- boards ------------------------------------------------------------------------------------

_LOCK = (
    select(boards.c.id)
    .where(boards.c.id == bindparam("board"))
    .with_for_update(skip_locked=True)  # ignored by SQLite, which has one writer
)
_LOCK_IF_DUE = _LOCK.where(boards.c.due_at <= bindparam("now"))
_SET_TIMES = (
    update(boards)
    .where(boards.c.id == bindparam("board"))
    .values(clocks=bindparam("clocks"), due_at=bindparam("due"))
)
_PUT_OFF = (
    update(boards)
    .where(boards.c.id == bindparam("board"), boards.c.due_at <= bindparam("until"))
    .values(due_at=bindparam("until"))
)


def due(connection: Connection, now: datetime, most: int) -> list[int]:
    """Return boards whose clocks must be checked, longest due first; they are not locked."""
    return due_keys(connection, boards, now, most)


def claim(connection: Connection, board_id: int, now: datetime) -> bool:
    """Lock a due board; return `False` if another process has it or has checked it."""
    return connection.execute(_LOCK_IF_DUE, {"board": board_id, "now": now}).first() is not None


def hold(connection: Connection, board_id: int) -> bool:
    """Lock a board, due or not; return `False` if another process has it."""
    return connection.execute(_LOCK, {"board": board_id}).first() is not None


def set_times(connection: Connection, board_id: int, times: Times) -> None:
    """Store the clocks of a board."""
    values = {"clocks": to_json(times.clocks), "due": times.due_at}
    connection.execute(_SET_TIMES, {"board": board_id, **values})


def put_off(connection: Connection, board_id: int, until: datetime) -> None:
    """Check a board no earlier than *until*."""
    connection.execute(_PUT_OFF, {"board": board_id, "until": until})


_SOON_DUE = (
    select(boards.c.id)
    .join(seats, seats.c.board_id == boards.c.id)
    .where(
        seats.c.player_id == bindparam("player"),
        boards.c.due_at <= bindparam("until"),
        boards.c.id != bindparam("but"),
    )
    .order_by(boards.c.due_at)
    .limit(bindparam("most"))
)


def due_of_player(
    connection: Connection, player_id: int, until: datetime, *, except_board: int, most: int
) -> list[int]:
    """Return a player's boards that are due by a moment, except one board."""
    values = {"player": player_id, "until": until, "but": except_board, "most": most}
    return list(connection.execute(_SOON_DUE, values).scalars())


def look_again(connection: Connection, player_id: int, now: datetime) -> None:
    """Let the scheduler check all boards of a player whose absences or preferences changed."""
    connection.execute(
        update(boards)
        .where(
            boards.c.id.in_(select(seats.c.board_id).where(seats.c.player_id == player_id)),
            boards.c.status.in_(RUNNING),
            or_(boards.c.due_at > now, boards.c.due_at.is_(None)),
        )
        .values(due_at=now)
    )


# -- people and the server ---------------------------------------------------------------------

_ABSENCES = (
    select(absences.c.begins, absences.c.ends)
    .where(absences.c.player_id == bindparam("player"), absences.c.ends > bindparam("since"))
    .order_by(absences.c.begins)
)
_OUTAGES = (
    select(outages.c.begins, outages.c.ends)
    .where(outages.c.ends > bindparam("since"))
    .order_by(outages.c.begins)
)
_HEARTBEAT = select(*columns_of(Heartbeat, heartbeats)).where(heartbeats.c.id == 1)
_LOCKED_HEARTBEAT = _HEARTBEAT.with_for_update()
_MOST_TRAYS = 5
"""Newest letters of the kind "tray" among which the last digest is."""
_DUE_DIGESTS = (
    select(players.c.id)
    .where(players.c.digest_due <= bindparam("now"))
    .order_by(players.c.digest_due)
    .limit(bindparam("most"))
)
_LOCK_DUE_DIGEST = (
    select(players.c.digest_due)
    .where(players.c.id == bindparam("player"), players.c.digest_due <= bindparam("now"))
    .with_for_update(skip_locked=True)
)


def away(connection: Connection, player_id: int, since: datetime) -> tuple[Span, ...]:
    """Return a player's absences that end after *since*."""
    rows = connection.execute(_ABSENCES, {"player": player_id, "since": since})
    return tuple((row[0], row[1]) for row in rows)


def up_since(connection: Connection, now: datetime) -> datetime | None:
    """Return since when the server is up.

    Returns:
        None if the server has just been down. Then the caller must `beat` first: an outage that is
        not recorded yet would count against the players.
    """
    beat = heartbeat(connection)
    return None if beat is None or now - beat.beat_at > GAP else beat.up_since


def outages_since(connection: Connection, since: datetime) -> tuple[Span, ...]:
    """Return the server's outages that end after *since*."""
    rows = connection.execute(_OUTAGES, {"since": since})
    return tuple((row[0], row[1]) for row in rows)


def heartbeat(connection: Connection) -> Heartbeat | None:
    """Return the heartbeat, `None` before the server's first start."""
    row = connection.execute(_HEARTBEAT).first()
    return Heartbeat(*row) if row else None


def beat(connection: Connection, now: datetime, present: datetime | None = None) -> Span | None:
    """Record that the server was alive at *now*; return an outage that this reveals.

    SQLite has one server. If its last heartbeat is ahead of *present* (default: now) by more than
    `GAP`, the machine's clock was set back. Then the heartbeat starts again, and the returned span
    ends before it begins. When the clock is set forward again, the time lived by the wrong clock
    is an outage, so it counts against nobody.
    """
    row = connection.execute(_LOCKED_HEARTBEAT).first()
    if row is None:
        connection.execute(
            insert_into(connection, heartbeats)
            .values(id=1, beat_at=now, up_since=now)
            .on_conflict_do_nothing(index_elements=["id"])
        )
        return None
    last = Heartbeat(*row)
    if last.beat_at - (present or now) > GAP and connection.dialect.name == "sqlite":
        _set_beat(connection, now, now)
        return last.beat_at, now
    if now <= last.beat_at:  # another process's clock is a little ahead of ours
        return None
    outage = (last.beat_at, now) if now - last.beat_at > GAP else None
    if outage is not None:
        connection.execute(insert(outages).values(begins=outage[0], ends=outage[1]))
    _set_beat(connection, now, last.up_since if outage is None else now)
    return outage


def _set_beat(connection: Connection, now: datetime, up_since: datetime) -> None:
    connection.execute(
        update(heartbeats).where(heartbeats.c.id == 1).values(beat_at=now, up_since=up_since)
    )


def due_digests(connection: Connection, now: datetime, most: int) -> Sequence[int]:
    """Return players whose digest is due."""
    return list(connection.execute(_DUE_DIGESTS, {"now": now, "most": most}).scalars())


def claim_digest(connection: Connection, player_id: int, now: datetime) -> datetime | None:
    """Lock a player whose digest is due; return its due time, `None` if another process has it."""
    due_at: datetime | None = connection.execute(
        _LOCK_DUE_DIGEST, {"player": player_id, "now": now}
    ).scalar()
    return due_at


def last_digest(connection: Connection, player_id: int) -> datetime | None:
    """Return when a player's newest digest was made, `None` if none is known."""
    rows = connection.execute(
        select(outbox.c.created_at, outbox.c.words)
        .where(outbox.c.player_id == player_id, outbox.c.letter == "tray")
        .order_by(outbox.c.id.desc())
        .limit(_MOST_TRAYS)
    )
    return next((row.created_at for row in rows if not row.words.get("gathered")), None)


def put_off_digest(connection: Connection, player_id: int, until: datetime) -> None:
    """Make a player's digest no earlier than *until*."""
    connection.execute(
        update(players)
        .where(players.c.id == player_id, players.c.digest_due <= until)
        .values(digest_due=until)
    )


def set_digest_due(connection: Connection, player_id: int, at: datetime | None) -> None:
    """Set when a player's next digest is made."""
    connection.execute(update(players).where(players.c.id == player_id).values(digest_due=at))
