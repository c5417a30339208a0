"""`python -m benchmarks.seasons`: ten years of a league with 2,000 players, in virtual time.

By default only the rules are played: groups, games, tables and moves up. The table says how many
games a player has, and how well groups and ratings sort the strong from the weak. Players differ in
strength and in how likely they are to disappear.

``--server`` takes the steps of the server on SQLite instead, with only moves and letters left out,
which takes 6 ms for a game. The table says whether seasons start on time and end in 91 days.

``--start N`` measures one season start with N entrants, with all letters queued;
``--duplicate N`` a duplicate event of three boxes with N entrants, who never move.
"""

from __future__ import annotations

import argparse
import logging
import math
import random
import sys
import tempfile
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import correlation
from time import process_time
from typing import Any

from sqlalchemy import Connection, select, update

from benchmarks.table import Line, as_text, at_most
from pbmserv.config.settings import load
from pbmserv.engine.ratings import NEWCOMER, Rating, is_provisional, rate
from pbmserv.service.core.actor import CLOCK
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.outbox_rows import queue_letters
from pbmserv.service.events import course, pages
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
from pbmserv.store.tables import players as players_table
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.store.tables.events import EventStatus, event_bars, regulars

GAME = "connect4"
BEGIN = datetime(2027, 1, 4, tzinfo=UTC)
LONGEST = 88.0
"""Days after which the clocks have ended every game."""
OUT_OF_TIME = 10.0
"""Days after which a player who never moves loses."""
MOST_DAYS, MOST_GAMES = 91, 7
"""Limits of a season."""
FADES = (0.0, 0.01, 0.02, 0.1)
"""Probabilities to disappear in a season; players differ in them."""
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


def simulate_rules(count: int, years: int, seed: int = 1) -> list[Line]:
    """Return the table of a simulation of the rules alone."""
    rng = random.Random(seed)
    begun = process_time()
    everybody = [Person(n, rng.gauss(25, 8), rng.choice(FADES)) for n in range(count)]
    last: dict[int, LastPlace] = {}
    barred: dict[int, int] = {}
    lines: list[Line] = []
    games = removed = most_games = 0
    seasons = years * 365 // SEASON.days + 1
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
                last[player] = LastPlace(player, season, section, places.get(player), size)
                groups[player] = section
        if season in {5, 13, seasons}:
            note = f"{season} seasons, {games:,} games, {removed:,} that do not count"
            lines += _sorted_by(everybody, groups, note)
    lines.append(at_most("games of a player in a season", MOST_GAMES, most_games, "games"))
    return timed(lines, begun)


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
        wins = rng.random() < 1 / (1 + math.exp((pair[1].strength - pair[0].strength) / 6))
        points = (WIN, LOSS) if wins else (LOSS, WIN)
        played.append(events.Pairing(1, 1, at, first, second, at, *points, "won"))
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
        stage = PlayStage(base, _no_ring, _no_ring, _no_ring, has_own_door=True)
        try:
            yield stage.services, base.game
        finally:
            stage.stop()
            base.close()


def _no_ring() -> None:
    """Wake no process."""


def begin_league(services: Services, database: Database, count: int, days_before: int) -> list[int]:
    """Create a league and players who enter all of its seasons; return the players."""
    with database.writing.begin() as connection:
        ids = sign_up(connection, count)
        for player_id in ids:
            events.add_regular(connection, GAME, player_id, BEGIN)
        context = CommandContext(services, connection, CLOCK, BEGIN - timedelta(days=days_before))
        course.create(context, SERVERS["league"], GAME, BEGIN)
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
    services: Services, database: Database, now: datetime, *, mailed: bool = False
) -> tuple[int, float]:
    """Take all steps of events that are due; return the number of letters and the longest step."""
    letter_count, longest = 0, 0.0
    while True:
        with database.reading.connect() as connection:
            due = events.due(connection, now, 50)
        if not due:
            return letter_count, longest
        for event_id in due:
            begun = process_time()
            with database.writing.begin() as connection:
                context = CommandContext(services, connection, CLOCK, now)
                notifications = course.handle_due_event(context, event_id) or ()
                letter_count += queue_letters(context, notifications) if mailed else 0
            longest = max(longest, process_time() - begun)


