"""`python -m benchmarks.seasons`: ten years of a league with 2,000 players, in virtual time.

By default only the rules are played: groups, games, tables and moves up. ``--server`` takes the
steps of the server on SQLite, with only moves and letters left out, which takes 6 ms for a game.

Players differ in strength, in the time that they take, and in how likely they are to disappear. The
table says whether seasons start on time and end in 91 days, how many games a player has, and how
well groups and ratings sort the strong from the weak.

``--start N`` measures one season start with N entrants instead, with all letters queued;
``--duplicate N`` a duplicate event of three boxes with N entrants, who never move.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from unittest.mock import patch

from sqlalchemy import Connection, insert, select, update

from benchmarks.table import Line, as_text, at_most
from pbmserv.config.settings import load
from pbmserv.engine.ratings import NEWCOMER, Rating, is_provisional, rate
from pbmserv.service.core.actor import CLOCK
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.outbox_rows import queue_letters
from pbmserv.service.events import course, letters, pages
from pbmserv.service.events.groups import Entrant, in_order, sizes
from pbmserv.service.events.kinds.league import SEASON
from pbmserv.service.events.kinds.registry import SERVERS
from pbmserv.service.events.pairing import berger
from pbmserv.service.events.tables import LOSS, WIN, Contestant, standings
from pbmserv.stages.base import Base
from pbmserv.stages.play_process import PlayStage
from pbmserv.store import events
from pbmserv.store.accounts import players
from pbmserv.store.core.database import Database
from pbmserv.store.events import LastPlace
from pbmserv.store.tables import boards
from pbmserv.store.tables.boards import BoardStatus, ratings
from pbmserv.store.tables.events import EntryStatus, EventStatus, event_bars, regulars

GAME = "connect4"
BEGIN = datetime(2027, 1, 4, tzinfo=UTC)
LONGEST = 88.0
"""Days after which the clocks have ended every game."""
OUT_OF_TIME = 10.0
"""Days after which a player who never moves loses."""
MOST_GAMES = 7


@dataclass
class Person:
    """A simulated player.

    Attributes:
        strength: on the scale of the ratings.
        days: usual days of a game.
        fades: probability to disappear in a season.
        returns: probability to enter again after that, in each season.
    """

    player_id: int
    strength: float
    days: float
    fades: float
    returns: float = 0.2
    rating: Rating = NEWCOMER
    games: int = 0


@dataclass
class Course:
    """The observations of a simulation."""

    delays: list[timedelta] = field(default_factory=list)
    lengths: list[timedelta] = field(default_factory=list)
    most_games: int = 0
    games: int = 0
    late: int = 0


@contextmanager
def opened() -> Iterator[tuple[Services, Database]]:
    """Open the services and the database of a server that is not started."""
    with tempfile.TemporaryDirectory(prefix="pbmserv-seasons-") as name:
        yield from _opened(Path(name))


def _opened(folder: Path) -> Iterator[tuple[Services, Database]]:
    settings = load(
        {
            "PBMSERV_DATA_DIR": str(folder),
            "PBMSERV_DATABASE": f"sqlite:///{folder / 'seasons.sqlite3'}",
            "PBMSERV_ADDRESS": "pbmserv@games.example",
        },
        None,
    ).settings
    base = Base(settings)
    stage = PlayStage(base, _no_ring, _no_ring, _no_ring, has_own_door=True)
    try:
        yield stage.services, base.game
    finally:
        stage.stop()
        base.close()


def _no_ring() -> None:
    """Wake nobody."""


def step(services: Services, database: Database, now: datetime, *, mailed: bool = False) -> int:
    """Take all steps of events that are due; return the number of letters."""
    count = 0
    while True:
        with database.reading.connect() as connection:
            due = events.due(connection, now, 50)
        if not due:
            return count
        for event_id in due:
            with database.writing.begin() as connection:
                context = CommandContext(services, connection, CLOCK, now)
                told = course.handle_due_event(context, event_id) or ()
                count += queue_letters(context, told) if mailed else 0


def people(connection: Connection, count: int, rng: random.Random) -> list[Person]:
    """Create players, who all enter the league for every season."""
    made = []
    for number in range(count):
        address = f"p{number}@players.example"
        player = players.create(connection, f"p{number}", "", address, BEGIN)
        assert player is not None
        fades = rng.choice((0.0, 0.01, 0.02, 0.1))
        days = rng.uniform(10, 70)
        made.append(Person(player.id, rng.gauss(25, 8), days, fades))
        events.add_regular(connection, GAME, player.id, BEGIN)
    return made


def play(
    services: Services,
    database: Database,
    everybody: Sequence[Person],
    years: int,
    rng: random.Random,
) -> Course:
    """Play seasons until so many years are over."""
    seen = Course()
    by_id = {person.player_id: person for person in everybody}
    with database.writing.begin() as connection:
        context = CommandContext(services, connection, CLOCK, BEGIN - timedelta(days=30))
        course.create(context, SERVERS["league"], GAME, BEGIN)
    step(services, database, BEGIN - timedelta(days=7))
    season, planned = 1, BEGIN
    while planned < BEGIN + timedelta(days=365 * years):
        step(services, database, planned)
        event = _running(database, season)
        seen.delays.append(event.starts_at - planned)
        ends = _play_season(services, database, event, by_id, rng, seen)
        seen.lengths.append(ends - event.starts_at)
        season, planned = season + 1, planned + SEASON
    return seen


def _running(database: Database, number: int) -> events.Event:
    with database.reading.connect() as connection:
        listed = events.listed(connection, [EventStatus.RUNNING], 10)
    (event,) = (event for event in listed if event.number == number)
    return event


def _play_season(
    services: Services,
    database: Database,
    event: events.Event,
    by_id: dict[int, Person],
    rng: random.Random,
    seen: Course,
) -> datetime:
    """Let all games of a season end at their times; return when the season is over."""
    ends = []
    with database.reading.connect() as connection:
        games = events.pairings_of(connection, event.id)
    gone = {person.player_id for person in by_id.values() if rng.random() < person.fades}
    count: dict[int, int] = {}
    for game in games:
        assert game.second_id is not None
        pair = (game.first_id, game.second_id)
        for player_id in pair:
            count[player_id] = count.get(player_id, 0) + 1
        absent = [player_id in gone for player_id in pair]
        if any(absent):
            places, seat, reason, days = ([2, 1], 0, "forfeit", OUT_OF_TIME)
            if not absent[0]:
                places, seat = [1, 2], 1
        else:
            first, second = by_id[pair[0]], by_id[pair[1]]
            difference = (first.strength - second.strength) / 6
            wins = rng.random() < 1 / (1 + 2.718281828**-difference)
            places, seat, reason = ([1, 2] if wins else [2, 1]), None, "four"
            days = min(LONGEST, rng.gauss((first.days + second.days) / 2, 12))
        ends.append((max(days, 1.0), game, places, seat, reason))
    seen.most_games = max(seen.most_games, *count.values())
    seen.games += len(games)
    ends.sort(key=lambda end: end[0])
    for day in range(92):
        now = event.starts_at + timedelta(days=day)
        with database.writing.begin() as connection:
            while ends and ends[0][0] <= day:
                _, game, places, seat, reason = ends.pop(0)
                seen.late += reason == "forfeit"
                _end(connection, game, places, seat, reason, now, by_id)
            if day == 60:
                _come_back(connection, by_id, rng, now)
        step(services, database, now)
        with database.reading.connect() as connection:
            newest = events.load(connection, event.id)
        assert newest is not None
        if newest.status == EventStatus.FINISHED:
            break
    for later in range(day + 1, 92):  # the entries of the next season close meanwhile
        step(services, database, event.starts_at + timedelta(days=later - 1))
    assert newest.finished_at is not None
    return newest.finished_at


def _end(
    connection: Connection,
    game: events.Pairing,
    places: list[int],
    seat: int | None,
    reason: str,
    now: datetime,
    by_id: dict[int, Person],
) -> None:
    """End the board of a game and rate its players, unless the game has left the table."""
    assert game.second_id is not None
    result = connection.execute(
        update(boards)
        .where(boards.c.id == game.board_id, boards.c.status == BoardStatus.ACTIVE)
        .values(
            status=BoardStatus.FINISHED,
            outcome={"places": places, "scores": [], "reason": reason, "seat": seat},
            finished_at=now,
        )
    )
    if not result.rowcount or reason == "forfeit":
        return
    pair = by_id[game.first_id], by_id[game.second_id]
    after = rate([person.rating for person in pair], places)
    for person, rating in zip(pair, after, strict=True):
        person.rating = rating
        person.games += 1
        values: dict[str, object] = {"mu": rating.mu, "sigma": rating.sigma}
        values["ordinal"] = rating.ordinal
        mine = (ratings.c.game == GAME, ratings.c.player_id == person.player_id)
        counted = {**values, "games": ratings.c.games + 1}
        changed = connection.execute(update(ratings).where(*mine).values(**counted))
        if not changed.rowcount:
            counts = dict.fromkeys(("games", "wins", "losses", "draws", "opponents"), 0)
            counts["games"] = 1
            row = {"game": GAME, "player_id": person.player_id, "rated_at": now}
            connection.execute(insert(ratings).values(**row, **values, **counts))


def _come_back(
    connection: Connection, by_id: dict[int, Person], rng: random.Random, now: datetime
) -> None:
    """Let some players who are no longer entered for every season enter again."""
    entered = set(
        connection.execute(select(regulars.c.player_id).where(regulars.c.game == GAME)).scalars()
    )
    barred = set(
        connection.execute(select(event_bars.c.player_id).where(event_bars.c.until > now)).scalars()
    )
    event = events.open_event(connection, "league", GAME, now)
    for person in by_id.values():
        is_out = person.player_id not in entered and person.player_id not in barred
        if is_out and event is not None and rng.random() < person.returns:
            events.add_regular(connection, GAME, person.player_id, now)
            events.enter(connection, event.id, [person.player_id], now)


def rank_correlation(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return Spearman's rank correlation; equal values share their mean rank."""
    first, second = _ranks(ones), _ranks(others)
    mean = (len(first) + 1) / 2
    covariance = sum((a - mean) * (b - mean) for a, b in zip(first, second, strict=True))
    spread = [sum((rank - mean) ** 2 for rank in ranks) for ranks in (first, second)]
    return covariance / (spread[0] * spread[1]) ** 0.5


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    places: dict[float, list[int]] = {}
    for place, value in enumerate(ordered, 1):
        places.setdefault(value, []).append(place)
    return [sum(places[value]) / len(places[value]) for value in values]


