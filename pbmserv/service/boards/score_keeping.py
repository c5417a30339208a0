"""Scores of races and solo games, and results of shared boxes, recorded at a board's end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pbmserv.engine.position import Position
from pbmserv.engine.protocol import RacingGame, races
from pbmserv.engine.record import FORFEIT
from pbmserv.engine.table import RESIGNED
from pbmserv.engine.types import Outcome, Seat
from pbmserv.service.boards.bot_turns import is_bot
from pbmserv.service.core.context import CommandContext
from pbmserv.store import scores as score_rows
from pbmserv.store.accounts import persons
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.shared_boxes import daily_boxes, shared_boxes
from pbmserv.store.shared_boxes.shared_boxes import GIVEN_UP, PLAYED, SOLVED, WRONG, SharedBoard


def settle_shared(context: CommandContext, board: BoardRow, after: Position) -> dict[str, Any]:
    """Record the result of a shared box; return words for the letter, none for other boards."""
    game, outcome = after.game, after.outcome
    if outcome is None or (board.seats > 1 and board.event_id is None):
        return {}
    shared = shared_boxes.of_board(context.connection, board.id)
    if shared is None:
        return {}
    if board.bots:
        return _settle_game(context, board, outcome, shared)
    if not races(game):
        return {}
    rank, score = _result(game, after, outcome)
    is_first = shared.day is None or _is_first_try(context, board, shared)
    shared_boxes.settle(
        context.connection, shared.box_id, shared.player_id, rank, score, counts=is_first
    )
    if shared.day is None:
        return {"of_event": shared.event_id}
    is_solved = rank == SOLVED
    notes = [note for p in reversed(list(after.backwards())) for note in p.step.notes]
    words = {
        "number": shared.daily_number,
        "grade": grade_of(game, board.options),
        "solved": is_solved,
        "score": score if is_solved else None,
        "shots": game.shots(notes),
        "streak": streak(context, shared.player_id, board.game, shared.day) if is_solved else 0,
    }
    return {"daily": words}


def _settle_game(
    context: CommandContext, board: BoardRow, outcome: Outcome, shared: SharedBoard
) -> dict[str, Any]:
    """Record the result of a game with shared dice or deals against the house."""
    player = next(sitter.seat for sitter in board.sitters if sitter.seat not in board.bots)
    house = min(board.bots)
    if outcome.seat == player and outcome.reason in {RESIGNED, FORFEIT}:
        rank, score = GIVEN_UP, 0
    else:
        rank, score = PLAYED, -_margin(outcome, player, house)
    shared_boxes.settle(context.connection, shared.box_id, shared.player_id, rank, score)
    return {"of_event": shared.event_id, "with_house": True}


def _margin(outcome: Outcome, player: Seat, house: Seat) -> int:
    """Return the points by which a player has won; below 0 for a loss, and 0 for a draw only."""
    places = outcome.places[house] - outcome.places[player]
    if not places:
        return 0
    scores = outcome.scores[player] - outcome.scores[house] if outcome.scores else 0
    return max(1, scores) if places > 0 else min(-1, scores)


def _result(game: RacingGame, after: Position, outcome: Outcome) -> tuple[int, int]:
    """Return the rank and the points of a player alone."""
    score = outcome.scores[0] if outcome.scores else 0
    if game.solved(after.state, Seat(0)):
        return SOLVED, score
    return GIVEN_UP if outcome.reason in {RESIGNED, FORFEIT} else WRONG, score


def _is_first_try(context: CommandContext, board: BoardRow, shared: SharedBoard) -> bool:
    """Return whether this is a person's first board with a box of the day, under any name."""
    assert shared.day is not None
    own_ids = persons.ids_of_person(context.connection, shared.player_id)
    first = daily_boxes.first_try(context.connection, own_ids, board.game, shared.day)
    return first == board.id


def streak(context: CommandContext, player_id: int, game: str, day: int) -> int:
    """Return the number of boxes that a player has solved in a row, up to this day's."""
    days = daily_boxes.days_solved(context.connection, player_id, game, day)
    return next((n for n, solved in enumerate(days) if solved != day - n), len(days))


def keep_scores(
    context: CommandContext, board: BoardRow, after: Position, ended_at: datetime
) -> None:
    """Record the scores that can be compared: of people who solved a box that nobody knew before.

    Two names of one person at a board know more of its box than one player, so neither counts.
    """
    game, outcome = after.game, after.outcome
    if not races(game) or outcome is None or not outcome.scores:
        return
    kind = game.kind(after.state)
    if not kind or not board.comparable:
        return
    ids = [sitter.player_id for sitter in board.sitters]
    repeated = persons.persons_of(context.connection, ids).repeated(ids) if ids[1:] else ()
    scores = {
        sitter.seat: (sitter.player_id, outcome.scores[sitter.seat])
        for sitter in board.sitters
        if not is_bot(sitter)
        and sitter.player_id not in repeated
        and game.solved(after.state, sitter.seat)
    }
    score_rows.keep(context.connection, board.id, board.game, kind, scores, ended_at)


def grade_of(game: RacingGame, words: Sequence[str]) -> str:
    """Return the difficulty of the box in option words; ``""`` if unknown."""
    return game.grade(game.options(words, 1))
