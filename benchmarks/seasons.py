"""`python -m benchmarks.seasons`: ten years of a league with 2,000 players, in virtual time.

By default only the rules are played: groups, games, tables and moves up. The table says how many
games a player has, and how well groups and ratings sort the strong from the weak. Players differ in
strength and in how likely they are to disappear.

``--server`` takes the steps of the server on SQLite instead, also of monthly cups and three Swiss
tournaments a year. Moves are left out, and letters are counted and not made. The table says whether
events begin and end on the days that they said.

``--start N`` measures the start and the end of one season with N entrants, with all letters queued:
half of the games have ended unnoticed, the others are decided. ``--duplicate N`` measures a
duplicate event of three boxes with N entrants, who never move.
"""

from __future__ import annotations

import argparse
import logging
import math
import random
import sys
import tempfile
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from pathlib import Path
from statistics import correlation
from time import process_time
from typing import Any

from sqlalchemy import Connection, select

from benchmarks.table import Line, as_text, at_most
from pbmserv.config.settings import load
from pbmserv.engine.ratings import NEWCOMER, Rating, is_provisional, rate
from pbmserv.engine.types import Outcome, Seat
from pbmserv.service.boards import plies
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.core.outbox_rows import queue_letters
from pbmserv.service.core.said import UNSAID
from pbmserv.service.core.services import Services
from pbmserv.service.events import course, new_events, pages
from pbmserv.service.events.groups import Entrant, in_order, sizes
from pbmserv.service.events.kinds.league import SEASON
from pbmserv.service.events.kinds.registry import SERVERS
from pbmserv.service.events.pairing import berger
from pbmserv.service.events.tables import LOSS, WIN, Contestant, standings
from pbmserv.service.ratings.rating import rate_ended_board
from pbmserv.stages.base import Base
from pbmserv.stages.play_process import PlayStage
from pbmserv.stages.rings import Rings
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards as board_rows
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.core.database import Database
from pbmserv.store.events import (
    event_bars,
    event_draws,
    event_entries,
    event_games,
    event_lists,
    events,
    regulars,
)
from pbmserv.store.events.event_draws import LastPlace
from pbmserv.store.tables.accounts import players as players_table
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.store.tables.events import EventStatus, pairings
from pbmserv.store.tables.events import event_bars as bars_table
from pbmserv.store.tables.events import events as events_table
from pbmserv.store.tables.events import regulars as regulars_table

GAME = "connect4"
BEGIN = datetime(2027, 1, 4, tzinfo=UTC)
DAY = timedelta(days=1)
LONGEST, LONGEST_ROUND = 88.0, 26.0
"""Days after which the clocks have ended every game, and every game of a Swiss."""
OUT_OF_TIME, OUT_OF_ROUND = 10.0, 6.0
"""Days after which a player who never moves loses, and the same in a Swiss."""
MOST_DAYS = {"league": 91.0, "swiss": 130.0}
"""Limits of events; a cup has as many rounds of 90 days as its entries need."""
MOST_GAMES = {"league": 7, "cup": 4, "swiss": 5}
"""Limits of the games of a player in a group."""
FADES = (0.0, 0.01, 0.02, 0.1)
"""Probabilities to disappear in a season; players differ in them."""
_WON: dict[str, Any] = {"places": (1, 2), "scores": [], "reason": "four", "seat": None}
"""The outcome of a game that the first player has won."""
RETURNS = 0.2
"""Probability to enter again after that, in each season."""


def timed(lines: list[Line], begun: float) -> list[Line]:
    """Return a table with the processor time since *begun* at its end."""
    return [*lines, Line("processor time", "", f"{process_time() - begun:.0f} s", None)]


# -- the rules alone ---------------------------------------------------------------------------


@dataclass
class Person:
    """A simulated player; `strength` is on the scale of the ratings."""

    player_id: int
    strength: float
    fades: float
    rating: Rating = NEWCOMER
    games: int = 0


