"""A server that is killed while an event starts or ends makes each board and each letter once."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from duplicate_events import create_as_operator
from indoors import PASSWORD, Indoors, address_of, indoors
from running import MovableClock
from seasons import GAME, Field
from sqlalchemy import Connection, Row, select

from pbmserv.service.events import letters, paired_games
from pbmserv.service.events import shared_boxes as boxes_of_events
from pbmserv.store.events import event_entries, event_games, events
from pbmserv.store.shared_boxes import event_boxes, shared_boxes
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.events import EventStatus
from pbmserv.store.tables.mail import outbox

NAMES = tuple(f"p{number:02}" for number in range(11))  # in groups of six and five


@dataclass(frozen=True)
class Death:
    """A moment at which a server is killed: while an event calls a function once more.

    Attributes:
        module: module of the function.
        function: its name.
        calls: number of its calls before the last one, in whose transaction the server dies.
    """

    module: ModuleType
    function: str
    calls: int


def _run_and_die(folder: Path, url: str, now: datetime, death: Death) -> None:
    """Run the scheduler until the server dies."""
    function = getattr(death.module, death.function)
    calls = []

    def die(*args: object, **values: object) -> object:
        calls.append(args)
        if len(calls) > death.calls:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **values)

    setattr(death.module, death.function, die)
    with _running_at(folder, url, now):
        pass


@contextmanager
def _running_at(folder: Path, url: str, now: datetime) -> Iterator[Indoors]:
    """Yield a server that has done what is due at a moment."""
    with indoors(folder, url) as server:
        clock = server.server.clock
        assert isinstance(clock, MovableClock)
        clock.moment = now
        server.server.scheduler.run_once()
        yield server


@contextmanager
def _killed_and_resumed(
    folder: Path,
    url: str,
    now: datetime,
    *deaths: Death,
    status: EventStatus = EventStatus.RUNNING,
) -> Iterator[Connection]:
    """Yield the database after a step of an event was killed, and resumed a minute later.

    Args:
        deaths: a server is started for each, a minute after the death of the one before.
        status: status of the event then.
    """
    for death in deaths:
        process = multiprocessing.get_context("fork").Process(
            target=_run_and_die, args=(folder, url, now, death)
        )
        process.start()
        process.join(60)
        assert process.exitcode == -signal.SIGKILL, death
        now += timedelta(minutes=1)
    with (
        _running_at(folder, url, now) as server,
        server.server.database.reading.connect() as connection,
    ):
        event = events.load(connection, 1)
        assert event is not None
        assert event.status == status
        yield connection


def test_a_season_start_goes_on_where_it_was_killed(database_url: str, tmp_path: Path) -> None:
    with indoors(tmp_path, database_url) as server:
        players = Field(server, NAMES)
        players.all_say(f"league join {GAME}")
        server.move_clock(days=8)
        players.until(1, EventStatus.CLOSED)
        server.server.door_stage.run_once()  # no mail waits
        clock = server.server.clock
        assert isinstance(clock, MovableClock)
        now = clock.moment + timedelta(days=7)
    before_the_first_group = Death(letters, "start_letters", 0)
    before_the_last_group = Death(letters, "start_letters", 1)
    with _killed_and_resumed(
        tmp_path, database_url, now, before_the_first_group, before_the_last_group
    ) as connection:
        groups: dict[int, list[int]] = {}
        for entry in event_entries.of_event(connection, 1):
            groups.setdefault(entry.group_number or 0, []).append(entry.player_id)
        games = event_games.of_event(connection, 1)
        event_boards = connection.execute(select(boards.c.id).where(boards.c.event_id == 1)).all()
        readers = connection.execute(
            select(outbox.c.player_id).where(outbox.c.letter == "event-begins")
        ).scalars()
        assert sorted(readers) == sorted(player for group in groups.values() for player in group)
    assert [len(groups[group]) for group in sorted(groups)] == [6, 5]
    pairs = sorted(tuple(sorted((game.first_id, game.second_id or 0))) for game in games)
    wanted = [pair for group in groups.values() for pair in combinations(sorted(group), 2)]
    assert pairs == sorted(wanted)
    assert len(event_boards) == len(pairs)


def _end_now(players: Field, ended: int) -> datetime:
    """Let some games of an event end unnoticed, and its last day be now; return the moment."""
    server = players.server
    open_games = [game for game in players.games(1) if not game["reason"]]
    for game in open_games[::ended]:
        line = f"{GAME} resign {game['board']} {game['second']} {PASSWORD}"
        server.send_unread(address_of(game["second"]), line)
    server.drop_letters()
    server.server.door_stage.run_once()  # no mail waits
    now = server.server.clock.now()
    server.server.writer.submit(lambda c: events.change(c, 1, ends_at=now, due_at=now)).result()
    return now


def _news_since(connection: Connection, moment: datetime) -> Sequence[Row[int, dict[str, Any]]]:
    """Return the players and words of the letters that tell the results, by player."""
    return connection.execute(
        select(outbox.c.player_id, outbox.c.words)
        .where(outbox.c.letter == "event-news", outbox.c.created_at >= moment)
        .order_by(outbox.c.player_id)
    ).all()


def test_the_end_of_a_season_goes_on_where_it_was_killed(database_url: str, tmp_path: Path) -> None:
    with indoors(tmp_path, database_url) as server:
        players = Field(server, NAMES)
        players.all_say(f"league join {GAME}")
        players.pass_until(1, EventStatus.RUNNING)
        now = _end_now(players, ended=3)
    settling_games = Death(event_games, "settle", 7)
    deciding_games = Death(paired_games, "decide", 12)
    in_second_group = Death(letters, "news", 8)
    with _killed_and_resumed(
        tmp_path,
        database_url,
        now,
        *(settling_games, deciding_games, in_second_group),
        status=EventStatus.FINISHED,
    ) as connection:
        groups: dict[int, list[int | None]] = {}
        for entry in event_entries.of_event(connection, 1):
            groups.setdefault(entry.group_number or 0, []).append(entry.place)
        games = event_games.of_event(connection, 1)
        letters_sent = _news_since(connection, now)
        regulars = event_entries.of_event(connection, 2)
    assert [player_id for player_id, _ in letters_sent] == list(range(1, 12))
    assert {words["what"] for _, words in letters_sent} == {"ended"}
    champions = [words["group"] for _, words in letters_sent if words["champion"]]
    assert champions == [1]
    assert [sorted(map(int, places)) for places in groups.values()] == [  # type: ignore[arg-type]
        [1, 2, 3, 4, 5, 6],
        [1, 2, 3, 4, 5],
    ]
    assert Counter(game.reason for game in games) == {"resigned": 9, "decided": 16}
    assert sorted(entry.player_id for entry in regulars) == list(range(1, 12))


def test_the_winner_of_a_killed_cup_enters_the_final_once(
    database_url: str, tmp_path: Path
) -> None:
    with indoors(tmp_path, database_url) as server:
        players = Field(server, NAMES[:10])
        players.all_say(f"cup join {GAME}")
        players.live(0.1)
        players.give_up(1)
        players.pass_until(1, EventStatus.RUNNING)
        players.live(1)  # the winners of the two groups meet
        (game,) = [game for game in players.games(1) if not game["reason"]]
        winner, loser = sorted((game["first"], game["second"]))
        server.send_unread(address_of(loser), f"{GAME} resign {game['board']} {loser} {PASSWORD}")
        server.drop_letters()
        server.server.door_stage.run_once()  # no mail waits
        now = server.server.clock.now()
    sending_results = Death(letters, "news", 3)  # the two of the last group, and one of the next
    with _killed_and_resumed(
        tmp_path, database_url, now, sending_results, status=EventStatus.FINISHED
    ) as connection:
        letters_sent = _news_since(connection, now)
        finalists = [entry.userid for entry in event_entries.of_event(connection, 2)]
    assert [player_id for player_id, _ in letters_sent] == list(range(1, 11))
    champions = [player_id for player_id, words in letters_sent if words["champion"]]
    assert champions == [NAMES.index(winner) + 1]
    assert finalists == [winner]


def test_a_season_is_drawn_after_the_places_of_the_one_before(tmp_path: Path) -> None:
    """Let a server be down from the last day of a season to the start of the next one."""
    with indoors(tmp_path) as server:
        players = Field(server, NAMES[:8])
        players.all_say(f"league join {GAME}")
        players.pass_until(1, EventStatus.RUNNING)
        now = _end_now(players, ended=3)
        is_closed = partial(events.change, status=EventStatus.CLOSED, closes_at=now)
        server.server.writer.submit(lambda c: is_closed(c, 2, starts_at=now, due_at=now)).result()
        server.server.scheduler.run_once()
        assert (players.status(1), players.status(2)) == (EventStatus.FINISHED, EventStatus.CLOSED)
        server.move_clock(seconds=60)
        server.server.scheduler.run_once()
        assert players.status(2) == EventStatus.RUNNING


def _entered_duplicate(server: Indoors, game: str, count: int) -> tuple[Field, list[int]]:
    """Create a duplicate event, and enter so many players; return them and their IDs."""
    players = Field(server, tuple(f"p{number:02}" for number in range(count)))
    now = server.server.clock.now()
    create_as_operator(server, game)
    ids = list(range(1, count + 1))
    server.server.writer.submit(lambda c: event_entries.enter(c, 1, ids, now)).result()
    return players, ids


@pytest.mark.parametrize(
    ("database_url", "game"),
    [("sqlite", "blackbox"), ("postgresql", "backgammon")],
    indirect=["database_url"],
)
def test_a_duplicate_event_goes_on_where_it_was_killed(
    database_url: str, game: str, tmp_path: Path
) -> None:
    with indoors(tmp_path, database_url) as server:
        players, ids = _entered_duplicate(server, game, 15)
        server.server.door_stage.run_once()  # no mail waits
        starts_at = datetime.fromisoformat(f"{players.event(1)['starts']}T00:00:00+00:00")
    in_second_portion = Death(letters, "box_letter", 12)  # a portion is ten players
    with _killed_and_resumed(tmp_path, database_url, starts_at, in_second_portion) as connection:
        rows = event_boxes.results(connection, 1)
        event_boards = connection.execute(
            select(boards.c.id, boards.c.options, boards.c.seed).where(boards.c.event_id == 1)
        ).all()
        letters_sent = connection.execute(
            select(outbox.c.player_id, outbox.c.words).where(outbox.c.letter == "event-begins")
        ).all()
    assert sorted(player_id for player_id, _ in letters_sent) == ids
    assert {(words["count"], *words["players"]) for _, words in letters_sent} == {(15,)}
    assert [(row.number, row.player_id) for row in rows] == [
        (number, player_id) for number in (1, 2, 3) for player_id in ids
    ]
    assert {row.board_id for row in rows} == {board.id for board in event_boards}
    assert len(event_boards) == 45
    drawn_by = {"blackbox": "options", "backgammon": "seed"}[game]
    assert len({str(getattr(board, drawn_by)) for board in event_boards}) == 3


def test_the_end_of_a_duplicate_event_goes_on_where_it_was_killed(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boxes_of_events, "READERS", 10)
    with indoors(tmp_path, database_url) as server:
        players, ids = _entered_duplicate(server, "blackbox", 15)
        players.pass_until(1, EventStatus.RUNNING)
        for board in (1, 2, 3):
            server.send_unread(address_of("p00"), f"blackbox resign {board} p00 {PASSWORD}")
        server.drop_letters()
        server.server.door_stage.run_once()  # no mail waits
        ends_at = datetime.fromisoformat(f"{players.event(1)['ends']}T00:00:00+00:00")
        left = ends_at - server.server.clock.now()
        server.move_clock(seconds=left.total_seconds())
    giving_up_boxes = Death(boxes_of_events, "_give_up", 35)  # the second thirty of 42 boxes
    sending_results = Death(letters, "news", 12)  # the second ten of 15 players
    with _killed_and_resumed(
        tmp_path,
        database_url,
        ends_at,
        *(giving_up_boxes, sending_results),
        status=EventStatus.FINISHED,
    ) as connection:
        rows = event_boxes.results(connection, 1)
        places = [entry.place for entry in event_entries.of_event(connection, 1)]
        statuses = connection.execute(select(boards.c.status).where(boards.c.event_id == 1))
        letters_sent = connection.execute(
            select(outbox.c.letter, outbox.c.player_id, outbox.c.words)
            .where(outbox.c.created_at >= ends_at)
            .order_by(outbox.c.player_id)
        ).all()
        assert set(statuses.scalars()) == {"finished"}
    assert {row.rank for row in rows} == {shared_boxes.GIVEN_UP}
    assert places == [1] * 15
    assert [player_id for _, player_id, _ in letters_sent] == ids
    assert [letter for letter, _, _ in letters_sent] == ["event-news", *["event-ends"] * 14]
    boards_told = [
        (player_id, part["board"])
        for _, player_id, words in letters_sent[1:]
        for part in words["news"]
    ]
    by_player = sorted(rows, key=lambda row: (row.player_id, row.number))
    assert boards_told == [(row.player_id, row.board_id) for row in by_player if row.player_id > 1]
