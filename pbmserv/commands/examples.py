"""Lines that work, for refusals and help: a row's samples with the right words filled in."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pbmserv.commands.catalogue import nearest
from pbmserv.commands.forms import Kind, Row, Scope
from pbmserv.errors import Misread


def example(
    row: Row, game: str | None, games: Collection[str], right: Mapping[Kind, str] | None = None
) -> str:
    """A complete line for a row, with the words of *right* in their places."""
    front = (game or min(games, default="blackbox")) if row.scope is Scope.GAME else ""
    arguments = ((right or {}).get(p.kind, p.sample) for p in row.parameters)
    return " ".join(word for word in (front, row.name, *arguments) if word)


def unknown_game(part: str, name: str, games: Collection[str], *, example: str) -> Misread:
    """A refusal for a game that this server does not have; *name* is not repeated."""
    known = tuple(sorted(games))
    return Misread(
        "unknown-game",
        part=part,
        example=example,
        suggestion=nearest(name, known) or "",
        games=", ".join(known),
    )
