"""Copies a PostgreSQL database with its own programs: pg_dump, pg_restore, psql.

`fill` puts a copy of SQLite into PostgreSQL without these programs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from psycopg import DataError
from psycopg.conninfo import make_conninfo
from sqlalchemy import Connection, Table, delete, func, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError

from pbmserv.errors import OperatorError
from pbmserv.files import Place, replacing
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.delivery.shares import share_of
from pbmserv.store.operators.backup_sqlite import Contents
from pbmserv.store.tables.columns import metadata

BATCH = 500
"""Rows in one insert."""
ENDING_S, LOOK_S = 2.0, 0.05
"""Seconds for which PostgreSQL may still list a closed connection, and between two checks."""

_REVISION = re.compile(r"^COPY \S*alembic_version\b.*\n(\S+)$", re.MULTILINE)
_LONGEST_REASON = 300
_USERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
_REFRESH = text("SELECT pg_stat_clear_snapshot()")
"""Without this, a transaction always sees the same statistics."""
_END = """
SELECT pg_catalog.setval(format('%I.%I', schemaname, sequencename)::regclass,
  coalesce(last_value, 0) + {many}) FROM pg_catalog.pg_sequences WHERE schemaname = '{schema}';
COMMIT;
"""


def save(database: Database, target: Path) -> None:
    """Copy a database into an empty file.

    Raises:
        OperatorError: pg_dump is missing or fails.
    """
    named, environment = _connection_of(database)
    _run(
        [_program("pg_dump"), "--format=custom", "--no-password", f"--file={target}", named],
        environment,
    )


def revision(copy: Path) -> str | None:
    """Return the revision of a copy, `None` if it is of another program's database.

    Raises:
        OperatorError: the copy is damaged, or pg_restore is missing.
    """
    program = _program("pg_restore")
    _run([program, f"--file={os.devnull}", str(copy)], os.environ)  # fails if it is damaged
    rows = _run(
        [program, "--data-only", "--table=alembic_version", "--file=-", str(copy)], os.environ
    )
    number = _REVISION.search(rows)
    return number[1] if number else None


def restore(url: str, source: Path, place: Place, skipped: int) -> None:
    """Put a copy into the database, in one transaction; see `backup.restore`."""
    database = Database(url)
    try:
        with database.reading.connect() as connection:
            own = _replaceable_tables(connection, place)
        _replace(database, own, source, skipped)
        schema.prepare(database)
    finally:
        database.close()


def _replaceable_tables(connection: Connection, place: Place) -> tuple[str, list[str]]:
    """Return the current schema and its tables.

    Raises:
        OperatorError: another client is connected, or the tables may not be replaced.
    """
    if _is_in_use(connection):
        raise OperatorError("the database is in use; stop every server first")
    schema: str = connection.execute(text("SELECT current_schema()")).scalar_one()
    tables = inspect(connection).get_table_names(schema)
    if tables and place is not replacing:
        raise OperatorError("the database is not empty; with --overwrite it is replaced")
    return schema, tables


def _is_in_use(connection: Connection) -> bool:
    """Return whether another client is connected.

    The backends of a server that has just stopped need a moment to end, so wait for them.
    """
    end = monotonic() + ENDING_S
    while connection.execute(_USERS).scalar_one():
        if monotonic() > end:
            return True
        sleep(LOOK_S)
        connection.execute(_REFRESH)
    return False


def _replace(database: Database, own: tuple[str, list[str]], source: Path, skipped: int) -> None:
    """Replace our tables by those of a copy, in one transaction of psql.

    The COMMIT at the end is sent only if pg_restore has read the whole copy.
    """
    schema, tables = own
    named, environment = _connection_of(database)
    reading = [_program("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(source)]
    writing = [_program("psql"), "--no-psqlrc", "--quiet", "--no-password"]
    writing += ["--set=ON_ERROR_STOP=1", "--file=-", named]
    with tempfile.TemporaryFile() as errors:
        with (
            subprocess.Popen(  # noqa: S603
                reading, stdout=subprocess.PIPE, stderr=errors
            ) as copy,
            subprocess.Popen(  # noqa: S603
                writing, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors,
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
            except BrokenPipeError:  # psql has printed the reason
                copy.kill()
        errors.seek(0)
        if copy.returncode or into.returncode:
            raise OperatorError(_reason(errors.read()))


def _begin(schema: str, tables: Sequence[str]) -> bytes:
    dropped = (f"DROP TABLE {_quoted(schema)}.{_quoted(name)} CASCADE;\n" for name in tables)
    return "".join(("BEGIN;\nSET LOCAL client_min_messages = warning;\n", *dropped)).encode()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def fill(url: str, contents: Contents, place: Place, skipped: int) -> None:
    """Put the contents of a SQLite copy into the database, in one transaction; see
    `backup.restore`.
    """
    database = Database(url)
    try:
        with schema.migrating(database) as connection:
            name, tables = _replaceable_tables(connection, place)
            for table in tables:
                connection.execute(text(f"DROP TABLE {_quoted(name)}.{_quoted(table)} CASCADE"))
            schema.build(connection)
            for copied in contents.tables:
                _insert(connection, copied, contents.rows(copied))
            for created in metadata.sorted_tables:
                _advance_sequence(connection, created, contents.highest(created) + skipped, skipped)
    finally:
        database.close()


def _insert(connection: Connection, table: Table, rows: Iterator[Mapping[str, Any]]) -> None:
    """Replace the rows of a table.

    Raises:
        OperatorError: PostgreSQL refuses a row. The message does not quote values: they may be
            secrets.
    """
    connection.execute(delete(table))  # the migrations insert some
    try:
        while batch := list(islice(rows, BATCH)):
            connection.execute(insert(table), [_with_share(connection, table, r) for r in batch])
    except DBAPIError as error:
        raise OperatorError(
            f"PostgreSQL does not take what the copy has in {table.name}: {_harmless(error.orig)}"
        ) from None
    connection.execute(text(f"ANALYZE {_quoted(table.name)}"))  # for good plans from the start


def _with_share(connection: Connection, table: Table, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row of SQLite, which has a single share, with the share of its number, or of its
    board's."""
    if "share" not in table.c:
        return row
    key, *_ = table.primary_key
    return {**row, "share": share_of(connection, row[key.name])}