def simulate_rules(count: int, years: float, seed: int = 1) -> list[Line]:
    """Return the table of a simulation of the rules alone."""
    rng = random.Random(seed)
    begun = process_time()
    everybody = [Person(n, rng.gauss(25, 8), rng.choice(FADES)) for n in range(count)]
    last: dict[int, LastPlace] = {}
    barred: dict[int, int] = {}
    lines: list[Line] = []
    games = removed = most_games = 0
    seasons = int(years * 365) // SEASON.days + 1
    for season in range(1, seasons + 1):
        entered = [person for person in everybody if barred.get(person.player_id, 0) < season]
        entrants = [
            Entrant(
                person.player_id,
                person.rating.ordinal,
                None if is_provisional(person.games) else last.get(person.player_id),
            )
            for person in entered
        ]
        ordered = [entrant.player_id for entrant in in_order(entrants, season)]
        gone = {person.player_id for person in entered if rng.random() < person.fades}
        barred |= {player: season + (1 if rng.random() < 0.5 else 4) for player in gone}
        groups: dict[int, int] = {}
        for section, size in enumerate(sizes(len(ordered), SERVERS["league"].rules.size), 1):
            group, ordered = ordered[:size], ordered[size:]
            played = _play_group(group, gone, everybody, rng)
            games, removed = games + len(played), removed + sum(not game.counts for game in played)
            most_games = max(most_games, len(group) - 1)
            there = [Contestant(player, 0, 0.0) for player in group if player not in gone]
            places = {line.player_id: line.place for line in standings(there, played)}
            for player in group:
                last[player] = LastPlace(season, section, places.get(player), size)
                groups[player] = section
        if season in {5, 13, seasons}:
            note = f"{season} seasons, {games:,} games, {removed:,} that do not count"
            lines += _sorted_by(everybody, groups, note)
    lines.append(
        at_most("games of a player in a season", MOST_GAMES["league"], most_games, "games")
    )
    return timed(lines, begun)


def _play_group(
    group: Sequence[int], gone: set[int], everybody: Sequence[Person], rng: random.Random
) -> list[event_games.Pairing]:
    """Play the games of a group, and rate the players who are there."""
    played = []
    for at, (first, second) in enumerate(berger(group), 1):
        if {first, second} & gone:
            played.append(event_games.Pairing(1, 1, at, first, second, at, None, None, "removed"))
            continue
        pair = everybody[first], everybody[second]
        wins = rng.random() < 1 / (1 + math.exp((pair[1].strength - pair[0].strength) / 6))
        points = (WIN, LOSS) if wins else (LOSS, WIN)
        played.append(event_games.Pairing(1, 1, at, first, second, at, *points, "won"))
        after = rate([person.rating for person in pair], [1, 2] if wins else [2, 1])
        for person, rating in zip(pair, after, strict=True):
            person.rating = rating
            person.games += 1
    return played


def _sorted_by(everybody: Sequence[Person], groups: dict[int, int], note: str) -> list[Line]:
    """Return how well groups and ratings sort players by strength."""
    there = [person for person in everybody if person.player_id in groups]
    strengths = _ranks([person.strength for person in there])
    by_group = correlation(strengths, _ranks([-groups[person.player_id] for person in there]))
    by_rating = correlation(strengths, _ranks([person.rating.ordinal for person in there]))
    return [
        Line("rank correlation of strength and group", "", f"{by_group:.2f} ({note})", None),
        Line("rank correlation of strength and rating", "", f"{by_rating:.2f}", None),
    ]


def _ranks(values: Sequence[float]) -> list[float]:
    """Return twice the rank of each value; equal values share their mean rank."""
    ordered = sorted(values)
    return [bisect_left(ordered, value) + bisect_right(ordered, value) for value in values]


# -- the server's steps ------------------------------------------------------------------------


