"""A copy of SQLite is restored into PostgreSQL, and the games go on there."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from deeds import ALICE, BOB, deliver_at_door
from examples import examples
from fork_server import run
from hypothesis import given
from hypothesis import strategies as st
from indoors import PASSWORD, Indoors, Posted, indoors
from migrated import migrated
from running import PATIENCE_S
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Enum,
    Float,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    insert,
    inspect,
    select,
    text,
    type_coerce,
    update,
)
from sqlalchemy.types import NullType

from pbmserv import files
from pbmserv.errors import OperatorError
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.delivery.shares import SHARES
from pbmserv.store.operators import backup
from pbmserv.store.operators.backup import SKIPPED
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.bots import analyses, house_turns
from pbmserv.store.tables.columns import Instant, PackedBytes, PackedJson, metadata
from pbmserv.store.tables.downtime import outages
from pbmserv.store.tables.mail import stores


def save(url: str, file: Path) -> None:
    backup.save(url, file, files.only_new)


def restore(url: str, file: Path, place: files.Place = files.only_new) -> backup.Copy:
    return backup.restore(url, file, place)


def rows(url: str) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of all tables, in the order of their keys; packed octets stay packed,
    and shares of queues are left out."""
    by_table = {}
    for store, store_url in (("game", url), ("mail", mail_url(url))):
        with closing(Database(store_url)) as database, database.reading.connect() as connection:
            for table in metadata.sorted_tables:
                if table.info.get("store", "game") == store:
                    by_table[table.name] = _rows(connection, table)
    return by_table


def _rows(connection: Connection, table: Table) -> list[dict[str, Any]]:
    columns = (
        type_coerce(column, NullType()).label(column.name)
        if isinstance(column.type, PackedBytes)
        else column
        for column in table.c
        if column.name != "share"  # by number on PostgreSQL, none on SQLite
    )
    result = connection.execute(select(*columns).order_by(*table.primary_key))
    return [dict(row) for row in result.mappings()]


def tables(url: str) -> list[str]:
    with closing(Database(url)) as database, database.reading.connect() as connection:
        return inspect(connection).get_table_names()


def next_number(url: str, table: Table) -> int:
    with closing(Database(url)) as database, database.writing.connect() as connection:
        sequence = f"SELECT nextval('{table.name}_id_seq')"
        return int(connection.execute(text(sequence)).scalar_one())


def challenged(house: Indoors) -> Posted:
    """Return the letter that asks bob to play."""
    letters = house.send(ALICE, "blackbox challenge alice bob -size=4x4 -atoms=1")
    return next(letter for letter in letters if letter.recipient == BOB)


def test_games_go_on_in_postgresql_from_letters_that_sqlite_has_sent(
    tmp_path: Path, empty_postgres_url: str
) -> None:
    own, new = migrated(tmp_path / "pbmserv.sqlite3"), empty_postgres_url
    with indoors(tmp_path, database=own) as house:
        house.tidy_after = 1000
        house.sign_up("alice", "bob")
        challenge = challenged(house)
        to_move = {letter.recipient: letter for letter in house.reply(challenge, "a1")}
        # A letter that is made, and whose post has died with it; one that nobody has made yet.
        house.send_unread(ALICE, "blackbox show 69")
        (claimed,) = house.server.outbox.make(house.server.outbox.claim(10))
        house.send_unread(ALICE, "blackbox show 70")
        # A mail that is carried out, which the door has not removed; one that is not.
        deliver_at_door(house, "blackbox show 71")
    save(own, tmp_path / "copy")
    restore(new, tmp_path / "copy")

    before, after = rows(own), rows(new)
    done = {row["number"] for row in before["settled"]}
    (waiting,) = (row for row in before["arrivals"] if row["id"] not in done)
    assert len(before["arrivals"]) > 1
    assert after == {**before, "arrivals": [waiting]}
    assert {"keys", "outbox", "plies", "settled", "stores"} <= {
        name for name, kept in after.items() if kept
    }

    with indoors(tmp_path / "new", database=new) as house:
        house.mails = 1000
        house.server.settle()
        house.server.outbox.release_lost(())  # as a post of this name does first
        letters = house.letters()
        assert [letter.subject.rpartition(" ")[2] for letter in letters] == ["69", "70", "71"]
        assert letters[0].raw == claimed.raw
        house.server.settle()
        assert house.letters() == []
        house.move_clock(minutes=10)
        assert house.server.outbox.claim(10) == []
        # Replies to letters from before the move count, and once.
        assert answers(house, to_move[ALICE], "b2") == {"board"}
        assert answers(house, to_move[ALICE], "b3") == {"refusal"}
        house.sign_up("carol")
        letters = house.send(ALICE, "blackbox challenge alice carol -size=4x4 -atoms=1")
        assert {letter.board for letter in letters} == {2 + SKIPPED}
    assert rows(new)["arrivals"] == []


