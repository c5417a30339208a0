"""Statements about events do the same on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from indoors import Indoors, indoors
from sqlalchemy import Connection
from sqlalchemy.event import listen

from pbmserv.service.events.kinds.registry import SERVER_KINDS
from pbmserv.store.boards import boards, histories
from pbmserv.store.boards.boards import NewBoard
from pbmserv.store.events import (
    event_bars,
    event_draws,
    event_entries,
    event_games,
    event_lists,
    events,
    regulars,
)
from pbmserv.store.events.event_draws import Drawn
from pbmserv.store.events.event_games import Pairing
from pbmserv.store.ladders import ladder_challenges, ladders
from pbmserv.store.operators import events as watched_games
from pbmserv.store.shared_boxes import daily_boxes, event_boxes, shared_boxes
from pbmserv.store.shared_boxes.shared_boxes import GIVEN_UP, SOLVED
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.store.tables.events import EntryStatus, EventStatus

pytestmark = pytest.mark.both_databases

NOW = datetime(2027, 1, 4, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[Indoors]:
    with indoors(tmp_path, database_url) as server:
        server.sign_up("ann", "bob", "cleo")
        yield server


def test_each_statement_about_events(server: Indoors) -> None:
    server.server.writer.submit(_check_events).result()


def test_the_list_of_events_reads_no_more_of_them_than_it_shows(tmp_path: Path) -> None:
    executed: list[tuple[str, Any]] = []
    with indoors(tmp_path) as server, server.server.database.reading.connect() as connection:
        listen(
            connection, "before_cursor_execute", lambda *call: executed.append((call[2], call[3]))
        )
        event_lists.listed(connection, (EventStatus.OPEN, EventStatus.FINISHED), 9)
        for statement, parameters in tuple(executed):
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            assert len(plan) == 1, plan  # it sorts nothing
            assert "USING INDEX ix_events_status_id" in plan[0][-1], plan
    assert executed


def _event(
    connection: Connection, kind: str, *, owner_id: int | None = None, name: str = ""
) -> int:
    number = events.next_number(connection, kind, "chess")
    event_id = events.create(
        connection,
        NOW,
        kind=kind,
        game="chess",
        number=number,
        options=[],
        rules=SERVER_KINDS[kind].rules.as_json(),
        closes_at=NOW + DAY,
        starts_at=NOW + DAY,
        owner_id=owner_id,
        name=name,
    )
    assert event_id is not None
    events.change(connection, event_id, due_at=NOW)
    return event_id


def _board(
    connection: Connection,
    game: str,
    players: list[int],
    event: int | None = None,
    *,
    rated: bool = False,
) -> int:
    return boards.create(
        connection,
        NewBoard(
            game=game,
            rules_version=1,
            options=[],
            seed=b"",
            thread="",
            rated=rated,
            event_id=event,
            sitting=players,
            accepted=players,
        ),
        NOW,
    )


def _check_events(connection: Connection) -> None:
    first = _event(connection, "league")
    second = _event(connection, "league")
    event_entries.enter(connection, first, [1, 2], NOW)
    event_entries.enter(connection, second, [1, 2], NOW)
    drawn = [Drawn(player, group_number=2, seed=player, rating=1.5) for player in (1, 2)]
    event_draws.draw(connection, first, drawn)
    event_entries.change(connection, first, 1, place=1)
    places = event_draws.last_places(connection, "league", "chess", 2)
    assert {
        player: (last.group_number, last.place, last.size) for player, last in places.items()
    } == {
        1: (2, 1, 2),
        2: (2, None, 2),
    }
    assert event_draws.ratings_of(connection, "chess", first) == {1: (0.0, 0), 2: (0.0, 0)}
    assert event_entries.count_groups(connection, first) == 2
    assert event_lists.has_entered_before(connection, 1, "league")
    assert [event.id for event in event_lists.of_player(connection, 1, ["open"])] == [second, first]
    assert events.of_number(connection, "league", "chess", 2) == events.load(connection, second)

    board = _board(connection, "chess", [1, 2], first, rated=True)
    game = Pairing(1, 2, 1, 1, 2, board, None, None, "")
    event_games.add(connection, first, [game])
    events.change(connection, first, status=EventStatus.RUNNING, round=1, due_at=NOW + 30 * DAY)
    assert events.due(connection, NOW, 9) == [second]
    # An event that runs is not cut off by newer ones.
    order = (EventStatus.RUNNING, EventStatus.OPEN)
    assert [event.id for event in event_lists.listed(connection, order, 1)] == [first]
    assert [event.id for event in event_lists.listed(connection, order, 9)] == [first, second]
    boards.finish(connection, board, {}, NOW)
    assert set(events.due(connection, NOW, 9)) == {first, second}
    assert events.claim(connection, first, NOW) is not None
    events.change(connection, first, due_at=NOW)
    events.put_off(connection, first, NOW + DAY / 48)
    assert events.due(connection, NOW, 9) == [second]
    assert event_games.ended_games(connection, first) == [game]
    assert events.id_of_board(connection, board) == first
    assert event_games.of_board(connection, board) == game
    assert event_games.of_player(connection, first, 2) == [game]
    assert event_games.of_event(connection, first, groups=(1, 2)) == [game]
    assert event_games.groups(connection, first) == {2}
    event_games.settle(connection, first, game, (2, 0), "resigned")
    watched = watched_games.early_resignations(connection, NOW - DAY, 6)
    assert watched == [("bob", "ann", "1", "1", str(board))]
    ladder = ladders.lock(connection, "chess", NOW)
    challenge = _board(connection, "chess", [2, 1])
    ladder_challenges.add(connection, ladder.id, challenge, 1, 2, NOW)
    boards.finish(connection, challenge, {"places": [2, 1], "reason": "resigned"}, NOW)
    watched = watched_games.early_resignations(connection, NOW - DAY, 6)
    assert watched == [("bob", "ann", "2", "2", str(challenge))]

    _check_people(connection, first)


def test_the_newest_season_decides_where_a_player_is_drawn(server: Indoors) -> None:
    def play_seasons(connection: Connection) -> list[int]:
        for group in (3, 2, 1):
            season = _event(connection, "league")
            event_entries.enter(connection, season, [1], NOW)
            event_draws.draw(connection, season, [Drawn(1, group, seed=1, rating=1.5)])
        last = event_draws.last_places(connection, "league", "chess", 3)
        return [last[1].number, last[1].group_number]

    assert server.server.writer.submit(play_seasons).result() == [2, 2]


def test_each_statement_about_shared_boxes(server: Indoors) -> None:
    server.server.writer.submit(_check_shared_boxes).result()


def _check_shared_boxes(connection: Connection) -> None:
    event = _event(connection, "duplicate")
    event_entries.enter(connection, event, [1, 2, 3], NOW)
    events.change(connection, event, status=EventStatus.RUNNING, round=1, due_at=NOW + 30 * DAY)
    box = shared_boxes.add(connection, "blackbox", ["-race"], event_id=event, number=1)
    assert shared_boxes.add(connection, "blackbox", ["-x"], event_id=event, number=1) == box
    shared_boxes.give(connection, box.id, [1, 2, 3])
    assert event_boxes.of_event(connection, event) == [box]
    assert event_boxes.without_board(connection, event, 2) == [1, 2]
    assert event_boxes.userids(connection, box.id, 2) == ["ann", "bob"]
    assert event_boxes.count_players(connection, box.id) == 3
    numbers = [_board(connection, "blackbox", [player], event) for player in (1, 2)]
    for player, number in enumerate(numbers, 1):
        shared_boxes.set_board(connection, box.id, player, number)
    boards.finish(connection, numbers[0], {"places": [1], "reason": "solved"}, NOW)
    shared_boxes.settle(connection, box.id, 1, SOLVED, 7)
    first = shared_boxes.of_board(connection, numbers[0])
    assert first is not None
    assert (first.rank, first.score, first.daily_number) == (SOLVED, 7, 0)
    assert shared_boxes.is_played(connection, box.id)
    assert histories.of_player(connection, 1, None, 9) == []  # its result is secret
    assert [row.player_id for row in event_boxes.unfinished(connection, event, 9)] == [2, 3]
    assert events.due(connection, NOW, 9) == []
    assert event_boxes.open_until(connection, 2) == {}  # the event has no end yet
    events.change(connection, event, ends_at=NOW + 14 * DAY)
    assert event_boxes.open_until(connection, 2) == {NOW + 14 * DAY: [numbers[1]]}
    assert event_boxes.open_until(connection, 1) == event_boxes.open_until(connection, 3) == {}
    boards.set_status(connection, numbers[1], BoardStatus.DECLINED)
    assert [row.player_id for row in event_boxes.unfinished(connection, event, 9)] == [3]
    shared_boxes.settle(connection, box.id, 3, GIVEN_UP, 0)
    assert not shared_boxes.is_played(connection, box.id)
    assert [game.board for game in histories.of_player(connection, 1, None, 9)] == [numbers[0]]
    assert events.due(connection, NOW, 9) == [event]
    ranks = [row.rank for row in event_boxes.results(connection, event)]
    assert ranks == [SOLVED, GIVEN_UP, GIVEN_UP]


def test_each_statement_about_boxes_of_the_day(server: Indoors) -> None:
    server.server.writer.submit(_check_boxes_of_the_day).result()


def _check_boxes_of_the_day(connection: Connection) -> None:
    daily = shared_boxes.add(connection, "blackbox", ["-race"], day=9)
    shared_boxes.add(connection, "blackbox", ["-race"], day=8)
    number = _board(connection, "blackbox", [1])
    shared_boxes.give(connection, daily.id, [1], number)
    shared_boxes.settle(connection, daily.id, 1, SOLVED, 3)
    shared_boxes.move(connection, 1, 2)
    assert daily_boxes.first_try(connection, [2], "blackbox", 9) == number
    assert daily_boxes.of_day(connection, "blackbox", 9) == daily
    assert daily_boxes.days(connection, "blackbox", 9, 9) == [(9, ("-race",), 1, 1)]
    assert daily_boxes.boards_of_day(connection, "blackbox", 9) == {True: 1}
    assert daily_boxes.neighbours(connection, "blackbox", 9) == (8, None)
    assert daily_boxes.days_solved(connection, 2, "blackbox", 9) == [9]
    assert [row.score for row in daily_boxes.best_of_day(connection, "blackbox", 9, 5)] == [3]
    assert len(daily_boxes.dailies_between(connection, "blackbox", 8, 9)) == 1
    assert daily_boxes.try_daily(connection, "blackbox", 9, ["mark"])
    assert not daily_boxes.try_daily(connection, "blackbox", 9, ["mark"])
    assert daily_boxes.has_tried(connection, [3], ["mark"], "blackbox", 9)
    assert daily_boxes.has_tried(connection, [2], [], "blackbox", 9)
    assert not daily_boxes.has_tried(connection, [3], [], "blackbox", 9)


def _check_people(connection: Connection, first: int) -> None:
    """Check the statements about players."""
    event_entries.move(connection, 2, 3)
    assert [entry.userid for entry in event_entries.of_event(connection, first, 2)] == [
        "ann",
        "cleo",
    ]
    assert event_games.of_player(connection, first, 3)[0].second_id == 3
    regulars.add(connection, "chess", 1, NOW)
    third = _event(connection, "league")
    event_bars.bar(connection, 1, NOW + DAY)
    regulars.enter_all(connection, third, "chess", NOW, NOW)
    assert event_entries.count(connection, [third]) == {}
    regulars.enter_all(connection, third, "chess", NOW + DAY, NOW)
    assert event_entries.count(connection, [third]) == {third: 1}
    assert event_entries.mute(connection, third, 1)
    assert not event_entries.mute(connection, third, 1)
    event_entries.enter(connection, third, [2], NOW, EntryStatus.INVITED)
    event_entries.drop(connection, third, 1)
    assert regulars.drop(connection, "chess", 1)
    cup = _event(connection, "cup", owner_id=1, name="Office cup")
    assert event_lists.count_owned(connection, 1) == 1
    event_entries.enter(connection, cup, [2], NOW, EntryStatus.INVITED)
    assert event_lists.count_invited(connection, 1, NOW - DAY) == 1
    assert event_lists.count_invited(connection, 1, NOW) == 0
    before = event_lists.count_entered(connection, [2, 3])
    event_entries.enter(connection, cup, [2, 3], NOW)
    assert event_lists.count_entered(connection, [2, 3]) == before + 1
    event_entries.change(connection, cup, 2, forfeits=2)
    event = events.load(connection, cup)
    assert event is not None
    assert event_lists.count_forfeits(connection, event, 2, NOW) == 2
    assert event_lists.count_forfeits(connection, event, 2, NOW + 2 * DAY) == 0
    assert events.end_of(connection, cup) is None
    assert events.open_event(connection, "cup", "chess", NOW) is None
