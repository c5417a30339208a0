"""Deeds of operators about boards: end one, hand it over, change its times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.engine.clocks import SeatClock
from pbmserv.errors import OperatorError, OptionError
from pbmserv.plurals import counted
from pbmserv.service.boards.bot_turns import is_bot
from pbmserv.service.boards.followers import news_of_declined_board
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.service.time import timekeeping
from pbmserv.service.time.time_options import read_times
from pbmserv.store import clocks
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.clocks import Times
from pbmserv.store.events import events
from pbmserv.store.operators import boards as operator_boards
from pbmserv.store.tables.boards import RUNNING, BoardStatus


def end_board(context: CommandContext, by: Signature, number: int) -> Deed:
    """End a running board without a result.

    Raises:
        OperatorError: there is no such board, or it does not run.
    """
    board = lock_running_board(context, number)
    boards.set_status(context.connection, number, BoardStatus.DECLINED)
    letters = (
        *letters_about(board, "withdrawn", by),
        *news_of_declined_board(context, replace(board, status=BoardStatus.DECLINED)),
    )
    facts = {"before": board.status, "after": BoardStatus.DECLINED}
    summary = f"Board {number} has ended and counts for nothing."
    return Deed("end", f"board {number}", summary, letters, facts)


def end_boards_of(
    context: CommandContext, by: Signature, player_id: int
) -> tuple[list[int], list[Notification]]:
    """End a player's running boards without a result, since the player is gone.

    Boards of an event are left to it: within a day it takes the player out by its own rules.

    Returns:
        The numbers of the ended boards, and the letters to the other players.
    """
    ended, letters = [], list[Notification]()
    for number in boards.running_of(context.connection, player_id):
        if events.id_of_board(context.connection, number) is None:
            ended.append(number)
            letters += end_board(context, by, number).letters
    return ended, [letter for letter in letters if letter.player_id != player_id]


def hand_over(context: CommandContext, by: Signature, number: int, old: str, new: str) -> Deed:
    """Give a seat to another player; the board becomes unrated.

    Raises:
        OperatorError: the board does not run, *old* has no seat there, or *new* cannot take it.
    """
    board = lock_running_board(context, number)
    leaver = next((s for s in board.sitters if s.userid == old.lower()), None)
    if leaver is None:
        names = ", ".join(board.names)
        raise OperatorError(f"{old} does not play on board {number}; these do: {names}")
    if is_bot(leaver):
        raise OperatorError(f"{leaver.userid} is the server itself and keeps its seat")
    successor = players.active_by_userid(context.connection, new.lower())
    if successor is None:
        raise OperatorError(f"there is no active player {new}")
    if board.sitter_of(successor.id) is not None:
        raise OperatorError(f"{successor.userid} plays on board {number} already")
    seats = operator_boards.hand_over(
        context.connection, number, leaver.player_id, successor.id, context.now
    )
    operator_boards.set_rated(context.connection, number, rated=False)
    after = boards.lock(context.connection, number)
    assert after is not None
    if after.status == BoardStatus.PROPOSED:
        timekeeping.set_after_acceptance(context, after, after.undecided)
        if not after.undecided:
            boards.set_status(context.connection, number, BoardStatus.ACTIVE)
            after = replace(after, status=BoardStatus.ACTIVE)
    else:
        _restart_clocks(context, after, seats)
    letters = [*letters_about(after, "handed-over", by, old=leaver.userid, new=successor.userid)]
    if leaver.address:
        words = {"event": "given", "userid": leaver.userid, "why": by.why, "other": str(number)}
        letters.append(
            Notification(leaver.address, leaver.player_id, Part("operator-account", words))
        )
    facts = {"before": leaver.userid, "after": successor.userid, "rated": board.rated}
    summary = (
        f"{successor.userid} plays board {number} in place of {leaver.userid}; it is unrated now."
    )
    return Deed("hand-over", f"board {number}", summary, tuple(letters), facts)


def set_deadline(context: CommandContext, by: Signature, number: int, times: Sequence[str]) -> Deed:
    """Change the times of a board and restart its running clocks.

    Args:
        times: options as in a challenge (``--forfeittime=30`` …); the other times stay. If it is
            empty, the clocks only start again.

    Raises:
        OperatorError: the board does not run, or the times are not valid.
    """
    board = lock_running_board(context, number)
    before = board.terms
    try:
        terms = read_times(times, before) if times else before
    except OptionError as error:
        example = error.refusal.example
        raise OperatorError(f"{error.refusal.part} does not fit; try {example}") from None
    operator_boards.set_terms(context.connection, number, terms)
    _restart_clocks(context, replace(board, terms=terms), [s.seat for s in board.sitters])
    facts = {
        "before": [before.nag, before.forfeit, before.total],
        "after": [terms.nag, terms.forfeit, terms.total],
    }
    total = counted(terms.total, "day") if terms.total else "any number of days"
    summary = (
        f"Board {number}: reminder {_after(terms.nag)}, forfeit {_after(terms.forfeit)}, "
        f"in all {total}, from now on."
    )
    letters = tuple(letters_about(board, "deadline", by))
    return Deed("deadline", f"board {number}", summary, letters, facts)


def lock_board(context: CommandContext, number: int) -> BoardRow:
    """Return a board and lock it.

    Raises:
        OperatorError: there is no such board.
    """
    board = boards.lock(context.connection, number)
    if board is None:
        raise OperatorError(f"there is no board {number}; `pbmserv board list` shows them all")
    return board


def lock_running_board(context: CommandContext, number: int) -> BoardRow:
    """Return a board that is proposed or active, and lock it.

    Raises:
        OperatorError: there is no such board, or it is over.
    """
    board = lock_board(context, number)
    if board.status not in RUNNING:
        raise OperatorError(f"board {number} is {board.status}; this needs one that runs")
    return board


def _after(days: int) -> str:
    return f"after {counted(days, 'day')}" if days else "never"


def _restart_clocks(context: CommandContext, board: BoardRow, seats: Sequence[int]) -> None:
    """Start the running clocks of some seats again, and let the scheduler check the board now."""
    restarted = tuple(
        SeatClock(context.now, (), clock.used)
        if seat in seats and clock.since is not None
        else clock
        for seat, clock in enumerate(board.clocks)
    )
    times = Times(restarted, context.now)
    clocks.set_times(context.connection, board.id, times)


def letters_about(
    board: BoardRow, event: str, by: Signature, old: str = "", new: str = ""
) -> list[Notification]:
    """Return the letters that tell the players of a board what an operator did.

    Args:
        old, new: userids, if a seat was handed over.
    """
    words = {
        "event": event,
        "why": by.why,
        "old": old,
        "new": new,
        "undecided": list(board.undecided),
        "ratings": [],
    }
    return [
        Notification.sitter(
            sitter, Part("operator-board", words, board.id, board.plies, sitter.seat)
        )
        for sitter in board.sitters
    ]
