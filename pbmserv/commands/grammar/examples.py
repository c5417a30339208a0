"""Example lines for refusals, with the correct words of the line and facts about its sender."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pbmserv.commands.grammar.game_names import GameTitles, nearest_game
from pbmserv.commands.table.row_types import Kind, Parameter, Row, Scope
from pbmserv.errors import Misread


@dataclass(frozen=True, slots=True)
class Sender:
    """Facts about the sender of a mail that make its refusals more helpful.

    Attributes:
        userid: the player who seems to have sent the mail, ``""`` for a stranger.
        board: one of that player's boards, 0 for none.
        is_player: tells whether a word is a userid and therefore not secret.
    """

    userid: str
    board: int
    is_player: Callable[[str], bool]


STRANGER = Sender("", 0, lambda _: False)
"""A sender about whom nothing is known, so that no word counts as a userid."""


def example(
    row: Row,
    game: str | None,
    games: GameTitles,
    correct_words: Mapping[Kind, str],
    sender: Sender,
) -> str:
    """Return an example line for a row.

    Commands that move or look name the sender's own board. Others do not, since it may be the
    wrong board to give up.

    Args:
        row: the command.
        game: the game that the sender named, `None` for none.
        games: titles of the games of this server by key.
        correct_words: words of the line that are correct and repeated in their places.
        sender: the sender of the mail.
    """
    front = (game or usual_game(games)) if row.scope is Scope.GAME else ""
    if {Kind.MOVE, Kind.PLAN, Kind.SHOWN}.isdisjoint(p.kind for p in row.parameters):
        sender = replace(sender, board=0)
    arguments = (correct_words.get(p.kind) or _sample(p, sender) for p in row.parameters)
    return " ".join(word for word in (front, row.name, *arguments) if word)


def usual_game(games: GameTitles) -> str:
    """Return the game of examples among the games of a server; ``""`` if it has none."""
    return "blackbox" if "blackbox" in games else min(games, default="")


def _sample(parameter: Parameter, sender: Sender) -> str:
    """Return the words of an example in a place for which the sender gave no correct word."""
    match parameter.kind:
        case Kind.BOARD | Kind.SHOWN if sender.board:
            return str(sender.board)
        case Kind.USERID | Kind.ALONE | Kind.WATCHED | Kind.PEOPLE if sender.userid:
            return sender.userid
        case Kind.PLAYERS if sender.userid:
            return f"{sender.userid} FRIEND"
    return parameter.sample


def unknown_game(
    part: str,
    name: str,
    games: GameTitles,
    *,
    example: str,
    place: int = 1,
    command: str = "",
) -> Misread:
    """Return the refusal for a game that this server does not have.

    Args:
        part: the word that the refusal may repeat.
        name: the word to compare with the names of games. It is not repeated.
        games: titles of the games of this server by key.
        example: a correct line.
        place: the number of the word, counted from 1.
        command: the name of the command in front of the word.
    """
    return Misread(
        "unknown-game",
        part=part,
        example=example,
        suggestion=nearest_game(name, games),
        games=", ".join(sorted(games)),
        place=place,
        command=command,
    )
