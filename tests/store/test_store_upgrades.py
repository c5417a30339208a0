"""Databases of every older revision, with rows in every table: nothing is lost on the way up."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, Column, Connection, MetaData, bindparam, inspect, select, text
from sqlalchemy.sql.elements import TextClause

from pbmserv.errors import ServerFault
from pbmserv.service.operators import upgrade
from pbmserv.service.ratings import rerating
from pbmserv.store.core import schema
from pbmserv.store.core.columns import Instant
from pbmserv.store.core.database import Database
from pbmserv.store.core.packed import pack, unpack
from pbmserv.store.delivery import inbox

pytestmark = pytest.mark.slow

REVISIONS = sorted(
    path.stem.partition("_")[0] for path in (schema.migrations_folder() / "versions").glob("*.py")
)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

Rows = Mapping[str, list[Mapping[str, Any]]]


def tables_of(connection: Connection) -> MetaData:
    found = MetaData()
    found.reflect(connection)
    found.remove(found.tables["alembic_version"])
    return found


def some_value(column: Column[Any], packed: Collection[str]) -> Any:
    """Something that fits the column's type; keys and what refers to them are all 1.

    Args:
        packed: tables whose long values are packed in this revision.
    """
    if column.primary_key or column.foreign_keys:
        kind = column.type.python_type
        return 1 if kind is int else "one"
    if isinstance(column.type, JSON):
        return {"some": "words"}
    if column.name in {"raw", "words"} and column.table.name in packed:
        return pack(b'{"some": "words"}' if column.name == "words" else b"\x00raw")
    values: dict[type, Any] = {int: 3, str: "x", bytes: b"\x00raw", bool: True, float: 0.5}
    return values.get(column.type.python_type, NOON)


def fill(database: Database) -> None:
    """A row in every table that has none yet."""
    with database.writing.begin() as connection:
        tables = tables_of(connection)
        packed = {"inbox", "outbox", "letter_bytes"} if "letter_bytes" in tables.tables else ()
        for table in tables.sorted_tables:
            if connection.execute(select(table).limit(1)).first() is None:
                row = {column.name: some_value(column, packed) for column in table.columns}
                if table.name == "boards":
                    row["status"] = "active"
                connection.execute(table.insert(), row)


def rows(database: Database) -> Rows:
    with database.reading.connect() as connection:
        return {
            table.name: [dict(row) for row in connection.execute(select(table)).mappings()]
            for table in tables_of(connection).sorted_tables
        }


PACKED = "0011"
"""The revision since which letters, mails and words are kept packed."""


def legible(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the newest revision with what it keeps packed unpacked."""
    found = dict(row)
    if isinstance(found.get("raw"), bytes):
        found["raw"] = unpack(found["raw"])
    if isinstance(found.get("words"), bytes):
        found["words"] = json.loads(unpack(found["words"]))
    return found


COMPUTED = {"ratings", "rating_changes"}
"""Tables that are made anew from the record of the boards when the rules of ratings change."""


@pytest.mark.parametrize("revision", REVISIONS)
def test_nothing_is_lost_from_any_older_revision(empty: Database, revision: str) -> None:
    for step in REVISIONS[: REVISIONS.index(revision) + 1]:
        schema.upgrade(empty, step)
        fill(empty)
    before = rows(empty)
    assert all(before.values()), "every table has a row"

    upgrade.prepare(empty)
    assert schema.check(empty) == []
    after = {name: [legible(row) for row in found] for name, found in rows(empty).items()}
    for letter in after["outbox"]:
        letter["raw"] = next((kept["raw"] for kept in after["letter_bytes"]), None)
    for name in [name for name in before if name not in COMPUTED]:
        kept = before[name]
        expected = [legible(row) for row in kept] if revision >= PACKED else kept
        columns = expected[0].keys()
        assert [{key: row[key] for key in columns} for row in after[name]] == expected, name
    with empty.writing.begin() as connection:
        if empty.is_sqlite:
            assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
            assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"

    schema.downgrade(empty, revision)
    last = rows(empty)
    assert last.keys() == before.keys()
    lasting = [name for name in before if name not in COMPUTED]
    assert [last[name] for name in lasting] == [before[name] for name in lasting]


def test_texts_of_mails_are_counted_after_an_upgrade(empty: Database) -> None:
    schema.upgrade(empty, "0010")
    fill(empty)
    schema.upgrade(empty, "0012")
    with empty.reading.connect() as connection:
        assert inbox.octets(connection) == {"x": len(pack(b"\x00raw"))}


def test_sqlite_numbers_no_board_twice_even_after_an_upgrade(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/pbmserv.sqlite3")
    schema.upgrade(database)
    with database.reading.connect() as connection:
        counted = connection.execute(
            text("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%' ORDER BY name")
        ).scalars()
        assert list(counted) == ["boards", "inbox", "outbox"]
        assert "ix_boards_due_at" in {i["name"] for i in inspect(connection).get_indexes("boards")}
    database.close()


def at_noon(statement: str) -> TextClause:
    """A statement of plain SQL whose ``:at`` is `NOON`, as the columns of tables keep it."""
    return text(statement).bindparams(bindparam("at", NOON, Instant))


def a_finished_board(database: Database) -> None:
    """Two players and a board that has ended, as the first revision kept them."""
    with database.writing.begin() as connection:
        for player, userid in ((1, "alice"), (2, "bob")):
            connection.execute(
                at_noon("INSERT INTO players VALUES (:id, :name, 'x', 'a@b.example', 0, :at)"),
                {"id": player, "name": userid},
            )
        connection.execute(
            at_noon(
                "INSERT INTO boards VALUES (1, 'blackbox', 1, 2, '[]', :seed, 'thread', 'finished',"
                " :yes, 9, :outcome, :at, :at)"
            ),
            {
                "seed": b"s",
                "yes": True,
                "outcome": json.dumps({"places": [1, 2], "reason": "solved"}),
            },
        )
        for seat in (0, 1):
            connection.execute(
                at_noon("INSERT INTO seats VALUES (1, :seat, :player, :at)"),
                {"seat": seat, "player": seat + 1},
            )


def test_boards_that_ended_before_there_were_ratings_are_rated(empty: Database) -> None:
    schema.upgrade(empty, "0001")
    a_finished_board(empty)
    upgrade.prepare(empty)
    compared = rerating.check(empty)
    assert (compared.boards, compared.players, compared.differences) == (1, 2, 0)


@pytest.mark.parametrize(
    ("revision", "advice"),
    [("0004", "run: pbmserv db upgrade"), ("9999", "install the newer version again")],
)
def test_a_database_of_another_version_is_told_with_what_helps(
    empty: Database, revision: str, advice: str
) -> None:
    schema.upgrade(empty)
    with empty.writing.begin() as connection:
        connection.execute(
            text("UPDATE alembic_version SET version_num = :found"), {"found": revision}
        )
    for asked in (schema.require, schema.check):
        with pytest.raises(ServerFault, match=advice):
            asked(empty)
