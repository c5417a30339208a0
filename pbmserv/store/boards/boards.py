"""Rows about boards: who sits there, who watches, how it ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select, update

from pbmserv.engine.clocks import USUAL, Person, SeatClock, Span, Terms, from_json, to_json
from pbmserv.engine.types import Seat
from pbmserv.store import clocks
from pbmserv.store.core.statements import Prepared, columns_of, insert_into
from pbmserv.store.tables import boards
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import BoardStatus, followers, plies, seats


@dataclass(frozen=True, slots=True)
class Sitter:
    """A player at a board.

    Attributes:
        state, tz, remind, public, unreachable_since: as `Player` has them.
        digest: gets one mail a day.
        plan: moves that wait for their turn, as `engine.plans` writes them; nobody else's to know.
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

    def person_away(self, away: Iterable[Span]) -> Person:
        """What their clock must know. A digest that cannot arrive reminds nobody."""
        digest = self.digest and self.unreachable_since is None
        return Person.of(self.tz, self.remind, away, digest=digest)


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A board as the database has it.

    Attributes:
        comparable: its scores can be compared; not where somebody may have known the box.
        plies: how many moves its record has.
        thread: a random word for Message-IDs.
        terms: how long its players may take.
        clocks: by seat; empty where nobody has started them yet.
        due_at: when a worker looks at the clocks.
        sitters: by seat.
        followed: somebody watches it.
        origin: the board whose box was drawn for it first, where this is a copy.
        chosen_by: id of the player who named the box of a race; ``None`` = the server drew it.
        names: userids by seat.
        bots: the seats of bots.
        plans: the moves that wait, by seat.
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
    terms: Terms
    clocks: tuple[SeatClock, ...]
    due_at: datetime | None
    sitters: tuple[Sitter, ...]
    followed: bool
    origin: int | None
    chosen_by: int | None
    names: tuple[str, ...]
    bots: frozenset[Seat]
    plans: Mapping[Seat, str] = field(repr=False)

    def with_names(self, called: Mapping[str, str]) -> BoardRow:
        """The board with other names for its userids."""
        sitters = tuple([replace(one, userid=called[one.userid]) for one in self.sitters])
        return replace(self, sitters=sitters, names=tuple([one.userid for one in sitters]))

    @property
    def chooser(self) -> str:
        """Userid of the player who chose the box of a race and may know it; ``""`` for nobody.

        A chooser whose seat an operator has given to somebody else is not named.
        """
        if self.chosen_by is None:
            return ""
        sitter = self.sitter_of(self.chosen_by)
        return "a former player" if sitter is None else sitter.userid

    @property
    def undecided(self) -> tuple[str, ...]:
        """Userids of those who have not accepted yet."""
        return tuple(s.userid for s in self.sitters if s.accepted_at is None)

    def sitter_of(self, player_id: int) -> Sitter | None:
        """The seat of a player; the first one if they hold several."""
        for sitter in self.sitters:
            if sitter.player_id == player_id:
                return sitter
        return None


_OF_BOARD = [
    *(boards.c[field.name] for field in fields(BoardRow) if field.name in boards.c),
    boards.c.nag_days,
    boards.c.forfeit_days,
    boards.c.total_days,
    exists().where(followers.c.board_id == boards.c.id).label("followed"),
]
_NAMES = [column.name for column in _OF_BOARD]
_OF_SITTER = columns_of(Sitter, seats, players, digest=players.c.digest_minute.is_not(None))
_SEEN = (
    select(*_OF_BOARD, *_OF_SITTER)
    .join(seats, seats.c.board_id == boards.c.id)
    .join(players, players.c.id == seats.c.player_id)
    .where(boards.c.id == bindparam("board"))
    .order_by(seats.c.seat)
)
_LOAD = Prepared(_SEEN, same=len(_OF_BOARD))
# SQLite has one writer and leaves the clause out. Who waited for the lock gets locked rows as
# they are now, but others as they were before: so the seats, which `accept` changes, are locked.
_LOCK = Prepared(_SEEN.with_for_update(of=(boards, seats)), same=len(_OF_BOARD))
_PLAYER_BOARDS = (
    select(boards.c.id)
    .join(seats, seats.c.board_id == boards.c.id)
    .where(seats.c.player_id == bindparam("player"))
    .order_by(boards.c.id.desc())
)

