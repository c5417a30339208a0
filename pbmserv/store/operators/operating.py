"""Rows that only operators look at or change: lists, letters, accounts, seats handed over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, exists, func, not_, select, update

from pbmserv.engine.clocks import Terms
from pbmserv.store.accounts import blocks
from pbmserv.store.core.statements import columns_of
from pbmserv.store.tables import boards
from pbmserv.store.tables.accounts import (
    PlayerState,
    address_changes,
    addresses,
    invitations,
    notices,
    players,
    signups,
)
from pbmserv.store.tables.boards import (
    RUNNING,
    BoardStatus,
    daily_boards,
    daily_readers,
    followers,
    scores,
    seats,
    seeks,
    submitted_moves,
)
from pbmserv.store.tables.mail import UNSENT, LetterState, inbox, letter_bytes, outbox


@dataclass(frozen=True, slots=True)
class UserLine:
    """A player in a list; `running`: boards that are proposed or active."""

    userid: str
    state: PlayerState
    address: str
    created_at: datetime
    running: int


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A board in a list."""

    id: int
    game: str
    status: BoardStatus
    names: tuple[str, ...]
    plies: int
    created_at: datetime
    due_at: datetime | None


def users(connection: Connection, state: str | None, like: str, limit: int) -> list[UserLine]:
    """Players by userid; *like* stands somewhere in the userid or the address."""
    count = (
        select(func.count(func.distinct(seats.c.board_id)))
        .join(boards, boards.c.id == seats.c.board_id)
        .where(seats.c.player_id == players.c.id, boards.c.status.in_(RUNNING))
        .scalar_subquery()
    )
    statement = select(*columns_of(UserLine, players, running=count))
    if state:
        statement = statement.where(players.c.state == state)
    if like:
        found = players.c.userid.contains(like, autoescape=True)
        statement = statement.where(found | players.c.address.contains(like, autoescape=True))
    rows = connection.execute(statement.order_by(players.c.userid).limit(limit))
    return [UserLine(*row) for row in rows]


def boards_listed(
    connection: Connection, status: str | None, game: str | None, player_id: int | None, limit: int
) -> list[BoardLine]:
    """Boards, newest first."""
    statement = select(
        boards.c.id,
        boards.c.game,
        boards.c.status,
        boards.c.plies,
        boards.c.created_at,
        boards.c.due_at,
    )
    if status:
        statement = statement.where(boards.c.status == status)
    if game:
        statement = statement.where(boards.c.game == game)
    if player_id is not None:
        own = select(seats.c.board_id).where(seats.c.player_id == player_id)
        statement = statement.where(boards.c.id.in_(own))
    found = list(connection.execute(statement.order_by(boards.c.id.desc()).limit(limit)))
    names: dict[int, list[str]] = {row.id: [] for row in found}
    sitting = (
        select(seats.c.board_id, players.c.userid)
        .join(players, players.c.id == seats.c.player_id)
        .where(seats.c.board_id.in_(list(names)))
        .order_by(seats.c.board_id, seats.c.seat)
    )
    for row in connection.execute(sitting):
        names[row.board_id].append(row.userid)
    return [
        BoardLine(r.id, r.game, r.status, tuple(names[r.id]), r.plies, r.created_at, r.due_at)
        for r in found
    ]


def counted(connection: Connection) -> dict[tuple[str, int, str], int]:
    """How many boards there are by game, rules version and status."""
    found = connection.execute(
        select(boards.c.game, boards.c.rules_version, boards.c.status, func.count()).group_by(
            boards.c.game, boards.c.rules_version, boards.c.status
        )
    )
    return {(row[0], row[1], row[2]): row[3] for row in found}


def bar(connection: Connection, player_id: int) -> None:
    """Who has just left cannot come back by themselves."""
    _set_player(connection, player_id, state=PlayerState.BARRED)


def revoke(connection: Connection, player_id: int, epoch: int) -> None:
    """Every reply address that the player ever got stops working."""
    _set_player(connection, player_id, reply_epoch=epoch + 1)


def retire(connection: Connection, player_id: int) -> None:
    """An account that has been merged into another: nobody can use it, and nobody gets its name."""
    _set_player(connection, player_id, state=PlayerState.DELETED, password_hash="", accept="none")


def _set_player(connection: Connection, player_id: int, **values: Any) -> None:
    connection.execute(update(players).where(players.c.id == player_id).values(**values))


def shared_boards(connection: Connection, one: int, other: int) -> list[int]:
    """Boards at which both of two players sit."""
    theirs = select(seats.c.board_id).where(seats.c.player_id == other)
    found = connection.execute(
        select(seats.c.board_id)
        .where(seats.c.player_id == one, seats.c.board_id.in_(theirs))
        .distinct()
        .order_by(seats.c.board_id)
    )
    return list(found.scalars())


def move_readings(connection: Connection, old: int, new: int) -> None:
    """The boxes of the day that one player gets come to another, who may get them already."""
    theirs = select(daily_readers.c.game).where(daily_readers.c.player_id == new)
    connection.execute(
        update(daily_readers)
        .where(daily_readers.c.player_id == old, daily_readers.c.game.not_in(theirs))
        .values(player_id=new)
    )