@contextmanager
def opened() -> Iterator[tuple[Services, Database]]:
    """Open the services and the database of a server that is not started."""
    with tempfile.TemporaryDirectory(prefix="pbmserv-seasons-") as name:
        values = {
            "PBMSERV_DATA_DIR": name,
            "PBMSERV_DATABASE": f"sqlite:///{Path(name) / 'seasons.sqlite3'}",
            "PBMSERV_ADDRESS": "pbmserv@games.example",
        }
        base = Base(load(values, None).settings)
        stage = PlayStage(base, Rings(), has_own_door=True)
        try:
            yield stage.services, base.game
        finally:
            stage.stop()
            base.close()


def begin_league(services: Services, database: Database, count: int, days_before: int) -> list[int]:
    """Create a league and players who enter all of its seasons; return the players."""
    with database.writing.begin() as connection:
        ids = sign_up(connection, count)
        for player_id in ids:
            regulars.add(connection, GAME, player_id, BEGIN)
        context = CommandContext(services, connection, NOBODY, BEGIN - timedelta(days=days_before))
        new_events.create(context, SERVERS["league"], GAME, BEGIN)
    step(services, database, BEGIN - timedelta(days=7))
    return ids


def sign_up(connection: Connection, count: int) -> list[int]:
    """Create players; return their ids."""
    ids = []
    for number in range(count):
        player = players.create(connection, f"p{number}", "", f"p{number}@players.example", BEGIN)
        assert player is not None
        ids.append(player.id)
    return ids


def step(
    services: Services,
    database: Database,
    now: datetime,
    *,
    mailed: bool = False,
    letters: Counter[int] | None = None,
) -> tuple[int, float]:
    """Take all steps of events that are due; return the number of letters and the longest step.

    Args:
        mailed: queue the letters.
        letters: counts the letters to each player.
    """
    letter_count, longest = 0, 0.0
    while True:
        with database.reading.connect() as connection:
            due = events.due(connection, now, 50)
        if not due:
            return letter_count, longest
        for event_id in due:
            begun = process_time()
            with database.writing.begin() as connection:
                context = CommandContext(services, connection, NOBODY, now)
                notifications = course.handle_due_event(context, event_id) or ()
                letter_count += queue_letters(context, notifications) if mailed else 0
                if letters is not None:
                    letters.update(note.player_id for note in notifications if note.player_id)
            longest = max(longest, process_time() - begun)


@dataclass
class Played:
    """The events that have been played, and their letters.

    Attributes:
        delays: days by which each season of the league began late.
        lengths: days of each event, by kind.
        overdue: longest time in days that a round ran on after its last day.
        games: most games of a player in a group of an event, by kind.
        forfeits, ended: games that were lost on time, and all, by kind.
        letters: letters about events to each player.
    """

    delays: list[float] = field(default_factory=list)
    lengths: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    overdue: float = 0.0
    games: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    forfeits: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    letters: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, order=True)
class End:
    """The end of a game: its time, board and kind of event, and the seat of an absent player."""

    at: datetime
    board_id: int
    kind: str
    absent: int | None