def simulate(count: int, years: int, seed: int = 1) -> list[Line]:
    """Return the table of a simulation on the server's own steps."""
    rng = random.Random(seed)
    begun = process_time()
    delays, lengths, games = [], [], Counter[int]()
    most_games = 0
    with opened() as (services, database):
        ids = begin_league(services, database, count, 30)
        fades = {player: rng.choice(FADES) for player in ids}
        days = {player: rng.uniform(10, 70) for player in ids}
        planned = BEGIN
        while planned < BEGIN + timedelta(days=365 * years):
            step(services, database, planned)
            with database.reading.connect() as connection:
                (event,) = events.listed(connection, [EventStatus.RUNNING], 10)
                pairings = events.pairings_of(connection, event.id)
            gone = {player for player in ids if rng.random() < fades[player]}
            ends = sorted(
                (_end_of(game, gone, days, rng) for game in pairings), key=lambda end: end[0]
            )
            over = _play_season(services, database, event, ends, rng)
            delays.append((event.starts_at - planned) / timedelta(days=1))
            lengths.append((over - event.starts_at) / timedelta(days=1))
            games = Counter(
                player for game in pairings for player in (game.first_id, game.second_id)
            )
            most_games = max(most_games, *games.values())
            planned += SEASON
    lines = [
        at_most("latest start of a season", 0.0, max(delays), "days", f"{len(delays)} seasons"),
        at_most("longest season", MOST_DAYS, max(lengths), "days"),
        at_most("games of a player in a season", MOST_GAMES, most_games, "games"),
    ]
    return timed(lines, begun)


End = tuple[float, int | None, dict[str, Any]]
"""The end of a game: its day in the season, the board and its outcome."""


def _end_of(
    game: events.Pairing, gone: set[int], days: dict[int, float], rng: random.Random
) -> End:
    """Return when and how a game ends."""
    assert game.second_id is not None
    pair = game.first_id, game.second_id
    absent = [seat for seat, player in enumerate(pair) if player in gone]
    if absent:
        day, loser, reason = OUT_OF_TIME, absent[0], "forfeit"
    else:
        day = max(1.0, min(LONGEST, rng.gauss((days[pair[0]] + days[pair[1]]) / 2, 12)))
        loser, reason = rng.randrange(2), "four"
    places = [2, 1] if loser == 0 else [1, 2]
    seat = loser if absent else None
    return day, game.board_id, {"places": places, "scores": [], "reason": reason, "seat": seat}


def _play_season(
    services: Services,
    database: Database,
    event: events.Event,
    ends: list[End],
    rng: random.Random,
) -> datetime:
    """Let all games of a season end at their times; return when the season was over."""
    for day in range(MOST_DAYS):
        now = event.starts_at + timedelta(days=day)
        with database.writing.begin() as connection:
            while ends and ends[0][0] <= day:
                _, board_id, outcome = ends.pop(0)
                connection.execute(
                    update(boards)
                    .where(boards.c.id == board_id, boards.c.status == BoardStatus.ACTIVE)
                    .values(status=BoardStatus.FINISHED, outcome=outcome, finished_at=now)
                )
            if day == 60:
                _come_back(connection, rng, now)
        step(services, database, now)
    with database.reading.connect() as connection:
        newest = events.load(connection, event.id)
    assert newest is not None
    assert newest.finished_at is not None
    return newest.finished_at


def _come_back(connection: Connection, rng: random.Random, now: datetime) -> None:
    """Let some players who are no longer entered for every season enter again."""
    event = events.open_event(connection, "league", GAME, now)
    away = select(players_table.c.id).where(
        players_table.c.id.not_in(select(regulars.c.player_id).where(regulars.c.game == GAME)),
        players_table.c.id.not_in(select(event_bars.c.player_id).where(event_bars.c.until > now)),
    )
    for player_id in connection.execute(away).scalars().all():
        if event is not None and rng.random() < RETURNS:
            events.add_regular(connection, GAME, player_id, now)
            events.enter(connection, event.id, [player_id], now)


def start(count: int) -> list[Line]:
    """Return what one season start with so many entrants costs, with all letters queued."""
    with opened() as (services, database):
        begin_league(services, database, count, 9)
        return _costs(services, database, BEGIN, f"season start with {count:,} entrants")


def duplicate(count: int) -> list[Line]:
    """Return what a duplicate event with so many entrants costs, with all letters queued."""
    kind = SERVERS["duplicate"]
    entered_at = BEGIN - timedelta(days=9)
    with opened() as (services, database):
        with database.writing.begin() as connection:
            context = CommandContext(services, connection, CLOCK, entered_at)
            event = course.create(context, kind, "blackbox", BEGIN)
            events.enter(connection, event.id, sign_up(connection, count), entered_at)
        lines = []
        for name, now in (("start", BEGIN), ("end", BEGIN + kind.round_length)):
            lines += _costs(
                services, database, now, f"{name} of a duplicate event, {count:,} entrants"
            )
            begun = process_time()
            with database.reading.connect() as connection:
                context = CommandContext(services, connection, CLOCK, now)
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
    parser.add_argument("--years", type=int, default=10)
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
