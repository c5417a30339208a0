"""Lines that work, for refusals and help: a row's samples with the right words filled in."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pbmserv.commands.table.catalogue import nearest
from pbmserv.commands.table.model import Sender
from pbmserv.commands.table.row_types import Kind, Parameter, Row, Scope
from pbmserv.errors import Misread


def example(
    row: Row,
    game: str | None,
    games: Collection[str],
    right: Mapping[Kind, str],
    sender: Sender,
) -> str:
    """A complete line for a row, with the words of *right* in their places."""
    front = (game or min(games, default="blackbox")) if row.scope is Scope.GAME else ""
    arguments = (right.get(p.kind) or _sample(p, sender) for p in row.parameters)
    return " ".join(word for word in (front, row.name, *arguments) if word)


def _sample(parameter: Parameter, sender: Sender) -> str:
    """What an example for this sender puts in a place of which nothing is known."""
    match parameter.kind:
        case Kind.BOARD | Kind.SHOWN if sender.board:
            return str(sender.board)
        case Kind.USERID | Kind.ALONE | Kind.WATCHED | Kind.PEOPLE if sender.userid:
            return sender.userid
        case Kind.PLAYERS if sender.userid:
            return f"{sender.userid} house"
    return parameter.sample


def unknown_game(
    part: str, name: str, games: Collection[str], *, example: str, place: int = 1
) -> Misread:
    """A refusal for a game that this server does not have.

    *name* is not repeated, but *part* and *place* are.
    """
    known = tuple(sorted(games))
    return Misread(
        "unknown-game",
        part=part,
        example=example,
        suggestion=nearest(name, known) or "",
        games=", ".join(known),
        place=place,
    )
