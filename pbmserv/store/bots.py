"""Rows of work for the bots' process: moves, reports of the coach, and letters that wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, delete, func, insert, select, update

from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.delivery import outbox as outbox_rows
from pbmserv.store.delivery.outbox import NewLetter, QueuedLetter
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import analyses, awaited_analyses, boards, house_turns
from pbmserv.store.tables.mail import LetterState

_GAMES: BindParameter[Sequence[str]] = bindparam("games", expanding=True)
_DUE = (
    select(house_turns.c.board_id)
    .join(boards, boards.c.id == house_turns.c.board_id)
    .where(house_turns.c.due_at <= bindparam("now"), boards.c.game.in_(_GAMES))
    .order_by(house_turns.c.due_at)
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A board on which a bot is to move.

    Attributes:
        letter_id: letter that waits for the move; `None` for none.
    """

    board_id: int
    due_at: datetime
    letter_id: int | None


def account(connection: Connection, userid: str, now: datetime) -> Player:
    """Return the account of a bot; create it for its first board."""
    connection.execute(
        insert_into(connection, players)
        .values(
            userid=userid,
            password_hash="",  # matches no password
            address="",
            reply_epoch=0,
            created_at=now,
            state=PlayerState.BOT,
            accept="auto",
        )
        .on_conflict_do_nothing(index_elements=["userid"])
    )
    player = player_rows.of_name(connection, userid)
    assert player is not None
    return player


def userids(connection: Connection) -> dict[int, str]:
    """Return the userids of the bots by player id."""
    statement = select(players.c.id, players.c.userid).where(players.c.state == PlayerState.BOT)
    return {row.id: row.userid for row in connection.execute(statement)}


def shown_account(connection: Connection, userid: str) -> Player | None:
    """Return the account of a bot, or what `account` would create.

    Returns:
        None if the name belongs to somebody else.
    """
    player = player_rows.of_name(connection, userid)
    if player is None:
        return _new_account(userid)
    return player if player.state == PlayerState.BOT else None


def _new_account(userid: str) -> Player:
    """Return the account that `account` would create."""
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
        announcements=False,
        report="ask",
        labels="ask",
        public=True,
        messages="none",
        digest_minute=None,
        unreachable_since=None,
    )


def begin_turn(connection: Connection, board_id: int, now: datetime) -> bool:
    """Note that a bot is to move on a board; return `False` if that is noted already."""
    added = connection.execute(
        insert_into(connection, house_turns)
        .values(board_id=board_id, due_at=now, letter_id=None)
        .on_conflict_do_nothing()
        .returning(house_turns.c.board_id)
    )
    return added.first() is not None


def due(connection: Connection, now: datetime, most: int, games: Sequence[str]) -> list[int]:
    """Return boards of games on which a bot is to move, in the order of their due times."""
    rows = connection.execute(_DUE, {"now": now, "most": most, "games": games})
    return list(rows.scalars())


def turn(connection: Connection, board_id: int) -> Turn | None:
    """Return the turn of a bot on a board; the caller holds the lock of the board."""
    row = connection.execute(
        select(*columns_of(Turn, house_turns)).where(house_turns.c.board_id == board_id)
    ).first()
    return Turn(*row) if row else None


def end_turn(connection: Connection, board_id: int) -> None:
    """Note that no bot is to move on a board."""
    connection.execute(delete(house_turns).where(house_turns.c.board_id == board_id))


def put_off(connection: Connection, board_id: int, until: datetime) -> None:
    """Postpone the move on a board; no letter waits for it any more."""
    connection.execute(
        update(house_turns)
        .where(house_turns.c.board_id == board_id)
        .values(due_at=until, letter_id=None)
    )


def queue_waiting_letter(
    connection: Connection,
    new: NewLetter,
    board_ids: Sequence[int],
    now: datetime,
    mail_id: int | None,
    reported: Iterable[int] = (),
) -> None:
    """Queue a letter that is sent when bots have moved on these boards.

    Args:
        reported: boards on whose requested reports the letter waits, too.
    """
    letter_id = outbox_rows.add_waiting(connection, new, now, mail_id)
    waits_for_move = update(house_turns).where(house_turns.c.board_id == bindparam("board"))
    for board_id in board_ids:
        connection.execute(waits_for_move.values(letter_id=letter_id), {"board": board_id})
    for board_id in reported:
        waits = {"letter_id": letter_id, "board_id": board_id}
        connection.execute(insert(awaited_analyses).values(waits))