def _harmless(error: BaseException | None) -> str:
    """Return the message of a database error up to the first quoted value."""
    message = str(error).partition("\n")[0]
    return message.partition('"')[0].rstrip(": ") if isinstance(error, DataError) else message


def _advance_sequence(connection: Connection, table: Table, least: int, skipped: int) -> None:
    """Set a table's sequence to at least *least*, and *skipped* numbers after its last row."""
    column = table.autoincrement_column
    if column is None:
        return
    last = connection.execute(select(func.max(column))).scalar() or 0
    sequence = func.pg_get_serial_sequence(table.name, column.name)
    connection.execute(select(func.setval(sequence, max(least, last + skipped))))


def _connection_of(database: Database) -> tuple[str, dict[str, str]]:
    """Return the connection string for the command line, and the environment with the password.

    Every user of the machine can read command lines.
    """
    url = database.writing.url
    _, words = database.writing.dialect.create_connect_args(url)
    arguments = {name: value for name, value in words.items() if name != "context"}
    password = arguments.pop("password", None)
    secret = {} if password is None else {"PGPASSWORD": str(password)}
    return make_conninfo(**arguments), {**os.environ, **secret}


def _program(name: str) -> str:
    """Return the path of a PostgreSQL program.

    Raises:
        OperatorError: the program is not installed.
    """
    path = shutil.which(name)
    if path is None:
        raise OperatorError(
            f"{name} is not on this machine; it comes with PostgreSQL's client programs"
            " (Debian: apt install postgresql-client), of the server's version or a newer one"
        )
    return path


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a program and return its output.

    Raises:
        OperatorError: the program failed; the message is its own.
    """
    done = subprocess.run(command, env=environment, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise OperatorError(_reason(done.stderr))
    return done.stdout.decode("utf-8", "replace")


def _reason(errors: bytes) -> str:
    """Return the error output of a program as one line."""
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    reason = "; ".join(line.strip() for line in lines)[:_LONGEST_REASON]
    return reason or "one of PostgreSQL's programs was stopped"
