"""Commands that only look, and those that decide what one gets to see."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.terms import BoardRef, Credentials


@dataclass(frozen=True, slots=True)
class Help:
    """``help [subject…]``; also what an empty mail is read as."""

    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListGames:
    """``list [game…]``"""

    games: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Show:
    """``game show board[#n]…`` or ``game show userid… [all|active|inactive|next]``.

    `everywhere` is the ``all show userid`` form: boards of every game.
    """

    game: str | None
    boards: tuple[BoardRef, ...] = ()
    userids: tuple[str, ...] = ()
    which: str = "active"


@dataclass(frozen=True, slots=True)
class ShowAs:
    """``game showas userid password [board…|all|active|inactive|next]``

    In a reply to a board letter (``show``) `who` is None, and neither `boards` nor `which` is
    said: that board, as that player sees it.
    """

    game: str | None
    who: Credentials | None
    boards: tuple[BoardRef, ...] = ()
    which: str = ""


@dataclass(frozen=True, slots=True)
class Games:
    """``game games userid… [all|active|inactive|next]``; in a reply: the sender's own."""

    game: str | None
    userids: tuple[str, ...] = ()
    which: str = "active"


@dataclass(frozen=True, slots=True)
class Standings:
    """``game standings``: the best players of a game (of every game when None)."""

    game: str | None


@dataclass(frozen=True, slots=True)
class Ratings:
    """``game ratings [userid…]``: how ratings came about; in a reply: one's own."""

    game: str | None
    userids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """``game history [userid…]``: finished boards, newest first; in a reply: one's own."""

    game: str | None
    userids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """``game record board``: a finished game as text that can be played back."""

    game: str | None
    board: int | None


@dataclass(frozen=True, slots=True)
class Follow:
    """``subscribe|notify board userid password``: every turn (``all``) or only the end (``end``);
    ``unsubscribe``: neither (``off``)."""

    board: int | None
    who: Credentials | None
    what: str


@dataclass(frozen=True, slots=True)
class Check:
    """``game check board userid password``: which results one's own markers explain."""

    game: str | None
    board: int | None
    who: Credentials | None
    what: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """``game preview board move``: what the boards would look like; never fires a probe."""

    game: str | None
    board: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Scores:
    """``game scores [kind]``: the best scores on one kind of board; "" = of every kind."""

    game: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Daily:
    """``game daily userid password [HH:MM|off]``; `when` is "" for the usual time."""

    game: str
    who: Credentials | None
    when: str


@dataclass(frozen=True, slots=True)
class Week:
    """``game week``: this week's table of the boxes of the day."""

    game: str | None


Looking = (
    Check
    | Daily
    | Follow
    | Games
    | Help
    | History
    | ListGames
    | Preview
    | Ratings
    | Record
    | Scores
    | Show
    | ShowAs
    | Standings
    | Week
)
"""What only its writer gets an answer to, so that no words go with it."""
