"""Rows of ladders: places, challenges, movements and times at first place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    ColumnElement,
    Connection,
    Update,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from pbmserv.engine.record import FORFEIT
from pbmserv.store.core.statements import claim_due, columns_of, insert_into
from pbmserv.store.tables.accounts import PlayerState, absences, players
from pbmserv.store.tables.boards import BoardStatus, boards, plies, seats
from pbmserv.store.tables.ladders import (
    ladder_games,
    ladder_moves,
    ladder_places,
    ladder_reigns,
    ladders,
)

FAME = timedelta(days=90)
"""Time at first place after which a player is in the hall of fame."""

ENDED = (BoardStatus.FINISHED, BoardStatus.DECLINED)


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ladder of a game."""

    id: int
    game: str


@dataclass(frozen=True, slots=True)
class Place:
    """A player's place in a ladder.

    Attributes:
        rank: 1 is the best.
        active_at: the newest move or command that is known here.
        news: the player wants letters about movements.
    """

    player_id: int
    userid: str
    address: str
    rank: int
    joined_at: datetime
    active_at: datetime
    news: bool


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge of a ladder and its board.

    Attributes:
        ended_at, result: `None` until the result has been carried out.
    """

    board_id: int
    ladder_id: int
    challenger_id: int
    defender_id: int
    begun_at: datetime
    ended_at: datetime | None
    result: str | None


@dataclass(frozen=True, slots=True)
class Movement:
    """A change of a player's rank by a result, by joining or by leaving.

    Attributes:
        before: the old rank; `None` for a player who joined.
        after: the new rank; `None` for a player who left.
    """

    id: int
    player_id: int
    userid: str
    before: int | None
    after: int | None
    why: str
    board_id: int | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Reign:
    """A player's time at first place; *ended_at* is `None` if it goes on."""

    userid: str
    began_at: datetime
    ended_at: datetime | None


# -- ladders -----------------------------------------------------------------------------------

_LADDER = columns_of(Ladder, ladders)
_DUE = (
    select(ladders.c.id)
    .where(ladders.c.due_at <= bindparam("now"))
    .order_by(ladders.c.due_at)
    .limit(bindparam("most"))
)
_PLACES = (
    select(*columns_of(Place, ladder_places, players))
    .join(players, players.c.id == ladder_places.c.player_id)
    .order_by(ladder_places.c.rank)
)


def of_game(connection: Connection, game: str) -> Ladder | None:
    """Return the ladder of a game, `None` if nobody has joined it yet."""
    row = connection.execute(select(*_LADDER).where(ladders.c.game == game)).first()
    return Ladder(*row) if row else None


def all_of(connection: Connection) -> list[Ladder]:
    """Return the ladders of all games, in the order of the games' keys."""
    return [Ladder(*row) for row in connection.execute(select(*_LADDER).order_by(ladders.c.game))]


def lock(connection: Connection, game: str, now: datetime) -> Ladder:
    """Lock the ladder of a game until the end of the transaction, created if there was none."""
    connection.execute(
        insert_into(connection, ladders)
        .values(game=game, due_at=now)
        .on_conflict_do_nothing(index_elements=["game"])
    )
    statement = select(*_LADDER).where(ladders.c.game == game).with_for_update()
    return Ladder(*connection.execute(statement).one())


def lock_by_id(connection: Connection, ladder_id: int) -> Ladder:
    """Return a ladder and lock it until the end of the transaction."""
    statement = select(*_LADDER).where(ladders.c.id == ladder_id).with_for_update()
    return Ladder(*connection.execute(statement).one())


def of_player(connection: Connection, player_id: int) -> list[Ladder]:
    """Return the ladders in which a player has a place."""
    statement = (
        select(*_LADDER)
        .join(ladder_places, ladder_places.c.ladder_id == ladders.c.id)
        .where(ladder_places.c.player_id == player_id)
        .order_by(ladders.c.game)
    )
    return [Ladder(*row) for row in connection.execute(statement)]


def due(connection: Connection, now: datetime, most: int) -> list[int]:
    """Return ladders whose daily check is due."""
    return list(connection.execute(_DUE, {"now": now, "most": most}).scalars())


def claim(connection: Connection, ladder_id: int, now: datetime) -> Ladder | None:
    """Lock a due ladder; return `None` if another process has it or has checked it."""
    row = claim_due(connection, select(*_LADDER), ladders, ladder_id, now)
    return Ladder(*row) if row else None


