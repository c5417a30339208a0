"""The answers of the API as dataclasses, from which JSON and the OpenAPI document are made.

They say what pages and letters say. A board is shown through the view of its reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Generic, Literal, TypeVar, cast

from pydantic import ConfigDict, Field

from pbmserv.engine.types import BOT_USERIDS
from pbmserv.service.boards.board_page import LONGEST_DRAFT, LONGEST_WORDS, BoardPage
from pbmserv.views.board import BoardScene
from pbmserv.views.board_forms import board_facts, board_text
from pbmserv.views.public_facts import (
    Fame,
    GamePage,
    LadderPage,
    PublicPlayer,
    Rung,
    Seek,
    Standing,
    StandingsTable,
)

T = TypeVar("T")
Words = Mapping[str, Any]
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
class Rating:
    """A player's rating.

    Attributes:
        rank: the place in the table; null = none yet.
        provisional: whether it comes from too few games to be sure.
    """

    userid: str
    rank: int | None
    rating: int
    provisional: bool
    games: int
    won: int
    lost: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Ratings:
    """The best players of a game.

    Attributes:
        more: whether there are more players than these.
    """

    game: str
    title: str
    players: list[Rating]
    more: bool


@dataclass(frozen=True, slots=True)
class Change:
    """A rating after a board."""

    board: int
    day: str
    rating: int


@dataclass(frozen=True, slots=True)
class Rated:
    """A player's rating at a game.

    Attributes:
        rating: null = no rated game has ended yet.
        changes: the latest 200, the oldest first.
    """

    game: str
    title: str
    rating: Rating | None
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class Running:
    """A board that is played, or waits to be accepted.

    Attributes:
        waiting: the players who are to move, or to accept.
    """

    board: int
    game: str
    players: Names
    waiting: Names


@dataclass(frozen=True, slots=True)
class Counted:
    """Results of a player's finished boards against one opponent or on one kind of board."""

    name: str
    played: int
    won: int
    lost: int
    drawn: int


@dataclass(frozen=True, slots=True)
class LadderBoard:
    """A running game of a ladder."""

    board: int
    challenger: str
    defender: str
    since: str


@dataclass(frozen=True, slots=True)
class Climb:
    """A movement on a ladder.

    Attributes:
        before: rank before it; null if the player joined.
        after: rank after it; null if the player left.
        why: "joined", "left", "silent", "up", "upper-late" or "lower-late".
        board: the game that caused it, or null.
    """

    userid: str
    before: int | None
    after: int | None
    why: str
    board: int | None
    at: str


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ladder of a game.

    Attributes:
        players: number of its players.
        places: in their order, at most 500.
        boards: running games, oldest first.
        movements: of the last 30 days, newest first.
        fame: the hall of fame, newest first.
    """

    game: str
    title: str
    players: int
    places: list[Rung]
    boards: list[LadderBoard]
    movements: list[Climb]
    fame: list[Fame]


@dataclass(frozen=True, slots=True)
class Player:
    """Public facts about a player. Finished boards are a list of their own.

    Attributes:
        accepts: what happens with a challenge: "ask", "auto" (it begins) or "none"; "" = a bot.
    """

    userid: str
    bot: bool
    accepts: str
    ratings: list[Rated]
    running: list[Running]
    opponents: list[Counted]
    kinds: list[Counted]
    seeks: list[Seek]


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


# -- conversions ---------------------------------------------------------------------------


def like(shape: type[T], source: object, **others: Any) -> T:
    """Return a shape whose fields come from *others*, or from *source* under the same names."""
    names: list[str] = [part.name for part in fields(cast("Any", shape)) if part.name not in others]
    if isinstance(source, Mapping):
        return shape(**{name: source[name] for name in names}, **others)
    return shape(**{name: getattr(source, name) for name in names}, **others)


def shown(scene: BoardScene) -> dict[str, Any]:
    """Return the fields of `Shown`."""
    end = scene.outcome
    outcome = None if end is None else like(Outcome, end, points=end.scores)
    same = {
        name: getattr(scene, name)
        for name in ("title", "options", "rated", "chooser", "events", "scores")
    }
    names = {"board": scene.number, "game": scene.key, "players": scene.names}
    return {
        **same,
        **names,
        "outcome": outcome,
        "text": board_text(scene),
        "facts": board_facts(scene),
    }


def ratings_of(table: StandingsTable) -> Ratings:
    """Return the standings of a game."""
    return like(Ratings, table, players=[_rating(row) for row in (*table.rows, *table.below)])


def ladder_of(page: LadderPage) -> Ladder:
    """Return the ladder of a game."""
    return Ladder(
        page.game,
        page.title,
        page.count,
        places=list(page.rungs),
        boards=[like(LadderBoard, game) for game in page.running],
        movements=[like(Climb, climb) for climb in page.climbs],
        fame=list(page.fame),
    )


def player_of(player: PublicPlayer) -> Player:
    """Return a player's page."""
    rated = []
    for one in player.ratings:
        rating = None if one.standing is None else _rating(one.standing)
        curve = player.curves.get(one.game, ())
        changes = [like(Change, each, day=each["date"], rating=each["shown"]) for each in curve]
        rated.append(like(Rated, one, rating=rating, changes=changes))
    return Player(
        userid=player.userid,
        bot=player.userid in BOT_USERIDS,
        accepts=player.accept,
        ratings=rated,
        running=[like(Running, board) for board in player.running],
        opponents=[like(Counted, record) for record in player.met],
        kinds=[like(Counted, record) for record in player.kinds],
        seeks=list(player.seeks),
    )


def _rating(row: Standing) -> Rating:
    return like(Rating, row, rating=row.shown, won=row.wins, lost=row.losses, drawn=row.draws)


def board_of(page: GamePage, url: str) -> Board:
    """Return a board as everybody may see it."""
    scene = page.scene
    is_shared_game = page.kept == "event-game-runs"  # it runs until all have finished it
    over = bool(page.ended or (page.kept and not is_shared_game) or scene.outcome)
    is_open = not (over or page.kept or page.declined) and scene.moves == page.turns
    return like(
        Board,
        scene,
        **shown(scene),
        status="declined" if page.declined else "finished" if over else "running",
        kept=page.kept,
        turn=scene.moves,
        turns=page.turns,
        waiting=scene.waiting if is_open else (),
        ended=f"{page.ended:%Y-%m-%dT%H:%M:%SZ}" if page.ended else None,
        url=url,
    )


def seat_of(page: BoardPage) -> Seat:
    """Return a board as its player sees it."""
    scene, runs = page.scene, page.is_running
    assert scene.you is not None
    legal = scene.game.legal(scene.view) if runs and not scene.undrawn else ()
    ended = "declined" if page.declined else "finished"
    return like(
        Seat,
        scene,
        **shown(scene),
        seat=scene.you,
        userid=page.userid,
        status=("proposed" if page.undecided else "running") if runs else ended,
        undecided=page.undecided,
        your_turn=runs and scene.your_turn,
        waiting=scene.waiting if runs else (),
        legal=None if legal is None else list(legal),
    )
