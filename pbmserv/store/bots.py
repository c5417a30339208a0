"""Rows about the house: its accounts, boards on which it is to move, letters that wait for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.statements import Prepared, columns_of, insert_into
from pbmserv.store.delivery.outbox import NewLetter, QueuedLetter, letter, row_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import house_turns
from pbmserv.store.tables.mail import LetterState, outbox

_DUE = Prepared(
    select(house_turns.c.board_id)
    .where(house_turns.c.due_at <= bindparam("now"))
    .order_by(house_turns.c.due_at)
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A board on which the house is to move; `letter_id`: the letter that waits for it, if any."""

    board_id: int
    due_at: datetime
    letter_id: int | None


def account(connection: Connection, userid: str, now: datetime) -> Player:
    """The house's account of this name; the first board with it makes it."""
    connection.execute(
        insert_into(connection, players)
        .values(
            userid=userid,
            password_hash="",  # which is no password's
            address="",
            reply_epoch=0,
            created_at=now,
            state=PlayerState.BOT,
            accept="auto",
        )
        .on_conflict_do_nothing(index_elements=["userid"])
    )
    found = player_rows.of_name(connection, userid)
    assert found is not None
    return found


def known(connection: Connection, userid: str) -> Player | None:
    """The house's account of this name, if there is one yet."""
    found = player_rows.of_name(connection, userid)
    return found if found is not None and found.state == PlayerState.BOT else None


def wait(connection: Connection, board_id: int, now: datetime) -> bool:
    """Note that the house is to move; False = that is noted already."""
    added = connection.execute(
        insert_into(connection, house_turns)
        .values(board_id=board_id, due_at=now, letter_id=None)
        .on_conflict_do_nothing()
        .returning(house_turns.c.board_id)
    )
    return added.first() is not None


def due(connection: Connection, now: datetime, most: int) -> list[int]:
    """Boards on which the house is to move, those that wait longest first."""
    return [row[0] for row in _DUE.rows(connection, {"now": now, "most": most})]


def turn(connection: Connection, board_id: int) -> Turn | None:
    """What is noted of a board; its row must be locked, so that nobody else is at it."""
    row = connection.execute(
        select(*columns_of(Turn, house_turns)).where(house_turns.c.board_id == board_id)
    ).first()
    return Turn(*row) if row else None


def done(connection: Connection, board_id: int) -> None:
    """The house has no move to make on a board."""
    connection.execute(delete(house_turns).where(house_turns.c.board_id == board_id))


def put_off(connection: Connection, board_id: int, until: datetime) -> None:
    """Look at a board no earlier than *until*; nothing waits for it any more."""
    connection.execute(
        update(house_turns)
        .where(house_turns.c.board_id == board_id)
        .values(due_at=until, letter_id=None)
    )


def hold(
    connection: Connection,
    new: NewLetter,
    board_ids: Sequence[int],
    now: datetime,
    mail_id: int | None,
) -> None:
    """Queue a letter that goes out only when the house has moved on all of these boards."""
    letter_id = connection.execute(
        insert(outbox)
        .values(**row_of(new, now, mail_id), state=LetterState.COMING, due_at=None)
        .returning(outbox.c.id)
    ).scalar_one()
    connection.execute(
        update(house_turns).where(house_turns.c.board_id.in_(board_ids)).values(letter_id=letter_id)
    )


def coming(connection: Connection, letter_id: int | None) -> QueuedLetter | None:
    """A letter that waits for the house; ``None`` when it has gone, or is an operator's to send."""
    if letter_id is None:
        return None
    state = connection.execute(
        select(outbox.c.state).where(outbox.c.id == letter_id).with_for_update()
    ).scalar()
    return letter(connection, letter_id) if state == LetterState.COMING else None


def rewrite(connection: Connection, letter_id: int, new: NewLetter) -> None:
    """Say something else in a letter that waits."""
    connection.execute(
        update(outbox)
        .where(outbox.c.id == letter_id)
        .values(letter=new.letter, words=dict(new.words), ply=new.ply, message_id=new.message_id)
    )


def release(connection: Connection, letter_id: int, now: datetime) -> bool:
    """Send a letter, unless it still waits for the house on another board."""
    others = select(house_turns.c.board_id).where(house_turns.c.letter_id == letter_id)
    if connection.execute(others).first() is not None:
        return False
    connection.execute(
        update(outbox)
        .where(outbox.c.id == letter_id, outbox.c.state == LetterState.COMING)
        .values(state=LetterState.QUEUED, due_at=now)
    )
    return True