_PLAYED = 6
"""Plies of a player at a board from which that player has learnt how to move. The plies of other
players do not count, since they may be secret."""

_own_plies = (
    select(func.count())
    .select_from(plies)
    .where(plies.c.board_id == seats.c.board_id, plies.c.seat == seats.c.seat)
    .correlate(seats)
    .scalar_subquery()
)

_EARLIER = Prepared(
    select(boards.c.id)
    .join(seats, seats.c.board_id == boards.c.id)
    .where(
        seats.c.player_id == bindparam("player"),
        seats.c.board_id < bindparam("board"),
        boards.c.game == bindparam("game"),
        _own_plies >= _PLAYED,
    )
    .limit(1)
)


def is_first(connection: Connection, board: BoardRow, player_id: int) -> bool:
    """Whether a player has not played this game before *board*, but on boards hardly begun."""
    values = {"player": player_id, "board": board.id, "game": board.game}
    return not _EARLIER.run(connection, values)


def _read(statement: Prepared, connection: Connection, board_id: int) -> BoardRow | None:
    rows = statement.run(connection, {"board": board_id})
    if not rows:
        return None
    found = dict(zip(_NAMES, rows[0], strict=False))  # what comes after them is the sitter's
    found["options"] = tuple(found["options"])
    found["clocks"] = from_json(found["clocks"])
    sitters = tuple([Sitter(*row[len(_NAMES) :]) for row in rows])
    bots = frozenset([sitter.seat for sitter in sitters if sitter.state == PlayerState.BOT])
    terms = Terms(
        found.pop("nag_days"),
        found.pop("forfeit_days"),
        found.pop("total_days"),
        alone=len(sitters) - len(bots) == 1,
    )
    names = tuple([sitter.userid for sitter in sitters])
    plans = {sitter.seat: sitter.plan for sitter in sitters if sitter.plan}
    return BoardRow(**found, terms=terms, sitters=sitters, names=names, bots=bots, plans=plans)


load = partial(_read, _LOAD)
"""A board, without a lock; ``None``: there is none of this number."""
lock = partial(_read, _LOCK)
"""The same, which nobody else can change until this transaction ends."""


def create(
    connection: Connection,
    *,
    game: str,
    rules_version: int,
    options: Sequence[str],
    seed: bytes,
    thread: str,
    rated: bool,
    comparable: bool = True,
    origin: int | None = None,
    chosen_by: int | None = None,
    proven: bool = True,
    sitting: Sequence[int],
    accepted: Sequence[int],
    now: datetime,
    terms: Terms = USUAL,
    waiting: Collection[Seat] | None = None,
) -> int:
    """A new board; *sitting* are player ids by seat, *accepted* those who need not be asked.

    *waiting* are the seats that act first if nobody need be asked; where it is not given, a
    worker finds out and starts their clocks. The clocks of those who are asked run at once.
    """
    asked = [Seat(seat) for seat, player in enumerate(sitting) if player not in accepted]
    times = clocks.opening(connection, sitting, asked or waiting, terms, now)
    board_id: int = connection.execute(
        insert(boards)
        .values(
            game=game,
            rules_version=rules_version,
            seats=len(sitting),
            options=list(options),
            seed=seed,
            thread=thread,
            status=BoardStatus.PROPOSED if asked else BoardStatus.ACTIVE,
            rated=rated,
            comparable=comparable,
            origin=origin,
            chosen_by=chosen_by,
            proven=proven,
            plies=0,
            created_at=now,
            nag_days=terms.nag,
            forfeit_days=terms.forfeit,
            total_days=terms.total,
            clocks=to_json(times.clocks),
            due_at=times.due_at,
        )
        .returning(boards.c.id)
    ).scalar_one()
    connection.execute(
        insert(seats),
        [
            {
                "board_id": board_id,
                "seat": seat,
                "player_id": player,
                "accepted_at": now if player in accepted else None,
            }
            for seat, player in enumerate(sitting)
        ],
    )
    return board_id


