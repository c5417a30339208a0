"""Ratings are only a cache: made again from the boards' record they are the same, bit for bit."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows
from sqlalchemy import Connection, Select, delete, insert, select, text, update

from pbmserv.cli.main import run
from pbmserv.engine.types import Outcome
from pbmserv.games.blackbox.game import GAME
from pbmserv.service.ratings import rating, rebuilding
from pbmserv.store import ratings
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards, histories
from pbmserv.store.boards.boards import NewBoard
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer, open_writer
from pbmserv.store.tables.accounts import players as players_table
from pbmserv.store.tables.boards import boards as boards_table
from pbmserv.store.tables.boards import player_boards
from pbmserv.store.tables.boards import seats as seats_table
from pbmserv.store.tables.ratings import rating_changes
from pbmserv.store.tables.ratings import ratings as ratings_table

pytestmark = [pytest.mark.slow, pytest.mark.both_databases]

RATED = (rating_changes, ratings_table)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def writer(database: Database) -> Iterator[Writer]:
    opened = open_writer(database)
    yield opened
    opened.close()


def rebuilt(database: Database) -> rebuilding.Comparison:
    with database.writing.begin() as connection:
        return rebuilding.rebuild(connection)


def join(writer: Writer, count: int, tag: str = "p") -> list[int]:
    """New players; their ids."""

    def job(connection: Connection) -> list[int]:
        numbers = [players.create(connection, f"{tag}{n}", "", f"{n}@x", NOW) for n in range(count)]
        return [player.id for player in numbers if player is not None]

    return writer.submit(job).result()


def board(
    connection: Connection, ids: list[int], *, rated: bool = True, agreed: bool = True
) -> int:
    """A new board of these players."""
    return boards.create(
        connection,
        NewBoard(
            game="blackbox",
            rules_version=1,
            options=(),
            seed=secrets.token_bytes(4),
            thread="x",
            rated=rated,
            sitting=ids,
            accepted=ids if agreed else ids[:1],
        ),
        NOW,
    )


def ended(connection: Connection, board_id: int, places: tuple[int, ...], now: datetime) -> None:
    """The board is over, as a move that ends it would have it."""
    row = boards.lock(connection, board_id)
    assert row is not None
    done = rating.rate_ended_board(
        connection, row, Outcome(places, "solved"), row.undecided, now, GAME
    )
    outcome = {"places": list(places), "scores": [], "reason": "solved", "seat": None}
    boards.finish(connection, board_id, outcome, done.at)


def everything(database: Database) -> tuple[list, list]:
    """Return all rows of both tables."""
    with database.reading.connect() as connection:
        return tuple(
            [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in (ratings_table, rating_changes)
        )


games_played = st.lists(
    st.tuples(
        st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True),  # who sat there
        st.lists(st.integers(1, 3), min_size=4, max_size=4),  # places
        st.integers(-3, 3),  # seconds since the last one; clocks may be set back
        st.sampled_from([(True, True)] * 6 + [(False, True), (True, False)]),
    ),
    max_size=25,
)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A SQLite database for many examples."""
    opened = Database(f"sqlite:///{tmp_path_factory.mktemp('rebuild')}/pbmserv.sqlite3")
    schema.prepare(opened)
    yield opened
    opened.close()


@examples(3)
@given(games_played)
def test_a_rebuild_changes_nothing_and_restores_everything(quick: Database, played: list) -> None:
    opened = quick
    ids = []
    with opened.writing.begin() as connection:
        for table in (player_boards, *RATED, seats_table, boards_table, players_table):
            connection.execute(delete(table))
        for n in range(5):
            connection.execute(
                insert(players_table).values(
                    userid=f"p{n}", password_hash="", address="", reply_epoch=0, created_at=NOW
                )
            )
        ids = list(connection.execute(select(players_table.c.id)).scalars())
        now = NOW
        for who, places, seconds, (rated, agreed) in played:
            now += timedelta(seconds=seconds)
            number = board(connection, [ids[n] for n in who], rated=rated, agreed=agreed)
            ended(connection, number, tuple(places[: len(who)]), now)
    before = everything(opened)
    assert rebuilding.check(opened).differences == 0
    with opened.writing.begin() as connection:
        connection.execute(delete(rating_changes))
        connection.execute(update(ratings_table).values(mu=ratings_table.c.mu + 1))
    lost = len(before[0]) + len(before[1])
    assert rebuilding.check(opened).differences == lost
    assert rebuilt(opened).differences == lost
    assert everything(opened) == before


