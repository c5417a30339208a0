"""Rows of boards and their seats."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from pbmserv.engine.clocks import USUAL, Person, SeatClock, Terms, from_json, to_json
from pbmserv.engine.time_spans import Span
from pbmserv.engine.types import Seat
from pbmserv.store import clocks
from pbmserv.store.boards import player_boards
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import add_numbered_row, change_rows, columns_of, values_of
from pbmserv.store.shared_boxes import shared_boxes
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import RUNNING, BoardStatus, boards, followers, plies, seats


@dataclass(frozen=True, slots=True)
class Sitter:
    """A player at a board.

    Attributes:
        state, tz, remind, public, unreachable_since: as in `Player`.
        digest: whether the player gets a daily digest.
        plan: moves that wait for their turn, as `engine.plans` writes them; secret.
        note: the player's own words about the board, which nobody else may read.
    """

    seat: Seat
    player_id: int
    userid: str
    address: str
    reply_epoch: int
    accepted_at: datetime | None
    state: PlayerState
    tz: str
    remind: str
    public: bool
    digest: bool
    unreachable_since: datetime | None
    plan: str | None = field(repr=False)
    note: str | None = field(repr=False)

    def person_away(self, away: Iterable[Span]) -> Person:
        """Return the player's settings for a clock; a digest that cannot arrive counts as none."""
        digest = self.digest and self.unreachable_since is None
        return Person.of(self.tz, self.remind, away, digest=digest)


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A board with its seats.

    Attributes:
        comparable: whether its scores can be compared; not if somebody may have known the box.
        plies: number of moves in its record.
        thread: random word for Message-IDs.
        terms: time limits of its players.
        clocks: by seat; empty if they have not been started.
        due_at: time at which the scheduler checks the clocks.
        sitters: by seat.
        followed: whether it has followers.
        origin: if it is a copy, the board for which the box was drawn first.
        chosen_by: player who chose the box of a race; `None` if the server drew it.
        event_id: the event of which it is a game, if any.
        sides_drawn: whether the seats were drawn from the seed.
        names: userids by seat.
        bots: seats of bots.
        plans: moves that wait, by seat.
    """

    id: int
    game: str
    rules_version: int
    seats: int
    options: tuple[str, ...]
    seed: bytes = field(repr=False)
    thread: str
    status: BoardStatus
    rated: bool
    comparable: bool
    plies: int
    outcome: Mapping[str, Any] | None
    created_at: datetime
    terms: Terms
    clocks: tuple[SeatClock, ...]
    due_at: datetime | None
    sitters: tuple[Sitter, ...]
    followed: bool
    origin: int | None
    chosen_by: int | None
    event_id: int | None
    sides_drawn: bool
    names: tuple[str, ...]
    bots: frozenset[Seat]
    plans: Mapping[Seat, str] = field(repr=False)

    def with_names(self, userids: Mapping[str, str]) -> BoardRow:
        """Return the board with other userids."""
        sitters = tuple([replace(sitter, userid=userids[sitter.userid]) for sitter in self.sitters])
        return replace(self, sitters=sitters, names=tuple([sitter.userid for sitter in sitters]))

    @property
    def chooser(self) -> str:
        """Return the userid of the player who chose the box of a race, ``""`` if nobody did.

        If an operator has given that player's seat to another one, the name is not shown.
        """
        if self.chosen_by is None:
            return ""
        sitter = self.sitter_of(self.chosen_by)
        return "a former player" if sitter is None else sitter.userid

    @property
    def of_event(self) -> bool:
        """Return whether it is a game of an event or ladder, which its players have entered."""
        return self.event_id is not None or self.terms.of_event

    @property
    def may_be_shared(self) -> bool:
        """Return whether its box, dice or deals may be those of other boards, too.

        Only one person plays on such a board.
        """
        return self.seats == 1 or (self.event_id is not None and bool(self.bots))

    @property
    def undecided(self) -> tuple[str, ...]:
        """Return the userids of players who have not accepted yet."""
        return tuple(s.userid for s in self.sitters if s.accepted_at is None)

    def people_beside(self, player_id: int) -> list[Sitter]:
        """Return the seats of the other players, without bots."""
        return [s for s in self.sitters if s.player_id != player_id and s.seat not in self.bots]

    def readers_beside(self, player_id: int) -> list[Sitter]:
        """Return the seats of the other players who get letters."""
        people = self.people_beside(player_id)
        return [sitter for sitter in people if sitter.state == PlayerState.ACTIVE]

    def sitter_of(self, player_id: int) -> Sitter | None:
        """Return the first seat of a player, `None` if the player has none."""
        for sitter in self.sitters:
            if sitter.player_id == player_id:
                return sitter
        return None


_TERMS = {
    "nag_days": "nag",
    "forfeit_days": "forfeit",
    "total_days": "total",
    "increment_days": "increment",
    "cap_days": "cap",
    "weekdays": "weekdays",
    "away_days": "away",
}
"""The columns that hold the terms of a board, and their attributes."""

_BOARD_COLUMNS = [
    *(boards.c[field.name] for field in fields(BoardRow) if field.name in boards.c),
    *(boards.c[column] for column in _TERMS),
    exists().where(followers.c.board_id == boards.c.id).label("followed"),
]
_BOARD_NAMES = [column.name for column in _BOARD_COLUMNS]
_SITTER_COLUMNS = columns_of(Sitter, seats, players, digest=players.c.digest_minute.is_not(None))
_BOARD = (
    select(*_BOARD_COLUMNS, *_SITTER_COLUMNS)
    .join(seats, seats.c.board_id == boards.c.id)
    .join(players, players.c.id == seats.c.player_id)
    .where(boards.c.id == bindparam("board"))
    .order_by(seats.c.seat)
)
_LOAD = Prepared(_BOARD)
# SQLite ignores the clause. After waiting for a lock, PostgreSQL returns the new state of locked
# rows but the old state of others; so the seats, which `accept` changes, are locked, too.
_LOCK = Prepared(_BOARD.with_for_update(of=(boards, seats)))
_PLAYER_BOARDS = (
    select(boards.c.id)
    .join(seats, seats.c.board_id == boards.c.id)
    .where(seats.c.player_id == bindparam("player"))
    .order_by(boards.c.id.desc())
)

_USERIDS = (
    select(seats.c.board_id, players.c.userid)
    .join(players, players.c.id == seats.c.player_id)
    .where(seats.c.board_id.in_(bindparam("ids", expanding=True)))
    .order_by(seats.c.board_id, seats.c.seat)
)

_PLAYED = 6
"""Plies after which a player knows how to move. Plies of other players do not count, since their
number may be secret."""

_LOOKED_AT = 20
"""Newest earlier boards of a player that may show that the player knows how to move."""
_OWN_PLIES = Prepared(
    select(func.count())
    .select_from(plies)
    .join(seats, and_(seats.c.board_id == plies.c.board_id, seats.c.seat == plies.c.seat))
    .where(plies.c.board_id == bindparam("board"), seats.c.player_id == bindparam("player"))
    .group_by(seats.c.seat)
)


def keep_note(connection: Connection, board_id: int, seat: Seat, note: str | None) -> None:
    """Replace a player's note at a board; `None` deletes it."""
    is_seat = (seats.c.board_id == board_id) & (seats.c.seat == seat)
    connection.execute(update(seats).where(is_seat).values(note=note))


