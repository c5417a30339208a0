"""No clock runs while no mail can come in, or while play is far behind."""

from __future__ import annotations

from datetime import timedelta

import pytest
from running import MovableClock, Running
from sqlalchemy import select
from test_stories import begun, status

from pbmserv.store.tables.downtime import outages

pytestmark = pytest.mark.slow


@pytest.fixture
def clock(server: Running, monkeypatch: pytest.MonkeyPatch) -> MovableClock:
    """Begin a board that is lost in an hour; only the test lets the door beat."""
    stage = server.server.door_stage
    stage._rounds.stop(10)
    play = server.server.play_stage
    monkeypatch.setattr(play.scheduler, "_door_beat", play.arrivals.door_beat)
    begun(server)
    server.live(days=7)
    server.live(days=13, hours=23)
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    return clock


def outages_of(server: Running) -> list[timedelta]:
    with server.server.database.reading.connect() as connection:
        return [row.ends - row.begins for row in connection.execute(select(outages))]


def is_lost_in_an_hour(server: Running) -> None:
    server.live(minutes=59)
    assert status(server) == "active"
    server.live(minutes=1)
    assert status(server) == "finished"


def test_without_a_door(server: Running, clock: MovableClock) -> None:
    for _ in range(5):
        clock.move(hours=1)
        server.server.scheduler.run_once()
        assert status(server) == "active"
    server.server.door_stage.run_once()
    server.server.scheduler.run_once()
    assert outages_of(server) == [timedelta(hours=5)]
    is_lost_in_an_hour(server)


def test_behind_by_more_than_five_minutes(
    server: Running, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = clock.now()
    with monkeypatch.context() as behind:
        behind.setattr(server.server.scheduler, "_oldest", lambda: came)
        for _ in range(3):
            clock.move(hours=1)
            server.server.door_stage.run_once()
            server.server.scheduler.run_once()
            assert status(server) == "active"
    server.server.scheduler.run_once()
    assert outages_of(server) == [timedelta(hours=3)]
    is_lost_in_an_hour(server)


def test_a_short_absence_of_the_door_is_no_outage(server: Running, clock: MovableClock) -> None:
    clock.move(minutes=5)
    server.server.scheduler.run_once()
    server.server.door_stage.run_once()
    server.server.scheduler.run_once()
    assert outages_of(server) == []
