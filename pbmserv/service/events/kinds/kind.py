"""The questions that the course of an event asks of its kind, with the answers of most kinds.

The words of letters and pages that depend on the kind are in ``templates/events/``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from sqlalchemy import Connection

from pbmserv.engine.clocks import EVENT_CLOCK, Terms
from pbmserv.engine.protocol import races
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import Refused
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.events.groups import Entrant, in_order, split
from pbmserv.service.events.pairing import berger
from pbmserv.service.events.tables import Contestant, Line, standings
from pbmserv.store.events import event_draws
from pbmserv.store.events.event_games import Pairing
from pbmserv.store.events.events import Event

CREATE_EXAMPLE = 'event create GAME cup "NAME" -entries=8'

MOST_ENTERED = 50
"""Most events that are not over and that one person may have entered, so that no program fills all
events with a player who never moves."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of one event, which are stored with it.

    Attributes:
        size: most players of a group.
        least: fewest players.
        most: most players, 0 for any number.
        invited: only invited players may enter.
        boxes: boxes, or games with the same dice or deals, that a duplicate event brings to all.
        house: the bot against which they play these games; ``""`` if they get boxes.
    """

    size: int
    least: int
    most: int = 0
    invited: bool = False
    boxes: int = 0
    house: str = ""

    @classmethod
    def of(cls, event: Event) -> Rules:
        return cls(**event.rules)

    def as_json(self) -> Mapping[str, Any]:
        return asdict(self)


class Kind(ABC):
    """A kind of event. A subclass overrides the answers that differ for it.

    The answers of this class describe one round in groups of players with similar ratings, in which
    everybody plays against everybody.

    Attributes:
        word: its name in commands, in rows of events, and of its template.
        rules: the numbers of its events; players may choose others for events of their own.
    """

    word: ClassVar[str]
    rules: ClassVar[Rules]

    @abstractmethod
    def name(self, event: Event, title: str) -> str:
        """Return the name of an event without a name of its own.

        It may begin the subject of a letter, so it must not begin with a command.

        Args:
            title: the title of its game.
        """

    def rules_for(self, game: AnyGame) -> Rules:
        """Return the numbers of events of a game."""
        return self.rules

    # -- entries -------------------------------------------------------------------------------

    is_entered_by_game: ClassVar[bool] = True
    """Whether players enter by ``KIND join GAME``, where the first entry creates the event; else
    they enter by ``event join NUMBER``."""

    recurs: ClassVar[bool] = False
    """Whether an entry is for all further events of the game, too, until its player leaves."""

    team_size: ClassVar[int] = 1
    """Players who enter together; more than one are a team (`team_events.py`)."""

    most_entries: ClassVar[int] = 64
    """Most players or teams that a player may allow in an event of their own."""

    usual_entries: ClassVar[int] = 8
    """Players or teams with which a player's event begins before its day, unless its owner names
    another number; 0 if it waits for its day."""

    waits_for_players: ClassVar[bool] = True
    """Whether an event with too few players is put off; else it is cancelled."""

    def why_unavailable(self) -> str:
        """Return why this server cannot hold events of this kind, as an operator reads it, or
        ``""``. Players read the block ``unavailable`` of its template."""
        return ""

    def why_not_for(self, game: AnyGame) -> str:
        """Return why a game has no events of this kind, as an operator reads it, or ``""``. Players
        read the block ``unfit`` of its template."""
        return "" if game.info.is_for(2) else "is not for two players"

    def refuse_impossible(self, game: AnyGame, example: str) -> None:
        """Refuse an event of this kind that this server or the game cannot have.

        Args:
            example: a command that works on servers without such events.
        """
        if self.why_not_for(game):
            key, title = game.info.key, game.info.title
            other = CREATE_EXAMPLE.replace("GAME", key) if game.info.is_for(2) else "events"
            raise Refused("event-unfit", part=title, kind=self.word, example=other)
        if self.why_unavailable():
            raise Refused("event-unavailable", kind=self.word, example=example)

    def board_options(self, game: AnyGame, words: tuple[str, ...], line: str) -> tuple[str, ...]:
        """Return canonical options of an event's boards.

        Args:
            line: the command without options of boards, for the example of a refusal.

        Raises:
            Refused: such boards cannot be those of an event of this kind.
            OptionError: an option is unknown or has a wrong value.
        """
        options, _ = read_options(game, words, 2, game.info.key, line)
        if races(game) and game.is_race(game.options(options, 2)):
            raise Refused("event-race", part="-race", example=line)
        return options

    # -- days ----------------------------------------------------------------------------------

    def first_start(self, now: datetime) -> datetime:
        """Return when an event starts that a first entry creates."""
        return next_month(now)

    def closing(self, starts_at: datetime) -> datetime:
        """Return when the entries of an event close that starts at a moment."""
        return starts_at

    def following_start(self, starts_at: datetime) -> datetime | None:
        """Return the start of an event that takes entries as soon as those of this one close;
        `None` if there is none."""
        return None

    begins_full_groups: ClassVar[bool] = False
    """Whether a group begins as soon as it is full; else all begin when the event starts."""

    # -- games ---------------------------------------------------------------------------------

    shares_boxes: ClassVar[bool] = False
    """Whether all players get the same boxes (`shared_boxes.py`); else games have two players
    (`paired_games.py`)."""

    terms: ClassVar[Terms] = EVENT_CLOCK
    """Time limits of a game."""

    round_length: ClassVar[timedelta] = timedelta(days=90)
    """Time after which the games of a round that still run are decided."""

    def terms_of(self, event: Event) -> Terms:
        """Return the time limits of a game of an event."""
        return self.terms

    def length_of_round(self, event: Event) -> timedelta:
        """Return the length of a round of an event."""
        return self.round_length

    rounds: ClassVar[int] = 0
    """Rounds of each event; 0 if there is only one, or if their number depends on the entries."""

    def draw(
        self, connection: Connection, event: Event, player_ids: Sequence[int]
    ) -> list[list[Entrant]]:
        """Return the groups of the first round, each in the order of its players' seeds."""
        entrants = self.entrants(connection, event, player_ids)
        return self.into_groups(in_order(entrants, event.number), Rules.of(event).size)

    def entrants(
        self, connection: Connection, event: Event, player_ids: Sequence[int]
    ) -> list[Entrant]:
        """Return the players with the values by which they are drawn."""
        ratings = event_draws.ratings_of(connection, event.game, event.id)
        return [Entrant(player_id, ratings[player_id].ordinal) for player_id in player_ids]

    def into_groups(self, players: Sequence[Entrant], most: int) -> list[list[Entrant]]:
        """Return groups of at most *most* players.

        Args:
            players: the strongest first.
        """
        return split(players, most)

    def pairs(
        self, group: Sequence[int], earlier: Sequence[Pairing], round_number: int
    ) -> Sequence[tuple[int, int | None]]:
        """Return the games of a group in a round: the player who begins and the other one, who is
        `None` for a bye.

        Args:
            group: ids of players, in the order of their seeds.
            earlier: the group's games of earlier rounds.
        """
        return berger(group)

    # -- results -------------------------------------------------------------------------------

    strikes_early_leavers: ClassVar[bool] = True
    """Whether a player who leaves or is late before half of the player's games are over is removed,
    so that none of them counts; else the games that are over count."""

    def table(self, contestants: Sequence[Contestant], games: Sequence[Pairing]) -> list[Line]:
        """Return the table of a group, the best first."""
        return standings(contestants, games)

    # -- rounds, and the end -------------------------------------------------------------------

    keeps_groups: ClassVar[bool] = False
    """Whether groups stay the same in all rounds; else each round has new ones."""

    def has_next_round(self, event: Event, groups: Collection[int]) -> bool:
        """Return whether another round follows the present one.

        Args:
            groups: the groups that played in this round and have players left.
        """
        return event.round < self.rounds

    def next_groups(
        self, event: Event, tables: Mapping[int, Sequence[Line]]
    ) -> list[list[Entrant]]:
        """Return the groups of the next round; not asked if groups stay the same.

        Args:
            tables: the players left of the groups that played in this round, by group.
        """
        return []

    def winning_group(self, groups: Collection[int]) -> int:
        """Return the group whose first player wins the event."""
        return min(groups)

    def movement(self, group_number: int, place: int | None, size: int, rated_games: int) -> int:
        """Return -1 for a player who moves up a group for the next event, 1 for one who moves down,
        0 otherwise.

        Args:
            place: the place in the group; `None` for a removed player.
            size: number of players in the group.
            rated_games: the player's rated games of this game.
        """
        return 0

    def year_of_final(self, event: Event) -> int | None:
        """Return the year whose final the best player left enters, `None` for no final."""
        return None

    # -- letters -------------------------------------------------------------------------------

    names_groups: ClassVar[bool] = False
    """Whether letters name the reader's group even if it is the only one."""

    has_weekly_table: ClassVar[bool] = True
    """Whether digests have the table of the reader's group on Mondays."""


def next_monday(moment: datetime) -> datetime:
    """Return the first midnight (UTC) at the beginning of a Monday from a moment on."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if day < moment:
        day += timedelta(days=1)
    return day + timedelta(days=-day.weekday() % 7)


def next_month(moment: datetime) -> datetime:
    """Return the beginning (UTC) of the month after a moment."""
    first = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1)
