"""Scores of races and solo games: kept when they end, and the lists of the best."""

from __future__ import annotations

from datetime import datetime

from pbmserv.commands.table.model import Scores
from pbmserv.engine.protocol import races
from pbmserv.engine.referee import Position
from pbmserv.errors import OptionError, Refused
from pbmserv.service.bots.bot_moves import is_house
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import races_of
from pbmserv.store import solo
from pbmserv.store.boards.boards import BoardRow

BEST = 20
"""Lines of a list."""

KINDS = 5
"""Kinds of boards in an answer that names none."""


def keep_scores(
    context: CommandContext, board: BoardRow, after: Position, ended_at: datetime
) -> None:
    """Keep what can be compared: of people who have guessed, on a box that nobody could know."""
    game, outcome = after.game, after.outcome
    if not races(game) or outcome is None or not outcome.scores:
        return
    kind = game.kind(after.state)
    if not kind or not board.comparable:
        return
    found = {
        sitter.seat: (sitter.player_id, outcome.scores[sitter.seat])
        for sitter in board.sitters
        if not is_house(sitter) and game.guessed(after.state, sitter.seat)
    }
    solo.keep_scores(context.connection, board.id, board.game, kind, found, ended_at)


def show_scores(context: CommandContext, command: Scores) -> Answer:
    """``game scores [kind]``: the best of one kind of board, or of those most played."""
    parts = []
    for game in races_of(context, command.game):
        key = game.info.key
        try:
            wanted = game.read_kind(command.kind) if command.kind else ""
        except OptionError as error:
            example = f"{key} scores {error.refusal.example}"
            context.echo_hidden = not command.kind[:1].isdigit()  # "scores alice secret"
            part = "" if context.echo_hidden else command.kind
            raise OptionError(
                error.refusal.code, part=part, example=example, **error.refusal.values
            ) from error
        kinds = (
            [wanted] if wanted else [k for k, _ in solo.score_kinds(context.connection, key, KINDS)]
        )
        lists = [
            {
                "kind": kind,
                "rows": [
                    {
                        "rank": rank,
                        "userid": line.userid,
                        "score": line.score,
                        "board": line.board,
                        "ended": f"{line.ended_at:%Y-%m-%d}",
                    }
                    for rank, line in _ranked(solo.best_scores(context.connection, key, kind, BEST))
                ],
            }
            for kind in kinds
        ]
        words = {"game": key, "title": game.info.title, "kind": wanted, "lists": lists}
        parts.append(Part("scores", words))
    if not parts:
        raise Refused("no-scores", part=command.game or "", example="list")
    return Answer(tuple(parts))


def _ranked(lines: list[solo.ScoreLine]) -> list[tuple[int, solo.ScoreLine]]:
    """Places, equal scores sharing one."""
    return [
        (1 + sum(other.score < line.score for other in lines[:place]), line)
        for place, line in enumerate(lines)
    ]
