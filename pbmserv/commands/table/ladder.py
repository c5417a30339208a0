"""Commands about ladders, and their rows."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.command_types import Command, Credentials
from pbmserv.commands.table.row_types import (
    PASSWORD,
    USERID,
    Kind,
    Parameter,
    Scope,
    Trait,
)
from pbmserv.commands.table.shapes import ANYWHERE, Shape, in_section

SECTION = "Events"


@dataclass(frozen=True, slots=True)
class ShowLadder(Command):
    """``ladder [game]``: the players of a ladder in their order; `game` is `None` for all."""

    game: str | None
    credentials: Credentials | None


@dataclass(frozen=True, slots=True)
class JoinLadder(Command):
    """``ladder join userid password game``; `game` is `None` if none is named."""

    credentials: Credentials | None
    game: str | None


@dataclass(frozen=True, slots=True)
class LeaveLadder(Command):
    """``ladder leave userid password [game]``"""

    credentials: Credentials | None
    game: str | None


@dataclass(frozen=True, slots=True)
class ChallengeOnLadder(Command):
    """``ladder challenge userid password [name] [game]``

    Attributes:
        game: as the first word of the line, `None` for none.
        userids: the words after the command: at most a player and a game.
    """

    credentials: Credentials | None
    game: str | None
    userids: tuple[str, ...]


_ABOUT_ME = Shape(Scope.BOTH, (USERID, PASSWORD), "alice PASSWORD")
_GAME = Parameter("[game]", Kind.GAMES)

LADDERS = in_section(
    SECTION,
    ANYWHERE.row(
        "ladder",
        ShowLadder,
        "the players of a game's ladder in their order",
        more=(_GAME,),
        example="blackbox",
        also=("ladders", "ladder show"),
        proof=(USERID, PASSWORD, _GAME),
    ),
    _ABOUT_ME.row(
        "ladder join",
        JoinLadder,
        "enter a ladder at the bottom",
        more=(_GAME,),
        example="blackbox",
        shares_page="ladder",
    ),
    _ABOUT_ME.row(
        "ladder challenge",
        ChallengeOnLadder,
        "play somebody higher up for the place",
        more=(Parameter("[name] [game]", Kind.PEOPLE),),
        example="bob",
        shares_page="ladder",
    ),
    _ABOUT_ME.row(
        "ladder leave",
        LeaveLadder,
        "leave a ladder; running games go on",
        more=(_GAME,),
        traits=Trait.FINAL,
        shares_page="ladder",
    ),
)
