"""Fourteen days of absence count for a player and an event, however many rounds it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from duplicate_events import create_as_operator
from indoors import indoors
from seasons import GAME, Field
from sqlalchemy import insert

from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.time.timekeeping import person_at
from pbmserv.store.boards import boards
from pbmserv.store.tables.accounts import absences
from pbmserv.store.tables.events import EventStatus


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_later_round_begins_no_days_of_absence_again(tmp_path: Path, database_url: str) -> None:
    with indoors(tmp_path, database_url) as house:
        players = Field(house, ("ann", "bob", "cleo", "dan"))
        players.all_say(f"league join {GAME}")
        players.until(1, EventStatus.RUNNING)
        server = house.server
        with server.database.writing.begin() as connection:
            board = boards.load(connection, 1)
            assert board is not None
            begun, sitter = board.created_at, board.sitters[0]
            connection.execute(
                insert(absences).values(
                    player_id=sitter.player_id, begins=begun, ends=begun + timedelta(days=40)
                )
            )
        later = begun + timedelta(days=10)
        second = replace(board, created_at=later)  # as a board of a second round
        with server.database.reading.connect() as connection:
            context = CommandContext(server.services, connection, NOBODY, later)
            away = person_at(context, second, sitter, later).away
            of_no_event = person_at(context, replace(second, event_id=None), sitter, later).away
        assert away == ((begun, begun + timedelta(days=14)),)
        assert of_no_event == ((later, later + timedelta(days=14)),)


def test_an_absence_does_not_put_off_the_end_of_a_duplicate_event(
    field: Callable[[int], Field],
) -> None:
    players = field(2)
    create_as_operator(players.server, "blackbox")
    players.all_say("event join 1")
    players.until(1, EventStatus.RUNNING)
    (letter,) = players.says("ann", "away until in 20 days")
    assert "belong to an event that ends on 18 March 2026" in letter.one_line
    assert "given up, also while you are away" in letter.one_line
    assert "days of absence count" not in letter.one_line
