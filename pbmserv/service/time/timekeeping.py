"""Runs the clocks of boards: when they start, and what turns, absences and outages do to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from pbmserv.engine.clocks import (
    Person,
    SeatClock,
    Server,
    clocks_after_turn,
    counted_wait,
    read_remind,
    time_left,
)
from pbmserv.engine.position import Position
from pbmserv.engine.time_spans import first_part
from pbmserv.engine.types import Seat
from pbmserv.service.core.context import CommandContext
from pbmserv.store import clocks, heartbeats
from pbmserv.store.accounts import absences
from pbmserv.store.boards import boards, game_pauses
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.clocks import Times
from pbmserv.store.events import event_games
from pbmserv.store.tables.boards import BoardStatus

_LONGEST_EVENT = timedelta(days=400)
"""Time before a board in which absences are looked for; no event lasts longer."""


def set_after_acceptance(
    context: CommandContext, board: BoardRow, undecided: Collection[str]
) -> tuple[SeatClock, ...]:
    """Set and return the clocks of a board that a player has accepted without a move.

    Args:
        board: the board before that.
        undecided: userids of players who have not accepted yet.
    """
    if board.status != BoardStatus.PROPOSED:
        return board.clocks
    position = context.position(board)
    times = times_at(context, board, position, undecided, ())
    clocks.set_times(context.connection, board.id, times)
    return times.clocks


def first_times(context: CommandContext, board: BoardRow) -> Times:
    """Return the times of a board whose clocks have not started."""
    return times_at(context, board, context.position(board), board.undecided, ())


def person_at(context: CommandContext, board: BoardRow, sitter: Sitter, since: datetime) -> Person:
    """Return the facts about a player for a wait since a moment.

    In an event, only the first days of absence since the player's first board there stop the clock.
    """
    most = board.terms.away
    if most is None:
        return sitter.person_away(absences.away(context.connection, sitter.player_id, since))
    begun = min(since, board.created_at)
    if board.event_id is not None and absences.away(
        context.connection, sitter.player_id, begun - _LONGEST_EVENT
    ):
        begun = min(begun, _first_board_at(context, board.event_id, sitter.player_id) or begun)
    away = absences.away(context.connection, sitter.player_id, begun)
    return sitter.person_away(first_part(away, begun, timedelta(days=most)))


def _first_board_at(context: CommandContext, event_id: int, player_id: int) -> datetime | None:
    """Return when the first board of a player in an event was made, `None` if there is none."""
    first = event_games.first_board(context.connection, event_id, player_id)
    board = None if first is None else boards.load(context.connection, first)
    return None if board is None else board.created_at


def server_of(context: CommandContext, board: BoardRow, since: datetime) -> Server:
    """Return the facts about the server for a wait at a board since a moment.

    While the game of the board is stopped, no clock runs, as if the server were down.
    """
    outages = heartbeats.outages_since(context.connection, since)
    pauses = game_pauses.spans(context.connection, board.game, since, context.now)
    return Server((*outages, *pauses), since)


def waited(
    context: CommandContext, board: BoardRow, sitter: Sitter, since: datetime, until: datetime
) -> timedelta:
    """Return the counted time for which a board waited for a player."""
    person = person_at(context, board, sitter, since)
    return counted_wait(since, until, board.terms, person, server_of(context, board, since))


def bank_words(
    context: CommandContext, board: BoardRow, seat_clocks: Sequence[SeatClock], seat: Seat
) -> dict[str, Any]:
    """Return the words of a letter about a player's bank of time; empty if there is none.

    Args:
        board: with its terms and players.
        seat_clocks: the clocks after the turn.
        seat: the reader's.
    """
    if not board.terms.has_bank or not seat_clocks or seat in board.bots:
        return {}
    clock, sitter = seat_clocks[seat], board.sitters[seat]
    since = clock.since or context.now
    server = server_of(context, board, since)
    person = person_at(context, board, sitter, since)
    left = time_left(clock, board.terms, person, server, context.now)
    if left is None:
        return {}
    until = left.until.isoformat() if left.until else ""
    return {"bank": {"left": left.counted.total_seconds(), "until": until, "tz": sitter.tz}}


def times_at(
    context: CommandContext,
    board: BoardRow,
    position: Position,
    undecided: Collection[str],
    ended: Collection[Seat],
) -> Times:
    """Return the times of a board at *position*.

    Args:
        board: the board before the ply that led there, or before a player accepted.
        undecided: userids of players who have not accepted yet.
        ended: seats whose turn that ply has ended.
    """
    before = board.clocks or (SeatClock(),) * board.seats
    if undecided:  # only answers are due: nobody can lose an open challenge
        waiting = {sitter.seat for sitter in board.sitters if sitter.userid in undecided}
    else:
        waiting = set(position.game.to_act(position.state)) - board.bots  # bots have no clocks
    if board.status == BoardStatus.PROPOSED and not undecided:
        ended = {sitter.seat for sitter in board.sitters}  # all have answered, and play begins
    spent = {}
    if board.terms.total is not None and board.status == BoardStatus.ACTIVE:
        for sitter in board.sitters:
            since = before[sitter.seat].since
            if since is None or (sitter.seat in waiting and sitter.seat not in ended):
                continue
            spent[sitter.seat] = waited(context, board, sitter, since, context.now)
    terms = board.terms.for_answer() if undecided else board.terms
    ahead = [read_remind(sitter.remind)[0] for sitter in board.sitters]
    return Times(
        *clocks_after_turn(before, waiting, ended, context.now, spent, terms, ahead, board.due_at)
    )
