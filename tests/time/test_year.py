"""A simulated year: nothing comes early, late, twice or not at all; nothing at night, nothing
while away, nothing in the hour after the server was down."""

from __future__ import annotations

import heapq
from collections import Counter
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from random import Random

import pytest
from examples import DEEP
from year_house import ServiceHouse
from year_rules import DAY, HOUR, Human, counted, expected, is_night, is_within
from year_world import BEGINNING, END, Event, World, humans

from pbmserv.engine.clocks import (
    Forfeit,
    Person,
    Remind,
    SeatClock,
    Server,
    Terms,
    Wait,
    clock_after_reminder,
    clocks_after_turn,
    decide,
)
from pbmserv.engine.time_spans import counted_time as counted_by_engine
from pbmserv.engine.time_spans import merge_spans
from pbmserv.engine.types import Seat
from pbmserv.service.schedule import scheduler


class ClockHouse:
    """Boards that are nothing but the engine's clocks."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.now = BEGINNING
        self.server = Server((), BEGINNING)
        self.boards: dict[int, ClockBoard] = {}
        self.due: list[tuple[datetime, int]] = []

    def create(self, board: int, sitting: list[Human], terms, is_proposed: bool) -> None:
        self.boards[board] = ClockBoard(
            sitting, Terms(*terms), is_proposed, self.rng.randrange(4, 30)
        )
        self._turn(board, set())

    def accept(self, board: int, seat: int) -> None:
        self.boards[board].is_proposed = False
        self._turn(board, {Seat(0), Seat(1)}, playing=False)

    def act(self, board: int, seat: int) -> bool:
        state = self.boards[board]
        state.turns += 1
        if state.turns > state.length:
            state.over = True
        if state.turns <= 2:
            state.hidden.add(seat)
        else:
            state.mover = 1 - state.mover
        self._turn(board, {Seat(seat)})
        return state.over

    def leave(self, human: Human, ends: datetime) -> None:
        pass

    def back(self, human: Human) -> None:
        for number, board in self.boards.items():
            if human in board.sitting and not board.over:
                heapq.heappush(self.due, (self.now, number))

    def move_clock(self, now: datetime, *, up: bool) -> None:
        if not up:
            self.server = Server((*self.server.down, (self.now, now)), now)
        self.now = now

    def next_due(self) -> datetime | None:
        return self.due[0][0] if self.due else None

    def look(self) -> list[Event]:
        events: list[Event] = []
        while self.due and self.due[0][0] <= self.now:
            _, number = heapq.heappop(self.due)
            events += self._look(number)
        return events

    def _look(self, number: int) -> list[Event]:
        board = self.boards[number]
        if board.over:
            return []
        decisions = {seat: self._decide(board, seat) for seat in (0, 1)}
        late = [seat for seat, decision in decisions.items() if isinstance(decision, Forfeit)]
        if late:
            board.over = True
            if board.is_proposed or not board.hidden.issuperset(late):
                people = tuple(board.sitting[seat].number for seat in late)
                return [Event("withdrawn", number, late[0], people)]
            return [Event("forfeit", number, late[0])]
        events = []
        for seat, decision in decisions.items():
            if isinstance(decision, Remind):
                assert self._remind(number, seat)
                events.append(Event("remind", number, seat))
                events += self._others(number, board.sitting[seat])
        self._look_later(number)
        return events

    def _others(self, but: int, human: Human) -> list[Event]:
        """Return the boards that the same letter reminds of."""
        events = []
        for number, board in self.boards.items():
            if number == but or board.over or human not in board.sitting:
                continue
            if any(isinstance(self._decide(board, seat), Forfeit) for seat in (0, 1)):
                continue
            seat = board.sitting.index(human)
            if self._remind(number, seat):
                events.append(Event("remind", number, seat))
                self._look_later(number)
        return events

    def _remind(self, number: int, seat: int) -> bool:
        board = self.boards[number]
        clocks = list(board.clocks)
        after = clock_after_reminder(clocks[seat], *self._facts(board, seat))
        if after is not None:
            clocks[seat] = after
            board.clocks = tuple(clocks)
        return after is not None

    def _look_later(self, number: int) -> None:
        decisions = [self._decide(self.boards[number], seat) for seat in (0, 1)]
        looks = [
            decision.until if isinstance(decision, Wait) else self.now for decision in decisions
        ]
        due = [at for at in looks if at is not None]
        if due:
            heapq.heappush(self.due, (min(due), number))

    def _decide(self, board: ClockBoard, seat: int) -> Wait | Remind | Forfeit:
        return decide(board.clocks[seat], *self._facts(board, seat))

    def _facts(self, board: ClockBoard, seat: int) -> tuple[Terms, Person, Server, datetime]:
        human = board.sitting[seat]
        person = Person(human.zone, tuple(human.away), human.offsets, human.night)
        terms = board.terms.for_answer() if board.is_proposed else board.terms
        return terms, person, self.server, self.now

    def _turn(self, number: int, ended: set[Seat], *, playing: bool = True) -> None:
        board = self.boards[number]
        spent = {}
        for seat in ended if playing else ():
            since = board.clocks[seat].since
            if since is not None:
                stopped = merge_spans((*board.sitting[seat].away, *self.server.down))
                spent[seat] = counted_by_engine(since, self.now, stopped)
        before = [human.offsets for human in board.sitting]
        board.clocks, _ = clocks_after_turn(
            board.clocks, board.to_act(), ended, self.now, spent, board.terms, before
        )
        heapq.heappush(self.due, (self.now, number))


class ClockBoard:
    """A board of the `ClockHouse`."""

    def __init__(self, sitting: list[Human], terms: Terms, is_proposed: bool, length: int) -> None:
        self.sitting, self.terms, self.is_proposed, self.length = (
            sitting,
            terms,
            is_proposed,
            length,
        )
        self.clocks: tuple[SeatClock, ...] = (SeatClock(), SeatClock())
        self.hidden: set[int] = set()
        self.mover = self.turns = 0
        self.over = False

    def to_act(self) -> set[Seat]:
        if self.over:
            return set()
        if self.is_proposed:
            return {Seat(1)}
        return {Seat(s) for s in {0, 1} - self.hidden or {self.mover}}


def check(world: World) -> Counter[str]:
    """Hold everything that happened against the rules; how often each thing did."""
    seen: Counter[str] = Counter()
    used: dict[tuple[int, int], timedelta] = {}
    letters: dict[int, set[datetime]] = {human.number: set() for human in world.humans}
    for at, number in world.trays:
        letters[number].add(at)
    for wait in world.waits:
        if wait.human.digest is None:
            letters[wait.human.number].update(at for at, kind in wait.happened if kind == "remind")
    in_time: dict[int, set[datetime]] = {human.number: set() for human in world.humans}
    for wait in sorted(world.waits, key=lambda pause: pause.began):
        assert wait.ended is not None
        key = (wait.board, wait.seat)
        until = wait.ended + timedelta(microseconds=wait.lost)
        spent = used.get(key, timedelta(0))
        mine = sorted(letters[wait.human.number])
        wanted = expected(wait, world.outages, spent, until, mine, in_time[wait.human.number])
        assert wait.happened == wanted, (wait, wanted)
        if not wait.answer:
            spent = counted(wait, world.outages, wait.ended)
            used[key] = used.get(key, timedelta(0)) + spent
        last = None
        for at, kind in wait.happened:  # once more, in the words of the specification
            seen[kind] += 1
            assert not is_within(at, wait.human.away)
            assert not any(begins <= at < ends + HOUR for begins, ends in world.outages)
            if kind == "remind":
                chosen = wait.human.night or wait.human.digest is not None
                assert chosen or not is_night(at, wait.human.zone)
                last = last or at
            else:
                assert last is not None
                assert at - last >= DAY
    for human in world.humans:
        if human.digest is None:  # each letter came when it was time for one of its boards
            assert letters[human.number] <= in_time[human.number]
    return seen


@pytest.mark.slow
def test_a_year_on_the_engines_clocks() -> None:
    many = 200 if DEEP else 20
    rng = Random("a year of clocks")
    world = World(ClockHouse(rng), humans(many, rng, 0), many, rng)
    world.run()
    seen = check(world)
    assert seen["remind"] > 15 * many, seen
    assert world.finished["forfeit"] > many, world.finished
    assert world.finished["withdrawn"] > many, world.finished
    assert world.finished["played"] > many // 2, world.finished


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4 if DEEP else 1))
def test_a_year_in_the_whole_service(
    tmp_path: Path, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Database, keeper, digests and letters."""
    monkeypatch.setattr(scheduler, "EXPIRY_EVERY", timedelta(days=30))  # half the work, at 6 hours
    many = 50 if DEEP else 8
    rng = Random(f"a year of letters, {part}")
    people = humans(many, rng, 1)
    house = ServiceHouse(tmp_path, people, rng)
    world = World(house, people, many // 3, rng)
    try:
        world.run()
        seen = check(world)
        trays(world)
    finally:
        house.close()
    assert seen["remind"] > 6 * many, seen
    assert world.finished["forfeit"] > many // 2, world.finished
    assert world.finished["withdrawn"] > many, world.finished
    assert world.finished["played"] > many // 3, world.finished


def trays(world: World) -> None:
    """Check that each player got one digest on each day with a waiting board, at their hour."""
    readers = [human for human in world.humans if human.digest is not None]
    for human in readers:
        assert human.digest is not None
        got = [at for at, number in world.trays if number == human.number]
        dates = Counter(at.astimezone(human.zone).date() for at in got)
        assert not [date for date, count in dates.items() if count > 1]
        day, wanted = BEGINNING.astimezone(human.zone).date(), set()
        while day <= END.astimezone(human.zone).date():
            wall = datetime.combine(day, time(*divmod(human.digest, 60)), human.zone)
            at = wall.astimezone(UTC)
            if BEGINNING < at < END and not is_within(at, world.outages):
                wanted.add(at)
                waits = [w for w in world.waits if w.human is human and w.began < at]
                if any(w.ended is not None and at < w.ended for w in waits):
                    assert at in got, (human, at)
            day += timedelta(days=1)
        for at in set(got) - wanted:  # the server was down when it was time
            down = [ends for _, ends in world.outages if ends <= at < ends + timedelta(hours=9)]
            assert down, (human, at)
            assert at == down[0] or at.astimezone(human.zone).time() == time(7)
        assert len(got) > 60
