"""Statements about events do the same on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from indoors import Indoors, indoors
from sqlalchemy import Connection

from pbmserv.service.events.kinds.registry import SERVERS
from pbmserv.store import events
from pbmserv.store.boards import boards
from pbmserv.store.events import Drawn, Pairing
from pbmserv.store.operators import events as watched_games
from pbmserv.store.tables.events import EntryStatus, EventStatus

NOW = datetime(2027, 1, 4, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(params=["sqlite", "postgresql"])
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Indoors]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with indoors(tmp_path, url) as made:
        made.sign_up("ann", "bob", "cleo")
        yield made


def test_each_statement(server: Indoors) -> None:
    server.server.writer.submit(_run).result()


def _event(
    connection: Connection, kind: str, *, owner_id: int | None = None, name: str = ""
) -> int:
    event_id = events.create(
        connection,
        NOW,
        kind=kind,
        game="chess",
        options=[],
        rules=SERVERS[kind].rules.as_json(),
        closes_at=NOW + DAY,
        starts_at=NOW + DAY,
        owner_id=owner_id,
        name=name,
    )
    events.change(connection, event_id, due_at=NOW)
    return event_id


def _run(connection: Connection) -> None:
    first = _event(connection, "league")
    second = _event(connection, "league")
    events.enter(connection, first, [1, 2], NOW)
    events.enter(connection, second, [1, 2], NOW)
    drawn = [Drawn(player, section=2, seed=player, rating=1.5) for player in (1, 2)]
    events.draw(connection, first, drawn)
    events.change_entry(connection, first, 1, place=1)
    places = events.last_places(connection, "league", "chess", 2).values()
    assert {(one.player_id, one.section, one.place, one.size) for one in places} == {
        (1, 2, 1, 2),
        (2, 2, None, 2),
    }
    assert events.ordinals(connection, "chess", first) == {1: (0.0, 0), 2: (0.0, 0)}
    assert events.count_groups(connection, first) == 2
    assert events.has_entered_before(connection, 1, "league")
    assert [one.id for one in events.of_player(connection, 1, ["open"])] == [second, first]
    assert events.of_number(connection, "league", "chess", 2) == events.load(connection, second)

    board = boards.create(
        connection,
        game="chess",
        rules_version=1,
        options=[],
        seed=b"",
        thread="",
        rated=True,
        event_id=first,
        sitting=[1, 2],
        accepted=[1, 2],
        now=NOW,
    )
    game = Pairing(1, 2, 1, 1, 2, board, None, None, "")
    events.add_pairings(connection, first, [game])
    events.change(connection, first, status=EventStatus.RUNNING, round=1, due_at=NOW + 30 * DAY)
    assert events.due(connection, NOW, 9) == [second]
    boards.finish(connection, board, {}, NOW)
    assert set(events.due(connection, NOW, 9)) == {first, second}
    assert events.claim(connection, first, NOW) is not None
    events.change(connection, first, due_at=NOW)
    events.put_off(connection, first, NOW + DAY / 48)
    assert events.due(connection, NOW, 9) == [second]
    assert events.ended_games(connection, first) == [game]
    assert events.event_of_board(connection, board) == first
    assert events.pairing_of_board(connection, board) == game
    assert events.games_of_player(connection, first, 2) == [game]
    assert events.pairings_of(connection, first, groups=(1, 2)) == [game]
    assert events.sections_with_games(connection, first) == {2}
    events.settle(connection, first, game, (2, 0), "resigned")
    watched = watched_games.early_resignations(connection, NOW - DAY, 6)
    assert watched == [("bob", "ann", "1", "1", str(board))]

    _check_people(connection, first)


def _check_people(connection: Connection, first: int) -> None:
    """Check the statements about players."""
    events.move(connection, 2, 3)
    assert [entry.userid for entry in events.entries_of(connection, first, 2)] == ["ann", "cleo"]
    assert events.games_of_player(connection, first, 3)[0].second_id == 3
    events.add_regular(connection, "chess", 1, NOW)
    third = _event(connection, "league")
    events.bar(connection, 1, NOW + DAY)
    events.enter_regulars(connection, third, "chess", NOW)
    assert events.count_entries(connection, [third]) == {}
    events.enter_regulars(connection, third, "chess", NOW + 2 * DAY)
    assert events.count_entries(connection, [third]) == {third: 1}
    assert events.mute(connection, third, 1)
    assert not events.mute(connection, third, 1)
    events.enter(connection, third, [2], NOW, EntryStatus.INVITED)
    events.drop_entry(connection, third, 1)
    assert events.drop_regular(connection, "chess", 1)
    _event(connection, "cup", owner_id=1, name="Office cup")
    assert events.count_owned(connection, 1) == 1
    assert events.open_event(connection, "cup", "chess", NOW) is None