def accept(connection: Connection, board_id: int, player_id: int, now: datetime) -> None:
    """A player has said yes, on every seat they hold."""
    connection.execute(
        update(seats)
        .where(seats.c.board_id == board_id, seats.c.player_id == player_id)
        .values(accepted_at=now)
    )


def set_status(connection: Connection, board_id: int, status: str) -> None:
    """From proposed to active or declined; nobody is waited for at a declined board."""
    values: dict[str, Any] = {"status": status}
    if status == BoardStatus.DECLINED:
        values |= {"clocks": None, "due_at": None}
    connection.execute(update(boards).where(boards.c.id == board_id).values(values))


def finish(
    connection: Connection, board_id: int, outcome: Mapping[str, Any], now: datetime
) -> None:
    """The board is over."""
    connection.execute(
        update(boards)
        .where(boards.c.id == board_id)
        .values(status=BoardStatus.FINISHED, outcome=dict(outcome), finished_at=now)
    )


def reopen(connection: Connection, board_id: int) -> None:
    """The board is not over after all: what ended it was taken back."""
    connection.execute(
        update(boards)
        .where(boards.c.id == board_id)
        .values(status=BoardStatus.ACTIVE, outcome=None, finished_at=None)
    )


def of_player(
    connection: Connection, player_id: int, statuses: Sequence[str], game: str | None, limit: int
) -> list[int]:
    """Numbers of a player's boards, newest first."""
    statement = _PLAYER_BOARDS.where(boards.c.status.in_(statuses)).limit(limit)
    if game is not None:
        statement = statement.where(boards.c.game == game)
    return list(connection.execute(statement, {"player": player_id}).scalars())


@dataclass(frozen=True, slots=True)
class Follower:
    """Somebody who watches a board; `what` is ``all`` or ``end``."""

    player_id: int
    userid: str
    address: str
    what: str


_FOLLOWERS = Prepared(
    select(*columns_of(Follower, followers, players))
    .join(players, players.c.id == followers.c.player_id)
    .where(followers.c.board_id == bindparam("board"), players.c.state == PlayerState.ACTIVE)
    .order_by(followers.c.player_id)
)
_FOLLOWED = (
    select(followers.c.board_id, followers.c.what)
    .where(followers.c.player_id == bindparam("player"))
    .order_by(followers.c.board_id.desc())
)


def followers_of(connection: Connection, board_id: int) -> list[Follower]:
    """Who watches a board; those who have left are not told any more."""
    return [Follower(*row) for row in _FOLLOWERS.run(connection, {"board": board_id})]


def followed_by(connection: Connection, player_id: int) -> list[tuple[int, str]]:
    """What a player watches: (board, ``all`` or ``end``), newest board first."""
    return [(row[0], row[1]) for row in connection.execute(_FOLLOWED, {"player": player_id})]


def count_followers(connection: Connection, board_id: int) -> int:
    """How many watch a board."""
    found: int = connection.execute(
        select(func.count()).select_from(followers).where(followers.c.board_id == board_id)
    ).scalar_one()
    return found


def follow(connection: Connection, board_id: int, player_id: int, what: str) -> None:
    """Watch a board from now on; another *what* replaces the one before."""
    connection.execute(
        insert_into(connection, followers)
        .values(board_id=board_id, player_id=player_id, what=what)
        .on_conflict_do_nothing()
    )
    connection.execute(
        update(followers)
        .where(followers.c.board_id == board_id, followers.c.player_id == player_id)
        .values(what=what)
    )


def unfollow(connection: Connection, board_id: int, player_id: int) -> bool:
    """Watch a board no longer; whether the player did so."""
    gone = connection.execute(
        delete(followers).where(
            followers.c.board_id == board_id, followers.c.player_id == player_id
        )
    )
    return gone.rowcount > 0


def drop_followers(connection: Connection, board_id: int) -> None:
    """Nothing more will happen on a board."""
    connection.execute(delete(followers).where(followers.c.board_id == board_id))
