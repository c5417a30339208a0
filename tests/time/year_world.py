"""A year, or a third of one, of players who move late and go away, and a server that fails.

The driver moves the clock from one thing that happens to the next. The house under test says
what it does by itself; the driver writes down what was waited for and what came of it.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Protocol
from zoneinfo import ZoneInfo

from examples import DEEP
from year_rules import DAY, HOUR, Human, Span, Waiting

BEGINNING = datetime(2026, 10, 1, 12, tzinfo=UTC)
END = BEGINNING + (365 if DEEP else 122) * DAY
"""A third of a year has a change of clocks in Europe, in America and in Australia."""
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
    "America/Sao_Paulo",
)
TERMS = (
    (7, 21, None),
    (7, 21, None),
    (3, 10, None),
    (1, 2, 30),
    (0, 5, None),
    (5, 0, 20),
    (4, 0, None),
)


@dataclass(frozen=True)
class Event:
    """Something the house did by itself: ``remind``, ``forfeit``, ``withdrawn`` or ``tray``."""

    kind: str
    board: int
    seat: int
    late: tuple[int, ...] = ()
    """Players (by their numbers) who let a withdrawn board wait too long."""


class House(Protocol):
    """The keeper of the boards: `ServiceHouse`, the whole service on a database."""

    def create(
        self,
        board: int,
        sitting: list[Human],
        terms: tuple[int, int, int | None],
        is_proposed: bool,
    ) -> None: ...
    def accept(self, board: int, seat: int) -> None: ...
    def act(self, board: int, seat: int) -> bool: ...
    def leave(self, human: Human, ends: datetime) -> None: ...
    def back(self, human: Human) -> None: ...
    def move_clock(self, now: datetime, *, up: bool) -> None: ...
    def next_due(self) -> datetime | None: ...
    def look(self) -> list[Event]: ...


@dataclass
class Board:
    """A board as the driver knows it: a two-player game with a hiding phase."""

    number: int
    sitting: list[Human]
    terms: tuple[int, int, int | None]
    is_proposed: bool
    hidden: set[int] = field(default_factory=set)
    mover: int = 0
    over: bool = False
    running: dict[int, Waiting] = field(default_factory=dict)

    def to_act(self) -> set[int]:
        if self.over:
            return set()
        if self.is_proposed:
            return {1}
        return {0, 1} - self.hidden or {self.mover}


class World:
    """The driver."""

    def __init__(self, house: House, humans: list[Human], boards: int, rng: Random) -> None:
        self.house = house
        self.humans = humans
        self.rng = rng
        self.now = BEGINNING
        self.outages: list[Span] = [(BEGINNING - DAY, BEGINNING)]
        self.waits: list[Waiting] = []
        self.trays: list[tuple[datetime, int]] = []
        self.boards: dict[int, Board] = {}
        self.finished = {"played": 0, "forfeit": 0, "withdrawn": 0}
        self._agenda: list[tuple[datetime, int, str, tuple]] = []
        self._order = itertools.count()
        for _ in range(boards):
            self._plan(BEGINNING + self.rng.random() * 20 * DAY, "create")
        for human in humans:
            self._plan(self._later(20, 300), "leave", human)
        for number in range(12):
            self._plan(BEGINNING + (number * 30 + self.rng.random() * 25) * DAY + HOUR, "down")

    # -- the year ------------------------------------------------------------------------------

    def run(self) -> None:
        while True:
            due = self.house.next_due()
            planned = self._agenda[0][0]
            if min(planned, due or planned) >= END:
                break
            if due is not None and due <= planned:
                self._move_clock(max(due, self.now))
                self._look()
                continue
            at, _, what, about = heapq.heappop(self._agenda)
            if what == "down":
                self._down(at)
                continue
            self._move_clock(at)
            getattr(self, f"_{what}")(*about)
        self._move_clock(END)
        for board in self.boards.values():
            self._stop(board, set(board.running))

    def _plan(self, at: datetime, what: str, *about: object) -> None:
        heapq.heappush(self._agenda, (at, next(self._order), what, about))

    def _later(self, least: float, most: float) -> datetime:
        """Return a moment in so many days, at an odd microsecond."""
        days = least + self.rng.random() * (most - least)
        return self.now + timedelta(microseconds=int(days * 86_400_000_000) + 1)

    def _move_clock(self, at: datetime) -> None:
        self.now = at
        self.house.move_clock(at, up=True)

    def _down(self, begins: datetime) -> None:
        """The server fails; mails that come meanwhile are delivered in the hour after it."""
        self._move_clock(begins)
        ends = begins + self.rng.choice((6 * HOUR / 60, 2 * HOUR, 13 * HOUR, 3 * DAY))
        self.outages.append((begins, ends))
        while self._agenda and self._agenda[0][0] <= ends:
            _, _, what, about = heapq.heappop(self._agenda)
            if what == "down":
                what, about = "nothing", ()
            self._plan(ends + self.rng.random() * 2 * HOUR, what, *about)
        self.now = ends
        self.house.move_clock(ends, up=False)
        self._look()

    def _nothing(self) -> None:
        """A failure while the server was down anyway."""

    # -- players -------------------------------------------------------------------------------

    def _create(self) -> None:
        number = len(self.boards) + 1
        sitting = self.rng.sample(self.humans, 2)
        board = Board(number, sitting, self.rng.choice(TERMS), self.rng.random() < 0.5)
        self.boards[number] = board
        self.house.create(number, sitting, board.terms, board.is_proposed)
        self._wait(board)

    def _act(self, board: Board, wait: Waiting) -> None:
        seat = wait.seat
        if wait.ended is not None:
            return
        if board.is_proposed:
            board.is_proposed = False
            self._stop(board, {seat})
            self.house.accept(board.number, seat)
        elif self.house.act(board.number, seat):
            self._over(board, "played")
        else:
            if len(board.hidden) < 2:
                board.hidden.add(seat)
            else:
                board.mover = 1 - board.mover
            self._stop(board, {seat})
        self._wait(board)

    def _leave(self, human: Human) -> None:
        ends = self._later(2, 30)
        human.away.append((self.now, ends))
        self.house.leave(human, ends)
        if self.rng.random() < 0.5:
            self._plan(self._later(0.1, (ends - self.now) / DAY), "back", human)
        else:
            self._plan(ends + self.rng.random() * 200 * DAY, "leave", human)

    def _back(self, human: Human) -> None:
        begins, ends = human.away[-1]
        if self.now < ends:
            human.away[-1] = (begins, self.now)
            self.house.back(human)
        self._plan(self._later(1, 200), "leave", human)

    # -- what is written down ------------------------------------------------------------------

    def _wait(self, board: Board) -> None:
        """Begin to wait for whom it is on now; they will move in hours, in days or never."""
        for seat in board.to_act() - set(board.running):
            nag, forfeit, total = board.terms
            wait = Waiting(
                board.number,
                seat,
                board.sitting[seat],
                self.now,
                nag,
                forfeit,
                total,
                board.is_proposed,
            )
            board.running[seat] = wait
            self.waits.append(wait)
            least, most = self.rng.choice(((0.01, 1), (0.5, 6), (2, 14), (5, 25), (15, 40)))
            endless = not forfeit and (total is None or board.is_proposed)
            if endless or self.rng.random() < 0.95:
                self._plan(self._later(least, most), "act", board, wait)

    def _stop(self, board: Board, seats: set[int]) -> None:
        for seat in seats:
            board.running.pop(seat).ended = self.now

    def _over(self, board: Board, how: str) -> None:
        board.over = True
        self._stop(board, set(board.running))
        self.finished[how] += 1
        self._plan(self._later(0.1, 3), "create")

    def _look(self) -> None:
        for event in self.house.look():
            if event.kind == "tray":
                self.trays.append((self.now, event.seat))
                continue
            board = self.boards[event.board]
            if event.kind == "remind":
                board.running[event.seat].happened.append((self.now, "remind"))
                continue
            late = {event.seat}
            if event.kind == "withdrawn":
                late = {s for s in board.running if board.sitting[s].number in event.late}
            for seat in late:
                board.running[seat].lost = True
                board.running[seat].happened.append((self.now, "forfeit"))
            self._over(board, event.kind)


def humans(count: int, rng: Random, digests: int) -> list[Human]:
    """Players with different zones and wishes; the first *digests* get one mail a day."""
    wishes: tuple[tuple[timedelta, ...], ...] = (
        (),
        (),
        (2 * DAY, 6 * HOUR),
        (1 * DAY,),
        (12 * HOUR,),
    )
    return [
        Human(
            number,
            ZoneInfo(rng.choice(ZONES)),
            rng.choice(wishes),
            rng.random() < 0.2,
            rng.randrange(5 * 60, 24 * 60, 15) if number <= digests else None,
        )
        for number in range(1, count + 1)
    ]