def answers(house: Indoors, letter: Posted, body: str) -> set[str]:
    return {answer.kind for answer in house.reply(letter, body)}


# -- whatever is in the rows ---------------------------------------------------------------------

_TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
_TRICKY = st.sampled_from(["", "\\N", "\\.", "\\x41", "a\tb\r\nc\\", "NULL", "'\"", "\u2028é😀"])
_WORDS = _TEXT | _TRICKY
_OCTETS = st.binary(max_size=60) | st.sampled_from(
    [b"", b"\0", b"\\x", b"\\N\n\t", b"\x78" * 70_000]
)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
_MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
_NUMBERS = {SmallInteger: 2**15, Integer: 2**31}


def values(column: Column[Any]) -> st.SearchStrategy[Any]:
    """Generate values that PostgreSQL can store in a column."""
    kind = column.type
    if isinstance(kind, Enum):
        strategy: st.SearchStrategy[Any] = st.sampled_from(list(kind.enum_class))
    elif isinstance(kind, Instant):
        strategy = _MOMENTS
    elif isinstance(kind, (JSON, PackedJson)):
        strategy = _JSON
    elif isinstance(kind, (LargeBinary, PackedBytes)):
        strategy = _OCTETS
    elif isinstance(kind, Boolean):
        strategy = st.booleans()
    elif isinstance(kind, Float):
        strategy = st.floats(allow_nan=False)
    elif isinstance(kind, String):
        strategy = _WORDS.map(lambda text: text[: kind.length])
    else:
        most = _NUMBERS.get(type(kind), 2**62)
        strategy = st.integers(-most, most - 1)
    return st.none() | strategy if column.nullable else strategy


