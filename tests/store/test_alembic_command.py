"""Alembic's own command, and what migrations must provide."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fork_server import run
from sqlalchemy import insert

from pbmserv.errors import ServerFault
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.tables.columns import metadata

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
players = metadata.tables["players"]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def alembic(url: str, *arguments: str, code: int = 0) -> str:
    """Run the command with the checkout's settings, and return what it prints."""
    ini = ("-c", str(ROOT / "alembic.ini"))
    done = run(["alembic", *ini, *arguments], {**os.environ, "PBMSERV_DATABASE": url})
    assert (done.returncode != 0) == (code != 0), done
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_there_is_one_newest_revision() -> None:
    """If two branches each add a revision, one must follow the other."""
    assert len(schema.heads(schema.revisions())) == 1


def test_revisions_are_read_as_alembic_reads_them() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    for ini in (schema.alembic_ini(), ROOT / "alembic.ini"):
        scripts = ScriptDirectory.from_config(Config(ini))
        read = {
            revision.revision: tuple(revision._all_down_revisions)
            for revision in scripts.walk_revisions()
        }
        assert read == schema.revisions()
        assert scripts.get_heads() == [schema.head()]
    assert {name for name in schema.revisions() if len(name) > 32} == set()  # the column's length


def test_a_new_revision_begins_with_the_store_that_it_changes() -> None:
    template = (schema.migrations_folder() / "script.py.mako").read_text("utf-8")
    assert template.count('not in context.config.attributes["stores"]') == 2, "see CONTRIBUTING"


def test_it_goes_down_and_up_on_every_database_of_the_server(database: Database) -> None:
    """A database without rows can go down to the first revision and up again."""
    databases = schema.stores_at(database.url)
    alembic(database.url, "downgrade", "0001")
    assert revision_of(database) == "0001"
    refusal = alembic(database.url, "downgrade", "base", code=1)
    assert "0001 is the first revision" in refusal
    assert "pbmserv db restore FILE" in refusal
    with pytest.raises(ServerFault, match="run: pbmserv db upgrade"):
        schema.require(database)
    alembic(database.url, "upgrade", "head")
    current = alembic(database.url, "current")
    assert current.count(f"{schema.head()} (head)") == len(databases)
    for url, stores in databases:
        upgraded = Database(url)
        assert schema.check(upgraded, stores) == []
        upgraded.close()


def revision_of(database: Database) -> str:
    with database.reading.connect() as connection:
        return str(schema.current(connection))


@pytest.mark.sqlite_alone
def test_a_downgrade_refuses_to_lose_settings_of_players(database: Database) -> None:
    row = {"userid": "alice", "password_hash": "x", "address": "alice@players.example"}
    with database.writing.begin() as connection:
        connection.execute(insert(players).values(row | {"created_at": NOW, "labels": "read"}))
    refusal = alembic(database.url, "downgrade", "0003", code=1)
    assert "cannot hold a preference about far labels" in refusal
    assert revision_of(database) == schema.head()


def test_a_refusal_is_one_sentence(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/none.sqlite3"
    assert f"there is no database at {tmp_path}/none.sqlite3" in alembic(url, "current", code=1)
    assert list(tmp_path.iterdir()) == []
    assert "--sql cannot print them" in alembic(url, "upgrade", "head", "--sql", code=1)
    refusal = alembic("postgres//secret:word@", "current", code=1)
    assert re.search(r"PBMSERV_DATABASE = .*such as", refusal)
