"""Rows about time: boards whose clocks are due, absences, outages and the heartbeat."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from pbmserv.engine.clocks import (
    SeatClock,
    Server,
    Span,
    Terms,
    clocks_after_turn,
    read_remind,
    to_json,
)
from pbmserv.engine.types import Seat
from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.tables import boards
from pbmserv.store.tables.accounts import absences, players
from pbmserv.store.tables.boards import RUNNING, heartbeats, outages, seats
from pbmserv.store.tables.mail import outbox

GAP = timedelta(minutes=5)
"""A server that has not been heard of for longer than this was down."""


@dataclass(frozen=True, slots=True)
class Times:
    """A board's clocks and when to look at them; no clocks = nobody has started them."""

    clocks: tuple[SeatClock, ...]
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """When any process of the server last lived, and since when without a break."""

    beat_at: datetime
    up_since: datetime


def opening(
    connection: Connection,
    sitting: Sequence[int],
    waiting: Collection[Seat] | None,
    terms: Terms,
    now: datetime,
) -> Times:
    """The times of a new board; *waiting* ``None`` = a worker finds out who is to act."""
    if waiting is None:
        return Times((), now)
    found = connection.execute(
        select(players.c.id, players.c.remind).where(players.c.id.in_(sitting))
    )
    wishes = {row.id: row.remind for row in found}
    terms = replace(terms, alone=False)  # perhaps those of another board; early is no harm
    before = [read_remind(wishes.get(player, ""))[0] for player in sitting]
    return Times(
        *clocks_after_turn((SeatClock(),) * len(sitting), waiting, (), now, {}, terms, before)
    )


# -- boards ------------------------------------------------------------------------------------

_DUE = (
    select(boards.c.id)
    .where(boards.c.due_at <= bindparam("now"))
    .order_by(boards.c.due_at)
    .limit(bindparam("most"))
)
_MINE = (
    select(boards.c.id)
    .where(boards.c.id == bindparam("board"), boards.c.due_at <= bindparam("now"))
    .with_for_update(skip_locked=True)  # SQLite has one writer and leaves the clause out
)
_HELD = (
    select(boards.c.id).where(boards.c.id == bindparam("board")).with_for_update(skip_locked=True)
)
_SET = (
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
    """Boards at whose clocks somebody must look, the longest due first; nobody's yet."""
    return list(connection.execute(_DUE, {"now": now, "most": most}).scalars())


def claim(connection: Connection, board_id: int, now: datetime) -> bool:
    """Lock a due board for this transaction; False = somebody else has it or has looked."""
    return connection.execute(_MINE, {"board": board_id, "now": now}).first() is not None


def hold(connection: Connection, board_id: int) -> bool:
    """Lock a board for this transaction, due or not; False = somebody else has it."""
    return connection.execute(_HELD, {"board": board_id}).first() is not None


def set_times(connection: Connection, board_id: int, times: Times) -> None:
    """Write the clocks of a board."""
    kept = {"clocks": to_json(times.clocks), "due": times.due_at}
    connection.execute(_SET, {"board": board_id, **kept})


def put_off(connection: Connection, board_id: int, until: datetime) -> None:
    """Look at a board no earlier than *until*: what ails it is not ours to wait for."""
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
    connection: Connection, player_id: int, until: datetime, *, but: int, most: int
) -> list[int]:
    """A player's boards at whose clocks somebody must look until then, except board *but*."""
    values = {"player": player_id, "until": until, "but": but, "most": most}
    return list(connection.execute(_SOON_DUE, values).scalars())


def look_again(connection: Connection, player_id: int, now: datetime) -> None:
    """Have a worker look at all boards of a player, whose absences or wishes have changed."""
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