def move_everything(connection: Connection, old: int, new: int) -> int:
    """Seats, results, addresses and mails of one player become another's; how many seats it were.

    A day's box that both have got stays where it is: it is no second result of the other's.
    """
    seated = connection.execute(
        update(seats).where(seats.c.player_id == old).values(player_id=new)
    ).rowcount
    known = select(addresses.c.address).where(addresses.c.player_id == new)
    connection.execute(
        update(addresses)
        .where(addresses.c.player_id == old, addresses.c.address.not_in(known))
        .values(player_id=new)
    )
    connection.execute(delete(addresses).where(addresses.c.player_id == old))
    for table in (followers, seeks):
        connection.execute(delete(table).where(table.c.player_id == old))
    blocks.move(connection, old, new)
    got = daily_boards.alias()
    twice = select(got.c.day).where(
        got.c.player_id == new, got.c.game == daily_boards.c.game, got.c.day == daily_boards.c.day
    )
    connection.execute(
        update(daily_boards)
        .where(daily_boards.c.player_id == old, ~twice.exists())
        .values(player_id=new)
    )
    _drop_letters(connection, old, None, "the account was merged into another")
    connection.execute(delete(notices).where(notices.c.player_id == old))
    for table in (scores, inbox, outbox, signups, address_changes, invitations):
        connection.execute(update(table).where(table.c.player_id == old).values(player_id=new))
    return int(seated)


def _drop_letters(connection: Connection, player_id: int, board_id: int | None, why: str) -> None:
    """Letters to a player that were not sent yet never are; with a board only those about it."""
    which = (outbox.c.player_id == player_id) & outbox.c.state.in_(UNSENT)
    if board_id is not None:
        which &= outbox.c.board_id == board_id
    connection.execute(
        update(outbox).where(which).values(state=LetterState.FAILED, due_at=None, error=why)
    )


def hand_over(
    connection: Connection, board_id: int, old: int, new: int, now: datetime
) -> list[int]:
    """Every seat of one player at a board becomes another's, without plans; the seats.

    What the one who leaves has not been sent about the board would show the other's secrets.
    """
    mine = (seats.c.board_id == board_id) & (seats.c.player_id == old)
    handed = list(connection.execute(select(seats.c.seat).where(mine)).scalars())
    connection.execute(update(seats).where(mine).values(player_id=new, accepted_at=now, plan=None))
    connection.execute(
        delete(submitted_moves).where(
            submitted_moves.c.board_id == board_id, submitted_moves.c.seat.in_(handed)
        )
    )
    connection.execute(
        delete(followers).where(followers.c.board_id == board_id, followers.c.player_id == new)
    )
    _drop_letters(connection, old, board_id, "the seat was given to another player")
    return handed


def set_rated(connection: Connection, board_id: int, *, rated: bool) -> None:
    """Whether a board's result counts."""
    connection.execute(update(boards).where(boards.c.id == board_id).values(rated=rated))


def set_terms(connection: Connection, board_id: int, terms: Terms) -> None:
    """How long a board's players may take from now on."""
    connection.execute(
        update(boards)
        .where(boards.c.id == board_id)
        .values(nag_days=terms.nag, forfeit_days=terms.forfeit, total_days=terms.total)
    )


DROPPED = "dropped: "
"""How the fault of a letter begins that an operator will never have sent."""


@dataclass(frozen=True, slots=True)
class PostRow:
    """A letter in the outbox; `made`: its mail is kept as it was sent, or is going to be; `game`:
    that of its board."""

    id: int
    letter: str
    recipient: str
    player_id: int | None
    board_id: int | None
    state: LetterState
    attempts: int
    due_at: datetime | None
    error: str
    created_at: datetime
    sent_at: datetime | None
    made: bool
    game: str | None

    @property
    def about(self) -> str:
        """Its board and game, if it is about one."""
        return "" if self.board_id is None else f"{self.board_id} ({self.game})"


_GAME = select(boards.c.game).where(boards.c.id == outbox.c.board_id)
_ROW = select(
    *columns_of(
        PostRow,
        outbox,
        made=exists().where(letter_bytes.c.letter_id == outbox.c.id),
        game=_GAME.scalar_subquery(),
    )
)


def letters_listed(
    connection: Connection, states: tuple[str, ...], to: str, most: int
) -> list[PostRow]:
    """Letters of these states, newest first; *to* stands somewhere in the address."""
    statement = _ROW.where(outbox.c.state.in_(states)).order_by(outbox.c.id.desc()).limit(most)
    if to:
        statement = statement.where(outbox.c.recipient.contains(to, autoescape=True))
    return [PostRow(*row) for row in connection.execute(statement)]


def failed_letters(connection: Connection, since: datetime | None) -> list[int]:
    """Numbers of letters that have failed, oldest first; of those since then if that is given.

    Not those that operators have dropped, nor those of which there is a copy to be sent.
    """
    statement = select(outbox.c.id, outbox.c.message_id).where(
        outbox.c.state == LetterState.FAILED,
        outbox.c.recipient != "",
        not_(outbox.c.error.startswith(DROPPED)),
    )
    if since is not None:
        statement = statement.where(outbox.c.created_at >= since)
    found = connection.execute(statement.order_by(outbox.c.id)).all()
    ids = {row.message_id for row in found}
    newest = connection.execute(
        select(outbox.c.message_id, func.max(outbox.c.id).label("newest"))
        .where(outbox.c.message_id.in_(ids))
        .group_by(outbox.c.message_id)
    )
    last = {row.message_id: row.newest for row in newest}
    return [row.id for row in found if last[row.message_id] == row.id]


def lock_letter(connection: Connection, letter_id: int) -> PostRow | None:
    """A letter, locked in a transaction that writes."""
    row = connection.execute(_ROW.where(outbox.c.id == letter_id).with_for_update()).first()
    return PostRow(*row) if row else None


def put_letter(
    connection: Connection, letter_id: int, state: str, due_at: datetime | None, error: str
) -> None:
    """Change what becomes of a letter."""
    connection.execute(
        update(outbox)
        .where(outbox.c.id == letter_id)
        .values(state=state, due_at=due_at, error=error, claimed_by=None)
    )