@st.composite
def filled(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    """Generate rows of every table with valid references."""
    rows_of_tables: dict[str, list[dict[str, Any]]] = {}
    for table in metadata.sorted_tables:
        unique = [
            tuple(constraint.columns)
            for constraint in table.constraints
            if isinstance(constraint, UniqueConstraint)
        ]
        unique += [tuple(index.columns) for index in table.indexes if index.unique]
        seen: set[Any] = set()
        rows_of_tables[table.name] = []
        for _ in range(draw(st.integers(0, 3))):
            row = {}
            for column in table.c:
                referred = [key.column for key in column.foreign_keys]
                referable = [
                    row_[target.name]
                    for target in referred
                    for row_ in rows_of_tables[target.table.name]
                ]
                if referred and not referable:
                    if not column.nullable:
                        break
                    row[column.name] = None
                else:
                    row[column.name] = draw(
                        st.sampled_from(referable) if referred else values(column)
                    )
            else:
                own = {
                    (number, *(str(row[key.name]) for key in group))
                    for number, group in enumerate([tuple(table.primary_key), *unique])
                }
                if not own & seen:
                    seen |= own
                    rows_of_tables[table.name].append(row)
    return rows_of_tables


def test_any_rows_are_the_same_afterwards(tmp_path: Path, empty_postgres_url: str) -> None:
    @examples(1)
    @given(filled())
    def holds(rows_of_tables: dict[str, list[dict[str, Any]]]) -> None:
        own = _filled(tmp_path / "random", rows_of_tables)
        backup.save(own, tmp_path / "copy", files.replacing)
        restore(empty_postgres_url, tmp_path / "copy", files.replacing)
        before = rows(own)
        done = {row["number"] for row in before["settled"] if row["store"] == NAME}
        before["arrivals"] = [row for row in before["arrivals"] if row["id"] not in done]
        assert rows(empty_postgres_url) == before
        with closing(Database(empty_postgres_url)) as new, new.reading.connect() as connection:
            for work in (house_turns, analyses):
                for board_id, share in connection.execute(select(work.c.board_id, work.c.share)):
                    assert share == board_id % SHARES

    holds()


NAME = "the mail store"


def _filled(folder: Path, rows_of_tables: dict[str, list[dict[str, Any]]]) -> str:
    """Create a SQLite database with these rows."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    own = migrated(folder / "pbmserv.sqlite3")
    for store, url in (("game", own), ("mail", mail_url(own))):
        with closing(Database(url)) as database, database.writing.begin() as connection:
            for table in metadata.sorted_tables:
                new = rows_of_tables[table.name]
                if new and table.info.get("store", "game") == store and table is not stores:
                    connection.execute(insert(table), new)
            if store == "mail":
                connection.execute(update(stores).values(uuid=NAME))
    return own


def test_numbers_continue_after_the_highest_one_ever_given(
    tmp_path: Path, empty_postgres_url: str
) -> None:
    """The copy is from before the first start, which makes the mail store."""
    own = migrated(tmp_path / "pbmserv.sqlite3")
    (tmp_path / "pbmserv-mail.sqlite3").unlink()
    now = datetime(2026, 3, 1, tzinfo=UTC)
    with closing(Database(own)) as database, database.writing.begin() as connection:
        for number in (6, 9):
            connection.execute(insert(outages).values(id=number, begins=now, ends=now))
        connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES ('boards', 41)"))
    save(own, tmp_path / "copy")
    restore(empty_postgres_url, tmp_path / "copy")
    assert next_number(empty_postgres_url, outages) == 9 + SKIPPED + 1
    assert next_number(empty_postgres_url, boards) == 41 + SKIPPED + 1
    assert next_number(empty_postgres_url, players) == SKIPPED + 1
    with indoors(tmp_path / "new", database=empty_postgres_url) as house:
        house.sign_up("alice")
        assert house.send(ALICE, "blackbox show 70")


# -- what is refused, and what ends half-way -----------------------------------------------------


@pytest.fixture
def played(tmp_path: Path) -> str:
    """Return a SQLite database with a player and a mail, and make a copy of it."""
    own = migrated(tmp_path / "pbmserv.sqlite3")
    with indoors(tmp_path, database=own) as house:
        house.sign_up("alice")
        house.send(ALICE, "blackbox show 70")
        house.server.door_stage.run_once()
    save(own, tmp_path / "copy")
    return own


def test_a_database_in_use_or_not_empty_is_left_alone(
    played: str, tmp_path: Path, postgres_url: str
) -> None:
    with pytest.raises(OperatorError, match="not empty; with --overwrite it is replaced"):
        restore(postgres_url, tmp_path / "copy")
    with indoors(tmp_path / "new", database=postgres_url) as house:
        house.sign_up("bob")
        with pytest.raises(OperatorError, match="in use; stop every server first"):
            restore(postgres_url, tmp_path / "copy", files.replacing)
        assert house.send(BOB, f"games bob {PASSWORD}")
    restore(postgres_url, tmp_path / "copy", files.replacing)
    assert rows(postgres_url) == rows(played)
    with closing(Database(postgres_url)) as database:
        assert schema.check(database) == []


def test_a_damaged_copy_and_what_is_no_copy_are_refused(
    played: str, tmp_path: Path, empty_postgres_url: str
) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(copy.read_bytes()[:50_000])
    with pytest.raises(OperatorError, match="copy is damaged"):
        restore(empty_postgres_url, copy)
    copy.write_text("a shopping list")
    with pytest.raises(OperatorError, match="is not a copy of a database"):
        restore(empty_postgres_url, copy)
    assert tables(empty_postgres_url) == []


def test_a_copy_of_an_older_version_is_upgraded_first(
    played: str, tmp_path: Path, empty_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "migrations"
    shutil.copytree(schema.migrations_folder(), folder)
    head, later = schema.head(), "9999"
    (folder / "versions" / f"{later}_later.py").write_text(
        "from alembic import op\n"
        f"revision = '{later}'\n"
        f"down_revision = '{head}'\n"
        "branch_labels, depends_on = None, None\n"
        "def upgrade() -> None:\n"
        "    if op.get_bind().dialect.has_table(op.get_bind(), 'players'):\n"
        "        op.execute(\"UPDATE players SET tz = 'Europe/Berlin'\")\n"
    )
    before = (tmp_path / "copy").read_bytes()
    monkeypatch.setattr(schema, "migrations_folder", lambda: folder)
    assert restore(empty_postgres_url, tmp_path / "copy").revision == head
    with closing(Database(empty_postgres_url)) as database:
        schema.require(database)
        with database.reading.connect() as connection:
            assert connection.execute(select(players.c.tz)).scalars().all() == ["Europe/Berlin"]
    assert (tmp_path / "copy").read_bytes() == before


def test_a_value_that_postgresql_refuses_is_reported_without_quoting_it(
    played: str, tmp_path: Path, empty_postgres_url: str
) -> None:
    for value, message in (
        ("'t1ger' || char(0)", "in players: PostgreSQL text fields cannot contain NUL"),
        # SQLite itself would quote this one.
        ("CAST(x'7431676572ff' AS TEXT)", "in players that cannot be read"),
    ):
        with closing(sqlite3.connect(tmp_path / "copy")) as copy, copy:
            copy.execute(f"UPDATE players SET password_hash = {value}")
        with pytest.raises(OperatorError, match=message) as refused:
            restore(empty_postgres_url, tmp_path / "copy")
        assert "t1ger" not in str(refused.value)
        assert tables(empty_postgres_url) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from pbmserv.files import replacing
from pbmserv.store.delivery.shares import SHARES
from pbmserv.store.operators import backup, backup_sqlite

rows = backup_sqlite.Contents.rows

def half(contents, table):
    for row in rows(contents, table):
        yield row
        if table.name == sys.argv[3]:
            os.kill(os.getpid(), signal.SIGKILL)

backup_sqlite.Contents.rows = half
backup.restore(sys.argv[1], Path(sys.argv[2]), replacing)
"""


def test_a_restore_that_is_killed_half_way_changes_nothing(
    played: str, tmp_path: Path, postgres_url: str
) -> None:
    before = rows(postgres_url)
    words = ["-c", KILLED, postgres_url, str(tmp_path / "copy"), "outbox"]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = run(words, {**os.environ, "TMPDIR": str(temporary)})
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    assert list(temporary.iterdir()) == [], "mails with passwords were in it"
    assert rows(postgres_url) == before
    restore_when_free(postgres_url, tmp_path / "copy")
    assert rows(postgres_url) == rows(played)


def restore_when_free(url: str, copy: Path) -> None:
    """Restore as soon as PostgreSQL notices that the killed client is gone."""
    end = monotonic() + PATIENCE_S
    while monotonic() < end:
        with suppress(OperatorError):
            restore(url, copy, files.replacing)
            return
    raise AssertionError("it stays in use")
