"""Patience and its end: giving an opponent time, and ending a game with a silent one."""

from __future__ import annotations

import re
from datetime import timedelta

from pbmserv.commands.grammar.word_forms import MOST_DAYS
from pbmserv.commands.table.playing import Claim, Give
from pbmserv.engine.clocks import SeatClock, stopped_time
from pbmserv.engine.time_spans import time_after
from pbmserv.errors import Illegal, Refused
from pbmserv.service.boards.board_ends import decline
from pbmserv.service.boards.finished_boards import refuse_finished
from pbmserv.service.boards.plies import log_ply
from pbmserv.service.boards.resigning import goes_on_without
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.service.time import timekeeping
from pbmserv.store import clocks
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.clocks import Times
from pbmserv.store.tables.boards import BoardStatus

_DAYS = re.compile(r"(\d{1,3})(?: ?d(?:ays?)?)?")


def give(context: CommandContext, command: Give) -> Answer:
    """``game give board userid password 3d``: add days to the clocks of opponents.

    A bank keeps them. Without one, they are for the present move of the opponents who must move.

    Raises:
        Refused: the time cannot be read or is too long, or no clock takes it.
    """
    board, sitter = context.seat_of(command)
    refuse_finished(context, board)
    match = _DAYS.fullmatch(command.text)
    days = int(match[1]) if match else 0
    if not 0 < days <= MOST_DAYS:
        raise Refused("give-days", part=command.text[:20], most=MOST_DAYS, example="give 3d")
    if board.of_event:
        raise Refused("give-event", part=str(board.id), example="chat")
    if board.status != BoardStatus.ACTIVE:
        raise Refused("give-open", part=str(board.id), example="show")
    others = board.people_beside(sitter.player_id)
    if not others:
        raise Refused("give-alone", part=str(board.id), example="show")
    seat_clocks, terms = list(board.clocks), board.terms
    receivers: list[Sitter] = []
    for other in others:
        clock = seat_clocks[other.seat].with_time(terms, timedelta(days=days))
        if clock != seat_clocks[other.seat]:
            seat_clocks[other.seat] = clock
            receivers.append(other)
    if not receivers:
        code = "give-later" if terms.forfeit else "give-no-limit"
        raise Refused(code, part=str(board.id), example="show")
    limits = [
        limit for other in receivers if (limit := terms.limit(seat_clocks[other.seat])) is not None
    ]
    if max(limits) > timedelta(days=MOST_DAYS):
        raise Refused("give-too-much", part=f"{days}d", most=MOST_DAYS, example="show")
    clocks.set_times(context.connection, board.id, Times(tuple(seat_clocks), context.now))
    words = {"by": sitter.userid, "days": days, "said": words_for_others(context)}
    notifications = []
    for other in receivers:
        bank = timekeeping.bank_words(context, board, seat_clocks, other.seat)
        part = Part("time-given", words | bank, board.id, board.plies, other.seat)
        notifications.append(Notification.sitter(other, part))
    own = {
        "by": sitter.userid,
        "days": days,
        "to": [other.userid for other in receivers],
        "said": "",
    }
    answer = Part("time-given", own, board.id, board.plies, sitter.seat)
    return Answer((answer,), tuple(notifications))


def claim(context: CommandContext, command: Claim) -> Answer:
    """``game claim board userid password``: end a game whose opponent is silent.

    The opponent must have used half of the time for the present wait. Before the opponent's first
    move, the board then counts for nothing; later, it is a draw where the game has draws. A board
    of three or more, once begun, is not ended for the others.

    Raises:
        Refused: it is too early, or the board cannot end in this way.
    """
    board, sitter = context.seat_of(command)
    refuse_finished(context, board)
    end = command.text
    if end not in {"", "draw", "abort"}:
        raise Refused("claim-what", part=end[:20], example="claim")
    if board.of_event:
        raise Refused("claim-event", part=str(board.id), example="show")
    if board.status != BoardStatus.ACTIVE:
        raise Refused("claim-open", part=str(board.id), example="resign")
    position = context.position(board)
    if not board.people_beside(sitter.player_id) or position.apart:
        raise Refused("claim-alone", part=str(board.id), example="show")
    if goes_on_without(board, position):
        raise Refused("claim-goes-on", part=str(board.id), example="show")
    moved = position.moved()
    silent = _silent_opponents(context, board, sitter)
    unmoved = [other.userid for other in silent if other.seat not in moved]
    if unmoved and end == "draw":
        raise Refused("claim-not-draw", part=end, example="claim abort")
    if end == "abort" and not unmoved:
        raise Refused("claim-not-abort", part=end, example="claim draw")
    if unmoved:
        return decline(context, board, sitter, unmoved)
    try:
        after = position.claim(sitter.seat)
    except Illegal as error:
        title = position.game.info.title
        raise Refused("no-claim", part="claim", title=title, example="show") from error
    return log_ply(context, board, sitter, after, words_for_others(context))


def _silent_opponents(context: CommandContext, board: BoardRow, sitter: Sitter) -> list[Sitter]:
    """Return the opponents who are awaited and have been silent for long.

    Raises:
        Refused: the player is awaited, too, or it is too early.
    """
    others = board.people_beside(sitter.player_id)
    silent = [other for other in others if board.clocks[other.seat].since is not None]
    if not silent or board.clocks[sitter.seat].since is not None:
        raise Refused("claim-your-turn", part=str(board.id), example="show")
    for other in silent:
        _refuse_early_claim(context, board, sitter, other, board.clocks[other.seat])
    return silent


def _refuse_early_claim(
    context: CommandContext, board: BoardRow, sitter: Sitter, other: Sitter, clock: SeatClock
) -> None:
    """Refuse a claim while the opponent has used less than half of the time for this wait.

    Raises:
        Refused: it says from when on the claim is possible.
    """
    since, limit = clock.since, board.terms.limit(clock)
    assert since is not None
    if limit is None:
        raise Refused("claim-no-limit", part=other.userid, example="show")
    if timekeeping.waited(context, board, other, since, context.now) * 2 >= limit:
        return
    person = timekeeping.person_at(context, board, other, since)
    server = timekeeping.server_of(context, board, since)
    stopped = stopped_time(since, limit / 2, board.terms, person, server)
    at = time_after(since, limit / 2, stopped)
    raise Refused("claim-early", part=other.userid, at=at.isoformat(), tz=sitter.tz, example="show")