class World:
    """A server in virtual time, and players who enter its events, play, go away and come back."""

    def __init__(self, services: Services, database: Database, count: int, seed: int) -> None:
        self.rng = random.Random(seed)
        self.services = services
        self.database = database
        ids = begin_league(services, database, count, 30)
        self.people = {
            player_id: Person(player_id, self.rng.gauss(25, 8), self.rng.choice(FADES))
            for player_id in ids
        }
        self.days = {player_id: self.rng.uniform(10, 70) for player_id in ids}
        self.gone: dict[int, datetime] = {}
        self.played = Played()
        self._ends: list[End] = []
        self._newest_board = 0
        self._running: dict[int, events.Event] = {}

    def live(self, now: datetime) -> None:
        """Let a day pass: games end, events take their steps, and new games get their ends."""
        self._end_games(now)
        step(self.services, self.database, now, letters=self.played.letters)
        with self.database.reading.connect() as connection:
            self._plan_new_games(connection, now)
            self._note_events(connection, now)

    def disappear(self, now: datetime) -> None:
        """Let some players disappear for a season."""
        for person in self.people.values():
            if self.rng.random() < person.fades:
                self.gone[person.player_id] = now + SEASON

    def enter(self, word: str, now: datetime, count: int) -> None:
        """Let some players enter the next event of a kind."""
        kind = SERVERS[word]
        present = [player_id for player_id in self.people if not self._is_gone(player_id, now)]
        with self.database.writing.begin() as connection:
            context = CommandContext(self.services, connection, NOBODY, now)
            for player_id in self.rng.sample(present, min(count, len(present))):
                if event_bars.barred_until(connection, [player_id], now) is not None:
                    continue
                event = events.open_event(connection, word, GAME, now)
                event = event or new_events.create_next(context, kind, GAME)
                event_entries.enter(connection, event.id, [player_id], now)
                events.change(connection, event.id, due_at=now)

    def come_back(self, now: datetime) -> None:
        """Let some players who are no longer entered for every season enter again."""
        with self.database.writing.begin() as connection:
            event = events.open_event(connection, "league", GAME, now)
            barred = select(bars_table.c.player_id).where(bars_table.c.until > now)
            of_league = select(regulars_table.c.player_id).where(regulars_table.c.game == GAME)
            away = select(players_table.c.id).where(
                players_table.c.id.not_in(of_league), players_table.c.id.not_in(barred)
            )
            for player_id in connection.execute(away).scalars().all():
                if event is not None and self.rng.random() < RETURNS:
                    regulars.add(connection, GAME, player_id, now)
                    event_entries.enter(connection, event.id, [player_id], now)

    def _is_gone(self, player_id: int, now: datetime) -> bool:
        return player_id in self.gone and self.gone[player_id] > now

    def _plan_new_games(self, connection: Connection, now: datetime) -> None:
        """Decide when the games end that have begun since the last look."""
        new = connection.execute(
            select(
                pairings.c.board_id,
                pairings.c.first_id,
                pairings.c.second_id,
                events_table.c.kind,
            )
            .join(events_table, events_table.c.id == pairings.c.event_id)
            .where(pairings.c.board_id > self._newest_board)
            .order_by(pairings.c.board_id)
        )
        for board_id, first, second, kind in new:
            self._newest_board = board_id
            sitters = enumerate((first, second))
            absent = [seat for seat, player_id in sitters if self._is_gone(player_id, now)]
            slow = LONGEST if kind != "swiss" else LONGEST_ROUND
            pace = (self.days[first] + self.days[second]) / 2 * slow / LONGEST
            day = max(1.0, min(slow, self.rng.gauss(pace, 12 * slow / LONGEST)))
            if absent:
                day = OUT_OF_TIME if kind != "swiss" else OUT_OF_ROUND
            end = End(now + timedelta(days=day), board_id, kind, absent[0] if absent else None)
            heappush(self._ends, end)

    def _end_games(self, now: datetime) -> None:
        """End the games whose time has come."""
        if not self._ends or self._ends[0].at > now:
            return
        with self.database.writing.begin() as connection:
            context = CommandContext(self.services, connection, NOBODY, now)
            while self._ends and self._ends[0].at <= now:
                end = heappop(self._ends)
                board = board_rows.load(connection, end.board_id)
                if board is None or board.status != BoardStatus.ACTIVE:
                    continue
                self.played.ended[end.kind] += 1
                if end.absent is not None:
                    self.played.forfeits[end.kind] += 1
                    _lose_on_time(context, board, Seat(end.absent))
                else:
                    self._decide(context, board)

    def _decide(self, context: CommandContext, board: BoardRow) -> None:
        """Let a player win a game, the stronger one more often, without its moves."""
        first, second = (self.people[sitter.player_id].strength for sitter in board.sitters)
        has_won = self.rng.random() < 1 / (1 + math.exp((second - first) / 6))
        outcome = Outcome((1, 2) if has_won else (2, 1), "four")
        game = known_game(context, board.game)
        end = rate_ended_board(context.connection, board, outcome, (), context.now, game)
        won = {**_WON, "places": outcome.places}
        board_rows.finish(context.connection, board.id, won, end.at)

    def _note_events(self, connection: Connection, now: datetime) -> None:
        """Note when events begin and end."""
        for event in event_lists.listed(
            connection, [EventStatus.RUNNING, EventStatus.FINISHED], 30
        ):
            is_new = event.id not in self._running
            if event.status == EventStatus.RUNNING:
                assert event.ends_at is not None
                self.played.overdue = max(self.played.overdue, (now - event.ends_at) / DAY)
                if is_new:
                    planned = BEGIN + (event.number - 1) * SEASON
                    if event.kind == "league":
                        self.played.delays.append((event.starts_at - planned) / DAY)
                    self._running[event.id] = event
                continue
            begun = self._running.pop(event.id, None)
            if begun is None:
                continue
            assert event.finished_at is not None
            self.played.lengths[event.kind].append((event.finished_at - event.starts_at) / DAY)
            counts = Counter[tuple[int, int]]()
            for game in event_games.of_event(connection, event.id):
                for player_id in (game.first_id, game.second_id):
                    if player_id is not None:
                        counts[game.section, player_id] += 1
            most = max(counts.values(), default=0)
            self.played.games[event.kind] = max(self.played.games[event.kind], most)