def waiting_letter(connection: Connection, letter_id: int | None) -> QueuedLetter | None:
    """Return a letter that waits for a bot, `None` if it is sent or an operator handles it."""
    if letter_id is None:
        return None
    return outbox_rows.lock_waiting(connection, letter_id)


def rewrite(connection: Connection, letter_id: int, new: NewLetter) -> None:
    """Replace the content of a letter that waits."""
    values = {"letter": new.letter, "words": dict(new.words), "ply": new.ply}
    outbox_rows.change_waiting(connection, letter_id, **values, message_id=new.message_id)


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A request for a report about a seat's play up to a ply."""

    board_id: int
    ply: int
    seat: int


_REQUEST = columns_of(ReportRequest, analyses)
_NEXT_REQUEST = (
    select(*_REQUEST)
    .join(boards, boards.c.id == analyses.c.board_id)
    .where(analyses.c.due_at <= bindparam("now"), boards.c.game.in_(_GAMES))
    .order_by(analyses.c.due_at, *_REQUEST)
    .limit(1)
)


def request_report(connection: Connection, request: ReportRequest, now: datetime) -> None:
    """Request a report, again if the coach could not make it before."""
    new = insert_into(connection, analyses).values(**asdict(request), due_at=now, found={})
    due = func.coalesce(analyses.c.due_at, new.excluded.due_at)  # a waiting request keeps its turn
    connection.execute(
        new.on_conflict_do_update(index_elements=[c.name for c in _REQUEST], set_={"due_at": due})
    )


def next_request(
    connection: Connection, now: datetime, games: Sequence[str]
) -> ReportRequest | None:
    """Return the next due request for a report about a game, `None` if there is none."""
    row = connection.execute(_NEXT_REQUEST, {"now": now, "games": games}).first()
    return None if row is None else ReportRequest(*row)


def is_report_due(connection: Connection, board_id: int) -> bool:
    """Return whether a requested report about a board is not finished."""
    due = select(analyses.c.ply).where(
        analyses.c.board_id == board_id, analyses.c.due_at.is_not(None)
    )
    return connection.execute(due.limit(1)).first() is not None


def finished_reports(
    connection: Connection, board_id: int, ply: int
) -> dict[int, Mapping[str, Any]]:
    """Return the finished reports about a position, by seat."""
    rows = connection.execute(
        select(analyses.c.seat, analyses.c.found).where(
            analyses.c.board_id == board_id, analyses.c.ply == ply, analyses.c.due_at.is_(None)
        )
    )
    return {seat: words for seat, words in rows if words}


def keep_report(connection: Connection, request: ReportRequest, words: Mapping[str, Any]) -> None:
    """Store a report; no *words* if the coach could not make it."""
    connection.execute(
        update(analyses)
        .where(*(column == value for column, value in zip(_REQUEST, astuple(request), strict=True)))
        .values(due_at=None, found=dict(words))
    )


def take_waiting_letters(connection: Connection, board_id: int) -> list[int]:
    """Return the letters that wait for reports about a board, and end their waiting."""
    is_board = awaited_analyses.c.board_id == board_id
    ids = connection.execute(select(awaited_analyses.c.letter_id).where(is_board)).scalars().all()
    connection.execute(delete(awaited_analyses).where(is_board))
    return list(ids)


def release(connection: Connection, letter_id: int, now: datetime) -> bool:
    """Queue a letter unless it still waits for another board or report.

    Returns:
        Whether it was queued.
    """
    for table in (house_turns, awaited_analyses):
        others = select(table.c.board_id).where(table.c.letter_id == letter_id)
        if connection.execute(others).first() is not None:
            return False
    outbox_rows.change_waiting(connection, letter_id, state=LetterState.QUEUED, due_at=now)
    return True