def simulate(count: int, years: int, seed: int = 1) -> list[Line]:
    """Return the table of a simulation on the server's own steps."""
    rng = random.Random(seed)
    begun = process_time()
    with opened() as (services, database):
        with database.writing.begin() as connection:
            everybody = people(connection, count, rng)
        with patch.object(letters, "begins", lambda *_: []):
            seen = play(services, database, everybody, years, rng)
        with database.reading.connect() as connection:
            newest = events.listed(connection, [EventStatus.FINISHED], 1)[0]
            groups = {
                entry.player_id: entry.section or 0
                for entry in events.entries_of(connection, newest.id)
                if entry.status == EntryStatus.ENTERED
            }
    return [
        at_most("latest start of a season", 0.0, max(seen.delays) / timedelta(days=1), "days"),
        at_most("longest season", 91, max(seen.lengths) / timedelta(days=1), "days"),
        at_most("games of a player in a season", MOST_GAMES, seen.most_games, "games"),
        *_sorted_by(everybody, groups, f"{len(seen.lengths)} seasons, {seen.games:,} games"),
        Line("processor time", "", f"{process_time() - begun:.0f} s", None),
    ]


def _sorted_by(everybody: Sequence[Person], groups: dict[int, int], note: str) -> list[Line]:
    """Return how well groups and ratings sort players by strength."""
    there = [person for person in everybody if person.player_id in groups]
    strengths = [person.strength for person in there]
    by_group = rank_correlation(strengths, [-groups[person.player_id] for person in there])
    by_rating = rank_correlation(strengths, [person.rating.ordinal for person in there])
    return [
        Line("rank correlation of strength and group", "", f"{by_group:.2f} ({note})", None),
        Line("rank correlation of strength and rating", "", f"{by_rating:.2f}", None),
    ]


