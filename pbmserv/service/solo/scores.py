"""The scores of races and solo games."""

from __future__ import annotations

from pbmserv.commands.table.looking import Scores
from pbmserv.errors import OptionError, Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import races_of
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.solo.ranks import ranks
from pbmserv.store import scores as score_rows
from pbmserv.store.scores import ScoreLine

BEST = 20
"""Lines of a list."""

KINDS = 5
"""Kinds of boards whose scores are listed if the command names none."""

NAMED = 30
"""Kinds of boards that the answer names."""


def show_scores(context: CommandContext, command: Scores) -> Answer:
    """``game scores [kind]``: show the best scores of one kind of board, or of popular kinds."""
    parts = []
    for game in races_of(context, command.game):
        key = game.info.key
        try:
            wanted = game.read_kind(command.kind) if command.kind else ""
        except OptionError as error:
            example = f"{key} scores {error.refusal.example}"
            context.current.echo_hidden = not command.kind[:1].isdigit()  # "scores alice secret"
            part = "" if context.current.echo_hidden else command.kind
            raise OptionError(
                error.refusal.code, part=part, example=example, **error.refusal.values
            ) from error
        counts = [] if wanted else score_rows.kinds(context.connection, key, NAMED)
        kinds = [wanted] if wanted else [kind for kind, _ in counts[:KINDS]]
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
                    for rank, line in _ranked(score_rows.best(context.connection, key, kind, BEST))
                ],
            }
            for kind in kinds
        ]
        words = {
            "game": key,
            "title": game.info.title,
            "kind": wanted,
            "lists": lists,
            "kinds": [{"kind": kind, "count": count} for kind, count in counts],
        }
        parts.append(Part("scores", words))
    if not parts:
        raise Refused("no-scores", part=command.game or "", example="list")
    return Answer(tuple(parts))


def _ranked(lines: list[ScoreLine]) -> list[tuple[int, ScoreLine]]:
    """Return the lines with their ranks."""
    return list(zip(ranks([line.score for line in lines]), lines, strict=True))
