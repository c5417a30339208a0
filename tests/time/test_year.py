"""A simulated year, or a third of one: nothing comes early, late, twice or not at all; nothing at
night, nothing while away, nothing in the hour after the server was down."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from random import Random

import pytest
from examples import DEEP
from year_house import ServiceHouse
from year_rules import DAY, HOUR, counted, expected, is_night, is_within
from year_world import BEGINNING, END, World, humans


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
@pytest.mark.parametrize("part", range(4 if DEEP else 1))
def test_a_year_in_the_whole_service(tmp_path: Path, part: int) -> None:
    """Database, keeper, digests and letters."""
    many = 50 if DEEP else 10
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
    assert seen["remind"] > 3 * many, seen
    assert world.finished["forfeit"] > many // 4, world.finished
    assert world.finished["withdrawn"] > many // 2, world.finished
    assert world.finished["played"] > many // 6, world.finished


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
        assert len(got) > 30