def simulate_rules(count: int, years: int, seed: int = 1) -> list[Line]:
    """Return the table of a simulation of the rules alone."""
    rng = random.Random(seed)
    begun = process_time()
    everybody = [
        Person(number, rng.gauss(25, 8), 0.0, rng.choice((0.0, 0.01, 0.02, 0.1)))
        for number in range(count)
    ]
    last: dict[int, LastPlace] = {}
    barred: dict[int, int] = {}
    lines: list[Line] = []
    games = late = most_games = 0
    seasons = years * 365 // SEASON.days + 1
    for number in range(1, seasons + 1):
        entered = [one for one in everybody if barred.get(one.player_id, 0) < number]
        ordered = in_order(
            [
                Entrant(
                    one.player_id,
                    one.rating.ordinal,
                    None if is_provisional(one.games) else last.get(one.player_id),
                )
                for one in entered
            ],
            number,
        )
        gone = {one.player_id for one in entered if rng.random() < one.fades}
        barred |= {player: number + (1 if rng.random() < 0.5 else 4) for player in gone}
        place = 0
        groups: dict[int, int] = {}
        for section, size in enumerate(sizes(len(ordered), SERVERS["league"].rules.size), 1):
            group = [one.player_id for one in ordered[place : place + size]]
            place += size
            played = _play_group(group, gone, everybody, rng)
            games, late = games + len(played), late + sum(not game.counts for game in played)
            most_games = max(most_games, len(group) - 1)
            table = standings([Contestant(one, 0, 0.0) for one in group if one not in gone], played)
            places = {line.player_id: line.place for line in table}
            for player in group:
                last[player] = LastPlace(player, number, section, places.get(player), size)
                groups[player] = section
        if number in {5, 13, seasons}:
            note = f"{number} seasons, {games:,} games, {late:,} that do not count"
            lines += _sorted_by(everybody, groups, note)
    lines.append(at_most("games of a player in a season", MOST_GAMES, most_games, "games"))
    lines.append(Line("processor time", "", f"{process_time() - begun:.0f} s", None))
    return lines


