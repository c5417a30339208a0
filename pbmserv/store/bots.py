"""Rows of work for the bots' process: moves, reports of the coach, and letters that wait."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Table,
    and_,
    bindparam,
    delete,
    insert,
    select,
    update,
)

from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.statements import add_if_new, columns_of, first_row, has_row
from pbmserv.store.delivery import outbox as outbox_rows
from pbmserv.store.delivery.outbox import NewLetter, QueuedLetter
from pbmserv.store.delivery.shares import share_of, shares_of, within
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.bots import analyses, awaited_analyses, house_turns
from pbmserv.store.tables.mail import LetterState

_GAMES: BindParameter[Sequence[str]] = bindparam("games", expanding=True)
_DUE = (
    select(house_turns.c.board_id)
    .where(house_turns.c.due_at <= bindparam("now"), house_turns.c.game.in_(_GAMES))
    .order_by(house_turns.c.due_at)
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A note that a bot is to move on a board.

    Attributes:
        letter_id: letter that waits for the move; `None` for none.
    """

    letter_id: int | None


def account(connection: Connection, userid: str, now: datetime) -> Player:
    """Return the account of a bot; create it for its first board."""
    add_if_new(connection, players, **_new_account(userid).columns, created_at=now)
    player = player_rows.account_of(connection, userid)
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
    player = player_rows.account_of(connection, userid)
    if player is None:
        return _new_account(userid)
    return player if player.state == PlayerState.BOT else None


def _new_account(userid: str) -> Player:
    """Return an account that takes challenges at once; no password opens it."""
    return Player(
        id=0,
        userid=userid,
        password_hash="",
        address="",
        reply_epoch=0,
        state=PlayerState.BOT,
        accept="auto",
    )


def _of_board(connection: Connection, table: Table, board_id: int) -> ColumnElement[bool]:
    """Return the condition for the rows of a board; it names their share, too."""
    return and_(table.c.board_id == board_id, table.c.share == share_of(connection, board_id))


def begin_turn(connection: Connection, board_id: int, game: str, now: datetime) -> bool:
    """Note that a bot is to move on a board; return `False` if that is noted already."""
    share = share_of(connection, board_id)
    turn_of_board = {"board_id": board_id, "due_at": now, "game": game, "share": share}
    return add_if_new(connection, house_turns, **turn_of_board)


def due(connection: Connection, now: datetime, most: int, games: Sequence[str]) -> list[int]:
    """Return boards of games on which a bot is to move, in the order of their due times; on a
    distributed database each share has its own order."""
    board_ids = list[int]()
    shares = shares_of(connection)
    for share in random.sample(shares, len(shares)):
        if most > len(board_ids):
            values = {"now": now, "most": most - len(board_ids), "games": games}
            statement = within(_DUE, house_turns, share)
            board_ids += connection.execute(statement, values).scalars()
    return board_ids


def turn(connection: Connection, board_id: int) -> Turn | None:
    """Return the turn of a bot on a board; the caller holds the lock of the board."""
    statement = select(*columns_of(Turn, house_turns)).where(
        _of_board(connection, house_turns, board_id)
    )
    return first_row(connection, Turn, statement)


def end_turn(connection: Connection, board_id: int) -> None:
    """Note that no bot is to move on a board."""
    connection.execute(delete(house_turns).where(_of_board(connection, house_turns, board_id)))


def put_off(connection: Connection, board_id: int, until: datetime) -> None:
    """Postpone the move on a board; no letter waits for it any more."""
    connection.execute(
        update(house_turns)
        .where(_of_board(connection, house_turns, board_id))
        .values(due_at=until, letter_id=None)
    )


def queue_waiting_letter(
    connection: Connection,
    new: NewLetter,
    board_ids: Sequence[int],
    now: datetime,
    mail_id: int | None,
    coach_boards: Collection[int],
) -> None:
    """Queue a letter that is sent when bots have moved on these boards.

    Args:
        coach_boards: boards on whose requested reports the letter waits, too.
    """
    letter_id = outbox_rows.add_waiting(connection, new, [*board_ids, *coach_boards], now, mail_id)
    for board_id in board_ids:
        waits_for_move = update(house_turns).where(_of_board(connection, house_turns, board_id))
        connection.execute(waits_for_move.values(letter_id=letter_id))
    for board_id in coach_boards:
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
    .where(analyses.c.due_at <= bindparam("now"), analyses.c.game.in_(_GAMES))
    .order_by(analyses.c.due_at, *_REQUEST)
    .limit(1)
)


def request_report(
    connection: Connection, request: ReportRequest, game: str, now: datetime
) -> None:
    """Request a report, again if the coach could not make it before."""
    share = share_of(connection, request.board_id)
    new = {**asdict(request), "due_at": now, "found": {}, "game": game, "share": share}
    add_if_new(connection, analyses, **new)
    # A waiting request keeps its turn.
    again = update(analyses).where(_is_request(connection, request), analyses.c.due_at.is_(None))
    connection.execute(again.values(due_at=now))


def _is_request(connection: Connection, request: ReportRequest) -> ColumnElement[bool]:
    return and_(
        _of_board(connection, analyses, request.board_id),
        *(column == value for column, value in zip(_REQUEST, astuple(request), strict=True)),
    )


def next_request(
    connection: Connection, now: datetime, games: Sequence[str]
) -> ReportRequest | None:
    """Return the next due request for a report about a game, `None` if there is none."""
    shares = shares_of(connection)
    for share in random.sample(shares, len(shares)):
        statement = within(_NEXT_REQUEST, analyses, share)
        row = connection.execute(statement, {"now": now, "games": games}).first()
        if row is not None:
            return ReportRequest(*row)
    return None


def is_report_due(connection: Connection, board_id: int) -> bool:
    """Return whether a requested report about a board is not finished."""
    of_board = _of_board(connection, analyses, board_id)
    return has_row(connection, analyses, of_board, analyses.c.due_at.is_not(None))


def finished_reports(
    connection: Connection, board_id: int, ply: int
) -> dict[int, Mapping[str, Any]]:
    """Return the finished reports about a position, by seat."""
    rows = connection.execute(
        select(analyses.c.seat, analyses.c.found).where(
            _of_board(connection, analyses, board_id),
            analyses.c.ply == ply,
            analyses.c.due_at.is_(None),
        )
    )
    return {seat: words for seat, words in rows if words}


def keep_report(connection: Connection, request: ReportRequest, words: Mapping[str, Any]) -> None:
    """Store a report; no *words* if the coach could not make it."""
    connection.execute(
        update(analyses)
        .where(_is_request(connection, request))
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
    for board_id in outbox_rows.boards_awaited(connection, letter_id):
        turn_on = _of_board(connection, house_turns, board_id)
        for table, is_board in (
            (house_turns, turn_on),
            (awaited_analyses, awaited_analyses.c.board_id == board_id),
        ):
            if has_row(connection, table, is_board, table.c.letter_id == letter_id):
                return False
    outbox_rows.change_waiting(connection, letter_id, state=LetterState.QUEUED, due_at=now)
    return True