_AWAY = (
    select(absences.c.begins, absences.c.ends)
    .where(absences.c.player_id == bindparam("player"), absences.c.ends > bindparam("since"))
    .order_by(absences.c.begins)
)
_DOWN = (
    select(outages.c.begins, outages.c.ends)
    .where(outages.c.ends > bindparam("since"))
    .order_by(outages.c.begins)
)
_BEAT = select(*columns_of(Heartbeat, heartbeats)).where(heartbeats.c.id == 1)
_LOCKED_BEAT = _BEAT.with_for_update()
_LOOKED_THROUGH = 5  # newest letters; more were never gathered in a day
_DIGESTS = (
    select(players.c.id)
    .where(players.c.digest_due <= bindparam("now"))
    .order_by(players.c.digest_due)
    .limit(bindparam("most"))
)
_MY_DIGEST = (
    select(players.c.digest_due)
    .where(players.c.id == bindparam("player"), players.c.digest_due <= bindparam("now"))
    .with_for_update(skip_locked=True)
)


def away(connection: Connection, player_id: int, since: datetime) -> tuple[Span, ...]:
    """A player's absences that reach beyond *since*."""
    found = connection.execute(_AWAY, {"player": player_id, "since": since})
    return tuple((row[0], row[1]) for row in found)


def server(connection: Connection, since: datetime, now: datetime) -> Server | None:
    """The server's outages that reach beyond *since*; ``None`` = it has just been down.

    Whoever gets ``None`` must beat first: an outage that is not written down yet would count
    against the players.
    """
    beat = heartbeat(connection)
    if beat is None or now - beat.beat_at > GAP:
        return None
    return Server(down(connection, since), beat.up_since)


def down(connection: Connection, since: datetime) -> tuple[Span, ...]:
    """The server's outages that reach beyond *since*."""
    found = connection.execute(_DOWN, {"since": since})
    return tuple((row[0], row[1]) for row in found)


def heartbeat(connection: Connection) -> Heartbeat | None:
    """The present heartbeat; ``None`` before the server's first start."""
    row = connection.execute(_BEAT).first()
    return Heartbeat(*row) if row else None


def beat(connection: Connection, now: datetime, present: datetime | None = None) -> Span | None:
    """Say that the server lived at *now*; an outage that this brings to light is written and
    returned.

    A SQLite database has one server, so where the last sign of life lies ahead of *present* (now,
    if not given) by more than `GAP`, the machine's clock was put back: time begins anew, and the
    span that is returned ends before it begins. What was lived by the wrong clock counts against
    nobody once it is put forward again, since that is an outage.
    """
    row = connection.execute(_LOCKED_BEAT).first()
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
    found = (last.beat_at, now) if now - last.beat_at > GAP else None
    if found is not None:
        connection.execute(insert(outages).values(begins=found[0], ends=found[1]))
    _set_beat(connection, now, last.up_since if found is None else now)
    return found


def _set_beat(connection: Connection, now: datetime, up_since: datetime) -> None:
    connection.execute(
        update(heartbeats).where(heartbeats.c.id == 1).values(beat_at=now, up_since=up_since)
    )


def due_digests(connection: Connection, now: datetime, most: int) -> Sequence[int]:
    """Players whose one mail a day is due."""
    return list(connection.execute(_DIGESTS, {"now": now, "most": most}).scalars())


def claim_digest(connection: Connection, player_id: int, now: datetime) -> datetime | None:
    """Lock a player whose digest is due; when it was due, ``None`` = somebody else has it."""
    found: datetime | None = connection.execute(
        _MY_DIGEST, {"player": player_id, "now": now}
    ).scalar()
    return found


def last_digest(connection: Connection, player_id: int) -> datetime | None:
    """When a player's newest digest was made; letters that were gathered for another reason
    are none."""
    found = connection.execute(
        select(outbox.c.created_at, outbox.c.words)
        .where(outbox.c.player_id == player_id, outbox.c.letter == "tray")
        .order_by(outbox.c.id.desc())
        .limit(_LOOKED_THROUGH)
    )
    return next((row.created_at for row in found if not row.words.get("gathered")), None)


def put_off_digest(connection: Connection, player_id: int, until: datetime) -> None:
    """Make a player's digest no earlier than *until*."""
    connection.execute(
        update(players)
        .where(players.c.id == player_id, players.c.digest_due <= until)
        .values(digest_due=until)
    )


def set_digest_due(connection: Connection, player_id: int, at: datetime | None) -> None:
    """When a player's next digest is made."""
    connection.execute(update(players).where(players.c.id == player_id).values(digest_due=at))