def is_first(connection: Connection, board: BoardRow, player_id: int) -> bool:
    """Return whether a player is new to this game: earlier boards, if any, were hardly begun."""
    earlier = player_boards.earlier(connection, player_id, board.game, board.id, _LOOKED_AT)
    return not any(
        own_plies >= _PLAYED
        for board_id in earlier
        for (own_plies,) in _OWN_PLIES.run(connection, {"board": board_id, "player": player_id})
    )


def _read(statement: Prepared, connection: Connection, board_id: int) -> BoardRow | None:
    rows = statement.run(connection, {"board": board_id})
    if not rows:
        return None
    values = dict(zip(_BOARD_NAMES, rows[0], strict=False))  # the other columns are the sitter's
    values["clocks"] = from_json(values["clocks"])
    sitters = tuple([Sitter(*row[len(_BOARD_NAMES) :]) for row in rows])
    bots = frozenset([sitter.seat for sitter in sitters if sitter.state == PlayerState.BOT])
    is_alone = len(sitters) - len(bots) == 1 and values["event_id"] is None
    times = {name: values.pop(column) for column, name in _TERMS.items()}
    terms = Terms(**times, alone=is_alone)
    names = tuple([sitter.userid for sitter in sitters])
    plans = {sitter.seat: sitter.plan for sitter in sitters if sitter.plan}
    return BoardRow(**values, terms=terms, sitters=sitters, names=names, bots=bots, plans=plans)


load = partial(_read, _LOAD)
"""Return a board, `None` if there is none."""
lock = partial(_read, _LOCK)
"""Return a board and lock its rows until the end of the transaction."""


