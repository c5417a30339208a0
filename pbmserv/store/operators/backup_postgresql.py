"""Copies of a PostgreSQL database, by the programs that come with it: pg_dump, pg_restore, psql.

A copy of SQLite is put into one by COPY (`fill`), without these programs.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from sqlalchemy import Connection, Dialect, Table, delete, func, inspect, select, text

from pbmserv.errors import OperatorError
from pbmserv.files import Place, over
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.core.postgresql import unhurried
from pbmserv.store.operators.backup_sqlite import Contents
from pbmserv.store.tables.columns import metadata

MAGIC = b"PGDMP"
"""How an archive of pg_dump begins."""

ENDING_S, LOOK_S = 2.0, 0.05
"""How long a connection that was closed may still be listed, and between two looks."""

_REVISION = re.compile(r"^COPY \S*alembic_version\b.*\n(\S+)$", re.MULTILINE)
_LONGEST_REASON = 300
_USERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
_LOOK_AGAIN = text("SELECT pg_stat_clear_snapshot()")
"""Else a transaction gets the answer that it got before."""
_END = """
SELECT pg_catalog.setval(format('%I.%I', schemaname, sequencename)::regclass,
  coalesce(last_value, 0) + {many}) FROM pg_catalog.pg_sequences WHERE schemaname = '{schema}';