def test_boards_of_the_same_players_that_end_at_once_are_all_right(
    database: Database, writer: Writer
) -> None:
    ids = join(writer, 4)
    pairs = [(ids[a], ids[b]) for a in range(4) for b in range(4) if a != b] * 2
    numbers = writer.submit(lambda c: [board(c, list(pair)) for pair in pairs]).result()
    waiting = [
        writer.submit(lambda c, n=n: ended(c, n, (1, 2) if n % 3 else (1, 1), NOW)) for n in numbers
    ]
    for job in waiting:
        job.result(60)
    with database.reading.connect() as connection:
        for player in ids:
            rated = ratings.of_player(connection, "blackbox", player)
            assert rated is not None
            assert rated.standing.games == 12
            assert histories.count(connection, player, ("finished",), "blackbox") == 12
            assert histories.count(connection, player, ("playing",), None) == 0
            changes = ratings.last_changes(connection, "blackbox", player, 50)[::-1]
            assert [change.number for change in changes] == list(range(1, 13))
            for earlier, later in pairwise(changes):
                assert earlier.after == later.before
                assert earlier.created_at < later.created_at
                assert histories.ended_at(connection, earlier.board_id) == earlier.created_at
    assert rebuilding.check(database).differences == 0


def test_a_rebuild_waits_for_boards_that_end_meanwhile(database: Database, writer: Writer) -> None:
    ids = join(writer, 2)
    numbers = writer.submit(lambda c: [board(c, ids) for _ in range(20)]).result()
    with database.writing.begin() as connection:
        ended(connection, numbers[0], (1, 2), NOW)
        connection.execute(update(ratings_table).values(wins=7))
    done: list[rebuilding.Comparison] = []
    thread = threading.Thread(target=lambda: done.append(rebuilt(database)))
    waiting = [writer.submit(lambda c, n=n: ended(c, n, (2, 1), NOW)) for n in numbers[1:10]]
    thread.start()
    waiting += [writer.submit(lambda c, n=n: ended(c, n, (1, 2), NOW)) for n in numbers[10:]]
    for job in waiting:
        job.result(60)
    thread.join(60)
    assert done
    # Whatever came after the rebuild was added to what it made, and nothing was lost.
    compared = rebuilding.check(database)
    assert compared.boards == 20
    assert compared.differences == 0


def test_the_operator_is_told_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/pbmserv.sqlite3"
    monkeypatch.setenv("PBMSERV_DATABASE", url)
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    opened = Database(url)
    schema.prepare(opened)
    writer = open_writer(opened)
    ids = join(writer, 2)
    number = writer.submit(lambda c: board(c, ids)).result()
    writer.submit(lambda c: ended(c, number, (1, 2), NOW)).result()
    writer.close()

    def ran(*arguments: str) -> tuple[int, str, str]:
        code = run(["rating", "rebuild", *arguments])
        return (code, *capsys.readouterr())

    assert ran("--check") == (0, "1 rated board, 2 ratings: all correct.\n", "")
    with opened.writing.begin() as connection:
        connection.execute(update(ratings_table).values(ordinal=99))
    code, out, err = ran("--check")
    assert (code, out) == (1, "")
    assert "blackbox, player 1: another standing" in err
    assert "2 rows differ" in err
    code, _, err = ran()
    assert (code, "give a reason with --why" in err) == (1, True)
    code, out, _ = ran("--why", "rows were changed by hand", "--by", "olga")
    assert code == 0
    assert "2 rows differed and have been put right." in out
    assert ran("--check")[0] == 0
    assert run(["audit", "ratings"]) == 0
    assert "rows were changed by hand" in capsys.readouterr().out
    with opened.writing.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for arguments in (("--check",), ("--why", "in vain")):
        code, out, err = ran(*arguments)
        assert (code, out) == (2, "")
        assert "install the newer version again" in err
    opened.close()


PLANS: list[tuple[Select, dict[str, object], str]] = [
    (
        ratings.BEST,
        {"of_game": "blackbox", "most": 51, "least": 5, "greatest": 99},
        "ix_ratings_game_ordinal",
    ),
    (
        ratings.LAST_CHANGES,
        {"of_player": 1, "of_game": "blackbox", "most": 10},
        "ix_rating_changes_player_id_game_number",
    ),
    (histories.OF_GAME, {"of_game": "blackbox", "most": 61}, "ix_boards_finished"),
]


@pytest.mark.sqlite_alone
@rows(("statement", "values", "index"), PLANS, ids=[p[2] for p in PLANS])
def test_tables_are_read_off_an_index_in_its_order(
    database: Database, statement: Select, values: dict[str, object], index: str
) -> None:
    with database.reading.connect() as connection:
        filled = statement.compile(database.reading).construct_expanded_state(values)
        steps = connection.exec_driver_sql(
            f"EXPLAIN QUERY PLAN {filled.statement}", tuple(filled.positional_parameters)
        )
        plan = [row[3] for row in steps]
    assert any(index in step for step in plan), plan
    assert not any(step.startswith("SCAN") for step in plan), plan
    assert not any("TEMP B-TREE" in step for step in plan), plan
