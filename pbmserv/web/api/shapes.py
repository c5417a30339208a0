"""The answers of the API as dataclasses, from which JSON and the OpenAPI document are made.

They say what pages and letters say. A board is shown through the view of its reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter

from pbmserv.service.boards.board_page import LONGEST_DRAFT, LONGEST_WORDS

T = TypeVar("T")
Names = Sequence[str]
Facts = Annotated[Any, Field(description="The board as facts; null where its game tells none.")]

LONGEST_KEY = 64


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request was refused, or failed (RFC 9457).

    Attributes:
        detail: what is wrong, for people.
        code: the same for programs.
        example: what would be accepted in its place; "" = none.
    """

    title: str
    status: int
    detail: str
    code: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A list.

    Attributes:
        next: the URL of the next part; null = this is the last one.
    """

    items: list[T]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Game:
    """A game that is played here.

    Attributes:
        game: its word in commands.
        hidden: whether something is hidden from some seats.
        options: words that a challenge may have, and what they mean.
    """

    game: str
    title: str
    summary: str
    min_seats: int
    max_seats: int
    hidden: bool
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a board.

    Attributes:
        places: by seat; 1 = the best, equal numbers are a tie.
        reason: in a word.
        points: by seat, where the game counts them.
    """

    places: Sequence[int]
    reason: str
    points: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A board as its reader sees it.

    Attributes:
        players: userids by seat.
        chooser: userid of the player who chose the box of a race (-id, -seed) and may know it;
            "" = no player did.
        events: a sentence for each recent event, oldest first.
        scores: a sentence for the score of each player.
        outcome: how the board ended; null = it runs.
        text: the board as a letter draws it, for a font with characters of one width.
    """

    board: int
    game: str
    title: str
    players: Names
    options: Names
    rated: bool
    chooser: str
    events: Names
    scores: Names
    outcome: Outcome | None
    text: str
    facts: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Board(Shown):
    """A board as everybody may see it, after a number of turns.

    Attributes:
        kept: why it is shown as it was at the start: "daily-today", "daily-runs", "event-box-runs",
            "event-game-runs", "origin-runs" or "box-chosen"; "" = it is not.
        turn: the number of turns after which it is shown.
        turns: the number of turns that were played.
        waiting: the players who are to move.
        ended: when it ended, in ISO 8601, UTC; null = it is not over.
        url: the URL of its page.
    """

    status: Literal["running", "finished", "declined"]
    kept: str
    turn: int
    turns: int
    waiting: Names
    ended: str | None
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat(Shown):
    """A board as one of its players sees it, as in that player's letters.

    Attributes:
        seat: the reader's own; the first is 0.
        undecided: the players who have not accepted yet.
        turn: the number of the reader's next turn.
        waiting: the other players who are to move.
        legal: some turns that could be played now; null = there are too many to list.
    """

    seat: int
    userid: str
    status: Literal["proposed", "running", "finished", "declined"]
    undecided: Names
    turn: int
    your_turn: bool
    waiting: Names
    legal: Names | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Today(Shown):
    """The guests' box of today, after the taps so far. The server keeps nothing of it.

    Attributes:
        state: the taps so far, to be sent with the next one. A tap is "A", "+B2", "?" or the like.
        full: whether there is no room for more taps.
        trouble: why the tap was refused; "" = it was not.
        anew: whether the state was not one of today's box, which therefore begins again.
    """

    number: int
    day: str
    state: str
    full: bool
    trouble: str
    anew: bool


@dataclass(frozen=True, slots=True)
class Move:
    """A move to play.

    Attributes:
        turn: the number of the turn that the player saw; a move that uses no turn ignores it.
        move: a move such as "g,+b2", or any other first line of a reply: "accept", "resign".
        words: a message to the other players of the board.
        key: any text. The same turn, move, words and key are played once, however often they come.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    turn: Annotated[int, Field(ge=0, le=999_999_999)]
    move: Annotated[str, Field(min_length=1, max_length=LONGEST_DRAFT)]
    words: Annotated[str, Field(max_length=LONGEST_WORDS)] = ""
    key: Annotated[str, Field(max_length=LONGEST_KEY)] = ""


@cache
def adapter(shape: Any) -> TypeAdapter[Any]:
    """Return the reader and writer of a shape."""
    return TypeAdapter(shape)