COMMIT;
"""


def save(database: Database, target: Path) -> None:
    """Copy a database into an empty file.

    Raises:
        OperatorError: pg_dump is not there, or cannot do it.
    """
    named, environment = _way_to(database)
    _run(
        [_program("pg_dump"), "--format=custom", "--no-password", f"--file={target}", named],
        environment,
    )


def revision(copy: Path) -> str | None:
    """The revision of a whole copy; ``None`` for another program's database.

    Raises:
        OperatorError: it is damaged, or pg_restore is not there.
    """
    program = _program("pg_restore")
    _run([program, f"--file={os.devnull}", str(copy)], os.environ)  # reads all of it
    found = _run(
        [program, "--data-only", "--table=alembic_version", "--file=-", str(copy)], os.environ
    )
    number = _REVISION.search(found)
    return number[1] if number else None


def restore(url: str, source: Path, place: Place, skipped: int) -> None:
    """Put a whole copy into the database, in one transaction; see `backup.restore`."""
    database = Database(url)
    try:
        with database.reading.connect() as connection:
            own = _may_be_replaced(connection, place)
        _replace(database, own, source, skipped)
        schema.prepare(database)
    finally:
        database.close()


def _may_be_replaced(connection: Connection, place: Place) -> tuple[str, list[str]]:
    """The schema that is ours, and the tables in it.

    Raises:
        OperatorError: somebody is connected, or there are tables that may not be replaced.
    """
    if _is_in_use(connection):
        raise OperatorError("the database is in use; stop every server first")
    schema: str = connection.execute(text("SELECT current_schema()")).scalar_one()
    tables = inspect(connection).get_table_names(schema)
    if tables and place is not over:
        raise OperatorError("the database is not empty; with --overwrite it is replaced")
    return schema, tables


def _is_in_use(connection: Connection) -> bool:
    """Whether anybody else is connected. A server that was just stopped has hung up before the
    processes that PostgreSQL had for it are gone."""
    end = monotonic() + ENDING_S
    while connection.execute(_USERS).scalar_one():
        if monotonic() > end:
            return True
        sleep(LOOK_S)
        connection.execute(_LOOK_AGAIN)
    return False


def _replace(database: Database, own: tuple[str, list[str]], source: Path, skipped: int) -> None:
    """Drop our tables and bring in those of a copy, in one transaction of psql's.

    It is committed by our own last line, which is sent only when pg_restore has read all.
    """
    schema, tables = own
    named, environment = _way_to(database)
    reading = [_program("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(source)]
    writing = [_program("psql"), "--no-psqlrc", "--quiet", "--no-password"]
    writing += ["--set=ON_ERROR_STOP=1", "--file=-", named]
    with tempfile.TemporaryFile() as said:
        with (
            subprocess.Popen(  # noqa: S603
                reading, stdout=subprocess.PIPE, stderr=said
            ) as copy,
            subprocess.Popen(  # noqa: S603
                writing, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said,
                env=environment,
            ) as into,
        ):  # fmt: skip
            assert copy.stdout is not None
            assert into.stdin is not None
            try:
                into.stdin.write(_begin(schema, tables))
                shutil.copyfileobj(copy.stdout, into.stdin)
                if copy.wait() == 0:
                    into.stdin.write(_END.format(many=skipped, schema=schema).encode())
                into.stdin.close()
            except BrokenPipeError:  # psql has said why
                copy.kill()
        said.seek(0)
        if copy.returncode or into.returncode:
            raise OperatorError(_reason(said.read()))


def _begin(schema: str, tables: Sequence[str]) -> bytes:
    dropped = (f"DROP TABLE {_quoted(schema)}.{_quoted(name)} CASCADE;\n" for name in tables)
    return "".join(("BEGIN;\nSET LOCAL client_min_messages = warning;\n", *dropped)).encode()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def fill(url: str, contents: Contents, place: Place, skipped: int) -> None:
    """Put what is in a copy of SQLite into the database, in one transaction; see
    `backup.restore`."""
    database = Database(url)
    try:
        with database.writing.begin() as connection, unhurried(connection):
            name, tables = _may_be_replaced(connection, place)
            for table in tables:
                connection.execute(text(f"DROP TABLE {_quoted(name)}.{_quoted(table)} CASCADE"))
            schema.build(connection)
            for one in contents.tables:
                _copy_in(connection, one, contents.rows(one))
            for one in metadata.sorted_tables:
                _count_on(connection, one, contents.highest(one) + skipped, skipped)
    finally:
        database.close()


def _copy_in(connection: Connection, table: Table, rows: Iterable[Sequence[Any]]) -> None:
    """Have a table hold these rows and no others.

    In PostgreSQL's binary format: of a text that it does not take it would quote the beginning, in
    its log, too.

    Raises:
        OperatorError: PostgreSQL does not take one; says why, and nothing of what is in it.
    """
    connection.execute(delete(table))  # the migration has written some
    driver: Any = connection.connection.driver_connection
    names = (sql.Identifier(column.name) for column in table.c)
    into = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(table.name), sql.SQL(", ").join(names)
    )
    try:
        with driver.cursor() as cursor, cursor.copy(into) as copy:
            for block in _in_blocks(table, rows, connection.dialect):
                copy.write(block)
    except psycopg.Error as error:
        raise OperatorError(
            f"PostgreSQL does not take what the copy has in {table.name}: {_harmless(error)}"
        ) from None
    connection.execute(text(f"ANALYZE {_quoted(table.name)}"))  # the first queries want to know


_BLOCK = 1 << 16
"""Octets that are sent at once, at least."""
_BEGIN_BINARY, _END_BINARY = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_NULL = b"\xff" * 4
_COLUMNS = struct.Struct(">h").pack
_OCTETS = struct.Struct(">i").pack
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _octets(value: bytes) -> bytes:
    return _OCTETS(len(value)) + value


def _text(value: str) -> bytes:
    return _octets(value.encode())


_BIGINT = partial(struct.Struct(">iq").pack, 8)


def _moment(value: datetime) -> bytes:
    return _BIGINT((value - _EPOCH) // _MICROSECOND)


_FORMS: Mapping[str, Callable[[Any], bytes]] = {
    "SMALLINT": partial(struct.Struct(">ih").pack, 2),
    "INTEGER": partial(struct.Struct(">ii").pack, 4),
    "BIGINT": _BIGINT,
    "BOOLEAN": partial(struct.Struct(">i?").pack, 1),
    "FLOAT": partial(struct.Struct(">id").pack, 8),
    "TIMESTAMP WITH TIME ZONE": _moment,
    "VARCHAR": _text,
    "TEXT": _text,
    "JSON": lambda value: _text(str(value)),  # SQLite takes what looks like a number for one
    "BYTEA": _octets,
}
"""A value with its length before it, by the type of its column (PostgreSQL's documentation, "COPY",
"Binary Format"). Each fails on a value of another type or size, and names none."""


def _in_blocks(table: Table, rows: Iterable[Sequence[Any]], dialect: Dialect) -> Iterator[bytes]:
    """All rows of a table in PostgreSQL's binary format.

    Raises:
        OperatorError: a value is none of its column's type.
    """
    kinds = (one.type.compile(dialect=dialect) for one in table.c)
    forms = [_FORMS[kind.partition("(")[0]] for kind in kinds]
    begin = _COLUMNS(len(forms))
    block = bytearray(_BEGIN_BINARY)
    try:
        for row in rows:
            block += begin
            for form, value in zip(forms, row, strict=True):
                block += _NULL if value is None else form(value)
            if len(block) > _BLOCK:
                yield bytes(block)
                block.clear()
    except (struct.error, AttributeError, TypeError, ValueError):
        raise OperatorError(
            f"the copy has something in {table.name} that does not belong there"
        ) from None
    yield bytes(block) + _END_BINARY


def _harmless(error: psycopg.Error) -> str:
    """What PostgreSQL says of an error, up to where it quotes a value: that may be a secret."""
    said = error.diag.message_primary or str(error).partition("\n")[0]
    if isinstance(error, psycopg.DataError):
        said = said.partition('"')[0].rstrip(": ")
    column = re.match(r"COPY \w+, line \d+, column (\w+)", error.diag.context or "")
    return f"{said} (column {column[1]})" if column else said


def _count_on(connection: Connection, table: Table, known: int, skipped: int) -> None:
    """Have the numbers that a table gives begin after those that were given."""
    column = table.autoincrement_column
    if column is None:
        return
    last = connection.execute(select(func.max(column))).scalar() or 0
    sequence = func.pg_get_serial_sequence(table.name, column.name)
    connection.execute(select(func.setval(sequence, max(known, last + skipped))))


def _way_to(database: Database) -> tuple[str, dict[str, str]]:
    """How the programs find the database: the name on their command line, where everybody can
    read it, and an environment with the password."""
    url = database.writing.url
    _, words = database.writing.dialect.create_connect_args(url)
    found: dict[str, Any] = {name: value for name, value in words.items() if name != "context"}
    password = found.pop("password", None)
    secret = {} if password is None else {"PGPASSWORD": str(password)}
    return make_conninfo(**found), {**os.environ, **secret}


def _program(name: str) -> str:
    """Where one of PostgreSQL's programs is.

    Raises:
        OperatorError: it is not on this machine.
    """
    found = shutil.which(name)
    if found is None:
        raise OperatorError(
            f"{name} is not on this machine; it comes with PostgreSQL's client programs"
            " (Debian: apt install postgresql-client), of the server's version or a newer one"
        )
    return found


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """What a program prints.

    Raises:
        OperatorError: it failed; says why.
    """
    done = subprocess.run(command, env=environment, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise OperatorError(_reason(done.stderr))
    return done.stdout.decode("utf-8", "replace")


def _reason(said: bytes) -> str:
    """What a program has complained of, as one sentence."""
    lines = said.decode("utf-8", "replace").strip().splitlines()
    told = "; ".join(line.strip() for line in lines)[:_LONGEST_REASON]
    return told or "one of PostgreSQL's programs was stopped"
