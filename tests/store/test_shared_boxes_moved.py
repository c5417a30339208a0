"""Boxes of the day and of duplicate events in a database of an older version are still there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from alembic import command
from migrated import stores_of
from sqlalchemy import Connection, MetaData, insert, select

from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.shared_boxes import daily_boxes, day_numbers, event_boxes, shared_boxes
from pbmserv.store.shared_boxes.shared_boxes import SOLVED, WRONG

pytestmark = pytest.mark.slow

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TODAY = (NOW.date() - day_numbers.EPOCH).days
DAILY = {1: 1, 2: 2, 3: 3, 6: 4}
"""Players of boards with the box of the day."""
RACES = (4, 5)
OUTCOME = {"places": [2, 1, 2], "scores": [4, 3, 9], "reason": "race", "seat": None}


def _before() -> str:
    """Return the revision before shared boxes."""
    (revision,) = schema.revisions()["0016"]
    return revision


def _go_back(database: Database) -> None:
    """Migrate a database to the revision before shared boxes."""
    with schema.migrating(database) as connection:
        command.downgrade(schema.alembic_config(connection, stores_of(database)), _before())


def _fill(connection: Connection) -> None:
    """Store a daily box with boards of four players, and an event of two races, the first over."""
    tables = MetaData()
    tables.reflect(connection)

    def add(table: str, **values: Any) -> None:
        connection.execute(insert(tables.tables[table]).values(**values))

    for number, name in enumerate(("ann", "bob", "cleo", "dan"), 1):
        add(
            "players",
            id=number,
            userid=name,
            password_hash="",
            reply_epoch=0,
            address=f"{name}@players.example",
            created_at=NOW,
        )
    for number in range(1, 7):
        seats = 3 if number in RACES else 1
        add(
            "boards",
            id=number,
            game="blackbox",
            rules_version=1,
            seats=seats,
            options=["-race", f"-id={number}"],
            seed=b"",
            thread="",
            status={3: "active", 5: "active", 6: "declined"}.get(number, "finished"),
            rated=False,
            plies=0,
            outcome=OUTCOME if number == 4 else None,
            created_at=NOW,
            event_id=1 if number in RACES else None,
        )
        for seat in range(seats):
            player_id = seat + 1 if number in RACES else DAILY[number]
            add("seats", board_id=number, seat=seat, player_id=player_id)
    add("daily_boxes", game="blackbox", day=TODAY, options=["-race", "-id=1"])
    results = {1: (True, 7), 2: (False, None), 3: (None, None), 6: (None, None)}
    for number, (solved, score) in results.items():
        values = {"solved": solved, "score": score, "counts": number != 2}
        add(
            "daily_boards",
            player_id=DAILY[number],
            game="blackbox",
            day=TODAY,
            board_id=number,
            **values,
        )
    add(
        "events",
        id=1,
        kind="duplicate",
        game="blackbox",
        number=1,
        name="",
        status="running",
        options=["-race"],
        rules={},
        closes_at=NOW,
        starts_at=NOW,
        ends_at=NOW + timedelta(days=14),
        round=1,
        created_at=NOW,
    )
    for number in (1, 2):
        add(
            "pairings",
            event_id=1,
            round=1,
            section=1,
            number=number,
            first_id=1,
            board_id=number + 3,
        )


def test_an_upgrade_keeps_boxes_and_results(database: Database) -> None:
    _go_back(database)
    with database.writing.begin() as connection:
        _fill(connection)
    schema.upgrade(database, stores_of(database))
    with database.reading.connect() as connection:
        box = daily_boxes.of_day(connection, "blackbox", TODAY)
        assert box is not None
        assert box.options == ("-race", "-id=1")
        rows = [shared_boxes.of_board(connection, number) for number in (1, 2, 3)]
        assert [(row.rank, row.score) for row in rows if row] == [
            (SOLVED, 7),
            (WRONG, None),
            (None, None),
        ]
        assert daily_boxes.boards_of_day(connection, "blackbox", TODAY) == {
            True: 1,
            False: 2,  # the board that was declined never ends
            None: 1,
        }
        assert daily_boxes.days_solved(connection, 1, "blackbox", TODAY) == [TODAY]
        assert daily_boxes.days_solved(connection, 2, "blackbox", TODAY) == []
        races = [
            (row.number, row.player_id, row.board_id, row.score)
            for row in event_boxes.results(connection, 1)
        ]
        tables = MetaData()
        tables.reflect(connection)
        assert connection.execute(select(tables.tables["pairings"])).all() == []
        assert "daily_boards" not in tables.tables
    assert races == [
        (1, 1, 4, 2),
        (1, 2, 4, 1),
        (1, 3, 4, 2),
        (2, 1, 5, None),
        (2, 2, 5, None),
        (2, 3, 5, None),
    ]


@pytest.mark.sqlite_alone
def test_a_downgrade_keeps_boxes_of_the_day(database: Database) -> None:
    with database.writing.begin() as connection:
        box = shared_boxes.add(connection, "blackbox", ["-race"], day=TODAY)
        assert shared_boxes.add(connection, "blackbox", ["-other"], day=TODAY) == box
    _go_back(database)
    with database.reading.connect() as connection:
        tables = MetaData()
        tables.reflect(connection)
        rows = connection.execute(select(tables.tables["daily_boxes"])).all()
    assert [(row.game, row.day) for row in rows] == [("blackbox", TODAY)]
