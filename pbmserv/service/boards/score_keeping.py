"""Scores of races and solo games, and results of the box of the day, recorded at a board's end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pbmserv.engine.position import Position
from pbmserv.engine.protocol import RacingGame, races
from pbmserv.service.boards.bot_turns import is_bot
from pbmserv.service.core.context import CommandContext
from pbmserv.store import solo
from pbmserv.store.accounts import persons
from pbmserv.store.boards.boards import BoardRow


def settle_daily(context: CommandContext, board: BoardRow, after: Position) -> dict[str, Any]:
    """Record the result of a day's box; return its words for the letter, none for other boards."""
    game, outcome = after.game, after.outcome
    if board.seats != 1 or outcome is None or not races(game):
        return {}
    daily = solo.daily_of_board(context.connection, board.id)
    if daily is None:
        return {}
    solved = outcome.reason == "solved"
    score = outcome.scores[0] if solved and outcome.scores else None
    names = persons.names_of(context.connection, daily.player_id)
    first = solo.first_try(context.connection, names, board.game, daily.day)
    solo.settle_daily(
        context.connection, board.id, solved=solved, score=score, counts=first == board.id
    )
    notes = [note for p in reversed(list(after.backwards())) for note in p.step.notes]
    return {
        "number": daily.number,
        "grade": grade_of(game, board.options),
        "solved": solved,
        "score": score,
        "shots": game.shots(notes),
        "streak": streak(context, daily.player_id, board.game, daily.day) if solved else 0,
    }


def streak(context: CommandContext, player_id: int, game: str, day: int) -> int:
    """Return the number of boxes that a player has solved in a row, up to this day's."""
    days = solo.days_solved(context.connection, player_id, game, day)
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
    solo.keep_scores(context.connection, board.id, board.game, kind, scores, ended_at)


def grade_of(game: RacingGame, words: Sequence[str]) -> str:
    """Return the difficulty of the box in option words; ``""`` if unknown."""
    return game.grade(game.options(words, 1))
