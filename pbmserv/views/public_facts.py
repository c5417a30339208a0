"""Public facts for pages, feeds and the API: boards, players, ratings and seeks.

The API returns some of these classes as they are, so its document has their docstrings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeVar, cast

from pbmserv.engine.types import Drawing
from pbmserv.views.board import BoardScene
from pbmserv.views.names import PublicName

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's rating in a game.

    Attributes:
        rank: the place in the table; null = none yet.
        provisional: whether the rating comes from too few games to be sure.
    """

    userid: PublicName
    rank: int | None
    rating: int
    provisional: bool
    games: int
    won: int
    lost: int
    drawn: int


@dataclass(frozen=True, slots=True)
class StandingsTable:
    """The best players of a game.

    Attributes:
        rows: players with a place.
        below: players whose rating has no place yet.
        more: whether there are more players than these.
        bots: ratings of the game's bots, which games do not change.
        sure_after: rated games after which a rating is no longer provisional.
        opponents: different opponents that a player needs for a place.
    """

    game: str
    title: str
    rows: Sequence[Standing]
    below: Sequence[Standing]
    more: bool
    bots: Mapping[str, int]
    sure_after: int
    opponents: int


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event in a list.

    Attributes:
        kind: "league", "cup", "swiss", "duplicate", "team" or "final".
        name: what people call it.
        status: "open", "closed", "starting", "running", "finished" or "cancelled".
        starts, closes, ends, finished: days; "" = not known yet.
        round: the present round, 0 before the first.
        entered: players, or teams.
        most: players for whom there is room, 0 = any number.
        invited: whether only invited players may enter.
    """

    event: int
    kind: str
    game: str
    title: str
    name: str
    status: str
    starts: str
    closes: str
    ends: str
    finished: str
    round: int
    entered: int
    most: int
    invited: bool


@dataclass(frozen=True, slots=True)
class TableRow:
    """A player's line in a table, as letters about results show it.

    Attributes:
        open: games that still run.
    """

    place: int
    userid: PublicName
    points: int
    won: int
    drawn: int
    lost: int
    open: int


@dataclass(frozen=True, slots=True)
class EventRow(TableRow):
    """A player in the table of a group.

    Attributes:
        forfeits: games lost on time.
        left: whether the player has left, or was removed.
        moves: -1 = would move up a group now, 1 = down; 0 = neither: outside of leagues, and for
            players whose provisional rating decides about their next group.
        boxes: of a duplicate event, for each box "plays", "finished", "-" for one that does not
            count, or the place there once all have finished; "1 (+2)" is a game won by 2 points.
            There `won`, `drawn` and `lost` compare the player with each other one at each box.
    """

    sonneborn: int
    buchholz: int
    forfeits: int
    left: bool
    moves: int
    boxes: Sequence[str]


@dataclass(frozen=True, slots=True)
class EventGame:
    """A game of an event.

    Attributes:
        second: "" = a bye.
        board: null = a bye.
        first_points, second_points: 2 = won, 1 = drawn; null = runs, or does not count.
        reason: why it is over; "" = it runs.
    """

    round: int
    first: PublicName
    second: PublicName | Literal[""]
    board: int | None
    first_points: int | None
    second_points: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class MatchGame(EventGame):
    """A game of a match of teams; its first player is that of the first team, even if the other one
    began.

    Attributes:
        number: the board, from 1.
    """

    number: int


@dataclass(frozen=True, slots=True)
class EventTeam:
    """A team in the table of a group.

    Attributes:
        points: 2 for a won match, 1 for a drawn one.
        board_points: points at all boards.
        open: games that still run.
    """

    place: int
    team: str
    points: int
    board_points: int
    won: int
    drawn: int
    lost: int
    open: int


@dataclass(frozen=True, slots=True)
class EventMatch:
    """A match of two teams, with its games in the order of the boards.

    Attributes:
        first_points, second_points: points of the teams at the boards.
        open: whether a game still runs.
    """

    first: str
    second: str
    first_points: int
    second_points: int
    open: bool
    boards: Sequence[MatchGame]


@dataclass(frozen=True, slots=True)
class EventGroup:
    """A group of an event: its table and its games.

    Attributes:
        teams, matches: of an event of teams; else empty.
    """

    number: int
    rows: Sequence[EventRow]
    games: Sequence[EventGame]
    removed: Sequence[PublicName]
    teams: Sequence[EventTeam]
    matches: Sequence[EventMatch]

    @property
    def cross(self) -> Sequence[Sequence[EventGame | None]]:
        """The game of each player against each other one, in the order of the table."""
        games = {
            pair: game
            for game in self.games
            for pair in ((game.first, game.second), (game.second, game.first))
        }
        return [[games.get((row.userid, other.userid)) for other in self.rows] for row in self.rows]


@dataclass(frozen=True, slots=True)
class EventPage(EventLine):
    """An event with its tables.

    Attributes:
        rounds: rounds of a Swiss, else 0.
        options: options of its boards.
        least: fewest players.
        size: most players of a group.
        boxes: numbers of the boxes or games of a duplicate event, once it has begun.
        house: the bot against which all play games with the same dice or deals; "" elsewhere.
        own: whether a player holds it, and not the server.
        move_days, total_days: days for a move, and for all moves of a game.
        waiting: players who are in no group yet.
        first: the first group of this page, or the part of a duplicate event's table.
        group_count: number of groups, or of parts with at most a hundred players.
        groups: the groups on this page.
    """

    rounds: int
    options: Sequence[str]
    least: int
    size: int
    boxes: Sequence[int]
    house: str
    own: bool
    move_days: int
    total_days: int
    waiting: Sequence[PublicName]
    first: int
    group_count: int
    groups: Sequence[EventGroup]


@dataclass(frozen=True, slots=True)
class TeamResult:
    """An event of a team.

    Attributes:
        place: the team's place in its group; ``None`` before the end.
    """

    event: int
    name: str
    status: str
    place: int | None


@dataclass(frozen=True, slots=True)
class TeamPage:
    """A team.

    Attributes:
        key: its name in addresses of pages.
        members: in the order of the boards; those after the first ones are reserves.
        boards: members who play a match.
        created: a day in ISO 8601.
        events: its newest events; empty in a list of teams.
    """

    team: int
    key: str
    name: str
    captain: PublicName
    members: Sequence[PublicName]
    boards: int
    created: str
    events: Sequence[TeamResult]


@dataclass(frozen=True, slots=True)
class RatingChange:
    """A rating after a board; `date` is a day in ISO 8601."""

    board: int
    date: str
    rating: int


@dataclass(frozen=True, slots=True)
class PlayerRating:
    """A player's rating in a game.

    Attributes:
        standing: null = no rated game has ended yet.
        bots: ratings of the game's bots.
        changes: the latest 200, the oldest first.
    """

    game: str
    title: str
    standing: Standing | None
    bots: Mapping[str, int]
    changes: Sequence[RatingChange]


@dataclass(frozen=True, slots=True)
class Seek:
    """A player who looks for an opponent; `since` is a day in ISO 8601."""

    userid: PublicName
    game: str
    seats: int
    options: Sequence[str]
    since: str


@dataclass(frozen=True, slots=True)
class RunningBoard:
    """A board that is played, or waits to be accepted.

    Attributes:
        waiting: the players who are to move, or to accept.
        unshown: whether the board cannot be replayed, so that `waiting` is not known.
    """

    board: int
    game: str
    players: Sequence[PublicName]
    waiting: Sequence[PublicName]
    unshown: bool


@dataclass(frozen=True, slots=True)
class FinishedBoard:
    """A board that is over and may be seen; `ended` is in ISO 8601, UTC."""

    board: int
    game: str
    title: str
    players: Sequence[PublicName]
    winners: Sequence[PublicName]
    drawn: bool
    reason: str
    moves: int
    ended: str


@dataclass(frozen=True, slots=True)
class Tally:
    """Results of a player's finished boards against one opponent or on one kind of board."""

    name: str
    played: int
    won: int
    lost: int
    drawn: int