def _play_group(
    group: Sequence[int], gone: set[int], everybody: Sequence[Person], rng: random.Random
) -> list[events.Pairing]:
    """Play the games of a group, and rate the players who are there."""
    played = []
    for at, (first, second) in enumerate(berger(group), 1):
        if {first, second} & gone:
            played.append(events.Pairing(1, 1, at, first, second, at, None, None, "removed"))
            continue
        pair = everybody[first], everybody[second]
        wins = rng.random() < 1 / (1 + 2.718281828 ** ((pair[1].strength - pair[0].strength) / 6))
        points = (WIN, LOSS) if wins else (LOSS, WIN)
        played.append(events.Pairing(1, 1, at, first, second, at, *points, "won"))
        after = rate([person.rating for person in pair], [1, 2] if wins else [2, 1])
        for person, rating in zip(pair, after, strict=True):
            person.rating = rating
            person.games += 1
    return played


def start(count: int) -> list[Line]:
    """Return what one season start with so many entrants costs, with all letters queued."""
    rng = random.Random(1)
    with opened() as (services, database):
        with database.writing.begin() as connection:
            people(connection, count, rng)
            context = CommandContext(services, connection, CLOCK, BEGIN - timedelta(days=9))
            closes = BEGIN - timedelta(days=7)
            course.create(context, SERVERS["league"], GAME, BEGIN)
        step(services, database, closes)
        whole, longest, letter_count = _timed_steps(services, database, BEGIN)
        before = process_time()
        with database.reading.connect() as connection:
            events.due(connection, BEGIN + timedelta(minutes=1), 50)
        look = process_time() - before
    return [
        at_most(
            f"season start with {count:,} entrants", 1e9, whole, "s", f"{letter_count} letters"
        ),
        at_most("longest transaction", 1e9, 1000 * longest, "ms"),
        at_most("a look at running events", 1e9, 1000 * look, "ms"),
    ]


