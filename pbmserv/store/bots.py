"""Rows of what the bots' process thinks about: moves, the coach's reports, letters that wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.statements import Prepared, columns_of, insert_into
from pbmserv.store.delivery.outbox import NewLetter, QueuedLetter, letter, row_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import analyses, awaited_analyses, house_turns
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


def userids(connection: Connection) -> dict[int, str]:
    """The userid of each account of the house, by its id."""
    found = select(players.c.id, players.c.userid).where(players.c.state == PlayerState.BOT)
    return {row.id: row.userid for row in connection.execute(found)}


def known(connection: Connection, userid: str) -> Player | None:
    """The house's account of this name; before its first board, one that no row belongs to.

    ``None``: somebody else has the name.
    """
    found = player_rows.of_name(connection, userid)
    if found is None:
        return _unmet(userid)
    return found if found.state == PlayerState.BOT else None


def _unmet(userid: str) -> Player:
    """What `account` would make."""
    return Player(
        id=0,
        userid=userid,
        password_hash="",
        address="",
        reply_epoch=0,
        state=PlayerState.BOT,
        format="html",
        tz="UTC",
        accept="auto",
        remind="",
        broadcasts=False,
        report="ask",
        labels="ask",
        public=True,
        messages="none",
        digest_minute=None,
        unreachable_since=None,
    )


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
    return [row[0] for row in _DUE.run(connection, {"now": now, "most": most})]


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
    reported: Iterable[int] = (),
) -> None:
    """Queue a letter that goes out only when the house has moved on all of these boards, and all
    is worked out that is asked for of those that are *reported*."""
    letter_id = connection.execute(
        insert(outbox)
        .values(**row_of(new, now, mail_id), state=LetterState.COMING, due_at=None)
        .returning(outbox.c.id)
    ).scalar_one()
    connection.execute(
        update(house_turns).where(house_turns.c.board_id.in_(board_ids)).values(letter_id=letter_id)
    )
    for board_id in reported:
        waits = {"letter_id": letter_id, "board_id": board_id}
        connection.execute(insert(awaited_analyses).values(waits))


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


@dataclass(frozen=True, slots=True)
class Asked:
    """A seat's play up to a ply of a board, on which somebody wants a report."""

    board_id: int
    ply: int
    seat: int


_ASKED = columns_of(Asked, analyses)
_NEXT_ASKED = Prepared(
    select(*_ASKED)
    .where(analyses.c.due_at <= bindparam("now"))
    .order_by(analyses.c.due_at, *_ASKED)
    .limit(1)
)


def ask_report(connection: Connection, asked: Asked, now: datetime) -> None:
    """Have it worked out, once more where that could not be done; nothing of it may be `found`."""
    new = insert_into(connection, analyses).values(**asdict(asked), due_at=now, found={})
    due = func.coalesce(analyses.c.due_at, new.excluded.due_at)  # what waits keeps its turn
    connection.execute(
        new.on_conflict_do_update(index_elements=[c.name for c in _ASKED], set_={"due_at": due})
    )


def next_asked(connection: Connection, now: datetime) -> Asked | None:
    """What is to be worked out next."""
    for row in _NEXT_ASKED.run(connection, {"now": now}):
        return Asked(*row)
    return None


def is_report_due(connection: Connection, board_id: int) -> bool:
    """Whether anything of a board is still to be worked out."""
    due = select(analyses.c.ply).where(
        analyses.c.board_id == board_id, analyses.c.due_at.is_not(None)
    )
    return connection.execute(due.limit(1)).first() is not None


def found(connection: Connection, board_id: int, ply: int) -> dict[int, Mapping[str, Any]]:
    """What was worked out, by seat; nothing of a seat where that could not be done."""
    rows = connection.execute(
        select(analyses.c.seat, analyses.c.found).where(
            analyses.c.board_id == board_id, analyses.c.ply == ply, analyses.c.due_at.is_(None)
        )
    )
    return {seat: words for seat, words in rows if words}


def keep_report(connection: Connection, asked: Asked, words: Mapping[str, Any]) -> None:
    """Keep what was worked out; no *words*: it could not be done."""
    connection.execute(
        update(analyses)
        .where(*(column == value for column, value in zip(_ASKED, astuple(asked), strict=True)))
        .values(due_at=None, found=dict(words))
    )


def awaiting(connection: Connection, board_id: int) -> list[int]:
    """Letters that wait for what is worked out of a board; they wait for it no longer."""
    mine = awaited_analyses.c.board_id == board_id
    ids = connection.execute(select(awaited_analyses.c.letter_id).where(mine)).scalars().all()
    connection.execute(delete(awaited_analyses).where(mine))
    return list(ids)


def release(connection: Connection, letter_id: int, now: datetime) -> bool:
    """Send a letter, unless it still waits for the house on another board, or for a report."""
    for table in (house_turns, awaited_analyses):
        others = select(table.c.board_id).where(table.c.letter_id == letter_id)
        if connection.execute(others).first() is not None:
            return False
    connection.execute(
        update(outbox)
        .where(outbox.c.id == letter_id, outbox.c.state == LetterState.COMING)
        .values(state=LetterState.QUEUED, due_at=now)
    )
    return True
