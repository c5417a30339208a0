"""Commands that find players and start games, and their rows."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.command_types import (
    AboutBoard,
    AtBoard,
    Command,
    Credentials,
    ReplyMove,
)
from pbmserv.commands.table.row_types import (
    BOARD,
    LINES,
    ON_A_BOARD,
    USERID,
    Arguments,
    Kind,
    Parameter,
    Trait,
)
from pbmserv.commands.table.shapes import AT_BOARD, IN_GAME, MYSELF_IN_GAME, NEW_GAME, in_section

SECTION = "Starting a game"


@dataclass(frozen=True, slots=True)
class Challenge(Command):
    """``game challenge userid1 userid2 … [-options] [--nagtime=…]``

    Attributes:
        game: ``""`` for that of the answered letter.
        userids: the players in the order of their seats; empty if the sender plays alone.
        options: the words with one dash.
        times: the words with two dashes.
        credentials: of the challenger, if the line has a password.
        alone: the command is ``game solo userid``.
        address: of a friend who may not be a player yet, ``""`` for none.
    """

    game: str
    userids: tuple[str, ...]
    options: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    credentials: Credentials | None = None
    alone: bool = False
    address: str = ""


@dataclass(frozen=True, slots=True)
class Replay(AboutBoard):
    """``game replay board userid``: play alone on the hidden box of a finished race or solo game.

    In a reply, `board` is `None` and `userid` is ``""``: the board of the letter and the sender.
    """

    userid: str
    credentials: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Daily(Command):
    """``game daily userid password [HH:MM|off]``; `text` is ``""`` for the usual time."""

    game: str
    credentials: Credentials | None
    text: str


@dataclass(frozen=True, slots=True)
class Accept(AtBoard):
    """``game accept board userid password``

    Attributes:
        below: in a reply, the following lines, one of which may be the first move.
    """

    below: ReplyMove | None = None


@dataclass(frozen=True, slots=True)
class Reject(AtBoard):
    """``game reject board userid password``"""


@dataclass(frozen=True, slots=True)
class Seek(Command):
    """``game seek userid password [n] [-options]``

    Attributes:
        game: `None` for that of the answered letter; with `off`, for all games.
        seats: `None` for the smallest number that the game allows, at least two.
        off: the sender no longer looks for opponents.
    """

    game: str | None
    credentials: Credentials | None
    seats: int | None = None
    options: tuple[str, ...] = ()
    off: bool = False


@dataclass(frozen=True, slots=True)
class Rematch(AtBoard):
    """``game rematch board userid password``: play again, with the other player first."""


def _solo(arguments: Arguments) -> Command:
    """Make a race of one player."""
    options = tuple(word for word in arguments.options if word.lower() != "-race")
    words = ("-race", *options)
    userids = arguments.userids
    if arguments.credentials is not None:
        userids = (arguments.userid, *(userid for userid in userids if userid != arguments.userid))
    return Challenge(
        arguments.game or "", userids, words, arguments.times, arguments.credentials, alone=True
    )


def _challenge(arguments: Arguments) -> Command:
    """Make a challenge. A challenger who gave a password sits first unless named elsewhere."""
    userids = arguments.userids
    if arguments.credentials is not None and arguments.userid not in userids:
        userids = (arguments.userid, *userids)
    address = "".join(arguments.addresses)
    return Challenge(
        arguments.game or "",
        userids,
        arguments.options,
        arguments.times,
        arguments.credentials,
        address=address,
    )


STARTING = in_section(
    SECTION,
    NEW_GAME.row(
        "challenge",
        Challenge,
        "start a new game, with people, a friend's address or the house",
        more=(Parameter("userid1 userid2 [-options]", Kind.PLAYERS),),
        example="alice bob",
        synonyms=("invite",),
        newcomers=("play", "new", "newgame", "begin"),
        subjects=("options", "invite", "invitation", "invitations"),
        from_arguments=_challenge,
        places=LINES,
    ),
    NEW_GAME.row(
        "solo",
        Challenge,
        "a box of your own, hidden by the server",
        more=(Parameter("userid [-options]", Kind.ALONE),),
        example="alice -size=8x8 -atoms=3-5",
        from_arguments=_solo,
        places=LINES,
        traits=Trait.NEEDS_GAME | Trait.BOXES,
    ),
    IN_GAME.row(
        "replay",
        Replay,
        "try the hidden box of a finished race or solo game yourself",
        more=(BOARD, USERID),
        example="12 alice",
        traits=Trait.ENGLISH | Trait.BOXES,
        proof=ON_A_BOARD,
    ),
    MYSELF_IN_GAME.row(
        "daily",
        Daily,
        "the box of the day, the same for everybody, at your hour",
        more=(Parameter("[HH:MM | off]", Kind.TEXT),),
        example="07:30",
        traits=Trait.NEEDS_GAME | Trait.LOOKS | Trait.BOXES,
    ),
    AT_BOARD.row("accept", Accept, "take up a challenge", traits=Trait.TALK),
    AT_BOARD.row(
        "reject",
        Reject,
        "turn a challenge down",
        also=("decline",),
        traits=Trait.ALONE | Trait.TALK,
    ),
    MYSELF_IN_GAME.row(
        "seek",
        Seek,
        "look for any opponent: two who seek the same get a board",
        more=(Parameter("[n] [-options] | off", Kind.SEATS),),
    ),
    AT_BOARD.row(
        "rematch",
        Rematch,
        "the same players and options again, the other side first",
        traits=Trait.ENGLISH,
    ),
)
