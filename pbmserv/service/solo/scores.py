"""The scores of races and solo games."""

from __future__ import annotations

from typing import Any

from pbmserv.commands.table.looking import Scores
from pbmserv.engine.protocol import RacingGame
from pbmserv.errors import OptionError, Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import races_asked_about
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.solo.ranks import ranks
from pbmserv.store import scores as score_rows

BEST = 20
"""Lines of a list."""

KINDS = 5
"""Kinds of boards whose scores are listed if the command names none."""

NAMED = 30
"""Kinds of boards that the answer names."""


def show_scores(context: CommandContext, command: Scores) -> Answer:
    """``game scores [kind]``: show the best scores of one kind of board, or of popular kinds."""
    games = races_asked_about(context, command.game)
    if not games:
        raise Refused("no-scores", part=command.game or "", example="list")
    return Answer(tuple(_scores_of_game(context, game, command.text) for game in games))


def _scores_of_game(context: CommandContext, game: RacingGame, text: str) -> Part:
    """Return the best scores of the kind that a text names, or of popular kinds."""
    key = game.info.key
    wanted = _kind_in(context, game, text) if text else ""
    counts = [] if wanted else score_rows.kinds(context.connection, key, NAMED)
    kinds = [wanted] if wanted else [kind for kind, _ in counts[:KINDS]]
    words = {
        "game": key,
        "title": game.info.title,
        "kind": wanted,
        "lists": [{"kind": kind, "rows": _rows(context, key, kind)} for kind in kinds],
        "kinds": [{"kind": kind, "count": count} for kind, count in counts],
    }
    return Part("scores", words)


def _kind_in(context: CommandContext, game: RacingGame, text: str) -> str:
    """Return the kind of board that a text names.

    Raises:
        OptionError: it names none. The refusal does not repeat a needless password.
    """
    try:
        return game.read_kind(text)
    except OptionError as error:
        refusal = error.refusal
        context.current.echo_hidden = not text[:1].isdigit()  # "scores alice secret"
        part = "" if context.current.echo_hidden else text
        example = f"{game.info.key} scores {refusal.example}"
        raise OptionError(refusal.code, part=part, example=example, **refusal.values) from error


def _rows(context: CommandContext, key: str, kind: str) -> list[dict[str, Any]]:
    """Return the best scores of a kind of board; equal ones share a rank."""
    lines = score_rows.best(context.connection, key, kind, BEST)
    return [
        {
            "rank": rank,
            "userid": line.userid,
            "score": line.score,
            "board": line.board,
            "ended": f"{line.ended_at:%Y-%m-%d}",
        }
        for rank, line in zip(ranks([line.score for line in lines]), lines, strict=True)
    ]