@dataclass(frozen=True, slots=True)
class KindScores:
    """A player's solved races and solo boards of one kind, and the fewest points on one."""

    title: str
    kind: str
    boards: int
    best: int


@dataclass(frozen=True, slots=True)
class Streak:
    """Boxes of the day that a player has solved in a row."""

    title: str
    days: int


@dataclass(frozen=True, slots=True)
class DailyLine:
    """A line of the table of a box of the day; equal points share a rank."""

    rank: int
    userid: PublicName
    points: int
    board: int


@dataclass(frozen=True, slots=True)
class PublicPlayer:
    """Public facts about a player.

    Attributes:
        bot: whether the house plays under this name.
        ratings: a rating for each game that was played.
        ended: the latest finished boards, newest first.
        running: boards that are played or proposed.
        seeks: what the player looks for.
        met: tallies by opponent, the most played first.
        kinds: tallies by kind of board, the most played first.
    """

    userid: PublicName
    bot: bool
    ratings: Sequence[PlayerRating]
    ended: Sequence[FinishedBoard]
    running: Sequence[RunningBoard]
    seeks: Sequence[Seek]
    met: Sequence[Tally]
    kinds: Sequence[Tally]
    scores: Sequence[KindScores]
    streaks: Sequence[Streak]


@dataclass(frozen=True, slots=True)
class PublicBoardPage:
    """The public page of a board.

    Attributes:
        scene: the board after the wanted number of turns, with public names.
        kept: why it is shown as it was at the start: see `spoilers.spoils`; "" if it is not.
        declined: whether the challenge was declined.
        turns: number of turns, as far as everybody may know.
        drawings: what each seat plays on; nothing in it is hidden once the board is over. Empty if
            the game draws nothing or the board must not be seen.
        ended: when the board ended; ``None`` if it runs or must not be seen.
    """

    scene: BoardScene
    kept: str
    declined: bool
    turns: int
    drawings: tuple[Drawing, ...] = ()
    ended: datetime | None = None

    draft: ClassVar[str] = ""
    at_once: ClassVar[bool] = False
    is_running: ClassVar[bool] = False
    """Facts of `BoardPage` that templates of boards ask for. No reader can play on this page."""

    @property
    def now(self) -> Any:
        """The view, under the name that templates of boards know from `BoardPage`."""
        return self.scene.view


