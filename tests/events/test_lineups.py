"""Line-ups of teams in events by invitation, and the order of locks of events and teams."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from indoors import indoors
from seasons import (
    GAME,
    PATIENCE_S,
    PAWNS,
    ROOKS,
    Field,
    gather_two,
    kinds_to,
    wait_for_a_lock,
)
from sqlalchemy import select
from test_teams import finish_a_game

from pbmserv.store.events import events
from pbmserv.store.tables.teams import teams


def test_an_invited_captain_stays_invited_on_the_reserve(field: Callable[[int], Field]) -> None:
    players = field(10)
    gather_two(players, ROOKS[:4], ("jack", *PAWNS))
    finish_a_game(players, "ann", "bob")
    players.says("ann", f'event create {GAME} team "Office match" -entries=3 -invited')
    players.says("ann", "event invite 1 jack")
    players.says("jack", "event join 1")
    # Jack puts himself on the reserve: the team stays entered, and he can enter it again.
    players.says("jack", "team order finn gus hal ivy jack")
    assert players.event(1)["entered"] == 2
    (refused,) = players.says("jack", "event join 1")
    assert "already" in refused.text
    players.says("jack", "event leave 1")
    assert players.event(1)["entered"] == 1
    assert kinds_to(players.says("jack", "event join 1"), "jack") == ["team"]
    # The team shrinks, and is out; so is its captain. Its next captain may enter it again.
    players.says("hal", "team leave")
    players.says("jack", "team leave")
    assert players.event(1)["entered"] == 1
    for name in ("hal", "jack"):
        players.says("finn", f"team invite {name}")
        players.says(name, "team join Pawns")
    assert kinds_to(players.says("finn", "event join 1"), "finn") == ["team"]
    (refused,) = players.says("gus", "event leave 1")
    assert "only the captain" in refused.text


LOCKING = (
    f"team enter {GAME}",
    "team order bob ann cleo dan eve",
    "team remove eve",
    "event leave 1",
    "event join 1",
    f"team withdraw {GAME}",
    f"team enter {GAME}",
    "team leave",
)
"""Commands of a captain that lock a team and an event, one after the other."""


def test_events_are_locked_before_teams(tmp_path: Path, postgres_url: str) -> None:
    """Two commands that lock a team and an event cannot wait for each other."""
    with indoors(tmp_path, postgres_url) as server:
        players = Field(server, (*ROOKS, *PAWNS))
        gather_two(players)
        players.says("finn", f"team enter {GAME}")
        database = server.server.database
        for command in LOCKING:
            with ThreadPoolExecutor(1) as thread, database.writing.begin() as connection:
                assert events.lock(connection, 1) is not None
                letters = thread.submit(players.says, "ann", command)
                wait_for_a_lock(connection, letters)
                connection.execute(select(teams.c.id).with_for_update(nowait=True)).all()
                connection.commit()
                assert letters.result(PATIENCE_S)[0].kind != "refusal", command