def put_off(connection: Connection, ladder_id: int, until: datetime) -> None:
    """Check a ladder no earlier than *until*."""
    connection.execute(update(ladders).where(ladders.c.id == ladder_id).values(due_at=until))


# -- places ------------------------------------------------------------------------------------


def places(
    connection: Connection, ladder_id: int, first: int = 1, last: int | None = None
) -> list[Place]:
    """Return the places from rank *first* to rank *last*, or to the bottom, in their order."""
    statement = _PLACES.where(ladder_places.c.ladder_id == ladder_id, ladder_places.c.rank >= first)
    if last is not None:
        statement = statement.where(ladder_places.c.rank <= last)
    return [Place(*row) for row in connection.execute(statement)]


def place_of(connection: Connection, ladder_id: int, player_id: int) -> Place | None:
    """Return a player's place, `None` if the player has none."""
    statement = _PLACES.where(
        ladder_places.c.ladder_id == ladder_id, ladder_places.c.player_id == player_id
    )
    row = connection.execute(statement).first()
    return Place(*row) if row else None


def count(connection: Connection, ladder_id: int) -> int:
    """Return the number of players of a ladder."""
    statement = select(func.count()).where(ladder_places.c.ladder_id == ladder_id)
    return int(connection.execute(statement).scalar_one())


def join(connection: Connection, ladder_id: int, player_id: int, now: datetime) -> int:
    """Add a player at the bottom; return the rank. The caller has locked the ladder."""
    rank = count(connection, ladder_id) + 1
    connection.execute(
        insert(ladder_places).values(
            ladder_id=ladder_id, player_id=player_id, rank=rank, joined_at=now, active_at=now
        )
    )
    _log(connection, ladder_id, player_id, None, rank, "joined", None, now)
    return rank


def move(
    connection: Connection,
    ladder_id: int,
    place: Place,
    to: int,
    why: str,
    board_id: int,
    now: datetime,
) -> None:
    """Move a player to another rank, past the players between. The caller has locked the ladder."""
    if place.rank == to:
        return
    low, high = sorted((place.rank, to))
    step = 1 if to < place.rank else -1
    between = (ladder_places.c.rank >= low) & (ladder_places.c.rank <= high)
    connection.execute(
        update(ladder_places)
        .where(ladder_places.c.ladder_id == ladder_id, between)
        .values(rank=ladder_places.c.rank + step)
    )
    connection.execute(_update_of(ladder_id, place.player_id).values(rank=to))
    _log(connection, ladder_id, place.player_id, place.rank, to, why, board_id, now)


def leave(
    connection: Connection, ladder_id: int, player_id: int, why: str, now: datetime
) -> Place | None:
    """Remove a player; return the place that the player had. The caller has locked the ladder."""
    place = place_of(connection, ladder_id, player_id)
    if place is None:
        return None
    connection.execute(
        delete(ladder_places).where(
            ladder_places.c.ladder_id == ladder_id, ladder_places.c.player_id == player_id
        )
    )
    connection.execute(
        update(ladder_places)
        .where(ladder_places.c.ladder_id == ladder_id, ladder_places.c.rank > place.rank)
        .values(rank=ladder_places.c.rank - 1)
    )
    _log(connection, ladder_id, player_id, place.rank, None, why, None, now)
    return place


def leave_all(connection: Connection, player_id: int, now: datetime) -> None:
    """Remove a player from all ladders, for a sign-off or deletion."""
    for ladder in of_player(connection, player_id):
        lock_by_id(connection, ladder.id)
        leave(connection, ladder.id, player_id, "left", now)
        note_first(connection, ladder.id, now)


def note_active(connection: Connection, ladder_id: int, player_id: int, at: datetime) -> None:
    """Note that a player was active."""
    connection.execute(_update_of(ladder_id, player_id).values(active_at=at))


def set_news(connection: Connection, ladder_id: int, player_id: int, *, wanted: bool) -> bool:
    """Set whether a player gets letters about movements; return whether that changed anything."""
    changed = _update_of(ladder_id, player_id).where(ladder_places.c.news != wanted)
    return connection.execute(changed.values(news=wanted)).rowcount > 0


