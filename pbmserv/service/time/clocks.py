"""Clocks of boards: the times that a challenge sets, and the effect of a turn on them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pbmserv.commands.grammar.word_forms import BANK_EXAMPLES, MOST_DAYS
from pbmserv.engine.clocks import (
    USUAL,
    Person,
    SeatClock,
    Server,
    Terms,
    clocks_after_turn,
    counted_wait,
    read_remind,
    time_left,
)
from pbmserv.engine.position import Position
from pbmserv.engine.time_spans import first_part
from pbmserv.engine.types import Seat
from pbmserv.errors import OptionError
from pbmserv.service.core.context import CommandContext
from pbmserv.store import clocks, events
from pbmserv.store.boards import boards, game_pauses
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.clocks import Times
from pbmserv.store.tables.boards import BoardStatus

_NAMES = {"nagtime": "nag", "forfeittime": "forfeit", "totaltime": "total"}
_EXAMPLES = {
    "nagtime": "--nagtime=7",
    "forfeittime": "--forfeittime=30",
    "totaltime": "--totaltime=60",
    **BANK_EXAMPLES,
}
_DAYS = re.compile(r"\d+")

_LONGEST_EVENT = timedelta(days=400)
"""Time before a board in which absences are looked for; no event lasts longer."""

USUAL_CAP = 30
"""The most days that increments leave to a player, unless a challenge says otherwise."""


def read_times(words: Sequence[str], before: Terms = USUAL) -> Terms:
    """Return the terms that a challenge asks for.

    If only the forfeit is given, the reminder comes before it. A bank replaces the usual forfeit.

    Args:
        words: ``--nagtime=N``, ``--forfeittime=N``, ``--totaltime=N``, ``--time=14d+1d/weekdays``
            and ``--cap=30d``, in any order; 0 = none.
        before: the terms for times that are not given.

    Raises:
        OptionError: a time is given twice, too long, or does not fit the others.
    """
    terms = before
    seen: dict[str, str] = {}
    for word in words:
        name, _, value = word.removeprefix("--").partition("=")
        if name in seen:
            raise OptionError("time-repeated", part=word, first=seen[name], example=seen[name])
        seen[name] = word
        if any(int(days) > MOST_DAYS for days in _DAYS.findall(value)):
            raise OptionError("time-long", part=word, most=MOST_DAYS, example=_EXAMPLES[name])
        if name in _NAMES:
            changed: dict[str, Any] = {_NAMES[name]: int(value)}
            terms = replace(terms, **changed)
    if "time" in seen or "cap" in seen:
        terms = _with_bank(terms, seen)
    if "nagtime" not in seen and terms.nag >= terms.forfeit > 0:
        terms = replace(terms, nag=_nag_before(terms.forfeit))
    if terms.nag and terms.forfeit and terms.nag >= terms.forfeit:
        part = seen.get("forfeittime") or seen["nagtime"]
        fits = terms.nag < MOST_DAYS
        raise OptionError(
            "time-order",
            part=part,
            nag=terms.nag,
            forfeit=terms.forfeit,
            example=f"--nagtime={terms.nag if fits else USUAL.nag} "
            f"--forfeittime={min(MOST_DAYS, terms.nag + 14) if fits else MOST_DAYS}",
        )
    return terms if terms.total else replace(terms, total=None, increment=0, cap=None)


def _with_bank(terms: Terms, seen: Mapping[str, str]) -> Terms:
    """Return the terms with a bank of time.

    Args:
        terms: the terms without it.
        seen: the words of the challenge by their names.

    Raises:
        OptionError: the bank is empty or too large, or does not fit the other times.
    """
    if "time" not in seen:
        cap = seen["cap"]
        raise OptionError(
            "time-cap-alone", part=cap, example=f"--time=14d+1d {_with_days(cap, 30)}"
        )
    word = seen["time"]
    if "totaltime" in seen:
        raise OptionError("time-and-total", part=seen["totaltime"], first=word, example=word)
    bank, *more = (int(days) for days in _DAYS.findall(word))
    if bank == 0:
        raise OptionError("time-empty", part=word, example=_EXAMPLES["time"])
    most = int(_DAYS.findall(seen["cap"])[0]) if "cap" in seen else max(bank, USUAL_CAP)
    if most < bank:
        example = f"{word} --cap={bank}d"
        raise OptionError("time-cap-low", part=seen["cap"], first=word, days=bank, example=example)
    return replace(
        terms,
        nag=terms.nag if "nagtime" in seen or terms.nag < bank else _nag_before(bank),
        forfeit=terms.forfeit if "forfeittime" in seen else 0,
        total=bank,
        increment=sum(more),
        cap=most,
        weekdays=word.endswith("/weekdays"),
    )


def _with_days(word: str, least: int) -> str:
    """Return a cap in its correct form with at least so many days."""
    days = max(least, *(int(days) for days in _DAYS.findall(word)))
    return f"--cap={days}d"


def _nag_before(forfeit: int) -> int:
    """Return the days to the reminder, a third of those to the forfeit; 0: one day before it."""
    return max(1, forfeit * USUAL.nag // USUAL.forfeit) if forfeit > 1 else 0


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
        return sitter.person_away(clocks.away(context.connection, sitter.player_id, since))
    begun = min(since, board.created_at)
    if board.event_id is not None and clocks.away(
        context.connection, sitter.player_id, begun - _LONGEST_EVENT
    ):
        begun = min(begun, _first_board_at(context, board.event_id, sitter.player_id) or begun)
    away = clocks.away(context.connection, sitter.player_id, begun)
    return sitter.person_away(first_part(away, begun, timedelta(days=most)))


def _first_board_at(context: CommandContext, event_id: int, player_id: int) -> datetime | None:
    """Return when the first board of a player in an event was made, `None` if there is none."""
    first = events.first_board_of(context.connection, event_id, player_id)
    board = None if first is None else boards.load(context.connection, first)
    return None if board is None else board.created_at


def server_of(context: CommandContext, board: BoardRow, since: datetime) -> Server:
    """Return the facts about the server for a wait at a board since a moment.

    While the game of the board is stopped, no clock runs, as if the server were down.
    """
    outages = clocks.outages_since(context.connection, since)
    pauses = game_pauses.spans(context.connection, board.game, since, context.now)
    return Server((*outages, *pauses), since)


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
            person = person_at(context, board, sitter, since)
            server = server_of(context, board, since)
            spent[sitter.seat] = counted_wait(since, context.now, board.terms, person, server)
    terms = board.terms.for_answer() if undecided else board.terms
    ahead = [read_remind(sitter.remind)[0] for sitter in board.sitters]
    return Times(
        *clocks_after_turn(before, waiting, ended, context.now, spent, terms, ahead, board.due_at)
    )