def _lose_on_time(context: CommandContext, board: BoardRow, absent: Seat) -> None:
    """Let a player lose a game on time. If the other one begins, that player has moved."""
    position = context.position(board)
    other = Seat(1 - absent)
    if absent not in position.game.to_act(position.state):
        move = position.game.parse(position.game.view(position.state, other), "d")
        sitter = board.sitters[other]
        position = position.move(other, move)
        plies.log_ply(context, board, sitter, position, UNSAID)
        board = replace(board, plies=position.number)
    plies.log_ply(context, board, board.sitters[absent], position.forfeit(absent), UNSAID)


def simulate(count: int, years: float, seed: int = 1) -> list[Line]:
    """Return the table of a simulation on the server's own steps."""
    begun = process_time()
    with opened() as (services, database):
        world = World(services, database, count, seed)
        has_swiss = not SERVERS["swiss"].why_unavailable()
        for number in range(int(365 * years)):
            now = BEGIN + timedelta(days=number)
            day = number % SEASON.days
            if day == 0:
                world.disappear(now)
            if day == 60:
                world.come_back(now)
            if now.day in {2, 9, 16}:
                world.enter("cup", now, max(2, count // 60))
            if now.day == 5 and now.month % 4 == 1 and has_swiss:
                world.enter("swiss", now, max(25, count // 20))
            world.live(now)
        with database.reading.connect() as connection:
            sorting = _sorting(connection, world)
    return timed([*_lines(world.played, count, years), *sorting], begun)


def _lines(played: Played, count: int, years: float) -> list[Line]:
    lines = []
    for kind, most in MOST_GAMES.items():
        lengths, delays = played.lengths[kind], played.delays
        if not lengths:
            continue
        share = played.forfeits[kind] / max(1, played.ended[kind])
        if kind == "league":
            note = f"{len(delays)} seasons"
            lines.append(at_most("latest start of a season", 0.0, max(delays), "days", note))
        note = f"{len(lengths)} over"
        lines += [
            at_most(f"longest {kind}", MOST_DAYS[kind], max(lengths), "days", note)
            if kind in MOST_DAYS
            else Line(f"longest {kind}", "", f"{max(lengths):.0f} days ({note})", None),
            at_most(f"games of a player in a group, {kind}", most, played.games[kind], "games"),
            Line(f"games, {kind}", "", f"{played.ended[kind]:,}, {share:.1%} lost on time", None),
        ]
    per_year = [played.letters[player_id] / years for player_id in range(1, count + 1)]
    mean, most_letters = sum(per_year) / count, max(per_year)
    return [
        *lines,
        at_most("a round that ran on after its last day", 0.0, played.overdue, "days"),
        Line("letters about events", "", f"{mean:.1f} a year, at most {most_letters:.1f}", None),
    ]


def _sorting(connection: Connection, world: World) -> list[Line]:
    """Return how well groups of the newest season and ratings sort players by strength."""
    (newest, *_) = [
        event
        for event in event_lists.listed(connection, [EventStatus.RUNNING, EventStatus.FINISHED], 50)
        if event.kind == "league"
    ]
    entries = event_entries.of_event(connection, newest.id)
    groups = {entry.player_id: entry.section for entry in entries if entry.section is not None}
    for player_id, (ordinal, games) in event_draws.ordinals(connection, GAME, newest.id).items():
        world.people[player_id].rating = Rating(ordinal, 0.0)
        world.people[player_id].games = games
    note = f"{len(groups):,} players in {max(groups.values())} groups"
    return _sorted_by(list(world.people.values()), groups, note)


def start(count: int) -> list[Line]:
    """Return what the start and the end of a season with so many entrants cost, with all letters
    queued."""
    kind = SERVERS["league"]
    with opened() as (services, database):
        begin_league(services, database, count, 9)
        lines = _costs(services, database, BEGIN, f"season start with {count:,} entrants")
        ends_at = BEGIN + kind.round_length
        with database.writing.begin() as connection:
            games = event_games.of_event(connection, 1)
            for game in games[::2]:
                assert game.board_id is not None
                board_rows.finish(connection, game.board_id, _WON, ends_at)
        return [*lines, *_costs(services, database, ends_at, "its end")]


def duplicate(count: int) -> list[Line]:
    """Return what a duplicate event with so many entrants costs, with all letters queued."""
    kind = SERVERS["duplicate"]
    entered_at = BEGIN - timedelta(days=9)
    with opened() as (services, database):
        with database.writing.begin() as connection:
            context = CommandContext(services, connection, NOBODY, entered_at)
            event = new_events.create(context, kind, "blackbox", BEGIN)
            event_entries.enter(connection, event.id, sign_up(connection, count), entered_at)
        lines = []
        for name, now in (("start", BEGIN), ("end", BEGIN + kind.round_length)):
            lines += _costs(
                services, database, now, f"{name} of a duplicate event, {count:,} entrants"
            )
            begun = process_time()
            with database.reading.connect() as connection:
                context = CommandContext(services, connection, NOBODY, now)
                present = events.load(connection, event.id)
                assert present is not None
                pages.page(context, present)
            lines.append(Line("its page", "", f"{1000 * (process_time() - begun):.0f} ms", None))
    return lines


def _costs(services: Services, database: Database, now: datetime, name: str) -> list[Line]:
    """Take all steps that are due; return what they cost in processor time."""
    begun = process_time()
    letter_count, longest = step(services, database, now, mailed=True)
    whole = process_time() - begun
    begun = process_time()
    with database.reading.connect() as connection:
        events.due(connection, now + timedelta(minutes=1), 50)
    look = process_time() - begun
    return [
        Line(name, "", f"{whole:.1f} s", None),
        Line("letters", "", f"{letter_count:,}", None),
        Line("longest transaction", "", f"{1000 * longest:.0f} ms", None),
        Line("a look at running events", "", f"{1000 * look:.0f} ms", None),
    ]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seasons", description=__doc__)
    parser.add_argument("--players", type=int, default=2_000)
    parser.add_argument("--years", type=float, default=10)
    parser.add_argument("--server", action="store_true")
    parser.add_argument("--start", type=int, default=0, metavar="N")
    parser.add_argument("--duplicate", type=int, default=0, metavar="N")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    if arguments.duplicate:
        lines = duplicate(arguments.duplicate)
    elif arguments.start:
        lines = start(arguments.start)
    else:
        play = simulate if arguments.server else simulate_rules
        lines = play(arguments.players, arguments.years)
    print(as_text(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