@dataclass(frozen=True, slots=True)
class Rung:
    """A place on a ladder.

    Attributes:
        before: rank 30 days ago; null for a player who was not there.
        joined: the day.
    """

    rank: int
    userid: PublicName
    before: int | None
    joined: str


@dataclass(frozen=True, slots=True)
class LadderGame:
    """A running game of a ladder."""

    board: int
    challenger: PublicName
    defender: PublicName
    since: str


@dataclass(frozen=True, slots=True)
class Climb:
    """A movement in a ladder.

    Attributes:
        number: of its row.
        before: rank before it; null if the player joined.
        after: rank after it; null if the player left.
        why: "joined", "left", "silent", "removed", "up", "upper-late" or "lower-late".
        board: the game that caused it, or null.
    """

    number: int
    userid: PublicName
    before: int | None
    after: int | None
    why: str
    board: int | None
    at: str


@dataclass(frozen=True, slots=True)
class Fame:
    """At least 90 days at first place; `until` is "" if they last."""

    userid: PublicName
    since: str
    until: str
    days: int


@dataclass(frozen=True, slots=True)
class LadderPage:
    """The ladder of a game.

    Attributes:
        count: number of its players, perhaps more than `rungs` has.
        rungs: the places in their order.
        running: running games, oldest first.
        climbs: movements of the last month, newest first.
        fame: the hall of fame, newest first.
        days: days at first place that lead there.
    """

    game: str
    title: str
    count: int
    rungs: Sequence[Rung]
    running: Sequence[LadderGame]
    climbs: Sequence[Climb]
    fame: Sequence[Fame]
    days: int


def shape_from(shape: type[T], source: object, **others: Any) -> T:
    """Return a shape whose fields come from *others*, or from attributes of *source* with the same
    names."""
    names: list[str] = [part.name for part in fields(cast("Any", shape)) if part.name not in others]
    return shape(**{name: getattr(source, name) for name in names}, **others)
