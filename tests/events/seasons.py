"""Players of events, and what they do in tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from math import ceil
from time import monotonic, sleep
from typing import Any

from indoors import PASSWORD, Indoors, Posted, address_of
from seating import gather_team
from sqlalchemy import Connection, func, select, text

from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.events import pages
from pbmserv.store.events import events
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.events import EventStatus
from pbmserv.store.tables.events import events as events_table

GAME = "connect4"
PATIENCE_S = 30.0
ROOKS = ("ann", "bob", "cleo", "dan", "eve")
PAWNS = ("finn", "gus", "hal", "ivy")

_DUE = (boards.c.due_at, events_table.c.due_at)
_NEXT_DUE = select(*(select(func.min(column)).scalar_subquery() for column in _DUE))


@dataclass
class Field:
    """The players of a server, who enter events of `GAME` and end their games by giving up.

    Attributes:
        have_signed_up: whether the server has these players already.
        letters: all letters so far.
    """

    server: Indoors
    names: tuple[str, ...]
    have_signed_up: bool = False
    letters: list[Posted] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server.server.scheduler.begin()
        self.server.reads_late = True  # a season brings hundreds of letters
        if not self.have_signed_up:
            self.server.sign_up(*self.names)

    def says(self, name: str, command: str, body: str = "") -> list[Posted]:
        """Write a mail with the password in it, and return the letters that it causes."""
        verb, _, rest = command.partition(" ")
        line = f"{verb} {name} {PASSWORD} {rest}".strip()
        letters = self.server.send(address_of(name), line, body)
        self.letters += letters
        return letters

    def all_say(self, command: str, names: Collection[str] = ()) -> None:
        """Let players (default: all of them) write the same mail."""
        verb, _, rest = command.partition(" ")
        for name in names or self.names:
            line = f"{verb} {name} {PASSWORD} {rest}".strip()
            self.server.send_unread(address_of(name), line)
        self.letters += self.server.letters()

    def news(self, name: str = "") -> list[Posted]:
        """Return the letters so far with news of an event, to a player or to all of them."""
        news = [letter for letter in self.letters if letter.kind == "event-news"]
        return [letter for letter in news if not name or letter.recipient == address_of(name)]

    def live(self, days: float) -> list[Posted]:
        """Let so many days pass, with a look of the scheduler when a board or an event is due."""
        letters: list[Posted] = []
        left = days
        while left > 0:
            passing = min(left, self._days_until_due())
            letters += self.server.live(days=passing)
            left -= passing
        self.letters += letters
        return letters

    def until(self, event: int, status: EventStatus, most: int = 200) -> list[Posted]:
        """Let days pass until an event has a status."""
        letters: list[Posted] = []
        for days in self._days_until(event, status, most):
            letters += self.server.live(days=days)
        self.letters += letters
        return letters

    def pass_until(self, event: int, status: EventStatus, most: int = 200) -> None:
        """Let days pass until an event has a status, without making the letters.

        To make the letters of a season takes most of its time.
        """
        for days in self._days_until(event, status, most):
            self.server.move_clock(days=days)
            self.server.server.scheduler.run_once()
            self.server.drop_letters()

    def _days_until(self, event: int, status: EventStatus, most: int) -> Iterator[int]:
        """Yield numbers of days to pass until an event has a status.

        Days on which no board or event is due pass together with the next one. Teams are due each
        day, in case that a captain is silent, which no event asks.
        """
        passed = 0
        while True:
            assert passed < most, f"event {event} is {self.status(event)} after {passed} days"
            if self.status(event) == status:
                return
            # Games may have ended before the first day.
            days = min(self._days_until_due(), most - passed) if passed else 1
            yield days
            passed += days

    def _days_until_due(self) -> int:
        """Return the number of days, at least one, after which a board or event is due."""
        with self.server.server.database.reading.connect() as connection:
            moments = [moment for moment in connection.execute(_NEXT_DUE).one() if moment]
        now = self.server.server.clock.now()
        return max(1, ceil((min(moments, default=now) - now) / timedelta(days=1)))

    def status(self, number: int) -> EventStatus:
        with self.server.server.database.reading.connect() as connection:
            event = events.load(connection, number)
        assert event is not None
        return event.status

    def event(self, number: int) -> Mapping[str, Any]:
        """Return all that everybody may know of an event."""
        with self.server.server.database.reading.connect() as connection:
            event = events.load(connection, number)
            assert event is not None
            now = self.server.server.clock.now()
            context = CommandContext(self.server.server.services, connection, NOBODY, now)
            return asdict(pages.page(context, event, public=False))

    def games(self, number: int) -> Iterator[Mapping[str, Any]]:
        for group in self.event(number)["groups"]:
            yield from group["games"]

    def give_up(self, number: int, losers: Collection[str] = ()) -> None:
        """End the open games of an event: the later name in the alphabet gives up.

        Args:
            losers: end only games of these players, who give up.
        """
        for game in list(self.games(number)):
            pair = {game["first"], game["second"]}
            if game["board"] is None or game["reason"] or (losers and not pair & set(losers)):
                continue
            loser = max(pair & set(losers) or pair)
            line = f"{GAME} resign {game['board']} {loser} {PASSWORD}"
            self.server.send_unread(address_of(loser), line)
        self.live(0.1)

    def table(self, number: int, group_number: int = 1) -> list[tuple[str, int]]:
        """Return the players of a group with their points, the best first."""
        for group in self.event(number)["groups"]:
            if group["number"] == group_number:
                return [(row["userid"], row["points"]) for row in group["rows"]]
        return []


def kinds_to(letters: Collection[Posted], name: str) -> list[str]:
    """Return the kinds of the letters to a player."""
    return [letter.kind for letter in letters if letter.recipient == address_of(name)]


def gather(players: Field, name: str, members: tuple[str, ...]) -> None:
    """Store a team whose first member is its captain."""
    numbers = [players.names.index(member) + 1 for member in members]
    gather_team(players.server.server, name, numbers)


def gather_two(
    players: Field, rooks: tuple[str, ...] = ROOKS, pawns: tuple[str, ...] = PAWNS
) -> None:
    """Store two teams, the Rooks and the Pawns."""
    gather(players, "Rooks", rooks)
    gather(players, "Pawns", pawns)


def wait_for_a_lock(connection: Connection, letters: Future[list[Posted]]) -> None:
    """Wait until a command waits for a lock of PostgreSQL; *letters* are its answers."""
    end = monotonic() + PATIENCE_S
    while not connection.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar():
        assert not letters.done()
        assert monotonic() < end
        sleep(0.01)