def _timed_steps(services: Services, database: Database, now: datetime) -> tuple[float, float, int]:
    """Take all steps that are due; return the processor time of all and of the longest
    transaction, in seconds, and the number of letters."""
    begun = process_time()
    longest, letter_count = 0.0, 0
    while True:
        with database.reading.connect() as connection:
            due = events.due(connection, now, 1)
        if not due:
            return process_time() - begun, longest, letter_count
        before = process_time()
        with database.writing.begin() as connection:
            context = CommandContext(services, connection, CLOCK, now)
            told = course.handle_due_event(context, due[0]) or ()
            letter_count += queue_letters(context, told)
        longest = max(longest, process_time() - before)


def duplicate(count: int) -> list[Line]:
    """Return what a duplicate event with so many entrants costs, with all letters queued."""
    ends = BEGIN + SERVERS["duplicate"].round_length
    with opened() as (services, database):
        with database.writing.begin() as connection:
            everybody = people(connection, count, random.Random(1))
            context = CommandContext(services, connection, CLOCK, BEGIN - timedelta(days=9))
            event = course.create(context, SERVERS["duplicate"], "blackbox", BEGIN)
            ids = [person.player_id for person in everybody]
            events.enter(connection, event.id, ids, BEGIN - timedelta(days=9))
        lines = []
        for name, moment in (("start", BEGIN), ("end", ends)):
            whole, longest, letter_count = _timed_steps(services, database, moment)
            note = f"{letter_count} letters"
            lines += [
                at_most(f"{name} of a duplicate event, {count:,} entrants", 1e9, whole, "s", note),
                at_most("longest transaction", 1e9, 1000 * longest, "ms"),
            ]
            before = process_time()
            with database.reading.connect() as connection:
                context = CommandContext(services, connection, CLOCK, moment)
                present = events.load(connection, event.id)
                assert present is not None
                pages.page(context, present)
            lines.append(at_most("its page", 1e9, 1000 * (process_time() - before), "ms"))
            before = process_time()
            with database.reading.connect() as connection:
                events.due(connection, moment + timedelta(minutes=1), 50)
            look = process_time() - before
            lines.append(at_most("a look at running events", 1e9, 1000 * look, "ms"))
    return lines


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seasons", description=__doc__)
    parser.add_argument("--players", type=int, default=2_000)
    parser.add_argument("--years", type=int, default=10)
    parser.add_argument("--server", action="store_true")
    parser.add_argument("--start", type=int, default=0, metavar="N")
    parser.add_argument("--duplicate", type=int, default=0, metavar="N")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    if arguments.duplicate:
        print(as_text(duplicate(arguments.duplicate)))
    elif arguments.start:
        print(as_text(start(arguments.start)))
    elif arguments.server:
        print(as_text(simulate(arguments.players, arguments.years)))
    else:
        print(as_text(simulate_rules(arguments.players, arguments.years)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
