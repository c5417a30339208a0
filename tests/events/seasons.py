"""Players of events, and what they do in tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from indoors import PASSWORD, Indoors, Posted, address_of
from sqlalchemy import Connection

from pbmserv.service.core.actor import VISITOR
from pbmserv.service.core.context import CommandContext
from pbmserv.service.events import pages
from pbmserv.store import events, teams
from pbmserv.store.tables.events import EventStatus
from pbmserv.store.tables.teams import MemberStatus

GAME = "connect4"
ROOKS = ("ann", "bob", "cleo", "dan", "eve")
PAWNS = ("finn", "gus", "hal", "ivy")


@dataclass
class Field:
    """The players of a server, who enter events of `GAME` and end their games by giving up.

    Attributes:
        letters: all letters so far.
    """

    server: Indoors
    names: tuple[str, ...]
    letters: list[Posted] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server.server.scheduler.begin()
        self.server.reads_late = True  # a season brings hundreds of letters
        self.server.sign_up(*self.names)

    def says(self, name: str, command: str, body: str = "") -> list[Posted]:
        """Write a mail with the password in it, and return the letters that it causes."""
        verb, _, rest = command.partition(" ")
        line = f"{verb} {name} {PASSWORD} {rest}".strip()
        letters = self.server.send(address_of(name), line, body)
        self.letters += letters
        return letters

    def all_say(self, command: str, names: Collection[str] = ()) -> None:
        for name in names or self.names:
            self.says(name, command)

    def live(self, days: float) -> list[Posted]:
        """Let so many days pass, with a look of the scheduler each day."""
        made: list[Posted] = []
        left = days
        while left > 0:
            made += self.server.live(days=min(1.0, left))
            left -= 1.0
        self.letters += made
        return made

    def until(self, event: int, status: EventStatus, most: int = 200) -> list[Posted]:
        """Let days pass until an event has a status."""
        made: list[Posted] = []
        for _ in range(most):
            if self.status(event) == status:
                return made
            made += self.live(1)
        raise AssertionError(f"event {event} is {self.status(event)} after {most} days")

    def pass_until(self, event: int, status: EventStatus, most: int = 200) -> None:
        """Let days pass until an event has a status, without making the letters.

        To make the letters of a season takes most of its time.
        """
        for _ in range(most):
            if self.status(event) == status:
                return
            self.server.move_clock(days=1)
            self.server.server.scheduler.run_once()
            self.server.drop_letters()
        raise AssertionError(f"event {event} is {self.status(event)} after {most} days")

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
            context = CommandContext(self.server.server.services, connection, VISITOR, now)
            return pages.page(context, event)

    def games(self, number: int) -> Iterator[Mapping[str, Any]]:
        for section in self.event(number)["sections"]:
            yield from section["games"]

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

    def table(self, number: int, section: int = 1) -> list[tuple[str, int]]:
        """Return the players of a group with their points, the best first."""
        for one in self.event(number)["sections"]:
            if one["section"] == section:
                return [(row["userid"], row["points"]) for row in one["rows"]]
        return []


def kinds_to(letters: Collection[Posted], name: str) -> list[str]:
    """Return the kinds of the letters to a player."""
    return [letter.kind for letter in letters if letter.recipient == address_of(name)]


def gather(players: Field, name: str, members: tuple[str, ...]) -> None:
    """Store a team whose first member is its captain."""
    server = players.server.server
    ids = {userid: number for number, userid in enumerate(players.names, 1)}

    def store(connection: Connection) -> None:
        now = server.clock.now()
        team_id = teams.create(connection, name, name.lower(), ids[members[0]], now)
        for member in members[1:]:
            teams.set_member(connection, team_id, ids[member], MemberStatus.MEMBER, now)
        teams.set_order(connection, team_id, [ids[member] for member in members])

    server.writer.submit(store).result()


def gather_two(
    players: Field, rooks: tuple[str, ...] = ROOKS, pawns: tuple[str, ...] = PAWNS
) -> None:
    """Store two teams, the Rooks and the Pawns."""
    gather(players, "Rooks", rooks)
    gather(players, "Pawns", pawns)
