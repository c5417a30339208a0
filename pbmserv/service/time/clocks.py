"""Clocks of boards: the times that a challenge sets, and the effect of a turn on them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from pbmserv.commands.grammar.words import MOST_DAYS
from pbmserv.engine.clocks import (
    USUAL,
    SeatClock,
    Terms,
    clocks_after_turn,
    counted_time,
    merge_spans,
    read_remind,
)
from pbmserv.engine.position import Position
from pbmserv.engine.types import Seat
from pbmserv.errors import OptionError
from pbmserv.service.core.context import CommandContext
from pbmserv.store import clocks
from pbmserv.store.boards import game_pauses
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.clocks import Times
from pbmserv.store.tables.boards import BoardStatus

_NAMES = {"nagtime": "nag", "forfeittime": "forfeit", "totaltime": "total"}
_EXAMPLES = {"nagtime": 7, "forfeittime": 30, "totaltime": 60}


def read_times(words: Sequence[str], before: Terms = USUAL) -> Terms:
    """Return the terms that a challenge asks for.

    If only the forfeit is given, the reminder comes before it.

    Args:
        words: ``--nagtime=N``, ``--forfeittime=N`` and ``--totaltime=N``, in any order; 0 = none.
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
        days = int(value)
        if days > MOST_DAYS:
            raise OptionError(
                "time-long", part=word, most=MOST_DAYS, example=f"--{name}={_EXAMPLES[name]}"
            )
        changed: dict[str, Any] = {_NAMES[name]: days}
        terms = replace(terms, **changed)
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
    return replace(terms, total=terms.total or None)


def _nag_before(forfeit: int) -> int:
    """Return the days to the reminder, a third of those to the forfeit; 0: one day before it."""
    return max(1, forfeit * USUAL.nag // USUAL.forfeit) if forfeit > 1 else 0


def set_after_acceptance(
    context: CommandContext, board: BoardRow, undecided: Collection[str]
) -> None:
    """Set the clocks of a board that a player has accepted without a move.

    Args:
        board: the board before that.
        undecided: userids of players who have not accepted yet.
    """
    if board.status != BoardStatus.PROPOSED:
        return
    position = context.position(board)
    times = times_at(context, board, position, undecided, ())
    clocks.set_times(context.connection, board.id, times)


def first_times(context: CommandContext, board: BoardRow) -> Times:
    """Return the times of a board whose clocks have not started."""
    return times_at(context, board, context.position(board), board.undecided, ())


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
            away = clocks.away(context.connection, sitter.player_id, since)
            outages = clocks.outages_since(context.connection, since)
            pauses = game_pauses.spans(context.connection, board.game, since, context.now)
            spans = merge_spans((*away, *outages, *pauses))
            spent[sitter.seat] = counted_time(since, context.now, spans)
    terms = board.terms.for_answer() if undecided else board.terms
    ahead = [read_remind(sitter.remind)[0] for sitter in board.sitters]
    return Times(
        *clocks_after_turn(before, waiting, ended, context.now, spent, terms, ahead, board.due_at)
    )