def silent(connection: Connection, ladder_id: int, before: datetime) -> list[Place]:
    """Return the places of players who have not been active since a moment, as far as noted."""
    statement = _PLACES.where(
        ladder_places.c.ladder_id == ladder_id, ladder_places.c.active_at < before
    )
    return [Place(*row) for row in connection.execute(statement)]


def last_ply(connection: Connection, player_id: int, since: datetime) -> datetime | None:
    """Return when a player last moved on any board after a moment, `None` for never."""
    moment: datetime | None = connection.execute(
        select(plies.c.created_at)
        .join(seats, (seats.c.board_id == plies.c.board_id) & (seats.c.seat == plies.c.seat))
        .where(seats.c.player_id == player_id, plies.c.created_at > since, plies.c.text != FORFEIT)
        .order_by(plies.c.created_at.desc())
        .limit(1)
    ).scalar()
    return moment


def away_now(connection: Connection, player_ids: Sequence[int], now: datetime) -> set[int]:
    """Return the players who are away."""
    statement = select(absences.c.player_id).where(
        absences.c.player_id.in_(player_ids), absences.c.begins <= now, absences.c.ends > now
    )
    return set(connection.execute(statement).scalars())


def _update_of(ladder_id: int, player_id: int) -> Update:
    return update(ladder_places).where(
        ladder_places.c.ladder_id == ladder_id, ladder_places.c.player_id == player_id
    )


# -- challenges --------------------------------------------------------------------------------

_CHALLENGE = columns_of(Challenge, ladder_games)
_DUE_CHALLENGES = (
    select(ladder_games.c.board_id)
    .join(boards, boards.c.id == ladder_games.c.board_id)
    .where(ladder_games.c.due_at <= bindparam("now"), boards.c.status.in_(ENDED))
    .order_by(func.coalesce(boards.c.finished_at, ladder_games.c.begun_at), boards.c.id)
    .limit(bindparam("most"))
)


def add_challenge(
    connection: Connection,
    ladder_id: int,
    board_id: int,
    challenger_id: int,
    defender_id: int,
    now: datetime,
) -> None:
    """Note that a board is a challenge."""
    connection.execute(
        insert(ladder_games).values(
            board_id=board_id,
            ladder_id=ladder_id,
            challenger_id=challenger_id,
            defender_id=defender_id,
            begun_at=now,
            due_at=now,
        )
    )


def open_challenges(
    connection: Connection,
    ladder_id: int,
    *,
    of: Collection[int] | None = None,
    most: int | None = None,
) -> list[Challenge]:
    """Return the challenges whose result has not been carried out, newest first.

    Args:
        of: only those in which one of these players takes part.
        most: the most challenges to return.
    """
    statement = (
        select(*_CHALLENGE)
        .where(ladder_games.c.ladder_id == ladder_id, ladder_games.c.due_at.is_not(None))
        .order_by(ladder_games.c.board_id.desc())
        .limit(most)
    )
    if of is not None:
        statement = statement.where(_takes_part(of))
    return [Challenge(*row) for row in connection.execute(statement)]


def ended_since(
    connection: Connection, ladder_id: int, since: datetime, player_id: int
) -> list[Challenge]:
    """Return the challenges of a player that ended after a moment, newest first."""
    statement = (
        select(*_CHALLENGE)
        .where(
            ladder_games.c.ladder_id == ladder_id,
            ladder_games.c.ended_at > since,
            _takes_part([player_id]),
        )
        .order_by(ladder_games.c.ended_at.desc(), ladder_games.c.board_id.desc())
    )
    return [Challenge(*row) for row in connection.execute(statement)]


def _takes_part(player_ids: Collection[int]) -> ColumnElement[bool]:
    challenger, defender = ladder_games.c.challenger_id, ladder_games.c.defender_id
    return or_(challenger.in_(player_ids), defender.in_(player_ids))


def due_challenges(connection: Connection, now: datetime, most: int) -> list[int]:
    """Return challenges whose boards have ended, in the order of their ends."""
    return list(connection.execute(_DUE_CHALLENGES, {"now": now, "most": most}).scalars())


def claim_challenge(connection: Connection, board_id: int, now: datetime) -> Challenge | None:
    """Lock a due challenge; return `None` if another process has it or has carried it out."""
    row = claim_due(connection, select(*_CHALLENGE), ladder_games, board_id, now)
    return Challenge(*row) if row else None


