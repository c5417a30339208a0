"""The schema that migrations build, for both stores and for each, and upgrades at the start."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import fork_server
import pytest
from alembic import command
from migrated import migrated, stores_of
from sqlalchemy import insert, inspect, text

from pbmserv.errors import ServerFault
from pbmserv.store.boards import seeks as seek_rows
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.boards import seeks
from pbmserv.store.tables.columns import metadata

pytestmark = pytest.mark.slow

PATIENCE_S = 60
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def tables(database: Database) -> set[str]:
    with database.reading.connect() as connection:
        return set(inspect(connection).get_table_names()) - {"alembic_version"}


def test_the_migrations_build_the_tables_and_differences_are_reported(
    empty: Database,
) -> None:
    with pytest.raises(ServerFault, match=r"has no tables of pbmserv.*or: pbmserv db upgrade"):
        schema.check(empty)
    schema.upgrade(empty)
    schema.upgrade(empty)
    assert schema.check(empty) == []
    assert tables(empty) == set(metadata.tables)

    with empty.writing.begin() as connection:
        connection.execute(text("ALTER TABLE players ADD COLUMN shoe_size INTEGER"))
    (difference,) = schema.check(empty)
    assert "shoe_size" in difference


def test_a_seek_of_an_older_version_gets_a_seed(empty: Database) -> None:
    schema.upgrade(empty)
    with schema.migrating(empty) as connection:
        command.downgrade(schema.alembic_config(connection, stores_of(empty)), "0022")
    with empty.writing.begin() as connection:
        player = {"id": 1, "userid": "ann", "password_hash": "", "address": "", "created_at": NOW}
        connection.execute(insert(players).values(player))
        for seed in (None, b"pledged"):
            seek = {"player_id": 1, "game": "hex", "seats": 2, "options": (), "created_at": NOW}
            connection.execute(insert(seeks).values(seek | {"seed": seed}))
    schema.upgrade(empty)
    assert schema.check(empty) == []
    with empty.reading.connect() as connection:
        older, newer = seek_rows.of_player(connection, 1)
    assert (len(older.seed), newer.seed) == (32, b"pledged")


def store_of(name: str) -> str:
    store: str = metadata.tables[name].info.get("store", "game")
    return store


def test_each_store_may_have_a_file_of_its_own(tmp_path: Path) -> None:
    by_file = {}
    migrated(tmp_path / "pbmserv.sqlite3")
    for store, file in (("game", "pbmserv"), ("mail", "pbmserv-mail")):
        database = Database(f"sqlite:///{tmp_path}/{file}.sqlite3")
        schema.prepare(database, (store,))
        assert schema.check(database, (store,)) == []
        by_file[store] = tables(database)
        database.close()
    assert by_file == {
        store: {name for name in metadata.tables if store_of(name) == store} for store in schema.ALL
    }


def test_no_table_refers_to_one_of_the_other_store() -> None:
    for table in metadata.tables.values():
        for key in table.foreign_keys:
            assert store_of(key.column.table.name) == store_of(table.name)


def test_sqlite_never_gives_a_number_twice(tmp_path: Path) -> None:
    url = migrated(tmp_path / "pbmserv.sqlite3")
    counted = []
    for database in (Database(url), Database(mail_url(url))):
        with database.reading.connect() as connection:
            counted += connection.execute(
                text("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'")
            ).scalars()
        database.close()
    assert sorted(counted) == ["arrivals", "boards", "events", "inbox", "outbox"]


@pytest.mark.sqlite_alone
def test_a_database_of_another_version_is_refused_with_advice_and_not_changed(
    database: Database,
) -> None:
    for revision, advice in (
        ("0001", "run: pbmserv db upgrade"),
        ("9999", "install the newer version again"),
    ):
        with database.writing.begin() as connection:
            connection.execute(
                text("UPDATE alembic_version SET version_num = :found"), {"found": revision}
            )
        for check in (schema.require, schema.check):
            with pytest.raises(ServerFault, match=advice):
                check(database)
    with pytest.raises(ServerFault, match=r"revision 9999.*install the newer version again"):
        schema.prepare(database)


def test_two_processes_can_start_on_one_empty_database(empty: Database, tmp_path: Path) -> None:
    settings = {"PBMSERV_DATA_DIR": str(tmp_path), "PBMSERV_DATABASE": empty.url}

    def begin(_: int) -> subprocess.CompletedProcess[str]:
        return fork_server.run(["db", "upgrade"], {**os.environ, **settings}, timeout=PATIENCE_S)

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(begin, range(2)))
    assert [end.returncode for end in ends] == [0, 0], ends
    schema.require(empty)
    stores = stores_of(empty)
    assert tables(empty) == {name for name in metadata.tables if store_of(name) in stores}