def userids_of(connection: Connection, board_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Return the userids of the players of some boards, by board and seat."""
    userids: dict[int, list[str]] = {board_id: [] for board_id in board_ids}
    for board_id, userid in connection.execute(_USERIDS, {"ids": list(board_ids)}):
        userids[board_id].append(userid)
    return {board_id: tuple(names) for board_id, names in userids.items()}


def columns_of_terms(terms: Terms) -> dict[str, Any]:
    """Return the values of the columns that hold the terms of a board."""
    return {column: getattr(terms, name) for column, name in _TERMS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBoard:
    """A board to create.

    Attributes:
        comparable, thread, origin, chosen_by, event_id, sides_drawn: as in `BoardRow`.
        proven: whether one of its players provably asked for it.
        sitting: player ids by seat.
        accepted: players who need not be asked.
        waiting: seats that act first if nobody is asked. `None` lets the scheduler find out
            and start their clocks. The clocks of players who are asked start at once.
    """

    game: str
    rules_version: int
    options: Sequence[str]
    seed: bytes = field(repr=False)
    thread: str
    rated: bool
    comparable: bool = True
    origin: int | None = None
    chosen_by: int | None = None
    proven: bool = True
    event_id: int | None = None
    sides_drawn: bool = False
    sitting: Sequence[int]
    accepted: Collection[int]
    terms: Terms = USUAL
    waiting: Collection[Seat] | None = None


def create(connection: Connection, new: NewBoard, now: datetime) -> int:
    """Create a board and return its number."""
    sitting = new.sitting
    asked_seats = [Seat(seat) for seat, player in enumerate(sitting) if player not in new.accepted]
    times = clocks.opening(connection, sitting, asked_seats or new.waiting, new.terms, now)
    board_id = add_numbered_row(
        connection,
        boards,
        **values_of(new, boards),
        seats=len(sitting),
        status=BoardStatus.PROPOSED if asked_seats else BoardStatus.ACTIVE,
        plies=0,
        created_at=now,
        **columns_of_terms(new.terms),
        clocks=to_json(times.clocks),
        due_at=times.due_at,
    )
    connection.execute(
        insert(seats),
        [
            {
                "board_id": board_id,
                "seat": seat,
                "player_id": player,
                "accepted_at": now if player in new.accepted else None,
            }
            for seat, player in enumerate(sitting)
        ],
    )
    player_boards.refresh(connection, board_id)
    return board_id


def accept(connection: Connection, board_id: int, player_id: int, now: datetime) -> None:
    """Note that a player accepts, at all seats that the player has."""
    change_rows(connection, seats, {"board_id": board_id, "player_id": player_id}, accepted_at=now)
    player_boards.refresh(connection, board_id)


def set_status(connection: Connection, board_id: int, status: BoardStatus) -> None:
    """Make a board active or declined; a declined one has no clocks, and its box has a result."""
    values: dict[str, Any] = {"status": status}
    if status == BoardStatus.DECLINED:
        values |= {"clocks": None, "due_at": None}
        shared_boxes.give_up(connection, board_id)
    change_rows(connection, boards, {"id": board_id}, **values)
    player_boards.refresh(connection, board_id)


def finish(
    connection: Connection, board_id: int, outcome: Mapping[str, Any], now: datetime
) -> None:
    """Finish a board."""
    connection.execute(
        update(boards)
        .where(boards.c.id == board_id)
        .values(status=BoardStatus.FINISHED, outcome=dict(outcome), finished_at=now)
    )
    player_boards.refresh(connection, board_id)


def reopen(connection: Connection, board_id: int) -> None:
    """Make a finished board active again, after an undo."""
    connection.execute(
        update(boards)
        .where(boards.c.id == board_id)
        .values(status=BoardStatus.ACTIVE, outcome=None, finished_at=None)
    )
    player_boards.refresh(connection, board_id)


def running_of(connection: Connection, player_id: int) -> list[int]:
    """Return a player's proposed and active boards, in the order to lock them."""
    statement = _PLAYER_BOARDS.where(boards.c.status.in_(RUNNING))
    return sorted(set(connection.execute(statement, {"player": player_id}).scalars()))


def of_events(connection: Connection, player_id: int) -> list[int]:
    """Return a player's running boards of events and ladders, oldest first."""
    statement = _PLAYER_BOARDS.where(
        boards.c.status.in_(RUNNING),
        or_(boards.c.event_id.is_not(None), boards.c.away_days.is_not(None)),
    )
    return sorted(connection.execute(statement, {"player": player_id}).scalars())