def lock_challenge(connection: Connection, board_id: int) -> Challenge | None:
    """Lock and return the challenge of a board, `None` if it is none."""
    statement = select(*_CHALLENGE).where(ladder_games.c.board_id == board_id).with_for_update()
    row = connection.execute(statement).first()
    return Challenge(*row) if row else None


def put_off_challenge(connection: Connection, board_id: int, until: datetime) -> None:
    """Look at a challenge no earlier than *until*."""
    connection.execute(
        update(ladder_games).where(ladder_games.c.board_id == board_id).values(due_at=until)
    )


def end_challenge(connection: Connection, board_id: int, result: str, at: datetime) -> None:
    """Note that the result of a challenge has been carried out."""
    connection.execute(
        update(ladder_games)
        .where(ladder_games.c.board_id == board_id)
        .values(due_at=None, ended_at=at, result=result)
    )


# -- movements and first places ----------------------------------------------------------------


def _log(
    connection: Connection,
    ladder_id: int,
    player_id: int,
    before: int | None,
    after: int | None,
    why: str,
    board_id: int | None,
    now: datetime,
) -> None:
    connection.execute(
        insert(ladder_moves).values(
            ladder_id=ladder_id,
            player_id=player_id,
            before=before,
            after=after,
            why=why,
            board_id=board_id,
            created_at=now,
        )
    )


def movements(connection: Connection, ladder_id: int, since: datetime, most: int) -> list[Movement]:
    """Return the movements after a moment, newest first, at most so many."""
    statement = (
        select(*columns_of(Movement, ladder_moves, players))
        .join(players, players.c.id == ladder_moves.c.player_id)
        .where(ladder_moves.c.ladder_id == ladder_id, ladder_moves.c.created_at > since)
        .order_by(ladder_moves.c.id.desc())
        .limit(most)
    )
    return [Movement(*row) for row in connection.execute(statement)]


def note_first(connection: Connection, ladder_id: int, now: datetime) -> None:
    """Note the first player if that is a new one, and end the time of the one before.

    A time shorter than `FAME` is deleted.
    """
    first = places(connection, ladder_id, 1, 1)
    player_id = first[0].player_id if first else None
    open_reign = ladder_reigns.c.ended_at.is_(None) & (ladder_reigns.c.ladder_id == ladder_id)
    holder = connection.execute(
        select(ladder_reigns.c.player_id).where(open_reign).limit(1)
    ).scalar()
    if holder == player_id:
        return
    is_long = or_(ladder_reigns.c.honoured_at.is_not(None), ladder_reigns.c.began_at <= now - FAME)
    connection.execute(delete(ladder_reigns).where(open_reign, ~is_long))
    connection.execute(
        update(ladder_reigns)
        .where(open_reign)
        .values(ended_at=now, honoured_at=func.coalesce(ladder_reigns.c.honoured_at, now))
    )
    if player_id is not None:
        connection.execute(
            insert(ladder_reigns).values(ladder_id=ladder_id, player_id=player_id, began_at=now)
        )


def honour(connection: Connection, ladder_id: int, now: datetime) -> int | None:
    """Enter the first player into the hall of fame if the place was held for long.

    Returns:
        The player, `None` if it is not time yet, or was done before.
    """
    player_id: int | None = connection.execute(
        update(ladder_reigns)
        .where(
            ladder_reigns.c.ladder_id == ladder_id,
            ladder_reigns.c.ended_at.is_(None),
            ladder_reigns.c.honoured_at.is_(None),
            ladder_reigns.c.began_at <= now - FAME,
        )
        .values(honoured_at=now)
        .returning(ladder_reigns.c.player_id)
    ).scalar()
    return player_id


def hall_of_fame(connection: Connection, ladder_id: int) -> list[Reign]:
    """Return the long times at first place, newest first."""
    statement = (
        select(*columns_of(Reign, ladder_reigns, players))
        .join(players, players.c.id == ladder_reigns.c.player_id)
        .where(
            ladder_reigns.c.ladder_id == ladder_id,
            ladder_reigns.c.honoured_at.is_not(None),
            players.c.state != PlayerState.DELETED,
        )
        .order_by(ladder_reigns.c.began_at.desc())
    )
    return [Reign(*row) for row in connection.execute(statement)]
