"""Ends boards: those that are over, and those that will not be played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pbmserv.engine.position import Position
from pbmserv.engine.record import JOIN, NOT_PLAYED, WITHDRAW
from pbmserv.engine.types import LAPSED, Outcome
from pbmserv.errors import ServerFault
from pbmserv.service.boards import reports
from pbmserv.service.boards.followers import news_of_declined_board
from pbmserv.service.boards.score_keeping import keep_scores, settle_shared
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.service.ratings import rating
from pbmserv.store.accounts import persons
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.operators.boards import set_rated
from pbmserv.store.tables.boards import BoardStatus

GOES_ON: Mapping[str, Any] = {"ratings": []}
"""The words about the end of a board that is not over."""


def end_board(
    context: CommandContext,
    board: BoardRow,
    after: Position,
    outcome: Outcome,
    undecided: Sequence[str],
) -> Mapping[str, Any]:
    """Record that a board is over.

    Returns:
        Words for its letters: ``ratings``, see `rating.rate_ended_board`; ``opening``, the number
        of turns without which giving up does not count; and those of `settle_shared`.

    Raises:
        ServerFault: the game's outcome makes no sense.
    """
    check_outcome(outcome, board.seats)
    early = board.rated and board.seats > 1 and after.ended_in_opening
    is_unfair = board.rated and not (
        everybody_played(board, after) and _different_persons(context, board)
    )
    if early or is_unfair or outcome.reason == LAPSED:
        set_rated(context.connection, board.id, rated=False)
        board = replace(board, rated=False)
    ended = rating.rate_ended_board(
        context.connection, board, outcome, undecided, context.now, after.game
    )
    boards.finish(context.connection, board.id, _as_json(outcome), ended.at)
    keep_scores(context, board, after, ended.at)
    shared = settle_shared(context, board, after)
    reports.queue_wanted_reports(context, board, after)
    opening = {"opening": after.game.info.opening} if early else {}
    return {"ratings": ended.words, **opening, **shared}


def everybody_played(board: BoardRow, after: Position) -> bool:
    """Return whether each player has made a move.

    A forged From address may have begun the board, and a forger must not be able to give away
    ratings of others. In an event, players may give a game up before their first move.
    """
    no_moves = NOT_PLAYED | {JOIN} | ({WITHDRAW} if board.of_event else set())
    present = {p.ply.seat for p in after.backwards() if p.ply and p.ply.text not in no_moves}
    return len(present) == board.seats


def _different_persons(context: CommandContext, board: BoardRow) -> bool:
    """Return whether all players of a board are different persons."""
    ids = [sitter.player_id for sitter in board.sitters]
    return not persons.persons_of(context.connection, ids).repeated(ids)


def check_outcome(outcome: Outcome, seats: int) -> None:
    """Check an outcome: an invalid one would break all pages and letters with this board.

    Raises:
        ServerFault: it is invalid.
    """
    places, scores, seat = outcome.places, outcome.scores, outcome.seat
    numbers = [*places, *scores, *(() if seat is None else (seat,))]
    if (
        any(type(number) is not int for number in numbers)
        or len(places) != seats
        or min(places, default=0) != 1
        or len(scores) not in {0, seats}
        or not (seat is None or 0 <= seat < seats)
    ):
        raise ServerFault(f"an outcome for {seats} seats that cannot be: {outcome}")


def _as_json(outcome: Outcome) -> Mapping[str, Any]:
    return {
        "places": list(outcome.places),
        "scores": list(outcome.scores),
        "reason": outcome.reason,
        "seat": outcome.seat,
    }


def decline(
    context: CommandContext, board: BoardRow, sitter: Sitter, silent: Sequence[str] = ()
) -> Answer:
    """End a board that will not be played, and counts for nothing.

    Args:
        silent: userids of the opponents whose silence ends the board; none if a player rejects it.
    """
    boards.set_status(context.connection, board.id, BoardStatus.DECLINED)
    agreed = sitter.accepted_at is not None
    words = {
        "by": sitter.userid,
        "agreed": agreed,
        "silent": list(silent),
        "said": words_for_others(context),
    }
    notifications = tuple(
        Notification.sitter(other, Part("declined", words, board.id, board.plies, other.seat))
        for other in board.sitters
        if other.player_id != sitter.player_id
    )
    own = Part("declined", {**words, "said": ""}, board.id, board.plies, sitter.seat)
    return Answer((own,), notifications + news_of_declined_board(context, board))
